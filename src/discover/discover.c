#include "discover/discover.h"

#include <math.h>
#include <string.h>

#include "base/linalg.h"
#include "base/memory.h"
#include "base/status.h"
#include "discover/arbitrate.h"
#include "propose/ode/pool_entry.h"
#include "search/polish.h"
#include "propose/sources.h"
#include "search/trace.h"

enum { MOST_UNKNOWNS = 10000 };   /* of the fields together: one factorisation takes half a minute, and 0.8 GB */
static const double followed = 2; /* growth of the squared misfit up to which fewer windows follow the data */

/* ---------------------------------------------------------------- stages */

static double stage(kb_run *run, const char *name, double fraction)
{
    run->stage = name;
    run->fraction = fraction;
    return kb_clock();
}

/* Sources that have no starts of their own leave them to the bare field. */
static kbass_status guess_starts(kb_search *search, kbass_error *error)
{
    kb_dynamics *d = search->workers.list[0]->shooter->dynamics;
    kb_windows *windows = NULL;
    size_t most = search->pool->max_windows / d->n_runs;
    kbass_status status = kb_windows_divide_runs(d->n_runs, d->run_start, most, &windows, error);
    for (size_t i = 0; status == KBASS_OK && i < search->pool->n; i++)
        if (!search->pool->fits[i]->n_windows) status = kb_fit_guess(d, windows, search->pool->fits[i], error);
    kb_windows_destroy(windows);
    return status;
}

/* Proposals and arbitration, once. */
static kbass_status run_pass(const kb_ode_problem *p, unsigned when, kb_search *search, kb_search_result *result,
                             kbass_error *error)
{
    kb_run *run = search->run;
    double clock = stage(run, kbass_stage_name(KBASS_STAGE_SEARCH), 0.05);
    kb_proposals proposals = {.problem = p, .n_runs = p->record->n_runs, .run = run, .pool = &result->pool};
    kbass_status status = kb_propose(kb_sources_of_states, when, &proposals, error);
    result->n_starts += proposals.n_starts;
    result->n_lost += proposals.n_lost;
    result->seconds[KBASS_STAGE_SEARCH] += kb_clock() - clock;

    clock = stage(run, kbass_stage_name(KBASS_STAGE_ARBITRATE), 0.6);
    search->pool = &result->pool;
    search->windows = NULL;
    search->deadline = 0;
    kb_trace_pool(search, "proposed");
    if (status == KBASS_OK) status = guess_starts(search, error);
    if (status == KBASS_OK) status = kb_arbitrate(search, &result->settled, error);
    result->windows = search->windows;
    result->seconds[KBASS_STAGE_ARBITRATE] += kb_clock() - clock;
    return status;
}

/* Does the best model leave so much of the data unexplained that a second proposal is due? */
static bool unconvincing(const kb_search_result *result)
{
    static const double unexplained = 0.3; /* rms misfit in units of the states' sd */
    return !kb_has_model(result) || !(result->pool.fits[0]->misfit < unexplained);
}

/* Do the fewer windows of `a` still follow the data as those of `b` do? */
static bool says_more(const kb_search_result *a, const kb_search_result *b)
{
    double own = a->pool.fits[0]->misfit, other = b->pool.fits[0]->misfit;
    return a->windows->n < b->windows->n && own * own <= followed * other * other;
}

/* Fewer windows say more, unless they lost the data; on equal windows the evidence decides. */
static bool is_better(const kb_search_result *a, const kb_search_result *b)
{
    if (!kb_has_model(a) || !kb_has_model(b)) return kb_has_model(a);
    if (a->windows->n != b->windows->n) return a->windows->n < b->windows->n ? says_more(a, b) : !says_more(b, a);
    return a->pool.fits[0]->log_evidence > b->pool.fits[0]->log_evidence;
}

/* The starts once more, each structure refined by evidence before it is arbitrated; the better answer stays. */
static void second_opinion(const kb_ode_problem *p, kb_search *search, kb_search_result *result)
{
    kb_search_result other = {.n_starts = result->n_starts, .n_lost = result->n_lost};
    memcpy(other.seconds, result->seconds, sizeof other.seconds);
    kb_pool_init(&other.pool, p->columns->n, p->record->n_states, result->pool.max_windows);
    bool better = run_pass(p, KB_AGAIN, search, &other, NULL) == KBASS_OK && is_better(&other, result);
    kb_search_result kept = better ? other : *result, dropped = better ? *result : other;
    kept.n_starts = other.n_starts;
    kept.n_lost = other.n_lost;
    memcpy(kept.seconds, other.seconds, sizeof kept.seconds);
    kb_search_result_clear(&dropped);
    *result = kept;
}

static kbass_status run_stages(const kb_ode_problem *p, kb_search *search, kb_search_result *result, kbass_error *error)
{
    kbass_status status = run_pass(p, KB_AT_FIRST, search, result, error);
    if (status == KBASS_OK && p->n_patches == 1 && unconvincing(result) && !kb_run_stopped(search->run))
        second_opinion(p, search, result); /* what goes wrong there takes nothing from the first */

    double clock = stage(search->run, kbass_stage_name(KBASS_STAGE_POLISH), 0.95);
    search->pool = &result->pool;
    search->windows = result->windows;
    if (status == KBASS_OK) status = kb_polish(search, result, error);
    result->seconds[KBASS_STAGE_POLISH] = kb_clock() - clock;
    return status;
}

static kbass_status make_shooter(const void *problem, kb_shooter **out, kbass_error *error)
{
    const kb_ode_problem *p = problem;
    kbass_status status =
        kb_shooter_create(p->record, p->dictionary, p->columns, kb_ode_problem_windows(p), p->columns->n, out, error);
    if (status == KBASS_OK) (*out)->flow->follow = kb_ode_problem_follow(p);
    return status;
}

static kbass_status check_size(const kb_ode_problem *p, kbass_error *error)
{
    size_t n = p->record->n_states, unknowns = n * p->max_rank;
    if (unknowns <= MOST_UNKNOWNS) return KBASS_OK;
    return kb_fail(
        error, KBASS_ERROR_DATA,
        "%zu states whose curves have up to %zu coefficients each: %zu unknowns, needed at most %d: take the "
        "states that belong together (--use), or a record with fewer swings",
        n, p->max_rank, unknowns, MOST_UNKNOWNS);
}

kbass_status kb_discover(const kb_ode_problem *p, kb_run *run, kb_search_result *result, kbass_error *error)
{
    kb_search search = {.schedule = &kb_schedule_of_states.value, .columns = p->columns, .all = &p->all, .run = run};
    memset(result, 0, sizeof *result);
    kb_pool_init(&result->pool, p->columns->n, p->record->n_states, kb_ode_problem_windows(p));
    kbass_status status = check_size(p, error);
    if (status == KBASS_OK) status = kb_workers_create(p->threads, make_shooter, p, p->columns, &search.workers, error);
    if (status == KBASS_OK) status = run_stages(p, &search, result, error);
    kb_workers_destroy(&search.workers);
    return status;
}
