/* The search over several space axes, or of second order in time, where the kernel engine gives the answer itself: all
 * patches of the domain take part in every message, and the models it weighed are the fits that the answer averages
 * over (docs/math.md, section 15).
 */
#ifndef KB_EXPANSE_H
#define KB_EXPANSE_H

#include "problem/pde_nd.h"
#include "search/result.h"

kbass_status kb_expanse_search(const kb_pde_nd_problem *problem, kb_run *run, kb_search_result *result,
                               kbass_error *error);

#endif
