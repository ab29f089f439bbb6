/* Figures by gnuplot, as SVG, PDF or PNG by the file's ending, or in characters. The commands are kept in memory until
 * the figure ends; then gnuplot draws into memory too, and the file is written as all others are.
 */
#ifndef CLI_FIGURE_H
#define CLI_FIGURE_H

#include <stdbool.h>
#include <stdio.h>

#include "options.h"

typedef enum { FIGURE_UNKNOWN, FIGURE_SVG, FIGURE_PDF, FIGURE_PNG } figure_kind;

/* What a path's ending says. */
figure_kind figure_format(const char *path);
/* Is gnuplot installed? */
bool figure_is_possible(void);
/* Takes --size and --dpi for the figures of this call; returns an exit code. */
int figure_options(const cli_arguments *arguments, const char *path);

/* All return exit codes. Between begin and end the caller writes gnuplot commands into *script. Width and height are
   those of an SVG; a PNG is the same figure 1200 pixels wide. */
int figure_begin(const char *path, int width, int height, FILE **script);
int figure_end(const char *path, FILE *script);

/* The same as the text of an SVG, for the caller to free. */
int figure_begin_svg(int width, int height, FILE **script);
int figure_end_svg(FILE *script, char **svg);

/* The same in characters on standard output. */
int figure_begin_terminal(int columns, int lines, FILE **script);
int figure_end_terminal(FILE *script);

#endif
