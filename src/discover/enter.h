/* From the annealed field of a start to an entry of the pool that arbitration can fit. */
#ifndef KB_ENTER_H
#define KB_ENTER_H

#include "discover/pool.h"
#include "discover/worker.h"

/* Windows to begin with: a power of two, each wide enough for a few samples and for the field's own scale. */
size_t kb_enter_windows(const kb_problem *problem);
/* Enters worker->support with the weights, noise and window starts of worker->fields. */
kbass_status kb_enter(const kb_problem *problem, kb_worker *worker, kb_pool *pool, kbass_error *error);

#endif
