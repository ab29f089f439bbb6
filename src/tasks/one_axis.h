/* Fields over one space axis: what the files of its tasks share.
 *
 * Grids: the search runs on the coarsest, finer ones refine its best models. A grid's own error, by the best model's
 * predictions on it and on the next, is the floor of the noise there: what lies below would be explained by terms that
 * are not there (docs/math.md, section 12).
 */
#ifndef KB_TASKS_ONE_AXIS_H
#define KB_TASKS_ONE_AXIS_H

#include "tasks/shooting.h"
#include "tasks/tasks.h"

/* How often nodes and steps were refined. */
typedef struct {
    size_t nodes, steps;
} kb_line_grid;

static inline bool kb_line_grid_is_same(kb_line_grid a, kb_line_grid b)
{
    return a.nodes == b.nodes && a.steps == b.steps;
}

typedef struct {
    const kb_pde1d_problem *problem;
    kb_pde1d_setup *setups;     /* by run: periodicity and profile; nodes and steps are the grid's. The result's */
    size_t *windows;            /* by run: how many; the result's */
    size_t max_windows;         /* all of them */
    bool shares_tangents;       /* steps of a fit do; where models begin as proposals, near the end */
    kb_line_grid grid, coarser; /* the present one, and the one before it */
    kb_dynamics *finer;         /* on a grid finer in both, to compare this one's error */
    double *here, *there;       /* predictions on both */
    size_t stage;
    double *log_odds; /* of the simple terms' search, or NULL */
    kb_columns simple;
} kb_one_axis;

static inline kb_one_axis *kb_one_axis_of(const kb_pass *pass) { return pass->state; }

/* Workers on a grid, and dynamics on one that is finer in nodes and steps. */
kbass_status kb_one_axis_set_grid(kb_pass *pass, kb_line_grid grid, kbass_error *error);
/* A shooter on the present grid, with the present periods. */
kbass_status kb_one_axis_make_shooter(const kb_pass *pass, size_t max_tangents, kb_shooter **out, kbass_error *error);
bool kb_one_axis_raise_floor(kb_pass *pass);
void kb_one_axis_lower_floor(kb_pass *pass);
/* Finer where the best model's predictions change most by it. */
kbass_status kb_one_axis_refine(kb_pass *pass, kbass_error *error);
kbass_status kb_one_axis_step_back(kb_pass *pass, kbass_error *error);
/* Leaves the present grid in the result's setups. */
kbass_status kb_one_axis_finish(kb_pass *pass, kbass_error *error);

/* Moves the period of a periodic axis to where the best model has most evidence, and refits the pool there. */
kbass_status kb_one_axis_tune_period(kb_pass *pass, kbass_error *error);

/* kb_examine_residuals, and: does the best model follow the data on windows twice as long? */
kbass_status kb_examine_windows(kb_pass *pass, kbass_error *error);

kbass_status kb_one_axis_begin(kb_pass *pass, kbass_error *error);
/* The same with so many windows in each run, on a grid. */
kbass_status kb_one_axis_begin_on(kb_pass *pass, const size_t *windows, kb_line_grid grid, kbass_error *error);
void kb_one_axis_end(kb_pass *pass);
kbass_status kb_one_axis_take(kb_pass *pass, kb_pool *found, kbass_error *error);
/* Values of all runs. */
double kb_pde1d_values(const kb_pde1d_problem *problem);
/* Do fields change beyond recognition from line to line? */
bool kb_one_axis_is_restless(const kb_pde1d_problem *problem);
/* Has the answer few terms, and does it leave no pattern? A wrong law takes many, or leaves what it cannot follow. */
bool kb_one_axis_is_plain(const kb_schedule *schedule, const kb_pde1d_problem *problem, const kb_search_result *result);
double kb_one_axis_noise(const kb_pass *pass);
/* The windows, one for a run, to that share of their lines; false when they were there before. */
bool kb_one_axis_reach(kb_pass *pass, double share);
kbass_status kb_one_axis_extend(kb_pass *pass, size_t stage, kbass_error *error);
/* An entry from nothing: starts by regression, no term but the required ones and, where there are any, these. */
kbass_status kb_one_axis_enter(kb_pass *pass, size_t n, const size_t *columns, kbass_error *error);
/* The scaled weight, 1 or -1, by which a term u_xx, u_xxxx, ... damps short waves; 0 of any other. */
double kb_one_axis_damping(const kb_pde1d_problem *problem, size_t column);
/* The best of these models with damping beside what they have: from where they stand, the short waves of their profiles
   would say that there is none. */
kbass_status kb_one_axis_enter_damped(kb_pass *pass, const kb_pool *models, kbass_error *error);

#endif
