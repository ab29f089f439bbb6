/* Exploring the neighbourhood of fitted models: proposals from each fit's own message about all columns, fitted in
 * parallel, until nothing within reach of the best is left unexplored. Serves trajectories and fields alike.
 */
#ifndef KB_SEARCH_NEIGHBOURS_H
#define KB_SEARCH_NEIGHBOURS_H

#include "base/run.h"
#include "evidence/pool.h"
#include "search/schedule.h"

/* One thread's workspace. */
typedef struct {
    kb_shooter *shooter;
    kb_message *message; /* about all columns */
    double *work;        /* kb_message_work */
    kb_support trial;
} kb_search_worker;

/* Takes the shooter over, also when it fails. */
kbass_status kb_search_worker_create(kb_shooter *shooter, const kb_columns *columns, kb_search_worker **out,
                                     kbass_error *error);
void kb_search_worker_destroy(kb_search_worker *worker);

typedef struct {
    const kb_columns *columns;
    const kb_support *all; /* every column */
    int n_workers;         /* threads */
    kb_search_worker **workers;
    kb_pool *pool;
    kb_run *run;
    kb_windows *windows; /* on which the pool is fitted */
    bool screened;       /* small right-hand sides are proposed too, all of them tried on the quadratic */
    double deadline;     /* of the fits that a stopped run is still granted; 0 while it runs */
    const kb_schedule *schedule;
} kb_search;

/* Fits every entry of the pool on the search's windows, and sorts it. */
kbass_status kb_search_fit(kb_search *search, int iterations, kbass_error *error);
/* Explores the best `beam` models for at most `rounds`; *settled: nothing was left to explore. */
kbass_status kb_search_explore(kb_search *search, size_t beam, int rounds, bool *settled, kbass_error *error);

#endif
