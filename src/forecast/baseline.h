/* Forecasts that need no law, for a law to be held against (docs/math.md, eqs 70 and 71): that nothing changes, and the
 * bare field. What they need to know of the size and pace of changes is taken from the solution over the old record.
 */
#ifndef KB_BASELINE_H
#define KB_BASELINE_H

#include "forecast/restart.h"

typedef struct kb_baseline kb_baseline;

/* From the chosen model's solution over its record, and the measurements that are known: the first n_known. */
kbass_status kb_baseline_create(const kbass_posterior *posterior, const kb_measurements *measurements, size_t n_known,
                                kb_baseline **out, kbass_error *error);
void kb_baseline_destroy(kb_baseline *baseline);

/* Mean and variance, without the noise of a measurement, of a state at a time and place (NULL without space). */
void kb_baseline_no_change(const kb_baseline *baseline, size_t state, double time, const double *place, double *mean,
                           double *variance);
void kb_baseline_bare_field(const kb_baseline *baseline, size_t state, double time, const double *place, double *mean,
                            double *variance);

#endif
