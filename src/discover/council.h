/* The search for fields that change beyond recognition from one line to the next, as chaotic ones do: the kernel engine
 * proposes, and short windows, each with a start of its own, decide (docs/math.md, section 12).
 */
#ifndef KB_COUNCIL_H
#define KB_COUNCIL_H

#include "discover/expedition.h"
#include "search/task.h"

/* Asks the sources that are asked then about the runs of the present windows; what the pool does not have joins it. *n:
   how many they proposed. */
kbass_status kb_council_ask(kb_expedition *expedition, unsigned when, size_t *n, kbass_error *error);

kbass_status kb_council_search(const kb_pde1d_problem *problem, kb_run *run, kb_search_result *result,
                               kbass_error *error);

#endif
