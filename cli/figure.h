/* Figures by gnuplot, as SVG or PNG by the file's ending. */
#ifndef CLI_FIGURE_H
#define CLI_FIGURE_H

#include <stdio.h>

/* Both return an exit code. Between them the caller writes gnuplot commands into *script. */
int figure_begin(const char *path, int width, int height, FILE **script);
int figure_end(const char *path, FILE *script);

#endif
