#include "search/trace.h"

#include <math.h>

#include "weights/trace.h"

enum { SHOWN = 10 }; /* models: of a pool that a trace shows */

/* Evidences that are not finite say nothing. */
static void add_evidence(double log_evidence, double *sum)
{
    if (isfinite(log_evidence)) *sum += log_evidence;
}

static void trace_fit(const kb_trace *trace, const kb_fit *fit)
{
    char columns[KB_TRACE_ROOM];
    kb_trace_write_support(&fit->support, columns);
    kb_trace_line(trace, "  %.17g %s misfit %.17g weights %.17g:%s", fit->log_evidence, fit->valid ? "valid" : "lost",
                  fit->misfit, kb_trace_sum_weights(&fit->support, fit->w), columns);
}

void kb_trace_pool(const kb_search *a, const char *stage)
{
    const kb_trace *trace = a->run->trace;
    const kb_pool *pool = a->pool;
    const kb_likelihood *l = a->workers.n ? a->workers.list[0]->likelihood : NULL;
    double sum = 0;
    if (!trace) return;
    for (size_t i = 0; i < pool->n; i++) add_evidence(pool->fits[i]->log_evidence, &sum);
    kb_trace_line(trace, "%s: rows %zu windows %zu start %zu floor %.17g models %zu evidences %.17g", stage,
                  a->windows ? kb_windows_rows(a->windows) : 0, a->windows ? a->windows->n : 0, pool->n_start,
                  l ? l->floor(l) : 0, pool->n, sum);
    for (size_t i = 0; i < pool->n && i < SHOWN; i++) trace_fit(trace, pool->fits[i]);
}
