/* What bumps of one width say about fields on grids: a look. It integrates the weak form over all runs and keeps the
 * right-hand sides that the message suggests. Looks know nothing of each other: threads and ranks share them out, and
 * what comes of one is the same to the bit, whoever had it.
 */
#ifndef KB_PROPOSE_WEAK_LOOKS_H
#define KB_PROPOSE_WEAK_LOOKS_H

#include "propose/weak/fields.h"
#include "propose/weak/grid_run.h"
#include "propose/weak/regression.h"

enum { KB_WEAK_BEST = 3 };                    /* structures: of each look and equation, best first */
enum { KB_WEAK_SUPPORTS = KB_WEAK_BEST + 4 }; /* structures: the best of each size among them */

/* What is looked at. */
typedef struct {
    size_t n_runs;
    kb_weak_grid_run **runs;
    kb_weak_grid_run *all; /* of which the runs are a part; NULL: they are all */
    kb_weak_whole whole;
    const kb_dictionary *dictionary;
    const kb_columns *columns;
    kb_weak_form *form;
    double wavelength[KB_MAX_AXES]; /* the visible one, in the data's units */
} kb_weak_grids;

typedef struct {
    double half[KB_MAX_AXES]; /* widths of the bumps */
    double share;             /* of the length whose kernel has the wavelength: the bare field's; 0: pure terms alone */
    bool is_heard;            /* there were bumps enough */
    size_t *found;            /* by equation */
    kb_weak_support *supports; /* KB_WEAK_SUPPORTS of each equation, found of them */
} kb_weak_look;

kbass_status kb_weak_looks_create(const kb_weak_grids *grids, size_t n, kb_weak_look **out, kbass_error *error);
void kb_weak_looks_destroy(size_t n, kb_weak_look *looks);
/* Half widths for shares of the wavelength along time and space, within what the grids allow. */
void kb_weak_look_set(const kb_weak_grids *grids, size_t n_runs, kb_weak_grid_run *const *runs, double in_time,
                      double in_space, double *half);
/* All of them, by the threads and ranks of the run; one that is stopped leaves some unheard. */
kbass_status kb_weak_looks_take(const kb_weak_grids *grids, size_t n, kb_weak_look *looks, kbass_error *error);

#endif
