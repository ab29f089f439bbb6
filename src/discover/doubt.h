/* The search for fields along one axis: by short windows where lines change too much (council.h), by horizon
 * continuation otherwise (horizon.h). Where its answer is in doubt, or data are few, a second search takes another
 * route, and the evidence decides.
 */
#ifndef KB_DOUBT_H
#define KB_DOUBT_H

#include "problem/pde1d.h"
#include "search/result.h"

kbass_status kb_doubt_search(const kb_pde1d_problem *problem, kb_run *run, kb_search_result *result,
                             kbass_error *error);

#endif
