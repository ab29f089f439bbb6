/* One search of the kernel engine at work: its patches, its workspace, and the pool of states worth keeping. */
#ifndef KB_PROPOSE_KERNEL_SEARCH_H
#define KB_PROPOSE_KERNEL_SEARCH_H

#include "propose/kernel/homotopy.h"
#include "ep/ep.h"

enum { KB_KERNEL_POOL_STATES = 64 };  /* models: kept, the best; memory */
enum { KB_KERNEL_SEARCH_SPARES = 4 }; /* room: models at work */

typedef struct {
    size_t n;
    kb_kernel_state *states[KB_KERNEL_POOL_STATES]; /* distinct supports */
} kb_kernel_pool;

/* The message about groups of columns that constraints tie (weights/ties.h). */
typedef struct {
    double *G, *b, *slab, *log_odds, *work;
    size_t *group; /* of each column */
} kb_merged;

typedef struct {
    const kb_patched_domain *domain;
    const kb_columns *columns;
    kb_patch_solver *solver;
    kb_run *run;
    kb_ep *ep;                  /* about groups of columns, */
    double *probability, *mean; /* and what it says of each column */
    kb_merged merged;
    kb_kernel_pool pool;
    kb_kernel_state *spare[KB_KERNEL_SEARCH_SPARES];
    kb_message *message; /* the last one about all columns, with the slabs of its time */
    kb_columns view;     /* the columns with these slabs */
    double *log_odds, *work;
    kb_support trial, chosen;
    size_t n_weighed;    /* states */
    bool has_many_data;  /* the best model's hyperparameters are near those of every model that matters */
    double least_tau;    /* below it the patches contradict each other: the basis is what is seen; 0: not known */
    kb_steps coarsest;   /* longer length scales were found to bias the weights */
    kbass_status status; /* of the pool: a model that there was no memory to keep is an error, not a model less */
    double freedom;      /* of Student's t in evaluations; 0: Gaussian */
} kb_kernel_search;

kbass_status kb_kernel_search_create(const kb_patched_domain *domain, const kb_columns *columns, kb_run *run,
                                     kb_kernel_search **out, kbass_error *error);
void kb_kernel_search_destroy(kb_kernel_search *search);

/* Keeps a copy; of two states with one support the better. search->status tells when there was no memory. */
void kb_kernel_pool_keep(kb_kernel_search *search, const kb_kernel_state *state);
/* KBASS_OK, or that memory ran out on the way. */
kbass_status kb_kernel_search_status(const kb_kernel_search *search, kbass_error *error);
void kb_kernel_pool_sort(kb_kernel_pool *pool);
void kb_kernel_pool_clear(kb_kernel_pool *pool);
const kb_kernel_state *kb_kernel_pool_find(const kb_kernel_pool *pool, const kb_support *support);

/* Takes over the solver's message about all columns. */
void kb_kernel_search_take_message(kb_kernel_search *search);
/* Spike and slab on that message; the columns at least this likely, required ones, and one per equation. */
bool kb_kernel_search_select(kb_kernel_search *search, double threshold, kb_support *selected);
/* The message's weights for a support, by column. */
void kb_kernel_search_weights(kb_kernel_search *search, const kb_support *support, double *w);
/* Solves and weighs a state at its own support and hyperparameters; the evidence, -INFINITY in trouble or when stopped.
 */
double kb_kernel_search_evaluate(kb_kernel_search *search, kb_kernel_state *state, int iterations, bool all_columns);

/* Screening, homotopy and ascent: the pool ends sorted, best first. A run that is stopped leaves what there is. */
kbass_status kb_kernel_search_run(kb_kernel_search *search, kbass_error *error);
/* All small structures on the quadratic about the bare field; the best go to the pool. */
kbass_status kb_kernel_search_screen(kb_kernel_search *search, kbass_error *error);
/* The bare field with its message about all columns; and what EP finds likelier than `threshold` there, with its
   weights: where a search may begin. */
bool kb_kernel_search_begin(kb_kernel_search *search, kb_kernel_state *state);
bool kb_kernel_search_propose(kb_kernel_search *search, double threshold, kb_kernel_state *state);
/* For many data: the likeliest structure at every stage while tau falls and the length scales shrink, until the
   evidence has been falling for two stages or the patches contradict each other; each structure met goes to the pool.
 */
kbass_status kb_kernel_search_descend(kb_kernel_search *search, kbass_error *error);
/* Tries steps up and down along tau, the length scale of time and those of space while they are worth it; at most
   `budget` evaluations. */
void kb_kernel_search_tune(kb_kernel_search *search, kb_kernel_state *state, kb_kernel_state *trial, bool with_tau,
                           int sweeps, int budget);
/* Shortens the length scales of a state just weighed while that moves its weights by more than half their standard
   deviations, and keeps later steps from longer ones; false when they stay. */
bool kb_kernel_search_shorten(kb_kernel_search *search, kb_kernel_state *state, kb_kernel_state *trial);
/* Climbs from the pool's best states by hyperparameters and moves; the pool ends with what was weighed on the way. */
kbass_status kb_kernel_search_ascend(kb_kernel_search *search, kbass_error *error);
/* Descent and ascent. */
kbass_status kb_kernel_search_descent(kb_kernel_search *search, kbass_error *error);
/* Gives the pool's states within so many nats of the best also a try at the best one's hyperparameters. */
void kb_kernel_search_align(kb_kernel_search *search, double nats);

#endif
