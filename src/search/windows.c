#include "search/windows.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/status.h"

enum { JOIN_ITERATIONS = 20, SLIDE_ITERATIONS = 6, SLIDES = 6 };
static const double followed = 1.3; /* growth of the noise variance up to which joined windows still follow the data */

static bool is_observed(const kb_dynamics *d, size_t group)
{
    size_t o = 0, n = d->observation_start[d->n_rows];
    while (o < n && d->group[o] != group) o++;
    return o < n;
}

double kb_fit_noise(const kb_shooter *s, const kb_fit *fit)
{
    double sum = 0, n = 0;
    for (size_t i = 0; i < s->n_groups; i++) {
        if (!is_observed(s->dynamics, i)) continue;
        bool is_known =
            s->dynamics->known_variance[i] > 0; /* then only the residuals tell whether the data are followed */
        sum += log(is_known ? fmax(fit->variance[i], fit->misfit * fit->misfit) : fit->variance[i]);
        n++;
    }
    return n > 0 ? exp(sum / n) : INFINITY;
}

/* The pairs' first starts, on the joined windows. */
static void join(kb_shooter *s, const kb_windows *to, kb_fit *fit)
{
    for (size_t window = 1; window < to->n; window++)
        memmove(fit->start + window * s->n, fit->start + 2 * window * s->n, s->n * sizeof *fit->start);
    s->windows = to;
    kb_shooter_fit(s, fit, JOIN_ITERATIONS, -INFINITY);
}

/* Moves every pair's border to `share` of the way through the second window; false when a trajectory cannot get there.
 */
static bool move_borders(kb_shooter *s, const kb_windows *from, double share, kb_windows *sliding, kb_fit *fit)
{
    double *state = s->trial_start; /* of the fit after this */
    for (size_t window = 1; window < from->n; window += 2) {
        size_t first = from->first[window], last = from->last[window];
        size_t border = first + (size_t)(share * (double)(last - first));
        if (!kb_shooter_state(s, fit, window, border, state)) return false;
        memcpy(fit->start + window * s->n, state, s->n * sizeof *state);
        sliding->last[window - 1] = border;
        sliding->first[window] = border;
    }
    return true;
}

static void slide(kb_shooter *s, const kb_windows *from, const kb_windows *to, kb_windows *sliding, kb_fit *fit)
{
    s->windows = sliding;
    for (int step = 1; step < SLIDES && fit->valid; step++) {
        if (!move_borders(s, from, (double)step / SLIDES, sliding, fit)) return;
        kb_shooter_fit(s, fit, SLIDE_ITERATIONS, -INFINITY);
    }
    if (fit->valid) join(s, to, fit);
}

static kbass_status copy_windows(const kb_windows *from, kb_windows **out, kbass_error *error)
{
    kbass_status status = kb_windows_divide(from->n + 1, from->n, out, error);
    if (status != KBASS_OK) return status;
    memcpy((*out)->first, from->first, from->n * sizeof *from->first);
    memcpy((*out)->last, from->last, from->n * sizeof *from->last);
    return status;
}

kbass_status kb_fit_merge(kb_shooter *s, const kb_windows *from, const kb_windows *to, kb_fit *fit, kbass_error *error)
{
    kb_fit *slid = NULL;
    kb_windows *sliding = NULL;
    size_t columns = s->columns->n, states = s->n;
    double before = kb_fit_noise(s, fit);
    kbass_status status = kb_fit_create(columns, states, from->n, fit->support.n, &slid, error);
    if (status == KBASS_OK) status = copy_windows(from, &sliding, error);
    if (status == KBASS_OK) {
        kb_fit_copy(fit, slid, columns, states);
        join(s, to, fit);
        if (!fit->valid || !(kb_fit_noise(s, fit) < followed * before)) {
            slide(s, from, to, sliding, slid);
            if (slid->valid && slid->n_windows == to->n && (!fit->valid || slid->log_evidence > fit->log_evidence))
                kb_fit_copy(slid, fit, columns, states);
        }
    }
    kb_fit_destroy(slid);
    kb_windows_destroy(sliding);
    return status;
}
