/* Figures by gnuplot, as SVG, PDF or PNG by the file's ending, or in characters. */
#ifndef CLI_FIGURE_H
#define CLI_FIGURE_H

#include <stdbool.h>
#include <stdio.h>

/* Is gnuplot installed? */
bool figure_is_possible(void);

/* Both return an exit code. Between them the caller writes gnuplot commands into *script. */
int figure_begin(const char *path, int width, int height, FILE **script);
int figure_end(const char *path, FILE *script);

/* The same in characters on standard output; ended with figure_end("terminal", ...). */
int figure_begin_terminal(int columns, int lines, FILE **script);

#endif
