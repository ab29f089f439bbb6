/* A fitted field with its band at any points of the record: the line integrated with its tangents (docs/math.md,
 * eqs 25 and 30). */
#ifndef KB_POSTERIOR_PDE1D_SOLUTION_H
#define KB_POSTERIOR_PDE1D_SOLUTION_H

#include "forward/pde1d/runs.h"
#include "forward/shoot.h"

/* Points of one run: n times (ascending) and n positions, in the data's units, within its record. mean, sd: n x
   n_fields, row-major; sd may be NULL. The setups are those of all runs, with the grid the fit was made on. */
kbass_status kb_pde1d_solution(size_t n_runs, const kb_pde1d_setup *setups, size_t run, const kb_dictionary *dictionary,
                               const kb_columns *columns, const kb_windows *windows, const kb_fit *fit, size_t n,
                               const double *times, const double *positions, double *mean, double *sd,
                               kbass_error *error);
/* The field where a window starts as an expression in the periodic space axis: a Fourier series, "0.5 + 1.2*cos(...)
   ...". Returns its length, as snprintf does. */
size_t kb_pde1d_profile_text(const kb_pde1d_setup *setup, const double *start, size_t field, const char *axis_name,
                             char *text, size_t size);

#endif
