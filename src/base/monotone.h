/* The best curve that only rises, or only falls: weighted isotonic regression by pooling adjacent violators. Solutions
 * of x_t = f(x) are such curves (docs/math.md, section 10).
 */
#ifndef KB_BASE_MONOTONE_H
#define KB_BASE_MONOTONE_H

#include <stddef.h>

/* Least sum of weight (y - m)^2 over m that ascend, or, sign -1, descend. work: 3 n. */
double kb_monotone_squares(size_t n, const double *y, const double *weight, double sign, double *work);

#endif
