/* EP-EM's own answer for states (--method em): the starts that also propose to the default search, each refined by
 * evidence; the best model's neighbours; its length scale and tau by evidence. Nothing is integrated in time.
 */
#ifndef KB_EM_STATES_H
#define KB_EM_STATES_H

#include "problem/ode.h"
#include "search/result.h"

kbass_status kb_em_states_search(const kb_ode_problem *problem, kb_run *run, kb_search_result *result,
                                 kbass_error *error);
/* The chosen model's states in a run at times of the record: mean and sd (or NULL) n x n_states, row-major. */
kbass_status kb_em_states_solution(const kb_ode_problem *problem, const kb_ode_state *state, size_t run, size_t n,
                                   const double *times, double *mean, double *sd, kbass_error *error);

#endif
