/* EP-EM with the field integrated out, as an answer of its own (--method em): the kernel engine proposes structures by
 * EP on the message about all columns, weighs each by the evidence of the data with the equation as part of the prior
 * (docs/math.md, eq. 15), and the models it weighed are the fits that the answer averages over. Nothing is integrated
 * in time. The same engine proposes to the default search. Fields over any number of axes; states: states.h.
 */
#ifndef KB_EM_FIELDS_H
#define KB_EM_FIELDS_H

#include "problem/pde_nd.h"
#include "search/result.h"

#define KB_EM_REPORTED 12.0 /* nats below the best: what the answer still averages over, of fields and of states */

/* The run's stage goes on from where it is; `result` is empty but for its seconds. */
kbass_status kb_em_search(const kb_pde_nd_problem *problem, kb_run *run, kb_search_result *result, kbass_error *error);

#endif
