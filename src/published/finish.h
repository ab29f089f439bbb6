/* --paper-finish: field, weights and length scales at once, from the terms that the loop left; ours, not the paper's.
 *
 *     minimise over z, log(length) the objective of model.h, the weights at their best for each field:
 *     w = (Phi'Phi / tau + 1 / slab)^{-1} Phi'D_t f / tau,  so that the gradient by z and lengths is the partial one
 *
 * by L-BFGS whose steps begin with the Hessian of laplace.h. It is where the alternation of E and M steps would arrive,
 * hundreds of thousands of steps later, and never adds, drops or re-ranks a term.
 */
#ifndef KB_PUBLISHED_FINISH_H
#define KB_PUBLISHED_FINISH_H

#include "base/run.h"
#include "published/estep.h"

/* The posterior's weights and sds of the terms left are those of the joint solution; probabilities stay.
 *has_converged: the gradient has become small. On failure in numbers the loop's answer stands. */
kbass_status kb_published_finish(kb_published_posterior *posterior, long step, kb_run *run, bool *has_converged,
                                 kbass_error *error);

#endif
