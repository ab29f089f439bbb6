/* Arbitration: every candidate structure fitted to the data through the integrated equation, its neighbours proposed
 * from the fit's own message about all columns, and all compared by evidence (docs/math.md, eqs 19 to 23).
 *
 * The fits begin on short windows, where any model can be integrated, and the windows merge pairwise until one spans
 * the record or, on a chaotic record, until the best model can no longer follow the data.
 */
#ifndef KB_ARBITRATE_H
#define KB_ARBITRATE_H

#include "discover/pool.h"

/* Windows to begin with: a power of two, each wide enough for a few samples and for the field's own scale. */
size_t kb_arbitrate_windows(const kb_problem *problem);

/* Enters worker->support with the weights, noise and window starts of worker->fields. */
kbass_status kb_arbitrate_enter(const kb_problem *problem, kb_worker *worker, kb_pool *pool, kbass_error *error);

/* Leaves the pool sorted at the final windows (owned by the caller); *settled tells whether the search ran dry. */
kbass_status kb_arbitrate(const kb_problem *problem, kb_worker **workers, kb_pool *pool, kb_run *run,
                          kb_windows **windows, bool *settled, kbass_error *error);

#endif
