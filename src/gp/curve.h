/* A curve through points: a cubic spline whose slopes are limited after Hyman, so that it neither overshoots between
 * steps nor wobbles along flat parts, and is of fourth order where the points are smooth (docs/math.md, eq. 58). A held
 * curve has each value until the next point, where it jumps. With a delay it is f(t - delay).
 */
#ifndef KB_CURVE_H
#define KB_CURVE_H

#include <stdbool.h>
#include <stddef.h>

typedef struct {
    size_t n;
    bool is_held;
    double delay;
    double *time, *value, *slope; /* n */
} kb_curve;

/* Through n points (2 or more) of ascending, distinct times; copies them. False when memory runs out. */
bool kb_curve_create(size_t n, const double *times, const double *values, bool is_held, kb_curve *out);
void kb_curve_clear(kb_curve *curve);
/* Value and, unless NULL, slope at a time; beyond the ends the first or last value. */
double kb_curve_at(const kb_curve *curve, double time, double *slope);
/* The first time after this one at which it jumps; INFINITY where it never does. */
double kb_curve_next_jump(const kb_curve *curve, double time);

#endif
