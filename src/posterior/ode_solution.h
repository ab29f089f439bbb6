/* The denoised solution with its band: the fitted trajectory, and the spread that the joint posterior of weights and
 * initial state gives it through the tangents (docs/math.md, eq. 25). */
#ifndef KB_POSTERIOR_ODE_SOLUTION_H
#define KB_POSTERIOR_ODE_SOLUTION_H

#include "forward/shoot.h"

/* At ascending times (data's units) within a run. mean and sd: n_times x n_states, row-major. */
kbass_status kb_ode_solution(const kb_record *record, const kb_dictionary *dictionary, const kb_columns *columns,
                             const kb_windows *windows, const kb_fit *fit, const kb_follow *follow, size_t run,
                             size_t n_times, const double *times, double *mean, double *sd, kbass_error *error);

/* Covariance of a fit's weights and each window's starts, as kb_shooter_covariances; wider, since its noise is
   estimated too: that of Student's distribution with the degrees of freedom behind the noise of each weight's state. */
bool kb_states_covariances(kb_shooter *shooter, const kb_fit *fit, double *covariances);

#endif
