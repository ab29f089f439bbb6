/* Where to write a solution: coordinates along each axis, denser where it bends (gp/monitor.h). */
#ifndef KB_SOLUTION_MESH_H
#define KB_SOLUTION_MESH_H

#include "gp/field_samples.h"
#include "posterior/law.h"

/* counts[axis] points along each axis of the samples, in its units, from the solution on as many even ones. */
kbass_status kb_solution_mesh(const kb_field_samples *samples, kb_solution_at *solution, const void *context,
                              const size_t *counts, double *const *coordinates, kbass_error *error);

#endif
