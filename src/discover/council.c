#include "discover/council.h"

#include <math.h>
#include <string.h>

#include "base/linalg.h"
#include "base/status.h"
#include "discover/horizon.h"

enum { LINES_PER_WINDOW = 3, EXPLORED = 2, ROUNDS = 3 };

kbass_status kb_council_hear(const kb_pde1d_problem *l, size_t first, size_t n_runs, kb_run *run,
                             kb_kernel_fit *proposals, size_t *n, kbass_error *error)
{
    kb_patched_domain *domain = NULL;
    kbass_status status = kb_patched_domain_create(n_runs, l->run_samples + first, l->dictionary, l->settings,
                                                   kb_kernel_scope, l->threads, &domain, error);
    if (status == KBASS_OK)
        status = kb_kernel_propose(domain, l->columns, run, KB_COUNCIL_OPINIONS, proposals, n, error);
    kb_patched_domain_destroy(domain);
    return status;
}

kbass_status kb_council_enter(kb_expedition *e, const kb_kernel_fit *proposal, kbass_error *error)
{
    kb_fit *fit = NULL;
    if (kb_pool_find(e->search.pool, &proposal->support)) return KBASS_OK;
    kbass_status status = kb_expedition_enter(e, &proposal->support, &fit, error);
    if (status != KBASS_OK) return status;
    memcpy(fit->w, proposal->w, e->problem->columns->n * sizeof *fit->w);
    for (size_t f = 0; f < e->problem->run_samples[0]->n_fields; f++)
        fit->variance[f] = fmax(proposal->variance[f], 1e-2);
    return KBASS_OK;
}

static kbass_status deliberate(kb_expedition *e, size_t n, const kb_kernel_fit *proposals, kb_search_result *result,
                               kbass_error *error)
{
    kbass_status status = kb_expedition_equip(e, 0, error);
    if (status == KBASS_OK) status = kb_expedition_open(e, error);
    for (size_t i = 0; status == KBASS_OK && i < n; i++) status = kb_council_enter(e, &proposals[i], error);
    if (status == KBASS_OK) status = kb_expedition_search(e, EXPLORED, ROUNDS, &result->settled, error);
    result->n_models = result->pool.n;
    e->search.run->fraction = 0.8;
    if (status == KBASS_OK) status = kb_expedition_tune_period(e, error);
    if (status == KBASS_OK) status = kb_expedition_refine(e, &result->settled, error);
    return status;
}

/* Short windows, and profiles as short as the lines' samples, in the runs that need them. */
static kbass_status begin(kb_expedition *e, kb_run *run, kb_search_result *result, kbass_error *error)
{
    const kb_pde1d_problem *l = e->problem;
    kbass_status status = kb_expedition_begin(e, run, result, error);
    for (size_t i = 0; status == KBASS_OK && i < l->n_runs; i++) {
        const size_t *n = l->run_samples[i]->n_grid;
        if (!kb_pde1d_setup_is_restless(&l->setups[i])) continue;
        e->windows[i] = (size_t)fmax(1, (double)(n[0] - 1) / LINES_PER_WINDOW);
        e->max_windows += e->windows[i] - 1;
        e->setups[i].profile = kb_profile_flat(l->setups[i].profile.period, n[1], KB_PDE1D_MODES);
    }
    return status;
}

kbass_status kb_council_search(const kb_pde1d_problem *l, kb_run *run, kb_search_result *result, kbass_error *error)
{
    kb_kernel_fit proposals[KB_COUNCIL_OPINIONS] = {0};
    size_t n = 0;
    kb_expedition e = {.problem = l};
    kbass_status status = begin(&e, run, result, error);
    double clock = kb_run_stage(run, KBASS_STAGE_SEARCH, 0.1, 0.6);
    if (status == KBASS_OK) status = kb_council_hear(l, 0, l->n_runs, run, proposals, &n, error);
    result->seconds[KBASS_STAGE_SEARCH] = kb_clock() - clock;
    clock = kb_run_stage(run, KBASS_STAGE_ARBITRATE, 0.6, 0.9);
    if (status == KBASS_OK && n) status = deliberate(&e, n, proposals, result, error);
    result->seconds[KBASS_STAGE_ARBITRATE] = kb_clock() - clock;
    result->n_starts = n;
    result->windows = e.search.windows;
    if (status == KBASS_OK && n) status = kb_expedition_finish(&e, result, error);
    for (size_t i = 0; i < n; i++) kb_kernel_fit_clear(&proposals[i]);
    kb_expedition_dismiss(&e);
    return status;
}
