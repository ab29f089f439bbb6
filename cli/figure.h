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

/* One for all panels of a column, so that they line up whatever their labels. In letters. */
#define FIGURE_MARGINS "set lmargin 14\nset rmargin 24\nset tmargin 2.5\nset bmargin 3.5\n"

/* In gnuplot's single quotes a quote is written twice. */
void figure_put_quoted(FILE *script, const char *text);
/* The ticks of a time axis, so few that their labels, of up to `width` pixels in all, do not meet; and its label. Where
   the numbers are long, as of seconds since 1970, they are counted from one that the label names. */
void figure_time_axis(FILE *script, const char *label, double low, double high, int width);
/* The ticks of a time axis as dates: `origin`, "2021-03-04 05:06", is time 0, and 1 is so many seconds. */
void figure_date_axis(FILE *script, const char *origin, double seconds, double first, double last);

/* The same as the text of an SVG, for the caller to free. */
int figure_begin_svg(int width, int height, FILE **script);
int figure_end_svg(FILE *script, char **svg);

/* The same in characters on standard output. */
int figure_begin_terminal(int columns, int lines, FILE **script);
int figure_end_terminal(FILE *script);

#endif
