/* One search of the kernel engine at work: its patches, its workspace, and the pool of states worth keeping. */
#ifndef KB_SEEKER_H
#define KB_SEEKER_H

#include "discover/homotopy.h"
#include "ep/ep.h"

enum { KB_POOL_STATES = 64, KB_SEEKER_SPARES = 4 };

typedef struct {
    size_t n;
    kb_state *states[KB_POOL_STATES]; /* distinct supports */
} kb_state_pool;

typedef struct {
    const kb_terrain *terrain;
    const kb_columns *columns;
    kb_mosaic *mosaic;
    kb_run *run;
    kb_ep *ep;
    kb_state_pool pool;
    kb_state *spare[KB_SEEKER_SPARES];
    kb_message *message; /* the last one about all columns, with the slabs of its time */
    kb_columns view;     /* the columns with these slabs */
    double *log_odds, *work;
    kb_support trial, chosen;
    size_t n_weighed;   /* states */
    bool has_many_data; /* the best model's hyperparameters are near those of every model that matters */
    double least_tau;   /* below it the patches contradict each other: the basis is what is seen; 0: not known */
    kb_steps coarsest;  /* longer length scales were found to bias the weights */
    double freedom;     /* of Student's t in evaluations; 0: Gaussian */
} kb_seeker;

kbass_status kb_seeker_create(const kb_terrain *terrain, const kb_columns *columns, kb_run *run, kb_seeker **out,
                              kbass_error *error);
void kb_seeker_destroy(kb_seeker *seeker);

/* Keeps a copy; of two states with one support the better. */
kbass_status kb_pool_keep(kb_seeker *seeker, const kb_state *state, kbass_error *error);
void kb_state_pool_sort(kb_state_pool *pool);
void kb_state_pool_clear(kb_state_pool *pool);
const kb_state *kb_state_pool_find(const kb_state_pool *pool, const kb_support *support);

/* Takes over the mosaic's message about all columns. */
void kb_seeker_take_message(kb_seeker *seeker);
/* Spike and slab on that message; the columns at least this likely, required ones, and one per equation. */
bool kb_seeker_select(kb_seeker *seeker, double threshold, kb_support *selected);
/* The message's weights for a support, by column. */
void kb_seeker_weights(kb_seeker *seeker, const kb_support *support, double *w);
/* Solves and weighs a state at its own support and hyperparameters; the evidence, -INFINITY in trouble or when stopped.
 */
double kb_seeker_evaluate(kb_seeker *seeker, kb_state *state, int iterations, bool all_columns);

/* Screening, homotopy and ascent: the pool ends sorted, best first. A run that is stopped leaves what there is. */
kbass_status kb_seeker_search(kb_seeker *seeker, kbass_error *error);
kbass_status kb_opinion_form(const kb_seeker *seeker, const kb_state *state, kb_opinion *out, kbass_error *error);
/* All small structures on the quadratic about the bare field; the best go to the pool. */
kbass_status kb_seeker_screen(kb_seeker *seeker, kbass_error *error);
/* The bare field with its message about all columns; and what EP finds likelier than `threshold` there, with its
   weights: where a search may begin. */
bool kb_seeker_begin(kb_seeker *seeker, kb_state *state);
bool kb_seeker_glance(kb_seeker *seeker, double threshold, kb_state *state);
/* For many data: the likeliest structure at every stage while tau falls and the length scales shrink, until the
   evidence has been falling for two stages or the patches contradict each other; each structure met goes to the pool.
 */
void kb_seeker_descend(kb_seeker *seeker, kbass_error *error);
/* Tries steps up and down along tau, the length scale of time and those of space while they are worth it; at most
   `budget` evaluations. */
void kb_seeker_settle(kb_seeker *seeker, kb_state *state, kb_state *trial, bool with_tau, int sweeps, int budget);
/* Shortens the length scales of a state just weighed while that moves its weights by more than half their standard
   deviations, and keeps later steps from longer ones; false when they stay. */
bool kb_seeker_loosen(kb_seeker *seeker, kb_state *state, kb_state *trial);
/* Climbs from the pool's best states by hyperparameters and moves; the pool ends with what was weighed on the way. */
kbass_status kb_seeker_ascend(kb_seeker *seeker, kbass_error *error);
/* Gives the pool's states within so many nats of the best also a try at the best one's hyperparameters. */
void kb_seeker_level(kb_seeker *seeker, double nats);

#endif
