/* Forward searches for fields, equipped: workers on a grid, which may be refined, and the period, which may be tuned.
 *
 * A grid's own error, by the best model's predictions on it and on the next, is the floor of the noise there: what lies
 * below would be explained by terms that are not there (docs/math.md, section 12).
 */
#ifndef KB_EXPEDITION_H
#define KB_EXPEDITION_H

#include "search/neighbours.h"
#include "problem/pde1d.h"
#include "search/result.h"

typedef struct {
    const kb_pde1d_problem *problem;
    kb_pde1d_setup *setups; /* by run: periodicity and profile; nodes and steps are the grid's. The result's */
    size_t *windows;        /* by run: how many; the result's */
    size_t max_windows;     /* all of them */
    size_t grid;
    kb_search search;
    kb_shooter *finer;    /* on the next grid, to comparison this one's error */
    double *here, *there; /* predictions on both */
} kb_expedition;

/* Takes the problem's runs to the result. */
kbass_status kb_expedition_begin(kb_expedition *expedition, kb_run *run, kb_search_result *result, kbass_error *error);
/* Explorers on a grid (0 is the coarsest), and one shooter on the next. */
kbass_status kb_expedition_equip(kb_expedition *expedition, size_t grid, kbass_error *error);
void kb_expedition_dismiss(kb_expedition *expedition);
kb_pde1d_runs *kb_expedition_runs(const kb_expedition *expedition);
/* The pool, empty, and its windows. */
kbass_status kb_expedition_open(kb_expedition *expedition, kbass_error *error);
/* A structure for the pool, without weights: starts by regression of each window's first lines. */
kbass_status kb_expedition_enter(kb_expedition *expedition, const kb_support *support, kb_fit **fit,
                                 kbass_error *error);
/* Proposals that the pool does not have, with starts by regression. */
kbass_status kb_expedition_take(kb_expedition *expedition, const kb_pool *proposals, kbass_error *error);
/* The run that a window belongs to. */
size_t kb_expedition_run(const kb_expedition *expedition, size_t window);
/* Variance of the noise that the windows' profiles see: the mean over them. */
double kb_expedition_noise(const kb_expedition *expedition);
/* Raises the floor of the noise to the grid's error; true when it rose. */
bool kb_expedition_set_floor(kb_expedition *expedition);
/* Lowers it again: other windows have other errors. */
void kb_expedition_forget_floor(kb_expedition *expedition);
/* Fits the pool on the present windows, and searches from it, under the grid's floor; and both. */
kbass_status kb_expedition_fit(kb_expedition *expedition, kbass_error *error);
kbass_status kb_expedition_explore(kb_expedition *expedition, size_t explored, int rounds, bool *settled,
                                   kbass_error *error);
kbass_status kb_expedition_search(kb_expedition *expedition, size_t explored, int rounds, bool *settled,
                                  kbass_error *error);
/* Finer grids for the best models until the weights of the very best stop moving and the grid's error stops mattering.
   A grid on which none of them can be fitted is not used. */
kbass_status kb_expedition_refine(kb_expedition *expedition, bool *settled, kbass_error *error);
/* Moves the period of a periodic axis to where the best model has most evidence, and refits the pool there. */
kbass_status kb_expedition_tune_period(kb_expedition *expedition, kbass_error *error);

/* Polishes, and leaves the grid in the result. */
kbass_status kb_expedition_finish(kb_expedition *expedition, kb_search_result *result, kbass_error *error);

#endif
