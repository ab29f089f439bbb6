/* Weights that differ between runs (--vary): the models found once more, with a column for each run and varied term;
   the best of them is told. */
#ifndef KB_ANSWER_PER_RUN_H
#define KB_ANSWER_PER_RUN_H

#include "answer/answer.h"
#include "problem/pde1d.h"
#include "problem/pde_nd.h"
#include "problem/ode.h"

kbass_status kb_vary_states(const kb_ode_problem *problem, const kb_search_result *found, kb_run *run,
                            kb_answer *answer, kbass_error *error);
kbass_status kb_vary_fields(const kb_pde1d_problem *problem, const kb_search_result *found, kb_run *run,
                            kb_answer *answer, kbass_error *error);
/* Over several axes, of second order in time, and of --method em. */
kbass_status kb_vary_axes(const kb_pde_nd_problem *problem, const kbass_settings *settings,
                          const kb_search_result *found, kb_run *run, kb_answer *answer, kbass_error *error);

#endif
