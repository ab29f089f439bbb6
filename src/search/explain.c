#include "search/explain.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/status.h"

enum { ITERATIONS = 60 }; /* iterations: of the fit without a term */

/* Starts from the chosen model; weights by its message, or its own and 0 for a term that is added. */
static void start_from(const kb_search *a, const kb_fit *best, bool by_message, kb_fit *fit)
{
    kb_search_worker *e = a->workers.list[0];
    const kb_support *support = &fit->support;
    double *mean = e->work;
    size_t groups = e->likelihood->n_groups;
    memcpy(fit->start, best->start, best->n_windows * a->pool->n_start * sizeof *fit->start);
    memcpy(fit->variance, best->variance, groups * sizeof *fit->variance);
    bool has_mean =
        by_message && isfinite(kb_message_evidence(e->message, a->columns, support, mean, mean + support->n));
    for (size_t q = 0; q < support->n; q++)
        fit->w[support->column[q]] = has_mean ? mean[q] : best->w[support->column[q]];
}

static void fit_other(kb_search *a, const kb_fit *best, const kb_fit *known, kb_fit *fit)
{
    kb_likelihood *likelihood = a->workers.list[0]->likelihood;
    if (known && known->valid) kb_fit_copy(known, fit, a->columns->n, a->pool->n_start);
    if (fit->valid && fit->converged) return;
    if (!fit->valid) start_from(a, best, true, fit);
    kb_likelihood_fit(likelihood, fit, ITERATIONS, -INFINITY);
    if (fit->valid) return;
    start_from(a, best, false, fit);
    kb_likelihood_fit(likelihood, fit, ITERATIONS, -INFINITY);
}

kbass_status kb_explain(kb_search *a, kb_search_result *result, kbass_error *error)
{
    size_t n = a->columns->n;
    const kb_fit *best = result->pool.fits[0];
    kb_support *trial = &a->workers.list[0]->trial;
    kbass_status status = KBASS_OK;
    kb_pool_init(&result->explained, n, a->pool->n_start, a->pool->max_windows);
    result->explained_column = KB_NEW(size_t, n);
    if (!result->explained_column) return kb_out_of_memory(error, "the explanations");
    a->workers.list[0]->likelihood->windows = a->windows;
    for (size_t column = 0; status == KBASS_OK && column < n; column++) {
        kb_fit *fit = NULL;
        if (!a->columns->explained[column] || !kb_run_continue(a->run, best->support.n)) continue;
        kb_support_copy(&best->support, trial);
        bool is_in = kb_support_has(trial, column);
        kb_move_apply(&(kb_move){is_in ? KB_NO_COLUMN : column, is_in ? column : KB_NO_COLUMN, KB_NO_COLUMN, 0, 0, 0},
                      a->columns, trial);
        status = kb_pool_add(&result->explained, trial, &fit, error);
        if (status != KBASS_OK) break;
        result->explained_column[result->explained.n - 1] = column;
        fit_other(a, best, kb_pool_find(&result->pool, trial), fit);
    }
    return status;
}
