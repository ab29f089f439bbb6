/* Exploring the neighbourhood of fitted models: proposals from each fit's own message about all columns, fitted in
 * parallel, until nothing within reach of the best is left unexplored. Serves trajectories and fields alike.
 */
#ifndef KB_EXPLORE_H
#define KB_EXPLORE_H

#include "base/run.h"
#include "discover/pool.h"

/* One thread's workspace. */
typedef struct {
    kb_shooter *shooter;
    kb_message *message; /* about all columns */
    double *work;        /* kb_message_work */
    kb_support trial;
} kb_explorer;

/* Takes the shooter over, also when it fails. */
kbass_status kb_explorer_create(kb_shooter *shooter, const kb_columns *columns, kb_explorer **out, kbass_error *error);
void kb_explorer_destroy(kb_explorer *explorer);

typedef struct {
    const kb_columns *columns;
    const kb_support *all; /* every column */
    int n_explorers;       /* threads */
    kb_explorer **explorers;
    kb_pool *pool;
    kb_run *run;
    kb_windows *windows;  /* on which the pool is fitted */
    bool screened;        /* small right-hand sides are proposed too, all of them tried on the quadratic */
    double deadline;      /* of the fits that a stopped run is still granted; 0 while it runs */
    double worth_fitting; /* nats behind its parent within which a neighbour is fitted; 0: as many as usual */
    size_t most_moves;    /* neighbours by a single move; 0: as many as usual */
} kb_arena;

/* Fits every entry of the pool on the arena's windows, and sorts it. */
kbass_status kb_arena_fit(kb_arena *arena, int iterations, kbass_error *error);
/* Explores the best `beam` models for at most `rounds`; *settled: nothing was left to explore. */
kbass_status kb_arena_search(kb_arena *arena, size_t beam, int rounds, bool *settled, kbass_error *error);

#endif
