#include "discover/discover.h"

#include <math.h>
#include <omp.h>
#include <string.h>

#include "base/linalg.h"
#include "base/memory.h"
#include "base/status.h"
#include "discover/anneal.h"
#include "discover/arbitrate.h"
#include "discover/refine.h"

enum { MAX_STARTS = 12, MOST_TERMS_PER_EQUATION = 14 };

/* ---------------------------------------------------------------- starts */

static void add_starts(kb_start *starts, size_t *n, double first, double last, size_t n_variances, const double *variances)
{
    for (size_t i = 0; i < n_variances; i++) starts[(*n)++] = (kb_start){first, last, variances[i]};
}

/* Two ranges of length scale from the sample spacing and one from the bare field's own, over a grid of noise levels. */
static size_t list_starts(const kb_problem *p, kb_start *starts)
{
    static const double variances[] = {1e-5, 1e-3, 3e-2};
    size_t n = 0, n_variances = p->settings->noise ? 1 : 3;
    double spacing = p->record->spacing, own = kb_problem_length(p, p->best_level), floor = fmin(0.02, own / 2);
    double from_field[] = {p->best_variance, 3e-2};
    add_starts(starts, &n, fmax(0.9 * spacing, 2 * floor), fmax(0.5 * spacing, floor), n_variances, variances);
    add_starts(starts, &n, fmax(0.5 * spacing, 2 * floor), fmax(0.3 * spacing, floor), n_variances, variances);
    add_starts(starts, &n, own, fmax(own / 2, 0.3 * spacing), p->settings->noise ? 1 : 2, from_field);
    return n;
}

/* One start's opinion: the annealed structure or, when asked for, that one refined by evidence. */
static kbass_status run_start(const kb_problem *p, const kb_start *start, bool refined, kb_worker *w, kb_pool *opinion,
                              kb_run *run, bool *lost)
{
    double length = fmax(0.25 * p->record->spacing, fmin(0.02, 0.5 * kb_problem_length(p, p->best_level)));
    bool usable = kb_anneal(p, start, w->fields, w->ep, w->work, &w->support, run) &&
                  w->support.n <= MOST_TERMS_PER_EQUATION * p->record->n_states &&
                  (!refined || isfinite(kb_refine(p, w, kb_problem_level(p, length), run)));
    *lost = !usable && !kb_run_stopped(run);
    return usable ? kb_arbitrate_enter(p, w, opinion, NULL) : KBASS_OK;
}

/* All starts, in parallel; opinions enter the pool in the starts' order, whichever thread was first. */
static kbass_status run_starts(const kb_problem *p, bool refined, kb_worker **workers, kb_run *run,
                               kb_search_result *result, kbass_error *error)
{
    kb_start starts[MAX_STARTS];
    kb_pool opinions[MAX_STARTS];
    size_t n = list_starts(p, starts), done = 0;
    bool ran[MAX_STARTS] = {false}, lost[MAX_STARTS] = {false};
    kbass_status statuses[MAX_STARTS] = {KBASS_OK}, status = KBASS_OK;
    for (size_t i = 0; i < n; i++) kb_pool_init(&opinions[i], p, result->pool.max_windows);
    #pragma omp parallel for schedule(dynamic) num_threads(p->threads)
    for (size_t i = 0; i < n; i++) {
        if (kb_run_stopped(run)) continue;
        ran[i] = true;
        statuses[i] = run_start(p, &starts[i], refined, workers[omp_get_thread_num()], &opinions[i], run, &lost[i]);
        #pragma omp critical(kb_progress)
        run->fraction = 0.05 + 0.55 * (double)++done / (double)n;
    }
    for (size_t i = 0; i < n; i++) {
        result->n_starts += ran[i];
        result->n_lost += lost[i];
        if (statuses[i] != KBASS_OK) status = kb_out_of_memory(error, "the search");
        if (status == KBASS_OK) status = kb_pool_merge(&result->pool, &opinions[i], error);
        kb_pool_clear(&opinions[i]);
    }
    return status;
}

/* ---------------------------------------------------------------- stages */

static bool has_model(const kb_search_result *result) { return result->pool.n && result->pool.fits[0]->valid; }

/* Adds not visited: their odds by the chosen model's own message. */
static kbass_status measure_neighbours(const kb_problem *p, kb_worker *w, kb_search_result *result, kbass_error *error)
{
    size_t n = p->columns->n;
    const kb_fit *best = result->pool.fits[0];
    kb_move *moves = KB_NEW(kb_move, 2 * n);
    result->neighbour_log_odds = KB_NEW(double, n);
    if (!moves || !result->neighbour_log_odds) {
        kb_free(moves);
        return kb_out_of_memory(error, "the answer");
    }
    for (size_t i = 0; i < n; i++) result->neighbour_log_odds[i] = -INFINITY;
    w->shooter->windows = result->windows;
    size_t found = kb_shooter_message(w->shooter, best, &p->all, w->message)
                       ? kb_message_moves(w->message, p->columns, &best->support, false, 2 * n, moves, w->work)
                       : 0;
    for (size_t i = 0; i < found; i++) {
        kb_support_copy(&best->support, &w->trial);
        kb_move_apply(&moves[i], &w->trial);
        if (moves[i].add != KB_NO_COLUMN && !kb_pool_find(&result->pool, &w->trial))
            result->neighbour_log_odds[moves[i].add] = moves[i].gain;
    }
    kb_free(moves);
    return KBASS_OK;
}

static kbass_status polish(const kb_problem *p, kb_worker *w, kb_run *run, kb_search_result *result, kbass_error *error)
{
    kb_pool *pool = &result->pool;
    result->n_models = pool->n;
    if (!has_model(result) || kb_run_stopped(run)) return KBASS_OK;
    w->shooter->windows = result->windows;
    for (size_t i = 0; i < pool->n && i < 4 && pool->fits[i]->valid; i++)
        if (!pool->fits[i]->converged) kb_shooter_fit(w->shooter, pool->fits[i], 60, -INFINITY);
    kb_pool_sort(pool);
    return measure_neighbours(p, w, result, error);
}

static double stage(kb_run *run, const char *name, double fraction)
{
    run->stage = name;
    run->fraction = fraction;
    return kb_clock();
}

/* Search and arbitration, once. */
static kbass_status run_pass(const kb_problem *p, bool refined, kb_worker **workers, kb_run *run, kb_search_result *result,
                             kbass_error *error)
{
    double clock = stage(run, kbass_stage_name(KBASS_STAGE_SEARCH), 0.05);
    kbass_status status = run_starts(p, refined, workers, run, result, error);
    result->seconds[KBASS_STAGE_SEARCH] += kb_clock() - clock;

    clock = stage(run, kbass_stage_name(KBASS_STAGE_ARBITRATE), 0.6);
    if (status == KBASS_OK)
        status = kb_arbitrate(p, workers, &result->pool, run, &result->windows, &result->settled, error);
    result->seconds[KBASS_STAGE_ARBITRATE] += kb_clock() - clock;
    return status;
}

/* Does the best model leave so much of the data unexplained that a second opinion is due? */
static bool unconvincing(const kb_search_result *result)
{
    static const double unexplained = 0.3; /* rms misfit in units of the states' sd */
    return !has_model(result) || !(result->pool.fits[0]->misfit < unexplained);
}

/* Fewer windows say more; on equal windows the evidence decides. */
static bool is_better(const kb_search_result *a, const kb_search_result *b)
{
    if (!has_model(a) || !has_model(b)) return has_model(a);
    if (a->windows->n != b->windows->n) return a->windows->n < b->windows->n;
    return a->pool.fits[0]->log_evidence > b->pool.fits[0]->log_evidence;
}

/* The starts once more, each structure refined by evidence before it is arbitrated; the better answer stays. */
static kbass_status second_opinion(const kb_problem *p, kb_worker **workers, kb_run *run, kb_search_result *result,
                                   kbass_error *error)
{
    kb_search_result other = {.n_starts = result->n_starts, .n_lost = result->n_lost};
    memcpy(other.seconds, result->seconds, sizeof other.seconds);
    kb_pool_init(&other.pool, p, result->pool.max_windows);
    kbass_status status = run_pass(p, true, workers, run, &other, error);
    bool better = status == KBASS_OK && is_better(&other, result);
    kb_search_result kept = better ? other : *result, dropped = better ? *result : other;
    kept.n_starts = other.n_starts;
    kept.n_lost = other.n_lost;
    memcpy(kept.seconds, other.seconds, sizeof kept.seconds);
    kb_search_result_clear(&dropped);
    *result = kept;
    return status;
}

static kbass_status run_stages(const kb_problem *p, kb_worker **workers, kb_run *run, kb_search_result *result,
                               kbass_error *error)
{
    kbass_status status = run_pass(p, false, workers, run, result, error);
    if (status == KBASS_OK && p->n_patches == 1 && unconvincing(result) && !kb_run_stopped(run))
        status = second_opinion(p, workers, run, result, error);

    double clock = stage(run, kbass_stage_name(KBASS_STAGE_POLISH), 0.95);
    if (status == KBASS_OK) status = polish(p, workers[0], run, result, error);
    result->seconds[KBASS_STAGE_POLISH] = kb_clock() - clock;
    return status;
}

kbass_status kb_discover(const kb_problem *p, kb_run *run, kb_search_result *result, kbass_error *error)
{
    size_t max_windows = kb_arbitrate_windows(p), n = (size_t)p->threads;
    kbass_status status = KBASS_OK;
    kb_worker **workers = KB_NEW(kb_worker *, n);
    int blas_threads = kb_blas_threads(1);
    memset(result, 0, sizeof *result);
    kb_pool_init(&result->pool, p, max_windows);
    if (!workers) status = kb_out_of_memory(error, "the threads");
    for (size_t i = 0; status == KBASS_OK && i < n; i++) status = kb_worker_create(p, max_windows, &workers[i], error);
    if (status == KBASS_OK) status = run_stages(p, workers, run, result, error);
    for (size_t i = 0; workers && i < n; i++) kb_worker_destroy(workers[i]);
    kb_free(workers);
    kb_blas_threads(blas_threads);
    return status;
}

void kb_search_result_clear(kb_search_result *result)
{
    kb_pool_clear(&result->pool);
    kb_windows_destroy(result->windows);
    kb_free(result->neighbour_log_odds);
    memset(result, 0, sizeof *result);
}
