/* Short windows let wrong laws follow the data, each start mending a little. Of windows twice as long half as many
 * starts mend, and what a wrong law errs by has twice the time to grow: the law follows them as it did the short ones.
 */
#include <math.h>
#include <string.h>

#include "search/trace.h"
#include "tasks/one_axis.h"

enum { JOIN_ITERATIONS = 20 };      /* iterations: after windows were joined; as for states */
static const double followed = 1.3; /* growth of the noise variance up to which they follow; as for states */

/* Pairs of windows of one run become one; a last one without another stays. Starts are those of the first of each. */
static void join_pairs(const kb_pass *p, kb_windows *to, kb_fit *fit)
{
    const kb_windows *from = p->search.windows;
    size_t n_start = p->search.pool->n_start, n = 0;
    for (size_t window = 0; window < from->n; n++) {
        bool is_pair = window + 1 < from->n && kb_pass_run(p, window) == kb_pass_run(p, window + 1);
        to->first[n] = from->first[window];
        to->last[n] = from->last[window + is_pair];
        memmove(fit->start + n * n_start, fit->start + window * n_start, n_start * sizeof *fit->start);
        window += 1 + is_pair;
    }
    to->n = n;
}

/* Noise variance that lines show, each for itself: a wrong law may lose the data on short windows as on longer ones. */
static double noise_of_lines(const kb_pde1d_problem *l)
{
    double sum = 0;
    for (size_t run = 0; run < l->n_runs; run++) sum += l->setups[run].profile.noise;
    return sum / (double)l->n_runs;
}

static bool follows(kb_pass *p, const kb_windows *windows, kb_fit *fit)
{
    kb_likelihood *l = kb_pass_likelihood(p);
    double before = l->noise(l, fit);
    l->windows = windows;
    kb_likelihood_fit(l, fit, JOIN_ITERATIONS, -INFINITY);
    l->windows = p->search.windows;
    double after = fit->valid ? l->noise(l, fit) : INFINITY;
    kb_trace_line(p->search.run->trace, "windows: %zu noise %.17g was %.17g", windows->n, after, before);
    return after <= fmin(followed * before, p->task->schedule->lost * noise_of_lines(p->problem));
}

kbass_status kb_examine_windows(kb_pass *p, kbass_error *error)
{
    const kb_pool *pool = p->search.pool;
    const kb_windows *windows = p->search.windows;
    kb_windows *longer = NULL;
    kb_fit *fit = NULL;
    kbass_status status = kb_examine_residuals(p, error);
    if (status != KBASS_OK || windows->n <= p->n_runs || !kb_pass_has_model(p)) return status;
    status = kb_fit_create(pool->n_columns, pool->n_start, pool->max_windows, pool->fits[0]->support.n, &fit, error);
    if (status == KBASS_OK) status = kb_windows_divide(windows->n + 1, windows->n, &longer, error);
    if (status == KBASS_OK) {
        kb_fit_copy(pool->fits[0], fit, pool->n_columns, pool->n_start);
        join_pairs(p, longer, fit);
        p->result->follows_longer = follows(p, longer, fit);
    }
    kb_windows_destroy(longer);
    kb_fit_destroy(fit);
    return status;
}
