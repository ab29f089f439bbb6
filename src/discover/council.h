/* The search for fields that change beyond recognition from one line to the next, as chaotic ones do: the kernel engine
 * proposes, and short windows, each with a start of its own, decide (docs/math.md, section 12).
 */
#ifndef KB_COUNCIL_H
#define KB_COUNCIL_H

#include "discover/expedition.h"
#include "propose/kernel/homotopy.h"

enum { KB_COUNCIL_OPINIONS = 8 };

/* What the kernel engine thinks of n_runs runs from `first` on: at most KB_COUNCIL_OPINIONS, best first; clear each. */
kbass_status kb_council_hear(const kb_pde1d_problem *problem, size_t first, size_t n_runs, kb_run *run,
                             kb_kernel_fit *proposals, size_t *n, kbass_error *error);
/* An proposal as an entry of the pool: its weights, and starts by regression of each window's first lines. */
kbass_status kb_council_enter(kb_expedition *expedition, const kb_kernel_fit *proposal, kbass_error *error);

kbass_status kb_council_search(const kb_pde1d_problem *problem, kb_run *run, kb_search_result *result,
                               kbass_error *error);

#endif
