#include "discover/council.h"

#include <math.h>

#include "base/status.h"
#include "discover/horizon.h"
#include "propose/sources.h"

enum { LINES_PER_WINDOW = 3, EXPLORED = 2, ROUNDS = 3 };

kbass_status kb_council_ask(kb_expedition *e, unsigned when, size_t *n, kbass_error *error)
{
    kb_pool found;
    size_t first = kb_expedition_run(e, 0), last = kb_expedition_run(e, e->search.windows->n - 1);
    kb_proposals proposals = {e->problem, first, last + 1 - first, e->search.run, &found, 0, 0};
    kb_pool_init(&found, e->problem->columns->n, e->search.pool->n_start, 0);
    kbass_status status = kb_propose(kb_sources_of_one_axis, when, &proposals, error);
    if (status == KBASS_OK) status = kb_expedition_take(e, &found, error);
    *n = found.n;
    kb_pool_clear(&found);
    return status;
}

static kbass_status deliberate(kb_expedition *e, kb_search_result *result, kbass_error *error)
{
    kbass_status status = kb_expedition_search(e, EXPLORED, ROUNDS, &result->settled, error);
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
    size_t n = 0;
    kb_expedition e = {.problem = l};
    kbass_status status = begin(&e, run, result, error);
    double clock = kb_run_stage(run, KBASS_STAGE_SEARCH, 0.1, 0.6);
    if (status == KBASS_OK) status = kb_expedition_equip(&e, 0, error);
    if (status == KBASS_OK) status = kb_expedition_open(&e, error);
    if (status == KBASS_OK) status = kb_council_ask(&e, KB_ON_SHORT_WINDOWS, &n, error);
    result->seconds[KBASS_STAGE_SEARCH] = kb_clock() - clock;
    clock = kb_run_stage(run, KBASS_STAGE_ARBITRATE, 0.6, 0.9);
    if (status == KBASS_OK && n) status = deliberate(&e, result, error);
    result->seconds[KBASS_STAGE_ARBITRATE] = kb_clock() - clock;
    result->n_starts = n;
    result->windows = e.search.windows;
    if (status == KBASS_OK && n) status = kb_expedition_finish(&e, result, error);
    kb_expedition_dismiss(&e);
    return status;
}
