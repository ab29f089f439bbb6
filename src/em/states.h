/* EP-EM's own answer for states (--method em): the starts that also propose to the default search, each refined by
 * evidence; the best model's neighbours; its length scale and tau by evidence. Nothing is integrated in time.
 */
#ifndef KB_EM_STATES_H
#define KB_EM_STATES_H

#include "posterior/posterior.h"
#include "problem/ode.h"
#include "search/result.h"

kbass_status kb_em_states_search(const kb_ode_problem *problem, kb_run *run, kb_search_result *result,
                                 kbass_error *error);
/* result->followed: the best models fitted once more through the integrated equation, in the same order, for what the
   kernel engine cannot tell: residual tests (made here), weights by run, terms that are missing. */
kbass_status kb_em_states_follow(const kb_ode_problem *problem, kb_search_result *result, kbass_error *error);
/* A posterior made of the engine's models, linearised along the integrated equation: the weights' covariances become
   those of the engine's own evidence. */
kbass_status kb_em_states_widen(const kb_ode_problem *problem, const kb_search_result *found,
                                kbass_posterior *posterior, kbass_error *error);
/* The chosen model's states in a run at times of the record: mean and sd (or NULL) n x n_states, row-major. */
kbass_status kb_em_states_solution(const kb_ode_problem *problem, const kb_ode_state *state, size_t run, size_t n,
                                   const double *times, double *mean, double *sd, kbass_error *error);

#endif
