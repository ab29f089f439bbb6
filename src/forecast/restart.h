/* The law of a posterior on another record: its weights as they are believed, its start fitted to the first
 * measurements there (docs/math.md, eq. 68). What comes of it is a posterior of one model that forecasts go on from.
 */
#ifndef KB_RESTART_H
#define KB_RESTART_H

#include "posterior/posterior.h"

/* Measurements in the order of a posterior's states, rows by ascending time. */
typedef struct {
    size_t n;
    double *times;     /* n */
    double *positions; /* n, of fields; else NULL */
    double *values;    /* n x n_states; NaN: not measured */
} kb_measurements;

/* Those of one run of data; refused where a state or an axis of the posterior is not among them. */
kbass_status kb_measurements_create(const kbass_posterior *posterior, const kbass_data *data, size_t run,
                                    kb_measurements *out, kbass_error *error);
void kb_measurements_clear(kb_measurements *measurements);

/* The chosen model from the first `n_rows` measurements on, which its start is fitted to; from `state` (n_states) at
   the first of them, known exactly, unless that is NULL. */
kbass_status kb_posterior_restart(const kbass_posterior *posterior, const kb_measurements *measurements, size_t n_rows,
                                  const double *state, kbass_posterior **out, kbass_error *error);
/* Standard deviation of the noise of a state's value. */
double kb_belief_noise(const kbass_posterior *posterior, const kb_belief *belief, size_t state, double value);

#endif
