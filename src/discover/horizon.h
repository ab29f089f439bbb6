/* The search for fields: horizon continuation (docs/math.md, algorithm 2).
 *
 * From the empty model on the first 12 % of the time lines, structures are proposed by the fits' own messages and
 * carried to 25, 50 and 100 % of the record; the best are fitted once more on a finer grid, until their weights stop
 * moving. Of several runs each is searched alone first, and its best models begin the search of all.
 */
#ifndef KB_HORIZON_H
#define KB_HORIZON_H

#include "search/neighbours.h"
#include "problem/pde1d.h"
#include "search/result.h"

/* Do lines change so much from one to the next that the search had better begin with short windows (council.h)? */
bool kb_is_restless(const kb_pde1d_problem *problem); /* in some run */
bool kb_pde1d_setup_is_restless(const kb_pde1d_setup *setup);

kbass_status kb_horizon_search(const kb_pde1d_problem *problem, kb_run *run, kb_search_result *result,
                               kbass_error *error);
/* By another route than that of the result before, which is in doubt: the simplest terms are carried through the record
   first, and terms that damp are tried beside what there is. No model where the data cannot be followed to about the
   noise that the result before left. */
kbass_status kb_horizon_search_simple(const kb_pde1d_problem *problem, const kb_search_result *before, kb_run *run,
                                      kb_search_result *result, kbass_error *error);

#endif
