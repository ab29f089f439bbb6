/* EP-EM from a grid of length scales and noise levels, as a source of proposals for states (search/task.h). */
#ifndef KB_PROPOSE_ODE_STARTS_H
#define KB_PROPOSE_ODE_STARTS_H

#include "propose/ode/anneal.h"
#include "propose/ode/annealer.h"
#include "search/task.h"

enum { KB_MOST_STARTS = 12 }; /* room: starts of the annealing */

/* The grid of starts; returns how many. */
size_t kb_anneal_starts(const kb_ode_problem *problem, kb_anneal_start *starts);
/* Anneals the worker's fields; false when that comes to nothing, or to more terms than anything could follow. */
bool kb_anneal_start_run(const kb_ode_problem *problem, const kb_anneal_start *start, kb_annealer *worker, kb_run *run);
/* The level of length scale at which structures are refined. */
size_t kb_refine_level(const kb_ode_problem *problem);

/* Each start's annealed structure, of records that are not large or of any; and that one refined by evidence, which
   records of one patch have. */
kbass_status kb_propose_annealed(kb_proposals *proposals, kbass_error *error);
kbass_status kb_propose_annealed_anyway(kb_proposals *proposals, kbass_error *error);
kbass_status kb_propose_refined(kb_proposals *proposals, kbass_error *error);

#endif
