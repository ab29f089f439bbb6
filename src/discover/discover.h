/* Discovery: from the scaled problem to the pool of arbitrated models, and from there to the answer.
 *
 *     field       length scale and noise of the bare field                     (problem.c)
 *     search      EP-EM from a grid of starts, refined by evidence             (anneal.c, refine.c)
 *     arbitrate   every candidate fitted through the integrated equation       (arbitrate.c)
 *     polish      the chosen model to convergence; probabilities over models   (answer.c)
 */
#ifndef KB_DISCOVER_H
#define KB_DISCOVER_H

#include "problem/ode.h"
#include "search/result.h"

kbass_status kb_discover(const kb_ode_problem *problem, kb_run *run, kb_search_result *result, kbass_error *error);
#endif
