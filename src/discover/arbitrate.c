#include "discover/arbitrate.h"

#include <math.h>
#include <omp.h>

#include "base/status.h"
#include "search/windows.h"
#include "search/trace.h"

/* Moves the pool to `n` windows in each run: fitted from their entries' starts, or merged from twice as many. */
static kbass_status set_windows(kb_search *a, size_t n, bool merge, kbass_error *error)
{
    kb_windows *before = a->windows;
    kbass_status status = KBASS_OK, lost_memory = KBASS_OK;
    a->windows = NULL;
    const kb_dynamics *d = a->workers.list[0]->shooter->dynamics;
    status = kb_windows_divide_runs(d->n_runs, d->run_start, n, &a->windows, error);
    for (size_t i = 0; i < a->pool->n; i++) a->pool->explored[i] = false;
    if (status == KBASS_OK && merge) {
#pragma omp parallel for schedule(dynamic) num_threads(a->workers.n) reduction(max : lost_memory)
        for (size_t i = 0; i < a->pool->n; i++) {
            kb_shooter *shooter = a->workers.list[omp_get_thread_num()]->shooter;
            if (!kb_run_continue(a->run, a->pool->fits[i]->support.n)) continue;
            kbass_status one = kb_fit_merge(shooter, before, a->windows, a->pool->fits[i], NULL);
            if (one != KBASS_OK) lost_memory = one;
        }
        if (lost_memory != KBASS_OK) status = kb_out_of_memory(error, "the search");
        kb_pool_sort(a->pool);
        kb_trace_pool(a, "merged");
    }
    kb_windows_destroy(before);
    return status;
}

/* To the end: what single moves from the best model miss, all small right-hand sides of each of its equations may find.
 */
static kbass_status search_to_the_end(kb_search *a, bool *settled, kbass_error *error)
{
    kbass_status status =
        kb_search_explore(a, (size_t)a->schedule->final_beam, (int)a->schedule->final_rounds, settled, error);
    if (status != KBASS_OK || !a->pool->n || kb_run_stopped(a->run)) return status;
    a->screened = true;
    a->pool->explored[0] = false;
    status = kb_search_explore(a, 1, 1, settled, error);
    a->screened = false;
    return status == KBASS_OK
               ? kb_search_explore(a, (size_t)a->schedule->final_beam, (int)a->schedule->final_rounds, settled, error)
               : status;
}

/* Moves the whole pool to `n` windows and searches there. */
static kbass_status search_on_windows(kb_search *a, size_t n, bool merge, bool last, bool *fitted, bool *settled,
                                      kbass_error *error)
{
    kbass_status status = set_windows(a, n, merge, error);
    if (status == KBASS_OK && !merge)
        status = kb_search_fit(a, (int)(last ? a->schedule->final_iterations : a->schedule->fit_iterations), error);
    *fitted = !kb_run_stopped(a->run);
    if (status != KBASS_OK) return status;
    return last ? search_to_the_end(a, settled, error)
                : kb_search_explore(a, (size_t)a->schedule->stage_beam, (int)a->schedule->stage_rounds, settled, error);
}

/* The run was stopped while the pool moved to n windows: back to the fits before or, without any, quick first ones. */
static kbass_status salvage(kb_search *a, kb_pool *before, size_t n, kbass_error *error)
{
    if (before->n) {
        kb_pool_swap(a->pool, before);
        return set_windows(a, 2 * n, false, error);
    }
    a->deadline = kb_clock() + a->schedule->grace;
    return kb_search_fit(a, (int)a->schedule->grace_iterations, error);
}

kbass_status kb_arbitrate(kb_search *a, bool *settled, kbass_error *error)
{
    kb_pool before, *pool = a->pool;
    double variance = INFINITY;
    bool fitted = false;
    kbass_status status = KBASS_OK;
    size_t most = pool->max_windows / a->workers.list[0]->shooter->dynamics->n_runs;
    kb_pool_init(&before, pool->n_columns, pool->n_start, pool->max_windows);
    for (size_t n = most; status == KBASS_OK && n >= 1; n /= 2) {
        status = search_on_windows(a, n, n < most, n == 1, &fitted, settled, error);
        if (status == KBASS_OK && kb_run_stopped(a->run) && !fitted) status = salvage(a, &before, n, error);
        if (status != KBASS_OK || kb_run_stopped(a->run)) break;
        bool has_model = pool->n && pool->fits[0]->valid;
        double noise = has_model ? kb_fit_noise(a->workers.list[0]->shooter, pool->fits[0]) : INFINITY;
        if (before.n &&
            !(noise <= a->schedule->lost * variance)) { /* back to the windows before; search there to the end */
            kb_pool_swap(pool, &before);
            status = search_on_windows(a, 2 * n, false, true, &fitted, settled, error);
            break;
        }
        if (has_model) variance = noise;
        if (n > 1) {
            if (has_model) kb_pool_trim(pool, (size_t)a->schedule->kept);
            status = kb_pool_copy(pool, &before, error);
        }
    }
    kb_pool_clear(&before);
    return status;
}
