/* Exploring the neighbourhood of fitted models: proposals from each fit's own message about all columns, fitted in
 * parallel, until nothing within reach of the best is left unexplored. Serves trajectories and fields alike.
 */
#ifndef KB_SEARCH_NEIGHBOURS_H
#define KB_SEARCH_NEIGHBOURS_H

#include "base/run.h"
#include "evidence/pool.h"
#include "search/schedule.h"
#include "search/workers.h"
#include "weights/analogy.h"

typedef struct {
    const kb_columns *columns;
    const kb_support *all;        /* every column */
    kb_analogy *const *analogies; /* KB_ANALOGIES: of like states in a line and in a ring; NULL, or NULL each: none */
    kb_workers workers;           /* one for each thread */
    kb_pool *pool;
    kb_run *run;
    kb_windows *windows; /* on which the pool is fitted */
    bool screened;       /* small right-hand sides are proposed too, all of them tried on the quadratic */
    bool settles;        /* of neighbours, only those are proposed that may have more evidence */
    bool grows;          /* what runs away from where it begins is fitted on a growing part of its windows */
    double deadline;     /* of the fits that a stopped run is still granted; 0 while it runs */
    const kb_schedule *schedule;
} kb_search;

/* Fits every entry of the pool on the search's windows, and sorts it. */
kbass_status kb_search_fit(kb_search *search, int iterations, kbass_error *error);
/* Explores the best `beam` models for at most `rounds`; *settled: nothing was left to explore. */
kbass_status kb_search_explore(kb_search *search, size_t beam, int rounds, bool *settled, kbass_error *error);

#endif
