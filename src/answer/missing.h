/* Missing physics: does a term outside the dictionary explain what the law leaves, and where does it leave something?
 *
 * Each term of a wider built-in list is tried by the chosen model's own message, as if it were added and all weights
 * and starts refitted: a score test (docs/math.md, eq. 54). The residuals of the data are summed over tiles of the
 * domain. Both speak only when chance would let them in one record of a hundred, all that is tried taken together.
 */
#ifndef KB_ANSWER_MISSING_H
#define KB_ANSWER_MISSING_H

#include "answer/answer.h"
#include "problem/ode.h"
#include "problem/pde1d.h"
#include "problem/pde_nd.h"

/* Adds to the answer what is found, if anything; windows are shared out among the threads and ranks of the run. */
kbass_status kb_missing_of_states(const kb_ode_problem *problem, const kb_search_result *found, kb_run *run,
                                  kb_answer *answer, kbass_error *error);
kbass_status kb_missing_of_fields(const kb_pde1d_problem *problem, const kb_search_result *found, kb_run *run,
                                  kb_answer *answer, kbass_error *error);
/* Over several axes, of second order in time, and fields of --method em. */
kbass_status kb_missing_of_axes(const kb_pde_nd_problem *problem, const kb_search_result *found, kb_answer *answer,
                                kbass_error *error);

#endif
