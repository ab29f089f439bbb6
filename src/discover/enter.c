#include "discover/enter.h"

#include <math.h>

#include "base/status.h"

size_t kb_enter_windows(const kb_problem *p)
{
    double length = kb_problem_length(p, p->best_level);
    double most = fmin((double)p->record->n_rows / 5, 1 / (4 * length));
    size_t n = 1;
    while (2 * (double)n <= most) n *= 2;
    return n;
}

static size_t first_row(const kb_record *record, size_t window, size_t n_windows)
{
    return window * (record->n_rows - 1) / n_windows;
}

/* The annealed field at a time of the record. */
static double field_at(const kb_problem *p, kb_worker *w, size_t state, double time)
{
    size_t n = p->n_patches, patch = (size_t)(time * (double)n);
    if (patch >= n) patch = n - 1;
    return kb_field_at(w->fields[patch], state, time * (double)n - (double)patch, 0, w->work);
}

kbass_status kb_enter(const kb_problem *p, kb_worker *w, kb_pool *pool, kbass_error *error)
{
    kb_fit *fit = NULL;
    const kb_field *f = w->fields[0];
    size_t n = f->n_states, windows = pool->max_windows;
    if (kb_pool_find(pool, &w->support)) return KBASS_OK;
    kbass_status status = kb_pool_add(pool, &w->support, &fit, error);
    if (status != KBASS_OK) return status;
    for (size_t q = 0; q < w->support.n; q++) fit->w[w->support.column[q]] = f->w[w->support.column[q]];
    for (size_t i = 0; i < n; i++) fit->variance[i] = fmax(f->v[i], 1e-6);
    fit->n_windows = windows;
    for (size_t window = 0; window < windows; window++)
        for (size_t i = 0; i < n; i++)
            fit->start[window * n + i] = field_at(p, w, i, p->record->time[first_row(p->record, window, windows)]);
    return KBASS_OK;
}
