#include "discover/arbitrate.h"

#include <math.h>
#include <omp.h>
#include <string.h>

#include "base/memory.h"
#include "base/status.h"
#include "discover/merge.h"

enum { BEAM = 8, EXPLORED_AT_ONCE = 3, MOST_MOVES = 16, ROUNDS = 12 };
enum { SEARCH_ITERATIONS = 12, FINAL_ITERATIONS = 40, GRACE_ITERATIONS = 6 };
static const double worth_exploring = 8; /* nats behind the best within which a model's neighbours are proposed */
static const double worth_fitting = 7;   /* nats behind its parent within which a neighbour is fitted */
static const double grace = 0.4;         /* seconds for the first fits when the run was stopped before any */
static const double merge_failed = 2;    /* growth of the noise variance at which merged windows lost the data */

typedef struct {
    const kb_problem *problem;
    kb_worker **workers;
    kb_pool *pool;
    kb_run *run;
    kb_windows *windows;
    bool fitted;     /* the whole pool, on the present windows */
    double deadline; /* of the fits that a stopped run is still granted; 0 while it runs */
} arena;

/* ---------------------------------------------------------------- entering */

size_t kb_arbitrate_windows(const kb_problem *p)
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

kbass_status kb_arbitrate_enter(const kb_problem *p, kb_worker *w, kb_pool *pool, kbass_error *error)
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

/* ---------------------------------------------------------------- fitting in parallel */

typedef struct {
    kb_fit *fit;
    const kb_fit *parent; /* where a second try starts from, or NULL */
} job;

static void restart_from(kb_fit *fit, const kb_fit *parent, size_t n_columns, size_t n_states)
{
    memset(fit->w, 0, n_columns * sizeof *fit->w);
    for (size_t q = 0; q < fit->support.n; q++) fit->w[fit->support.column[q]] = parent->w[fit->support.column[q]];
    memcpy(fit->start, parent->start, parent->n_windows * n_states * sizeof *fit->start);
    memcpy(fit->variance, parent->variance, n_states * sizeof *fit->variance);
}

static bool may_fit(arena *a, const kb_fit *fit)
{
    return a->deadline > 0 ? kb_clock() < a->deadline : kb_run_continue(a->run, fit->support.n);
}

static void fit_all(arena *a, size_t n_jobs, const job *jobs, int iterations)
{
    double rival = a->pool->n && a->pool->fits[0]->valid ? a->pool->fits[0]->log_likelihood : -INFINITY;
    #pragma omp parallel for schedule(dynamic) num_threads(a->problem->threads)
    for (size_t i = 0; i < n_jobs; i++) {
        kb_shooter *shooter = a->workers[omp_get_thread_num()]->shooter;
        if (!may_fit(a, jobs[i].fit)) continue;
        shooter->windows = a->windows;
        kb_shooter_fit(shooter, jobs[i].fit, iterations, rival);
        if (jobs[i].fit->valid || !jobs[i].parent) continue;
        restart_from(jobs[i].fit, jobs[i].parent, a->problem->columns->n, a->problem->record->n_states);
        kb_shooter_fit(shooter, jobs[i].fit, iterations, rival);
    }
}

/* The newest first: on equal terms a refined structure is likelier than the one it came from. */
static kbass_status fit_pool(arena *a, int iterations, kbass_error *error)
{
    job *jobs = KB_NEW(job, a->pool->n);
    if (!jobs) return kb_out_of_memory(error, "the search");
    for (size_t i = 0; i < a->pool->n; i++) jobs[i].fit = a->pool->fits[a->pool->n - 1 - i];
    fit_all(a, a->pool->n, jobs, iterations);
    kb_free(jobs);
    kb_pool_sort(a->pool);
    return KBASS_OK;
}

/* ---------------------------------------------------------------- proposing */

/* A neighbour proposed by a parent; its weights are the quadratic's means. */
typedef struct {
    kb_support support;
    double *w;
    const kb_fit *parent;
} proposal;

static kbass_status propose(const kb_problem *p, kb_worker *w, const kb_fit *parent, const kb_support *support,
                            proposal *out, kbass_error *error)
{
    double *mean = w->work;
    kbass_status status = kb_support_create(support->n, &out->support, error);
    out->w = KB_NEW(double, support->n);
    if (status != KBASS_OK || !out->w) return kb_out_of_memory(error, "a proposal");
    kb_support_copy(support, &out->support);
    kb_message_evidence(w->message, p->columns, support, mean, w->work + support->n);
    memcpy(out->w, mean, support->n * sizeof *mean);
    out->parent = parent;
    return KBASS_OK;
}

/* The neighbours of one model that are worth a fit: best single moves, and the end of a climb on the quadratic. */
static kbass_status propose_from(arena *a, kb_worker *w, const kb_fit *parent, proposal *out, size_t *n, kbass_error *error)
{
    const kb_problem *p = a->problem;
    kb_move moves[MOST_MOVES];
    kbass_status status = KBASS_OK;
    w->shooter->windows = a->windows;
    if (!kb_shooter_message(w->shooter, parent, &p->all, w->message)) return KBASS_OK;
    size_t found = kb_message_moves(w->message, p->columns, &parent->support, true, MOST_MOVES, moves, w->work);
    for (size_t i = 0; status == KBASS_OK && i < found; i++) {
        if (!(moves[i].gain > -worth_fitting)) break;
        kb_support_copy(&parent->support, &w->trial);
        kb_move_apply(&moves[i], &w->trial);
        status = propose(p, w, parent, &w->trial, &out[(*n)++], error);
    }
    kb_support_copy(&parent->support, &w->trial);
    if (status == KBASS_OK && kb_message_climb(w->message, p->columns, &w->trial, 30, w->work))
        status = propose(p, w, parent, &w->trial, &out[(*n)++], error);
    return status;
}

/* Adds the proposals that are new to the pool and fits them. */
static kbass_status fit_proposals(arena *a, size_t n, proposal *proposals, kbass_error *error)
{
    kbass_status status = KBASS_OK;
    size_t n_jobs = 0;
    job *jobs = KB_NEW(job, n);
    if (!jobs) return kb_out_of_memory(error, "the search");
    for (size_t i = 0; status == KBASS_OK && i < n; i++) {
        kb_fit *fit = NULL;
        if (kb_pool_find(a->pool, &proposals[i].support)) continue;
        status = kb_pool_add(a->pool, &proposals[i].support, &fit, error);
        if (status != KBASS_OK) break;
        restart_from(fit, proposals[i].parent, a->problem->columns->n, a->problem->record->n_states);
        for (size_t q = 0; q < fit->support.n; q++) fit->w[fit->support.column[q]] = proposals[i].w[q];
        jobs[n_jobs++] = (job){fit, proposals[i].parent};
    }
    if (status == KBASS_OK) fit_all(a, n_jobs, jobs, SEARCH_ITERATIONS);
    kb_free(jobs);
    return status;
}

static size_t choose_unexplored(arena *a, size_t beam, size_t *chosen)
{
    size_t n = 0;
    const kb_pool *pool = a->pool;
    for (size_t i = 0; i < pool->n && i < beam && n < EXPLORED_AT_ONCE; i++)
        if (pool->fits[i]->valid && !pool->explored[i] &&
            pool->fits[i]->log_evidence > pool->fits[0]->log_evidence - worth_exploring) chosen[n++] = i;
    return n;
}

/* One round: the neighbours of the best unexplored models. False in *more when there is nothing left to explore. */
static kbass_status explore(arena *a, size_t beam, bool *more, kbass_error *error)
{
    size_t chosen[EXPLORED_AT_ONCE], n = choose_unexplored(a, beam, chosen), total = 0;
    size_t counts[EXPLORED_AT_ONCE] = {0}, each = MOST_MOVES + 1;
    kbass_status statuses[EXPLORED_AT_ONCE] = {KBASS_OK}, status = KBASS_OK;
    proposal *proposals = KB_NEW(proposal, EXPLORED_AT_ONCE * each);
    if (!proposals) return kb_out_of_memory(error, "the search");
    *more = n > 0;
    #pragma omp parallel for schedule(dynamic) num_threads(a->problem->threads)
    for (size_t i = 0; i < n; i++)
        statuses[i] = propose_from(a, a->workers[omp_get_thread_num()], a->pool->fits[chosen[i]], proposals + i * each,
                                   &counts[i], NULL);
    for (size_t i = 0; i < n; i++) {
        a->pool->explored[chosen[i]] = true;
        if (statuses[i] != KBASS_OK) status = kb_out_of_memory(error, "the search");
        memmove(proposals + total, proposals + i * each, counts[i] * sizeof *proposals);
        total += counts[i];
    }
    if (status == KBASS_OK) status = fit_proposals(a, total, proposals, error);
    for (size_t i = 0; i < total; i++) {
        kb_support_clear(&proposals[i].support);
        kb_free(proposals[i].w);
    }
    kb_free(proposals);
    kb_pool_sort(a->pool);
    return status;
}

static kbass_status search(arena *a, size_t beam, int rounds, bool *settled, kbass_error *error)
{
    kbass_status status = KBASS_OK;
    *settled = false;
    for (int round = 0; status == KBASS_OK && round < rounds && !*settled && !kb_run_stopped(a->run); round++) {
        bool more = false;
        status = explore(a, beam, &more, error);
        *settled = !more;
        if (a->pool->n && a->pool->fits[0]->valid) a->run->log_evidence = a->pool->fits[0]->log_evidence;
    }
    return status;
}

/* ---------------------------------------------------------------- windows merge */

/* Moves the pool to `n` windows: fitted from their entries' starts, or merged from twice as many. */
static kbass_status set_windows(arena *a, size_t n, bool merge, kbass_error *error)
{
    kb_windows *before = a->windows;
    kbass_status status = KBASS_OK, lost_memory = KBASS_OK;
    a->windows = NULL;
    status = kb_windows_create(a->problem->record, n, &a->windows, error);
    for (size_t i = 0; i < a->pool->n; i++) a->pool->explored[i] = false;
    if (status == KBASS_OK && merge) {
        #pragma omp parallel for schedule(dynamic) num_threads(a->problem->threads) reduction(max : lost_memory)
        for (size_t i = 0; i < a->pool->n; i++) {
            kb_shooter *shooter = a->workers[omp_get_thread_num()]->shooter;
            if (!kb_run_continue(a->run, a->pool->fits[i]->support.n)) continue;
            kbass_status one = kb_fit_merge(a->problem, shooter, before, a->windows, a->pool->fits[i], NULL);
            if (one != KBASS_OK) lost_memory = one;
        }
        if (lost_memory != KBASS_OK) status = kb_out_of_memory(error, "the search");
        kb_pool_sort(a->pool);
    }
    kb_windows_destroy(before);
    return status;
}

/* Moves the whole pool to `n` windows and searches there. */
static kbass_status search_on_windows(arena *a, size_t n, bool merge, bool last, bool *settled, kbass_error *error)
{
    kbass_status status = set_windows(a, n, merge, error);
    if (status == KBASS_OK && !merge) status = fit_pool(a, last ? FINAL_ITERATIONS : SEARCH_ITERATIONS, error);
    a->fitted = !kb_run_stopped(a->run);
    if (status == KBASS_OK) status = search(a, last ? BEAM : 2, last ? ROUNDS : 2, settled, error);
    return status;
}

/* Copies of the best fits, to go back to when merging loses the data. */
static kbass_status keep_best(const kb_pool *pool, size_t most, kb_pool *kept, kbass_error *error)
{
    kbass_status status = KBASS_OK;
    kb_pool_trim(kept, 0);
    for (size_t i = 0; status == KBASS_OK && i < pool->n && i < most && pool->fits[i]->valid; i++) {
        kb_fit *copy = NULL;
        status = kb_pool_add(kept, &pool->fits[i]->support, &copy, error);
        if (status == KBASS_OK) kb_fit_copy(pool->fits[i], copy, pool->n_columns, pool->n_states);
    }
    return status;
}

static void swap_entries(kb_pool *a, kb_pool *b)
{
    kb_pool other = *a;
    *a = *b;
    *b = other;
}

/* The run was stopped while the pool moved to n windows: back to the fits before or, without any, quick first ones. */
static kbass_status salvage(arena *a, kb_pool *before, size_t n, kbass_error *error)
{
    if (before->n) {
        swap_entries(a->pool, before);
        return set_windows(a, 2 * n, false, error);
    }
    a->deadline = kb_clock() + grace;
    return fit_pool(a, GRACE_ITERATIONS, error);
}

kbass_status kb_arbitrate(const kb_problem *p, kb_worker **workers, kb_pool *pool, kb_run *run, kb_windows **windows,
                          bool *settled, kbass_error *error)
{
    arena a = {p, workers, pool, run, NULL, false, 0};
    kb_pool before;
    double variance = INFINITY;
    kbass_status status = KBASS_OK;
    kb_pool_init(&before, p, pool->max_windows);
    for (size_t n = pool->max_windows; status == KBASS_OK && n >= 1; n /= 2) {
        status = search_on_windows(&a, n, n < pool->max_windows, n == 1, settled, error);
        if (status == KBASS_OK && kb_run_stopped(run) && !a.fitted) status = salvage(&a, &before, n, error);
        if (status != KBASS_OK || kb_run_stopped(run)) break;
        bool lost = !pool->n || !pool->fits[0]->valid || kb_fit_noise(p, pool->fits[0]) > merge_failed * variance;
        if (lost && before.n) { /* go back to the windows before, and search there to the end */
            swap_entries(pool, &before);
            status = search_on_windows(&a, 2 * n, false, true, settled, error);
            break;
        }
        if (pool->n && pool->fits[0]->valid) variance = kb_fit_noise(p, pool->fits[0]);
        if (n > 1) {
            status = keep_best(pool, 2 * BEAM, &before, error);
            if (before.n) kb_pool_trim(pool, before.n);
        }
    }
    kb_pool_clear(&before);
    *windows = a.windows;
    return status;
}
