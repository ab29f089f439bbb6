#include "weights/trace.h"

#include <stdio.h>

void kb_trace_write_support(const kb_support *support, char *text)
{
    int at = 0;
    text[0] = 0;
    for (size_t q = 0; q < support->n && at < KB_TRACE_ROOM - 24; q++)
        at += snprintf(text + at, KB_TRACE_ROOM - (size_t)at, " %zu", support->column[q]);
}

double kb_trace_sum_weights(const kb_support *support, const double *w)
{
    double sum = 0;
    for (size_t q = 0; q < support->n; q++) sum += (double)(q + 1) * w[support->column[q]];
    return sum;
}
