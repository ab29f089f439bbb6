/* From the annealed field of a start to an entry of the pool that can be fitted. */
#ifndef KB_PROPOSE_ODE_POOL_ENTRY_H
#define KB_PROPOSE_ODE_POOL_ENTRY_H

#include "evidence/pool.h"
#include "propose/ode/annealer.h"

/* Windows to begin with: a power of two, each wide enough for a few samples and for the field's own scale. */
size_t kb_ode_problem_windows(const kb_ode_problem *problem);
/* The worker's field of a state at a row of the record, scaled. */
double kb_annealer_at(const kb_ode_problem *problem, kb_annealer *worker, size_t state, size_t row);
/* Enters worker->support with the weights, noise and window starts of worker->fields. */
kbass_status kb_pool_add_annealed(const kb_ode_problem *problem, kb_annealer *worker, kb_pool *pool,
                                  kbass_error *error);

#endif
