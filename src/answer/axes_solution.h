/* Solution and posterior of fields over several space axes, or of second order in time, by whichever engine gave the
 * answer: through the integrated equation in Fourier modes, or the kernel engine. */
#ifndef KB_ANSWER_AXES_SOLUTION_H
#define KB_ANSWER_AXES_SOLUTION_H

#include "base/run.h"
#include "posterior/posterior.h"
#include "problem/pde_nd.h"
#include "search/result.h"

/* Makes what bands need, once: covariances of weights and start of the fits that count. A run that was stopped has
   those of the chosen one. */
kbass_status kb_axes_covariances(const kb_pde_nd_problem *problem, kb_search_result *found, bool is_stopped,
                                 kbass_error *error);
/* The chosen model's field in a run: n times and n x (n_axes - 1) positions in the data's units, within the record;
   mean and sd (or NULL) n x n_fields, row-major. The clock (or NULL) may end it: KBASS_ERROR_TIME. */
kbass_status kb_axes_solution(const kb_pde_nd_problem *problem, const kb_search_result *found, size_t run, size_t n,
                              const double *times, const double *positions, kb_run *clock, double *mean, double *sd,
                              kbass_error *error);
/* Of one run; *out stays NULL where there is none. */
kbass_status kb_axes_posterior(const kb_pde_nd_problem *problem, const kb_search_result *found, const kbass_data *data,
                               size_t run, kbass_posterior **out, kbass_error *error);

#endif
