/* A curve through points: a cubic spline whose slopes are limited after Hyman, so that it neither overshoots between
 * steps nor wobbles along flat parts, and is of fourth order where the points are smooth (docs/math.md, eq. 58).
 */
#ifndef KB_CURVE_H
#define KB_CURVE_H

#include <stdbool.h>
#include <stddef.h>

typedef struct {
    size_t n;
    double *time, *value, *slope; /* n */
} kb_curve;

/* Through n points (2 or more) of ascending, distinct times; copies them. False when memory runs out. */
bool kb_curve_create(size_t n, const double *times, const double *values, kb_curve *out);
void kb_curve_clear(kb_curve *curve);
/* Value and, unless NULL, slope at a time; beyond the ends the first or last value. */
double kb_curve_at(const kb_curve *curve, double time, double *slope);

#endif
