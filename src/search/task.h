/* What a search knows of a kind of data: where structures to begin with come from. */
#ifndef KB_SEARCH_TASK_H
#define KB_SEARCH_TASK_H

#include "base/run.h"
#include "evidence/pool.h"

/* When a source is asked; several of them may be joined by |. */
enum {
    KB_AT_FIRST = 1,          /* before the first stage */
    KB_AGAIN = 2,             /* in place of the first ones, when their answer leaves much unexplained */
    KB_ON_SHORT_WINDOWS = 4,  /* before the first stage of fields that change much from line to line */
    KB_IN_EACH_RUN = 8,       /* of several runs of fields, each searched alone first: after its last stage */
    KB_WHERE_UNEXPLAINED = 16 /* after the last stage, when the best model leaves much of the data unexplained */
};

/* What is asked, and what for. */
typedef struct {
    const void *problem;      /* kb_ode_problem, kb_pde1d_problem or kb_pde_nd_problem */
    size_t first_run, n_runs; /* of the problem */
    kb_run *run;              /* clock and the wish to stop */
    kb_pool *pool;            /* proposals are added here */
    size_t n_starts, n_lost;  /* counted by the sources: attempts, and those that came to nothing */
} kb_proposals;

/* Adds entries to proposals->pool: a support, weights by column and noise variances, all scaled; and starts of
   pool->max_windows windows with fit->n_windows, or n_windows = 0: the search then finds starts by regression. A
   structure may be added with several starts. Nothing to propose is no error. */
typedef kbass_status (*kb_propose_function)(kb_proposals *proposals, kbass_error *error);

typedef struct {
    const char *name;
    unsigned when;
    kb_propose_function propose;
} kb_source;

/* Asks all sources of a list, which ends with one without a name, that are asked then. */
kbass_status kb_propose(const kb_source *sources, unsigned when, kb_proposals *proposals, kbass_error *error);

/* Starts of all windows by regression of their first rows (kb_dynamics.guess). */
kbass_status kb_fit_guess(kb_dynamics *dynamics, const kb_windows *windows, kb_fit *fit, kbass_error *error);

#endif
