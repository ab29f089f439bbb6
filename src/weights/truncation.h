/* The mass of a Gaussian within a box (Genz 1992, by a fixed lattice: the same on every machine). */
#ifndef KB_WEIGHTS_TRUNCATION_H
#define KB_WEIGHTS_TRUNCATION_H

#include <stddef.h>

enum { KB_MOST_BOUNDED = 32 }; /* room: bounded weights of a model */

/* log(Phi(b) - Phi(a)) without cancellation, a <= b, either infinite. */
double kb_log_normal_between(double a, double b);
/* log P(low <= x <= high), x ~ N(mean, V), V n x n with leading dimension ld, possibly singular; n up to
   KB_MOST_BOUNDED. One dimension, and several that are independent: exact; else within about 1 in 1000. */
double kb_log_mass_in_box(size_t n, const double *mean, const double *V, size_t ld, const double *low,
                          const double *high);

#endif
