/* Models as text, for the lines of a trace (base/trace.h). */
#ifndef KB_WEIGHTS_TRACE_H
#define KB_WEIGHTS_TRACE_H

#include "weights/columns.h"

enum { KB_TRACE_ROOM = 480 }; /* room: a line's text */

/* The columns, "3 7 12"; cut off where the line ends. text: KB_TRACE_ROOM */
void kb_trace_write_support(const kb_support *support, char *text);
/* A number that changes when a weight does; w by column. */
double kb_trace_sum_weights(const kb_support *support, const double *w);

#endif
