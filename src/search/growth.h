/* Search on a growing part of a long record: from the first swings of each run to all of them.
 *
 * On the first part models are fitted in windows of few swings and the windows merged, as on short records. Then the
 * part doubles. Where the flow is stable one window reaches on into the new rows: what a part of the record says about
 * phases and weights predicts the next part, so that the start of all later swings is tied to the first. Where a longer
 * window loses the data, windows keep their length and each new one has a start of its own; where that loses them too,
 * all become shorter until they follow, and are merged at the end (docs/math.md, algorithm 6).
 * The work is that of the last parts: linear in the record's length.
 */
#ifndef KB_SEARCH_GROWTH_H
#define KB_SEARCH_GROWTH_H

#include "search/neighbours.h"

/* The part that a search begins with. */
typedef struct {
    size_t n_windows; /* of each run; a power of two */
    size_t n_rows;    /* of each run, or all it has */
} kb_first_part;

/* Where a search has come to. */
typedef struct {
    size_t rows, n;  /* of each run; windows of each run */
    size_t shortest; /* windows of each run as short as the first part's */
    bool is_merged;  /* into as few windows as follow these rows */
    kb_pool before;  /* the pool on the last windows that followed the data, */
    double noise;    /* and its noise (kb_likelihood.noise) */
} kb_growth;

void kb_growth_init(const kb_search *search, kb_growth *growth);
void kb_growth_clear(kb_growth *growth);
/* The pool on other windows, which are the search's then, not yet fitted. */
kbass_status kb_search_move_windows(kb_search *search, kb_windows *to, kbass_error *error);
/* Windows of all runs while none can be merged: what a pool needs room for. */
size_t kb_growth_most_windows(const kb_likelihood *likelihood, const kb_first_part *first);
bool kb_growth_sees_all(const kb_search *search, const kb_growth *growth);
/* Noise of the best model; INFINITY without one. */
double kb_growth_noise(const kb_search *search);

/* The pool's structures and weights on the windows of the first part, their starts by regression, not yet fitted. */
kbass_status kb_growth_begin(kb_search *search, const kb_first_part *first, kb_growth *growth, kbass_error *error);
/* The pool fitted on half as many windows, or back on those that there were when the data are lost; */
kbass_status kb_growth_merge(kb_search *search, kb_growth *growth, kbass_error *error);
/* to twice the rows, in one window where that still follows the data, else in windows as long as they were, or shorter;
 */
kbass_status kb_growth_double(kb_search *search, kb_growth *growth, kbass_error *error);
/* to the whole record at once, not yet fitted: a stopped run's last answer. */
kbass_status kb_growth_whole(kb_search *search, kb_growth *growth, kbass_error *error);

#endif
