#include "propose/ode/pool_entry.h"

#include <math.h>

#include "base/status.h"

size_t kb_ode_problem_windows(const kb_ode_problem *p)
{
    double length = kb_ode_problem_length(p, p->best_level);
    size_t n = 1, rows = 0;
    for (size_t run = 0; run < p->record->n_runs; run++) {
        size_t own = p->record->run_start[run + 1] - p->record->run_start[run];
        if (own > rows) rows = own;
    }
    double most = fmin((double)rows / 5, p->is_wide ? INFINITY : 1 / (4 * length));
    /* wide: one wrong equation of many makes all of a long window escape */
    while (2 * (double)n <= most) n *= 2;
    return n * p->record->n_runs;
}

double kb_annealer_at(const kb_ode_problem *p, kb_annealer *w, size_t state, size_t row)
{
    size_t run = kb_record_run(p->record, row), n = p->run_patch[run + 1] - p->run_patch[run];
    if (p->dictionary->is_input[state]) return kb_record_input(p->record, run, state, p->record->time[row], NULL);
    double time = p->record->time[row] / p->record->duration[run] * (double)n;
    size_t patch = (size_t)time;
    if (patch >= n) patch = n - 1;
    return kb_ode_field_at(w->fields[p->run_patch[run] + patch], state, time - (double)patch, 0, w->work);
}

kbass_status kb_pool_add_annealed(const kb_ode_problem *p, kb_annealer *w, kb_pool *pool, kbass_error *error)
{
    kb_fit *fit = NULL;
    kb_windows *windows = NULL;
    const kb_ode_field *f = w->fields[0];
    const kb_record *record = p->record;
    size_t n = f->n_states;
    if (kb_pool_find(pool, &w->support)) return KBASS_OK;
    kbass_status status = kb_pool_add(pool, &w->support, &fit, error);
    if (status == KBASS_OK)
        status = kb_windows_divide_runs(record->n_runs, record->run_start, pool->max_windows / record->n_runs, &windows,
                                        error);
    if (status != KBASS_OK) return status;
    for (size_t q = 0; q < w->support.n; q++) fit->w[w->support.column[q]] = f->w[w->support.column[q]];
    for (size_t i = 0; i < n; i++) fit->variance[i] = fmax(f->v[i], KB_LEAST_NOISE);
    fit->n_windows = p->is_long ? 0 : windows->n; /* of a long record only some patches have fields */
    for (size_t window = 0; window < fit->n_windows; window++)
        for (size_t i = 0; i < n; i++) fit->start[window * n + i] = kb_annealer_at(p, w, i, windows->first[window]);
    kb_windows_destroy(windows);
    return KBASS_OK;
}
