/* Every window has a start of its own, which hides what a wrong law does over the time of several: a law follows the
 * data in longer windows, another one does not. Of the same data and law, evidences on few and on many windows compare.
 */
#include "tasks/dense_windows.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/status.h"
#include "search/growth.h"

static const double precise = 1e-3; /* of a weight: its sd where longer windows would tell nothing that matters */

static const size_t most_at_once = 4; /* windows: that become one; two where that fails; not measured */

static bool is_precise(const kb_fit *fit)
{
    for (size_t q = 0; q < fit->support.n; q++) {
        size_t column = fit->support.column[q];
        if (!(sqrt(kb_fit_variance(fit, column)) < precise * fabs(fit->w[column]))) return false;
    }
    return true;
}

static bool may_join(const kb_pass *p)
{
    return kb_pass_has_model(p) && p->search.windows->n > p->n_runs && !kb_run_stopped(p->search.run) &&
           !is_precise(p->search.pool->fits[0]);
}

static kbass_status divide(const kb_pass *p, const size_t *counts, kb_windows **out, kbass_error *error)
{
    const kb_likelihood *l = kb_pass_likelihood(p);
    return kb_windows_divide_each(l->n_runs, l->run_start, counts, out, error);
}

/* The pool as it was, on the windows that it had. */
static kbass_status step_back(kb_pass *p, kb_pool *before, kbass_error *error)
{
    kb_pool_swap(p->search.pool, before);
    kb_windows_destroy(p->search.windows);
    p->search.windows = NULL;
    return divide(p, kb_one_axis_of(p)->windows, &p->search.windows, error);
}

/* counts: windows of each run, fewer than there are. */
static kbass_status join_once(const kb_proposed *s, kb_pass *p, const size_t *counts, bool *is_better,
                              kbass_error *error)
{
    kb_pool *pool = p->search.pool, before;
    kb_windows *fewer = NULL;
    kb_pool_init(&before, pool->n_columns, pool->n_start, pool->max_windows);
    kbass_status status = kb_pool_copy(pool, &before, error);
    if (status == KBASS_OK) status = divide(p, counts, &fewer, error);
    if (status == KBASS_OK) status = kb_search_move_windows(&p->search, fewer, error);
    if (status == KBASS_OK) status = kb_proposed_fit(s, p, error);
    *is_better =
        status == KBASS_OK && kb_pass_has_model(p) && pool->fits[0]->log_evidence > before.fits[0]->log_evidence;
    if (*is_better) memcpy(kb_one_axis_of(p)->windows, counts, p->n_runs * sizeof *counts);
    else if (status == KBASS_OK) status = step_back(p, &before, error);
    kb_pool_clear(&before);
    return status;
}

kbass_status kb_dense_join_windows(const kb_proposed *s, kb_pass *p, bool *is_joined, kbass_error *error)
{
    size_t *counts = KB_NEW(size_t, p->n_runs), each = most_at_once;
    kbass_status status = counts ? KBASS_OK : kb_out_of_memory(error, "the search");
    *is_joined = false;
    while (status == KBASS_OK && each > 1 && may_join(p)) {
        bool is_better = false;
        for (size_t run = 0; run < p->n_runs; run++) counts[run] = (kb_one_axis_of(p)->windows[run] + each - 1) / each;
        status = join_once(s, p, counts, &is_better, error);
        *is_joined = *is_joined || is_better;
        if (!is_better) each /= 2;
    }
    kb_free(counts);
    return status;
}
