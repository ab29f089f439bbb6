/* States over time: every stage sees the whole record, at first on short windows, where any model can be integrated;
 * windows merge pairwise until one spans the record or, on a chaotic record, until the best model can no longer follow
 * the data (docs/math.md, section 9).
 */
#include <math.h>
#include <omp.h>

#include "base/memory.h"
#include "base/status.h"
#include "problem/ode.h"
#include "propose/ode/pool_entry.h"
#include "propose/sources.h"
#include "search/trace.h"
#include "search/windows.h"
#include "tasks/shooting.h"
#include "tasks/tasks.h"

enum { MOST_UNKNOWNS = 10000 };        /* of the fields together: one factorisation takes half a minute, and 0.8 GB */
static const double worth_a_doubt = 4; /* times the bare field's noise variance, which few samples leave too small */
static const double unexplained = 0.3; /* rms misfit in units of the states' sd */

typedef struct {
    size_t n;        /* windows of each run now; 0: none yet */
    double variance; /* of the noise, by the best model of the stage before */
} progress;

static kbass_status make(const void *problem, kb_likelihood **out, kbass_error *error)
{
    return kb_make_trajectories(problem, kb_ode_problem_windows(problem), out, error);
}

static kbass_status check_size(const kb_ode_problem *p, kbass_error *error)
{
    size_t n = p->record->n_states, unknowns = n * p->max_rank;
    if (unknowns <= MOST_UNKNOWNS || kb_ode_problem_is_large(p)) return KBASS_OK; /* large: no fields together */
    return kb_fail(
        error, KBASS_ERROR_DATA,
        "%zu states whose curves have up to %zu coefficients each: %zu unknowns, needed at most %d: take the "
        "states that belong together (--use), or a record with fewer swings",
        n, p->max_rank, unknowns, MOST_UNKNOWNS);
}

static kbass_status begin(kb_pass *pass, kbass_error *error)
{
    const kb_ode_problem *p = pass->problem;
    progress *state = pass->state = KB_NEW(progress, 1);
    if (!state) return kb_out_of_memory(error, "the search");
    state->variance = INFINITY;
    pass->search.columns = p->columns;
    pass->search.all = &p->all;
    pass->search.analogies = p->analogies;
    kb_pool_init(pass->search.pool, p->columns->n, p->record->n_states, kb_ode_problem_windows(p));
    kbass_status status = check_size(p, error);
    return status == KBASS_OK ? kb_workers_create(p->threads, make, p, p->columns, &pass->search.workers, error)
                              : status;
}

static void end(kb_pass *pass) { kb_free(pass->state); }

static kbass_status set_windows(kb_pass *pass, size_t n, kbass_error *error)
{
    const kb_likelihood *l = kb_pass_likelihood(pass);
    kb_windows_destroy(pass->search.windows);
    pass->search.windows = NULL;
    ((progress *)pass->state)->n = n;
    return kb_windows_divide_runs(l->n_runs, l->run_start, n, &pass->search.windows, error);
}

static size_t most_windows(const kb_pass *pass)
{
    return pass->search.pool->max_windows / kb_pass_likelihood(pass)->n_runs;
}

/* Proposals on the first windows; sources that have no starts of their own leave them to the bare field. */
static kbass_status take(kb_pass *pass, kb_pool *found, kbass_error *error)
{
    kb_pool *pool = pass->search.pool;
    kbass_status status = kb_pool_merge(pool, found, error);
    kb_trace_pool(&pass->search, "proposed");
    if (status == KBASS_OK) status = set_windows(pass, most_windows(pass), error);
    for (size_t i = 0; status == KBASS_OK && i < pool->n; i++)
        if (!pool->fits[i]->n_windows)
            status = kb_fit_guess(kb_pass_likelihood(pass), pass->search.windows, pool->fits[i], error);
    return status;
}

/* Moves the pool to half as many windows. */
static kbass_status merge(kb_pass *pass, kbass_error *error)
{
    kb_search *a = &pass->search;
    kb_windows *before = a->windows;
    kbass_status lost_memory = KBASS_OK;
    a->windows = NULL;
    kbass_status status = set_windows(pass, ((progress *)pass->state)->n / 2, error);
    for (size_t i = 0; i < a->pool->n; i++) a->pool->explored[i] = false;
    if (status == KBASS_OK) {
#pragma omp parallel for schedule(dynamic) num_threads(a->workers.n) reduction(max : lost_memory)
        for (size_t i = 0; i < a->pool->n; i++) {
            kb_likelihood *l = a->workers.list[omp_get_thread_num()]->likelihood;
            if (!kb_run_continue(a->run, a->pool->fits[i]->support.n)) continue;
            kbass_status one = kb_fit_merge(l, before, a->windows, a->pool->fits[i], NULL);
            if (one != KBASS_OK) lost_memory = one;
        }
        if (lost_memory != KBASS_OK) status = kb_out_of_memory(error, "the search");
        kb_pool_sort(a->pool);
        kb_trace_pool(a, "merged");
    }
    kb_windows_destroy(before);
    return status;
}

static kbass_status extend(kb_pass *pass, size_t stage, kbass_error *error)
{
    progress *state = pass->state;
    if (stage == KB_WHOLE_RECORD) return KBASS_OK; /* it is seen on any windows */
    pass->is_over = stage > 0 && state->n == 1;
    if (pass->is_over) return KBASS_OK;
    pass->is_fitted = stage > 0;
    kbass_status status = stage ? merge(pass, error) : KBASS_OK;
    pass->is_last = state->n == 1;
    return status;
}

static kbass_status step_back(kb_pass *pass, kbass_error *error)
{
    return set_windows(pass, 2 * ((progress *)pass->state)->n, error);
}

static bool is_lost(kb_pass *pass)
{
    progress *state = pass->state;
    bool has_model = kb_pass_has_model(pass);
    const kb_likelihood *l = kb_pass_likelihood(pass);
    double noise = has_model ? l->noise(l, pass->search.pool->fits[0]) : INFINITY, before = state->variance;
    if (has_model) state->variance = noise;
    return !(noise <= pass->task->schedule->lost * before);
}

/* Are the residuals those that the bare field leaves, too? */
static bool is_at_noise(const kb_ode_problem *p, const kb_fit *fit)
{
    double noise = fmax(p->noise_variance, KB_LEAST_NOISE);
    return fit->misfit * fit->misfit < worth_a_doubt * noise;
}

/* Fewer values than candidates: what the first search comes upon may be one of many, and fits cost little. */
static bool is_scant(const kb_ode_problem *p) { return p->record->n_values < p->columns->n; }

/* Does the best model leave so much of the data unexplained, or do so few data speak for it, that structures refined by
   evidence are due? */
static bool is_doubtful(const void *problem, const kb_search_result *result)
{
    const kb_ode_problem *p = problem;
    if (!p->is_middle && p->n_patches != 1) return false;
    if (!kb_has_model(result) || !(result->pool.fits[0]->misfit < unexplained)) return true;
    return p->is_middle ? !is_at_noise(p, result->pool.fits[0]) : is_scant(p);
}

#define SHARED                                                                                                         \
    .sources = kb_sources_of_states, .first_sources = KB_AT_FIRST, .stages_see_all = true, .passes_compare = true,     \
    .begin = begin, .take = take, .extend = extend, .is_lost = is_lost, .step_back = step_back,                        \
    .examine = kb_examine_residuals, .end = end

const kb_task kb_task_of_states = {SHARED, .schedule = &kb_schedule_of_states.value, .is_doubtful = is_doubtful,
                                   .second = &kb_task_of_states};

const kb_task kb_task_of_wide_states = {SHARED, .schedule = &kb_schedule_of_wide_states.value};
