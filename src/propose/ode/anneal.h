/* EP-EM with the field integrated out, annealed: one start of the search (docs/math.md, algorithm 1).
 *
 * Each iteration linearises at the current (z, w), integrates z out exactly, runs EP on the message about the weights
 * of all equations together, and moves z along with the posterior mean. The equation's variance tau falls from 1 to
 * 1e-3 of the squared slope, and the length scale shrinks with it: at first only the data inform the field, later the
 * equation.
 */
#ifndef KB_PROPOSE_ODE_ANNEAL_H
#define KB_PROPOSE_ODE_ANNEAL_H

#include "problem/ode.h"
#include "ep/ep.h"

typedef struct {
    double length_first, length_last; /* shares of the record */
    double variance;                  /* of the noise; held fixed: learned inside the loop it collapses */
} kb_anneal_start;

/* Runs on the patches' fields (n_patches), which end at the annealed z and one w; their messages add. `support`
   receives the columns with probability above 1/2, at least one per equation. False when numerical trouble ends the
   start or the run was stopped. */
bool kb_anneal(const kb_ode_problem *problem, const kb_anneal_start *start, kb_ode_field **fields, kb_ep *ep,
               double *work, kb_support *support, kb_run *run);
size_t kb_anneal_work(const kb_ode_problem *problem);

#endif
