/* The kinds of data that the strategy searches (search/task.h). */
#ifndef KB_TASKS_TASKS_H
#define KB_TASKS_TASKS_H

#include "problem/ode.h"
#include "problem/pde1d.h"
#include "search/task.h"

/* kb_ode_problem: all of the record, on fewer windows each time; over many swings, a growing part of it; of many
   states, with fewer neighbours. */
extern const kb_task kb_task_of_states, kb_task_of_long_states, kb_task_of_wide_states;
const kb_task *kb_task_of_ode(const kb_ode_problem *problem);
/* kb_pde1d_problem: over a growing share of the record; on short windows, where lines change too much from one to the
   next; and the second pass after either, in which the simplest terms come first. */
extern const kb_task kb_task_of_one_axis, kb_task_of_short_windows, kb_task_of_simple_terms;
const kb_task *kb_task_of_pde1d(const kb_pde1d_problem *problem);
/* A grid of many values, without weights by run or constraints: kb_dense_search is due. */
bool kb_is_dense(const kb_pde1d_problem *problem);
/* Many data on a grid (docs/math.md, section 35): the weak form proposes, a part of the data that is large enough
   compares, and what is left is fitted to all of them, on windows where the record is longer than its solutions can be
   followed. *found: the best model follows the data to their noise; otherwise the result is empty, and a search from
   nothing is due. */
kbass_status kb_dense_search(const kb_pde1d_problem *problem, kb_run *run, kb_search_result *result, bool *found,
                             kbass_error *error);
/* The same for few data, all of which compare: what is found has few terms, too, and leaves no pattern. */
kbass_status kb_sparse_search(const kb_pde1d_problem *problem, kb_run *run, kb_search_result *result, bool *found,
                              kbass_error *error);
/* Data of which a field at rest is no worse an account than one that moves: the law without terms and its neighbours.
 *found: nothing is better; otherwise the result is empty. */
kbass_status kb_rest_search(const kb_pde1d_problem *problem, kb_run *run, kb_search_result *result, bool *found,
                            kbass_error *error);
extern const kb_task kb_task_of_axes; /* kb_pde_nd_problem */

#endif
