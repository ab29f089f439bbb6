/* A discovery problem: everything that is fixed before the search and shared, read-only, by its threads. */
#ifndef KB_PROBLEM_ODE_H
#define KB_PROBLEM_ODE_H

#include "base/run.h"
#include "forward/ode/flow.h"
#include "collocation/ode_field.h"
#include "weights/analogy.h"
#include "weights/frame.h"

enum { KB_MAX_LEVELS = 40 }; /* room: length scales of the ladder */

typedef struct kb_structures kb_structures; /* problem/wide.h */

typedef struct {
    const kbass_settings *settings;
    const kb_dictionary *dictionary;
    kb_record *record;
    kb_columns *columns;
    kb_support all;       /* every column */
    size_t n_rows_before; /* the record was condensed; 0: it was not */
    size_t n_cuts;        /* parts of the longest run; the others have as many as their time asks for */
    size_t *run_patch;    /* n_runs + 1: each run's first patch */
    double period;        /* visible, a share of the longest run (gp/swings.h) */
    bool is_long;         /* more swings than one search over all of them follows: searched on a growing part */
    size_t n_patches;     /* equal parts of the runs, each with a field of its own; their messages add. Of a long record
                             only a sample of them, evenly spread */
    kb_record **slices;   /* n_patches */
    size_t n_mesh;        /* points per patch */
    size_t n_levels;
    kb_level **levels; /* n_levels x n_patches: levels[level * n_patches + patch]; lengths descending */
    size_t max_rank;
    size_t best_level;         /* of the field's own marginal likelihood */
    double best_variance;      /* of a coarse grid, */
    double noise_variance;     /* and between its points, where the likelihood is largest */
    size_t *state_level;       /* n_states: of each state's own bare field, */
    double *state_variance;    /* and its noise; the common ones where states are few */
    size_t n_reference;        /* even points over each run: run r has those from reference_start[r] */
    size_t *reference_start;   /* n_runs + 1 */
    double *reference;         /* n_reference x n_variables: the field without any equation, in the data's units */
    double *follow;            /* n_reference x n_states: the same in scaled units, for states that are only followed */
    double *reference_slope;   /* n_reference x n_states: its dq/ds */
    double *slope_squares;     /* n_states */
    bool is_wide;              /* many states: each equation is searched for itself first */
    bool is_middle;            /* some states: likewise, and the kernel's way where that leaves data unexplained */
    kb_structures *structures; /* what that found; NULL otherwise */
    kb_analogy *analogies[KB_ANALOGIES]; /* of the columns then, in a line and in a ring; NULL otherwise */
    int threads;
} kb_ode_problem;

/* Scales the data, finds length scale and noise of the bare field, scales the dictionary on it. */
kbass_status kb_ode_problem_create(const kbass_data *data, const kbass_settings *settings,
                                   const kb_dictionary *dictionary, kb_ode_problem **out, kbass_error *error);
void kb_ode_problem_destroy(kb_ode_problem *problem);
kb_frame kb_ode_problem_frame(const kb_ode_problem *problem);
/* Is the kernel's way through many starts too dear, so that the weak form proposes: many swings, or many states? */
bool kb_ode_problem_is_large(const kb_ode_problem *problem);
/* What states without an equation follow. */
kb_follow kb_ode_problem_follow(const kb_ode_problem *problem);
/* A level's length scale as a share of the whole record, and the level nearest to a length. */
double kb_ode_problem_length(const kb_ode_problem *problem, size_t level);
size_t kb_ode_problem_level(const kb_ode_problem *problem, double length);

#endif
