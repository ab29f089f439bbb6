#include "search/windows.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/status.h"

enum { JOIN_ITERATIONS = 20 };      /* iterations: after windows were joined */
enum { SLIDE_ITERATIONS = 6 };      /* iterations: after borders were moved */
enum { SLIDES = 6 };                /* steps: of borders, from where they were to where they shall be */
static const double followed = 1.3; /* growth of the noise variance up to which joined windows still follow the data */

/* The pairs' first starts, on the joined windows. */
static void join(kb_likelihood *l, const kb_windows *to, kb_fit *fit)
{
    for (size_t window = 1; window < to->n; window++)
        memmove(fit->start + window * l->n_start, fit->start + 2 * window * l->n_start,
                l->n_start * sizeof *fit->start);
    l->windows = to;
    kb_likelihood_fit(l, fit, JOIN_ITERATIONS, -INFINITY);
}

/* Moves every pair's border to `share` of the way through the second window; false when a trajectory cannot get there.
 */
static bool move_borders(kb_likelihood *l, const kb_windows *from, double share, kb_windows *sliding, double *state,
                         kb_fit *fit)
{
    for (size_t window = 1; window < from->n; window += 2) {
        size_t first = from->first[window], last = from->last[window];
        size_t border = first + (size_t)(share * (double)(last - first));
        if (!l->solution(l, fit, window, border, state)) return false;
        memcpy(fit->start + window * l->n_start, state, l->n_start * sizeof *state);
        sliding->last[window - 1] = border;
        sliding->first[window] = border;
    }
    return true;
}

static void slide(kb_likelihood *l, const kb_windows *from, const kb_windows *to, kb_windows *sliding, double *state,
                  kb_fit *fit)
{
    l->windows = sliding;
    for (int step = 1; step < SLIDES && fit->valid; step++) {
        if (!move_borders(l, from, (double)step / SLIDES, sliding, state, fit)) return;
        kb_likelihood_fit(l, fit, SLIDE_ITERATIONS, -INFINITY);
    }
    if (fit->valid) join(l, to, fit);
}

static kbass_status copy_windows(const kb_windows *from, kb_windows **out, kbass_error *error)
{
    kbass_status status = kb_windows_divide(from->n + 1, from->n, out, error);
    if (status != KBASS_OK) return status;
    memcpy((*out)->first, from->first, from->n * sizeof *from->first);
    memcpy((*out)->last, from->last, from->n * sizeof *from->last);
    return status;
}

kbass_status kb_fit_merge(kb_likelihood *l, const kb_windows *from, const kb_windows *to, kb_fit *fit,
                          kbass_error *error)
{
    kb_fit *slid = NULL;
    kb_windows *sliding = NULL;
    size_t columns = l->columns->n, states = l->n_start;
    double before = l->noise(l, fit), *state = KB_NEW(double, states);
    kbass_status status = kb_fit_create(columns, states, from->n, fit->support.n, &slid, error);
    if (status == KBASS_OK) status = copy_windows(from, &sliding, error);
    if (!state) status = kb_out_of_memory(error, "the search");
    if (status == KBASS_OK) {
        kb_fit_copy(fit, slid, columns, states);
        join(l, to, fit);
        if (!fit->valid || !(l->noise(l, fit) < followed * before)) {
            slide(l, from, to, sliding, state, slid);
            if (slid->valid && slid->n_windows == to->n && (!fit->valid || slid->log_evidence > fit->log_evidence))
                kb_fit_copy(slid, fit, columns, states);
        }
    }
    kb_free(state);
    kb_fit_destroy(slid);
    kb_windows_destroy(sliding);
    return status;
}

/* ---------------------------------------------------------------- growing windows */

static const double least_share = 1.0 / 16; /* of a window, at first; not measured */
static const double least_step = 1.0 / 20;  /* of a window: less is not gained at a time; not measured */
enum { LEAST_ROWS = 3 };                    /* rows: of a window that tells of change, at first; by geometry */

static void cut(const kb_windows *whole, double share, kb_windows *out)
{
    for (size_t window = 0; window < whole->n; window++) {
        double rows = ceil(share * (double)(whole->last[window] - whole->first[window]));
        size_t last = whole->first[window] + (size_t)fmax(rows, LEAST_ROWS - 1);
        out->last[window] = last < whole->last[window] ? last : whole->last[window];
    }
}

bool kb_fit_grow(kb_likelihood *l, int iterations, double rival, kb_fit *fit)
{
    const kb_windows *whole = l->windows;
    kb_windows *growing = NULL;
    double grown = 0, share = least_share;
    if (copy_windows(whole, &growing, NULL) != KBASS_OK) return false;
    l->windows = growing;
    while (grown < 1 && share - grown >= least_step) {
        cut(whole, share, growing);
        kb_likelihood_fit(l, fit, iterations, -INFINITY);
        if (fit->valid) grown = share;
        share = fit->valid ? fmin(2 * grown, 1) : (grown + share) / 2;
    }
    l->windows = whole;
    if (fit->valid) kb_likelihood_fit(l, fit, iterations, rival);
    kb_windows_destroy(growing);
    return fit->valid;
}
