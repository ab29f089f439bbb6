/* What a search found: the arbitrated pool and how it was reached. */
#ifndef KB_RESULT_H
#define KB_RESULT_H

#include "discover/pool.h"
#include "forward/line.h"

typedef struct {
    kb_pool pool;        /* sorted, best first */
    kb_windows *windows; /* of the final fits */
    kb_line_settings line; /* of fields: the grid of the final fits, */
    kb_profile profile;    /* and the prior of their profiles */
    size_t n_starts, n_lost;
    size_t n_models;
    bool settled;
    double *neighbour_log_odds; /* per column: log odds of the chosen model with it added, by the message; -INFINITY if
                                   visited */
    double seconds[KBASS_STAGE_COUNT];
} kb_search_result;

bool kb_has_model(const kb_search_result *result);
void kb_search_result_clear(kb_search_result *result);

#endif
