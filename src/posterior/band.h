/* The band of the solution over models: rivals that the data leave in doubt widen it (docs/math.md, eq. 25). */
#ifndef KB_POSTERIOR_BAND_H
#define KB_POSTERIOR_BAND_H

#include "weights/fit.h"

enum { KB_RIVALS_OF_STATES = 12 }; /* models: that a band averages over */
enum { KB_RIVALS_OF_FIELDS = 3 };  /* models: likewise; a field's covariance is a hundred times that of a state */

/* How many of the fits, best first, have odds that count. */
size_t kb_count_near(size_t n_fits, kb_fit *const *fits);

/* One model's solution: mean and sd, n values each. */
typedef kbass_status kb_solution_of(const void *context, const kb_fit *fit, double *mean, double *sd,
                                    kbass_error *error);

/* The chosen model's mean; sd: the spread of all models about it. A rival that cannot be evaluated does not count. */
kbass_status kb_band(size_t n_fits, kb_fit *const *fits, size_t most, size_t n, kb_solution_of *solution,
                     const void *context, double *mean, double *sd, kbass_error *error);

#endif
