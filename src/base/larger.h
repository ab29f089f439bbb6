/* The larger of two numbers, or NaN when either is: fmax() drops NaN, and what decides convergence must not. */
#ifndef KB_LARGER_H
#define KB_LARGER_H

#include <math.h>

static inline double kb_larger(double a, double b) { return a > b || isnan(a) ? a : b; }

#endif
