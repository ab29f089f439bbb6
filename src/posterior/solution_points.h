/* Points at which a solution is asked for, as if they had been measured. */
#ifndef KB_POSTERIOR_SOLUTION_POINTS_H
#define KB_POSTERIOR_SOLUTION_POINTS_H

#include "base/status.h"
#include "gp/field_samples.h"

/* A samples of n points (times ascending, positions n x space axes, the data's units), in the scales of the data's; its
   first row, at scaled time `from`, is unobserved. */
kbass_status kb_solution_points_create(const kb_field_samples *data, double from, size_t n, const double *times,
                                       const double *positions, kb_field_samples *out, kbass_error *error);
void kb_solution_points_clear(kb_field_samples *samples);
/* How many of the points, from the first on, lie in a window that ends at a row of the data. */
size_t kb_points_within(const kb_field_samples *data, size_t row, size_t n, const double *times);

#endif
