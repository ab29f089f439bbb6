/* The weak form as a source of proposals for states over many swings, and the integral form for many states, where the
 * kernel's starts would cost too much.
 */
#ifndef KB_PROPOSE_ODE_WEAK_H
#define KB_PROPOSE_ODE_WEAK_H

#include "problem/ode.h"
#include "search/task.h"

kbass_status kb_propose_weak(kb_proposals *proposals, kbass_error *error);
/* What the problem found when it was made (problem/wide.h). */
kbass_status kb_propose_integral(kb_proposals *proposals, kbass_error *error);
/* A structure and its weights, by column, as an entry of the pool without starts. */
kbass_status kb_propose_structure(const kb_ode_problem *problem, const kb_support *support, const double *w,
                                  kb_pool *pool, kbass_error *error);

#endif
