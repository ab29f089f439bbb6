#include "search/growth.h"

#include <math.h>
#include <omp.h>
#include <string.h>

#include "base/memory.h"
#include "base/status.h"
#include "search/task.h"
#include "search/trace.h"
#include "search/windows.h"

/* ---------------------------------------------------------------- parts and their windows */

static size_t run_rows(const kb_likelihood *l, size_t run)
{
    return l->run_start ? l->run_start[run + 1] - l->run_start[run] : l->n_rows;
}

static size_t longest_run(const kb_likelihood *l)
{
    size_t most = 0;
    for (size_t run = 0; run < l->n_runs; run++)
        if (run_rows(l, run) > most) most = run_rows(l, run);
    return most;
}

/* The first `rows` rows of each run in `n` windows each. */
static kbass_status divide_part(const kb_likelihood *l, size_t rows, size_t n, kb_windows **out, kbass_error *error)
{
    kbass_status status = kb_windows_divide_runs(l->n_runs, l->run_start, n, out, error);
    for (size_t run = 0; status == KBASS_OK && run < l->n_runs; run++) {
        size_t first = l->run_start[run], own = run_rows(l, run), last = (rows < own ? rows : own) - 1;
        for (size_t i = 0; i < n; i++) {
            (*out)->first[run * n + i] = first + i * last / n;
            (*out)->last[run * n + i] = first + (i + 1) * last / n;
        }
    }
    return status;
}

size_t kb_growth_most_windows(const kb_likelihood *l, const kb_first_part *first)
{
    size_t each = first->n_windows;
    for (size_t rows = first->n_rows; rows < longest_run(l); rows *= 2) each *= 2;
    return each * l->n_runs;
}

/* ---------------------------------------------------------------- from windows to windows */

/* The state at a row: on the solution of the window that holds it, or by the measurements nearby. */
static kbass_status state_at(kb_likelihood *l, const kb_windows *from, const kb_fit *fit, size_t row, double *state,
                             kbass_error *error)
{
    for (size_t window = 0; window < from->n; window++)
        if (row >= from->first[window] && row < from->last[window]) {
            if (l->solution(l, fit, window, row, state)) return KBASS_OK;
            break;
        }
    return l->guess(l, row, state, error);
}

/* Starts on other windows: where one begins with an old one's first row they are its own. */
static kbass_status move_starts(kb_likelihood *l, const kb_windows *from, const kb_windows *to, kb_fit *fit,
                                double *starts, kbass_error *error)
{
    kbass_status status = KBASS_OK;
    l->windows = from;
    for (size_t window = 0; status == KBASS_OK && window < to->n; window++)
        status = state_at(l, from, fit, to->first[window], starts + window * l->n_start, error);
    if (status != KBASS_OK) return status;
    memcpy(fit->start, starts, to->n * l->n_start * sizeof *starts);
    fit->n_windows = to->n;
    return KBASS_OK;
}

static void forget_explored(kb_pool *pool)
{
    for (size_t i = 0; i < pool->n; i++) pool->explored[i] = false;
}

kbass_status kb_search_move_windows(kb_search *a, kb_windows *to, kbass_error *error)
{
    kb_windows *before = a->windows;
    kb_likelihood *l = a->workers.list[0]->likelihood;
    double *starts = KB_NEW(double, to->n * l->n_start);
    kbass_status status = starts ? KBASS_OK : kb_out_of_memory(error, "the search");
    for (size_t i = 0; status == KBASS_OK && i < a->pool->n; i++)
        status = move_starts(l, before, to, a->pool->fits[i], starts, error);
    kb_free(starts);
    a->windows = to;
    kb_windows_destroy(before);
    forget_explored(a->pool);
    return status;
}

static kbass_status refit_on(kb_search *a, kb_windows *to, int iterations, kbass_error *error)
{
    kbass_status status = kb_search_move_windows(a, to, error);
    return status == KBASS_OK ? kb_search_fit(a, iterations, error) : status;
}

/* The pool on half as many windows of the same part. */
static kbass_status merge_on(kb_search *a, kb_windows *to, kbass_error *error)
{
    kbass_status status = KBASS_OK;
    kb_windows *before = a->windows;
#pragma omp parallel for schedule(dynamic) num_threads(a->workers.n) reduction(max : status)
    for (size_t i = 0; i < a->pool->n; i++) {
        kb_likelihood *likelihood = a->workers.list[omp_get_thread_num()]->likelihood;
        if (!kb_run_continue(a->run, a->pool->fits[i]->support.n)) continue;
        kbass_status one = kb_fit_merge(likelihood, before, to, a->pool->fits[i], NULL);
        if (one > status) status = one;
    }
    a->windows = to;
    kb_windows_destroy(before);
    forget_explored(a->pool);
    kb_pool_sort(a->pool);
    kb_trace_pool(a, "merged");
    return status == KBASS_OK ? KBASS_OK : kb_out_of_memory(error, "the search");
}

static double best_noise(const kb_search *a)
{
    bool has_model = a->pool->n && a->pool->fits[0]->valid;
    const kb_likelihood *l = a->workers.list[0]->likelihood;
    return has_model ? l->noise(l, a->pool->fits[0]) : INFINITY;
}

/* ---------------------------------------------------------------- one part */

static kbass_status remember(kb_search *a, kb_growth *p, kbass_error *error)
{
    p->noise = best_noise(a);
    if (isfinite(p->noise)) {
        kb_pool_drop_longer(a->pool, a->schedule->worth_keeping);
        kb_pool_trim(a->pool, (size_t)a->schedule->kept);
    }
    return kb_pool_copy(a->pool, &p->before, error);
}

static bool is_lost(const kb_search *a, const kb_growth *p) { return !(best_noise(a) <= a->schedule->lost * p->noise); }

/* Back to windows that followed the data. */
static kbass_status go_back(kb_search *a, kb_growth *p, size_t rows, size_t n, kbass_error *error)
{
    kb_windows *windows = NULL;
    kbass_status status = divide_part(a->workers.list[0]->likelihood, rows, n, &windows, error);
    if (status != KBASS_OK) return status;
    kb_windows_destroy(a->windows);
    a->windows = windows;
    kb_pool_swap(a->pool, &p->before);
    forget_explored(a->pool);
    p->rows = rows;
    p->n = n;
    return KBASS_OK;
}

/* Half as many windows, or back to those that there were when the data are lost. */
kbass_status kb_growth_merge(kb_search *a, kb_growth *p, kbass_error *error)
{
    kb_windows *fewer = NULL;
    kbass_status status = remember(a, p, error);
    if (status == KBASS_OK) status = divide_part(a->workers.list[0]->likelihood, p->rows, p->n / 2, &fewer, error);
    if (status == KBASS_OK) status = merge_on(a, fewer, error);
    if (status != KBASS_OK) return status;
    p->is_merged = is_lost(a, p) || kb_run_stopped(a->run);
    if (p->is_merged) return go_back(a, p, p->rows, p->n, error);
    p->n /= 2;
    p->is_merged = p->n == 1;
    return KBASS_OK;
}

/* The first `rows` rows in n windows, from what followed the present ones. */
static kbass_status reach(kb_search *a, kb_growth *p, size_t rows, size_t n, kbass_error *error)
{
    kb_windows *windows = NULL;
    kbass_status status = remember(a, p, error);
    if (status == KBASS_OK) status = divide_part(a->workers.list[0]->likelihood, rows, n, &windows, error);
    return status == KBASS_OK ? refit_on(a, windows, (int)a->schedule->fit_iterations, error) : status;
}

/* Shorter windows need less of the starts that the measurements give them: down to those of the first part. */
kbass_status kb_growth_double(kb_search *a, kb_growth *p, kbass_error *error)
{
    size_t longest = longest_run(a->workers.list[0]->likelihood), rows = 2 * p->rows < longest ? 2 * p->rows : longest;
    size_t n = p->n == 1 ? 1 : 2 * p->n;
    kbass_status status = reach(a, p, rows, n, error);
    p->shortest *= 2;
    while (status == KBASS_OK && is_lost(a, p) && n < p->shortest && !kb_run_stopped(a->run)) {
        n *= 2;
        status = go_back(a, p, p->rows, p->n, error);
        if (status == KBASS_OK) status = reach(a, p, rows, n, error);
    }
    p->n = n;
    p->rows = rows;
    p->is_merged = rows < longest || p->n == 1; /* the whole record is tried on fewer windows once more */
    return status;
}

kbass_status kb_growth_whole(kb_search *a, kb_growth *p, kbass_error *error)
{
    const kb_likelihood *l = a->workers.list[0]->likelihood;
    kb_windows *windows = NULL;
    if (p->rows >= longest_run(l)) return KBASS_OK;
    if (!(best_noise(a) < INFINITY) && p->before.n) kb_pool_swap(a->pool, &p->before);
    for (size_t rows = p->rows; p->n > 1 && rows < longest_run(l); rows *= 2) p->n *= 2;
    p->rows = longest_run(l);
    kbass_status status = divide_part(l, p->rows, p->n, &windows, error);
    if (status != KBASS_OK) return status;
    kb_pool_trim(a->pool, (size_t)a->schedule->kept);
    return kb_search_move_windows(a, windows, error);
}

kbass_status kb_growth_begin(kb_search *a, const kb_first_part *first, kb_growth *p, kbass_error *error)
{
    kb_likelihood *l = a->workers.list[0]->likelihood;
    p->rows = first->n_rows < longest_run(l) ? first->n_rows : longest_run(l);
    p->n = p->shortest = first->n_windows;
    p->is_merged = false;
    kb_pool_trim(&p->before, 0);
    kb_windows_destroy(a->windows);
    a->windows = NULL;
    kbass_status status = divide_part(l, p->rows, p->n, &a->windows, error);
    for (size_t i = 0; status == KBASS_OK && i < a->pool->n; i++)
        status = kb_fit_guess(l, a->windows, a->pool->fits[i], error);
    forget_explored(a->pool);
    return status;
}

bool kb_growth_sees_all(const kb_search *a, const kb_growth *p)
{
    return p->rows >= longest_run(a->workers.list[0]->likelihood);
}

double kb_growth_noise(const kb_search *a) { return best_noise(a); }

void kb_growth_init(const kb_search *a, kb_growth *p)
{
    *p = (kb_growth){0};
    kb_pool_init(&p->before, a->pool->n_columns, a->pool->n_start, a->pool->max_windows);
}

void kb_growth_clear(kb_growth *p) { kb_pool_clear(&p->before); }
