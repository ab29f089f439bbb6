/* Maps in characters, which gnuplot cannot draw: light to dark. */
#ifndef REPORT_SHADE_H
#define REPORT_SHADE_H

#include "panels.h"

/* The fitted fields, or their forecast. Returns an exit code. */
int shade_fields(const view *v, const panel_kind *kind, int columns, int lines);

#endif
