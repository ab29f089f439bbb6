#include "search/task.h"

#include <math.h>

#include "base/larger.h"
#include "search/known_proposals.h"

kbass_status kb_propose(const kb_source *sources, unsigned when, kb_proposals *proposals, kbass_error *error)
{
    kbass_status status = KBASS_OK;
    for (const kb_source *source = sources; status == KBASS_OK && source->name; source++)
        if (source->when & when) status = kb_source_ask(source, when, proposals, error);
    return status;
}

kbass_status kb_fit_guess(kb_likelihood *l, const kb_windows *windows, kb_fit *fit, kbass_error *error)
{
    kbass_status status = KBASS_OK;
    fit->n_windows = windows->n;
    for (size_t window = 0; status == KBASS_OK && window < windows->n; window++)
        status = l->guess(l, windows->first[window], fit->start + window * l->n_start, error);
    return status;
}

/* ---------------------------------------------------------------- a pass */

kb_likelihood *kb_pass_likelihood(const kb_pass *p) { return p->search.workers.list[0]->likelihood; }

double kb_pass_floor(const kb_pass *p)
{
    const kb_likelihood *l = kb_pass_likelihood(p);
    return l->floor(l);
}

bool kb_pass_has_model(const kb_pass *p) { return p->search.pool->n && p->search.pool->fits[0]->valid; }

size_t kb_pass_run(const kb_pass *p, size_t window)
{
    const size_t *run_start = kb_pass_likelihood(p)->run_start;
    size_t run = 0;
    while (run_start && p->search.windows->first[window] >= run_start[run + 1]) run++;
    return run;
}

kbass_status kb_pass_enter(kb_pass *p, const kb_support *support, kb_fit **fit, kbass_error *error)
{
    kbass_status status = kb_pool_add(p->search.pool, support, fit, error);
    if (status == KBASS_OK) status = kb_fit_complete(p->search.columns, *fit, error);
    return status == KBASS_OK ? kb_fit_guess(kb_pass_likelihood(p), p->search.windows, *fit, error) : status;
}

kbass_status kb_pass_ask(kb_pass *p, unsigned when, size_t *n, kbass_error *error)
{
    const kb_pool *pool = p->search.pool;
    const kb_windows *windows = p->search.windows;
    size_t first = windows ? kb_pass_run(p, 0) : 0, end = windows ? kb_pass_run(p, windows->n - 1) + 1 : p->n_runs;
    kb_pool found;
    kb_proposals proposals = {p->problem, first, end - first, p->search.run, &found, 0, 0};
    kb_pool_init(&found, pool->n_columns, pool->n_start, pool->max_windows);
    kbass_status status = kb_propose(p->task->sources, when, &proposals, error);
    *n = found.n;
    for (size_t i = 0; status == KBASS_OK && p->search.columns->constraints && i < found.n; i++)
        status = kb_fit_complete(p->search.columns, found.fits[i], error);
    if (status == KBASS_OK) status = p->task->take(p, &found, error);
    p->result->n_starts += proposals.n_starts;
    p->result->n_lost += proposals.n_lost;
    kb_pool_clear(&found);
    return status;
}

static bool raise_floor(kb_pass *p) { return p->task->raise_floor && p->task->raise_floor(p); }

kbass_status kb_pass_fit(kb_pass *p, int iterations, kbass_error *error)
{
    for (size_t i = 0; i < p->search.pool->n; i++) p->search.pool->explored[i] = false;
    kbass_status status = kb_search_fit(&p->search, iterations, error);
    return status == KBASS_OK && raise_floor(p) ? kb_search_fit(&p->search, iterations, error) : status;
}

kbass_status kb_pass_explore(kb_pass *p, size_t beam, int rounds, kbass_error *error)
{
    bool *settled = &p->result->settled;
    kbass_status status = kb_search_explore(&p->search, beam, rounds, settled, error);
    if (status != KBASS_OK || !raise_floor(p)) return status;
    status = kb_search_fit(&p->search, (int)p->task->schedule->again_iterations, error);
    return status == KBASS_OK ? kb_search_explore(&p->search, beam, rounds, settled, error) : status;
}

double kb_weights_moved(const kb_fit *fit, const double *before)
{
    double most = 0;
    size_t k = fit->support.n;
    for (size_t q = 0; q < k; q++) {
        double sd = sqrt(fit->covariance[q + q * k]),
               moved = fabs(fit->w[fit->support.column[q]] - before[fit->support.column[q]]);
        most = kb_larger(most, moved / sd);
    }
    return most;
}

bool kb_pass_floor_matters(const kb_pass *p)
{
    const kb_schedule *s = p->task->schedule;
    double floor = kb_pass_floor(p), misfit = p->search.pool->fits[0]->misfit;
    return floor > s->least_floor && misfit * misfit < s->hidden * floor;
}
