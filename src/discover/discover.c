#include "discover/discover.h"

#include <math.h>
#include <omp.h>
#include <string.h>

#include "base/linalg.h"
#include "base/memory.h"
#include "base/status.h"
#include "propose/ode/anneal.h"
#include "discover/arbitrate.h"
#include "propose/ode/pool_entry.h"
#include "search/polish.h"
#include "propose/ode/refine.h"
#include "search/trace.h"

enum { MAX_STARTS = 12, MOST_TERMS_PER_EQUATION = 14 };
enum { MOST_UNKNOWNS = 10000 };   /* of the fields together: one factorisation takes half a minute, and 0.8 GB */
static const double followed = 2; /* growth of the squared misfit up to which fewer windows follow the data */

/* Workspaces, one per thread. */
typedef struct {
    kb_annealer **annealers;
    kb_search_worker **workers;
    kb_search search; /* its pool and windows are those of the result at hand */
} team;

/* ---------------------------------------------------------------- starts */

static void add_starts(kb_anneal_start *starts, size_t *n, double first, double last, size_t n_variances,
                       const double *variances)
{
    for (size_t i = 0; i < n_variances; i++) starts[(*n)++] = (kb_anneal_start){first, last, variances[i]};
}

/* Two ranges of length scale from the sample spacing and one from the bare field's own, over a grid of noise levels. */
static size_t list_starts(const kb_ode_problem *p, kb_anneal_start *starts)
{
    static const double variances[] = {1e-5, 1e-3, 3e-2};
    size_t n = 0, n_variances = p->settings->noise ? 1 : 3;
    double spacing = p->record->spacing, own = kb_ode_problem_length(p, p->best_level), floor = fmin(0.02, own / 2);
    double from_field[] = {p->best_variance, 3e-2};
    add_starts(starts, &n, fmax(0.9 * spacing, 2 * floor), fmax(0.5 * spacing, floor), n_variances, variances);
    add_starts(starts, &n, fmax(0.5 * spacing, 2 * floor), fmax(0.3 * spacing, floor), n_variances, variances);
    add_starts(starts, &n, own, fmax(own / 2, 0.3 * spacing), p->settings->noise ? 1 : 2, from_field);
    return n;
}

/* One start's proposal: the annealed structure or, when asked for, that one refined by evidence. */
static kbass_status run_start(const kb_ode_problem *p, const kb_anneal_start *start, bool refined, kb_annealer *w,
                              kb_pool *proposal, kb_run *run, bool *lost)
{
    double length = fmax(0.25 * p->record->spacing, fmin(0.02, 0.5 * kb_ode_problem_length(p, p->best_level)));
    bool usable = kb_anneal(p, start, w->fields, w->ep, w->work, &w->support, run) &&
                  w->support.n <= MOST_TERMS_PER_EQUATION * p->record->n_states &&
                  (!refined || isfinite(kb_refine(p, w, kb_ode_problem_level(p, length), run)));
    *lost = !usable && !kb_run_stopped(run);
    return usable ? kb_pool_add_annealed(p, w, proposal, NULL) : KBASS_OK;
}

/* All starts, in parallel; proposals enter the pool in the starts' order, whichever thread was first. */
static kbass_status run_starts(const kb_ode_problem *p, bool refined, const team *t, kb_run *run,
                               kb_search_result *result, kbass_error *error)
{
    kb_anneal_start starts[MAX_STARTS];
    kb_pool proposals[MAX_STARTS];
    size_t n = list_starts(p, starts), done = 0;
    bool ran[MAX_STARTS] = {false}, lost[MAX_STARTS] = {false};
    kbass_status statuses[MAX_STARTS] = {KBASS_OK}, status = KBASS_OK;
    for (size_t i = 0; i < n; i++)
        kb_pool_init(&proposals[i], p->columns->n, p->record->n_states, result->pool.max_windows);
#pragma omp parallel for schedule(dynamic) num_threads(p->threads)
    for (size_t i = 0; i < n; i++) {
        if (kb_run_stopped(run)) continue;
        ran[i] = true;
        statuses[i] =
            run_start(p, &starts[i], refined, t->annealers[omp_get_thread_num()], &proposals[i], run, &lost[i]);
#pragma omp critical(kb_progress)
        run->fraction = 0.05 + 0.55 * (double)++done / (double)n; /* atomic: other threads read it */
    }
    for (size_t i = 0; i < n; i++) {
        result->n_starts += ran[i];
        result->n_lost += lost[i];
        if (statuses[i] != KBASS_OK) status = kb_out_of_memory(error, "the search");
        if (status == KBASS_OK) status = kb_pool_merge(&result->pool, &proposals[i], error);
        kb_pool_clear(&proposals[i]);
    }
    return status;
}

/* ---------------------------------------------------------------- stages */

static double stage(kb_run *run, const char *name, double fraction)
{
    run->stage = name;
    run->fraction = fraction;
    return kb_clock();
}

/* Search and arbitration, once. */
static kbass_status run_pass(const kb_ode_problem *p, bool refined, team *t, kb_run *run, kb_search_result *result,
                             kbass_error *error)
{
    double clock = stage(run, kbass_stage_name(KBASS_STAGE_SEARCH), 0.05);
    kbass_status status = run_starts(p, refined, t, run, result, error);
    result->seconds[KBASS_STAGE_SEARCH] += kb_clock() - clock;

    clock = stage(run, kbass_stage_name(KBASS_STAGE_ARBITRATE), 0.6);
    t->search.pool = &result->pool;
    t->search.windows = NULL;
    t->search.deadline = 0;
    kb_trace_pool(&t->search, "proposed");
    if (status == KBASS_OK) status = kb_arbitrate(&t->search, &result->settled, error);
    result->windows = t->search.windows;
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
static void second_opinion(const kb_ode_problem *p, team *t, kb_run *run, kb_search_result *result)
{
    kb_search_result other = {.n_starts = result->n_starts, .n_lost = result->n_lost};
    memcpy(other.seconds, result->seconds, sizeof other.seconds);
    kb_pool_init(&other.pool, p->columns->n, p->record->n_states, result->pool.max_windows);
    bool better = run_pass(p, true, t, run, &other, NULL) == KBASS_OK && is_better(&other, result);
    kb_search_result kept = better ? other : *result, dropped = better ? *result : other;
    kept.n_starts = other.n_starts;
    kept.n_lost = other.n_lost;
    memcpy(kept.seconds, other.seconds, sizeof kept.seconds);
    kb_search_result_clear(&dropped);
    *result = kept;
}

static kbass_status run_stages(const kb_ode_problem *p, team *t, kb_run *run, kb_search_result *result,
                               kbass_error *error)
{
    kbass_status status = run_pass(p, false, t, run, result, error);
    if (status == KBASS_OK && p->n_patches == 1 && unconvincing(result) && !kb_run_stopped(run))
        second_opinion(p, t, run, result); /* what goes wrong there takes nothing from the first */

    double clock = stage(run, kbass_stage_name(KBASS_STAGE_POLISH), 0.95);
    t->search.pool = &result->pool;
    t->search.windows = result->windows;
    if (status == KBASS_OK) status = kb_polish(&t->search, result, error);
    result->seconds[KBASS_STAGE_POLISH] = kb_clock() - clock;
    return status;
}

static kbass_status add_worker(const kb_ode_problem *p, size_t max_windows, kb_search_worker **out, kbass_error *error)
{
    kb_shooter *shooter = NULL;
    kbass_status status =
        kb_shooter_create(p->record, p->dictionary, p->columns, max_windows, p->columns->n, &shooter, error);
    if (status != KBASS_OK) return status;
    shooter->flow->follow = kb_ode_problem_follow(p);
    return kb_search_worker_create(shooter, p->columns, out, error);
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

static kbass_status gather_team(const kb_ode_problem *p, size_t max_windows, kb_run *run, team *t, kbass_error *error)
{
    size_t n = (size_t)p->threads;
    kbass_status status = KBASS_OK;
    t->annealers = KB_NEW(kb_annealer *, n);
    t->workers = KB_NEW(kb_search_worker *, n);
    t->search = (kb_search){.schedule = &kb_schedule_of_states.value,
                            .columns = p->columns,
                            .all = &p->all,
                            .n_workers = p->threads,
                            .workers = t->workers,
                            .run = run};
    if (!t->annealers || !t->workers) status = kb_out_of_memory(error, "the threads");
    for (size_t i = 0; status == KBASS_OK && i < n; i++) status = kb_annealer_create(p, &t->annealers[i], error);
    for (size_t i = 0; status == KBASS_OK && i < n; i++) status = add_worker(p, max_windows, &t->workers[i], error);
    return status;
}

static void dismiss_team(const kb_ode_problem *p, team *t)
{
    for (int i = 0; i < p->threads; i++) {
        if (t->annealers) kb_annealer_destroy(t->annealers[i]);
        if (t->workers) kb_search_worker_destroy(t->workers[i]);
    }
    kb_free(t->annealers);
    kb_free(t->workers);
}

kbass_status kb_discover(const kb_ode_problem *p, kb_run *run, kb_search_result *result, kbass_error *error)
{
    size_t max_windows = kb_ode_problem_windows(p);
    team t = {0};
    memset(result, 0, sizeof *result);
    kb_pool_init(&result->pool, p->columns->n, p->record->n_states, max_windows);
    kbass_status status = check_size(p, error);
    if (status == KBASS_OK) status = gather_team(p, max_windows, run, &t, error);
    if (status == KBASS_OK) status = run_stages(p, &t, run, result, error);
    dismiss_team(p, &t);
    return status;
}
