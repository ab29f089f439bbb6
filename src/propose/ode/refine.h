/* Structure search by the evidence of the data, the equation being part of the field's prior (docs/math.md, eqs 15 to
 * 17).
 *
 * From the message about all columns the best moves are proposed on the quadratic; a proposal is solved jointly for
 * field and weights and accepted only when the true evidence rises.
 */
#ifndef KB_PROPOSE_ODE_REFINE_H
#define KB_PROPOSE_ODE_REFINE_H

#include "propose/ode/annealer.h"

/* Refines worker->support on the field of a record of one patch, at a level; returns its evidence, -INFINITY in
 * numerical trouble. */
double kb_refine(const kb_ode_problem *problem, kb_annealer *worker, size_t level, kb_run *run);

#endif
