/* Discovery: from the scaled problem to the pool of arbitrated models, and from there to the answer.
 *
 *     field       length scale and noise of the bare field                     (problem.c)
 *     search      EP-EM from a grid of starts, refined by evidence             (anneal.c, refine.c)
 *     arbitrate   every candidate fitted through the integrated equation       (arbitrate.c)
 *     polish      the chosen model to convergence; probabilities over models   (answer.c)
 */
#ifndef KB_DISCOVER_H
#define KB_DISCOVER_H

#include "discover/pool.h"

typedef struct {
    kb_pool pool;        /* sorted, best first */
    kb_windows *windows; /* of the final fits */
    size_t n_starts, n_lost;
    size_t n_models;
    bool settled;
    double *neighbour_log_odds; /* per column: log odds of the chosen model with it added, by the message; -INFINITY if visited */
    double seconds[KBASS_STAGE_COUNT];
} kb_search_result;

kbass_status kb_discover(const kb_problem *problem, kb_run *run, kb_search_result *result, kbass_error *error);
void kb_search_result_clear(kb_search_result *result);

#endif
