/* Points at which a solution is asked for, as if they had been measured. */
#ifndef KB_PRETEND_H
#define KB_PRETEND_H

#include "base/status.h"
#include "gp/cloud.h"

/* A cloud of n points (times ascending, positions n x space axes, the data's units), in the scales of the data's; its
   first row, at scaled time `from`, is unobserved. */
kbass_status kb_pretend(const kb_cloud *data, double from, size_t n, const double *times, const double *positions,
                        kb_cloud *out, kbass_error *error);
void kb_pretend_clear(kb_cloud *cloud);
/* How many of the points, from the first on, lie in a window that ends at a row of the data. */
size_t kb_points_within(const kb_cloud *data, size_t row, size_t n, const double *times);

#endif
