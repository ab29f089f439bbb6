/* The posterior of a solution, linearised: value = mean + factor e with e ~ N(0, I), where e spans the joint posterior
 * of weights and start (docs/math.md, eqs 45 and 46). e begins with the weights' part, which all windows share; each
 * window has a part of its own for its start.
 */
#ifndef KB_SPREAD_H
#define KB_SPREAD_H

#include "posterior/posterior.h"
#include "simulate/model.h"

/* Is V (n x n) symmetric and positive semidefinite, up to rounding? */
bool kb_is_covariance(size_t n, const double *V);
/* V = L L' with L lower triangular, column-major; directions without variance have columns of zeros. */
bool kb_covariance_factor(size_t n, const double *V, double *L);

/* At ascending times from the stretch's first on: mean (n_times x n_states) and, unless NULL, factor (n_times x
   n_states x (n_terms + n_start), the last fastest). */
kbass_status kb_spread_states(const kbass_posterior *posterior, const kb_belief *belief, const kb_stretch *stretch,
                              size_t n_times, const double *times, double *mean, double *factor, kbass_error *error);
/* "x_t = 1.02*y", an equation for each state; to be freed by the second. */
kbass_status kb_belief_equations(const kbass_posterior *posterior, const kb_belief *belief, const double *weights,
                                 char ***equations, kbass_error *error);
void kb_belief_equations_free(const kbass_posterior *posterior, char **equations);
/* The model with these weights, for CVODES. */
kbass_status kb_belief_model(const kbass_posterior *posterior, const kb_belief *belief, const double *weights,
                             kb_model **out, kbass_error *error);

/* The same at n points over all windows of a belief, of states or of fields (positions NULL or n). The factor has
   kb_spread_size columns. */
size_t kb_spread_size(const kbass_posterior *posterior, const kb_belief *belief);
kbass_status kb_spread(const kbass_posterior *posterior, const kb_belief *belief, size_t n, const double *times,
                       const double *positions, double *mean, double *factor, kbass_error *error);

#endif
