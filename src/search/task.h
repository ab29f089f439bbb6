/* What a search knows of a kind of data: where structures to begin with come from, how the record is extended stage by
 * stage, and its schedule. The strategy (strategy.h) is one for all; a task is a table of functions over a pass.
 */
#ifndef KB_SEARCH_TASK_H
#define KB_SEARCH_TASK_H

#include "search/neighbours.h"
#include "search/result.h"

/* ---------------------------------------------------------------- proposals */

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
/* Starts of all windows by regression of their first rows (kb_likelihood.guess). */
kbass_status kb_fit_guess(kb_likelihood *likelihood, const kb_windows *windows, kb_fit *fit, kbass_error *error);

/* ---------------------------------------------------------------- a pass and its task */

typedef struct kb_task kb_task;

/* One pass of the strategy: from proposals to polished models. */
typedef struct {
    const kb_task *task;
    const void *problem;
    size_t n_runs;
    kb_search search;
    kb_search_result *result;       /* search.pool is its pool, or that of one run */
    const kb_search_result *before; /* the answer in doubt that this pass comes after; NULL: this is the first */
    void *state;                    /* the task's own: resolution, what a stage is */
    /* said by kb_task.extend: */
    bool is_over;     /* there is no such stage, or no use in going on */
    bool is_same;     /* the stage is the one before */
    bool is_fitted;   /* the pool was fitted on the way */
    bool is_last;     /* there is no stage after this one */
    bool is_complete; /* the pool was fitted on the present stage before the run was stopped */
    kb_pool kept;     /* the pool after the stage before, where stages see all */
} kb_pass;

#define KB_WHOLE_RECORD ((size_t)-1) /* as a stage: that of the whole record */

struct kb_task {
    const kb_schedule *schedule;
    const kb_source *sources;
    unsigned first_sources; /* when the first pass is: KB_AT_FIRST or KB_ON_SHORT_WINDOWS */
    bool stages_see_all;    /* every stage sees the whole record, on fewer windows each time */
    bool passes_compare; /* fits of a second pass are of the same windows and resolution: both count in the averages */

    /* Resolution, workers, the empty pool, its windows. */
    kbass_status (*begin)(kb_pass *pass, kbass_error *error);
    /* Structures without weights to begin with; NULL: there are none. */
    kbass_status (*enter)(kb_pass *pass, kbass_error *error);
    /* Proposals into the pool, as this task fits them; what it takes over is no longer in `found`. */
    kbass_status (*take)(kb_pass *pass, kb_pool *found, kbass_error *error);
    /* The next stage: fewer windows or more rows, to which the pool goes along. */
    kbass_status (*extend)(kb_pass *pass, size_t stage, kbass_error *error);
    /* Raises the noise floor to the error of the resolution: true when it rose; and lowers it again. NULL: no floor */
    bool (*raise_floor)(kb_pass *pass);
    void (*lower_floor)(kb_pass *pass);
    /* Noise variance that the present windows show without any model. */
    double (*noise)(const kb_pass *pass);
    /* After a fit: is it no use to go on from these models? NULL: never */
    bool (*is_hopeless)(const kb_pass *pass);
    /* After exploring: has this stage lost the data that the stage before still followed? NULL: never */
    bool (*is_lost)(kb_pass *pass);
    /* To the windows or the resolution before, whose models are in the pool again. */
    kbass_status (*step_back)(kb_pass *pass, kbass_error *error);
    /* Of a second pass: all candidates again after a restricted search, and what the first pass found; NULL: no. */
    kbass_status (*widen)(kb_pass *pass, kbass_error *error);
    /* What belongs to the resolution and not to the law, to where the best model has most evidence; NULL: nothing. */
    kbass_status (*tune)(kb_pass *pass, kbass_error *error);
    /* A finer resolution; is_over when there is none. NULL: none */
    kbass_status (*refine)(kb_pass *pass, kbass_error *error);
    /* The resolution into the result, before the last polish; an answer that is none leaves the pool empty. */
    kbass_status (*finish)(kb_pass *pass, kbass_error *error);
    /* What the chosen model's residuals say, after the last polish; NULL: nothing. */
    kbass_status (*examine)(kb_pass *pass, kbass_error *error);
    void (*end)(kb_pass *pass);
    /* Is a second pass due, after which the better answer stays? */
    bool (*is_doubtful)(const void *problem, const kb_search_result *result);
    const kb_task *second; /* the task of that pass; NULL: there is none */
    /* The answer where no pass has one; NULL: there is none. */
    kbass_status (*answer)(const void *problem, kb_run *run, kb_search_result *result, kbass_error *error);
};

/* Fits the pool on the present stage, and searches from it, under the floor that the resolution sets. */
kbass_status kb_pass_fit(kb_pass *pass, int iterations, kbass_error *error);
kbass_status kb_pass_explore(kb_pass *pass, size_t beam, int rounds, kbass_error *error);
/* Asks the sources about the runs of the present windows. *n: how many proposals joined or were there. */
kbass_status kb_pass_ask(kb_pass *pass, unsigned when, size_t *n, kbass_error *error);
bool kb_pass_has_model(const kb_pass *pass);
/* The run that a window belongs to. */
size_t kb_pass_run(const kb_pass *pass, size_t window);
/* A structure with starts by regression and no weights, as an entry of the pool. */
kbass_status kb_pass_enter(kb_pass *pass, const kb_support *support, kb_fit **fit, kbass_error *error);
/* Does the floor that the resolution's error set still hide something of the best model's residuals? */
bool kb_pass_floor_matters(const kb_pass *pass);
kb_likelihood *kb_pass_likelihood(const kb_pass *pass);
/* The smallest noise variance that its discretisation allows. */
double kb_pass_floor(const kb_pass *pass);
/* Largest move of a model's weights from `before`, by column, in their standard deviations. */
double kb_weights_moved(const kb_fit *fit, const double *before);

#endif
