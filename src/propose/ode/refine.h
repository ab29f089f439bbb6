/* Structure search by the evidence of the data, the equation being part of the field's prior (docs/math.md, eqs 15 to
 * 17).
 *
 * From the message about all columns the best moves are proposed on the quadratic; a proposal is solved jointly for
 * field and weights and accepted only when the true evidence rises.
 */
#ifndef KB_PROPOSE_ODE_REFINE_H
#define KB_PROPOSE_ODE_REFINE_H

#include "propose/ode/annealer.h"

/* Refines worker->support on the fields of all patches, at a level; returns its evidence, -INFINITY in numerical
 * trouble. */
double kb_refine(const kb_ode_problem *problem, kb_annealer *worker, size_t level, kb_run *run);
/* The evidence of worker->trial, solved from the fields as they are and the weights that worker->message foretells. */
double kb_refine_weigh(kb_annealer *worker);
/* worker->support solved, its noise learned, and weighed. */
double kb_refine_settle(kb_annealer *worker, kb_run *run);
void kb_annealer_set_level(const kb_ode_problem *problem, kb_annealer *worker, size_t level);

#endif
