#include "propose/kernel/trace.h"

#include <math.h>

#include "weights/trace.h"

enum { SHOWN = 10 }; /* models: of a pool that a trace shows */

void kb_trace_kernel_state(const kb_kernel_search *s, const char *stage, const kb_kernel_state *state)
{
    char columns[KB_TRACE_ROOM];
    if (!s->run->trace) return;
    kb_trace_write_support(&state->support, columns);
    kb_trace_line(s->run->trace, "%s: %.17g tau %.17g steps %d %d freedom %.17g weights %.17g:%s", stage,
                  state->log_evidence, state->tau, state->steps.time, state->steps.space, state->freedom,
                  kb_trace_sum_weights(&state->support, state->w), columns);
}

void kb_trace_kernel_pool(const kb_kernel_search *s, const char *stage)
{
    double sum = 0;
    for (size_t i = 0; i < s->pool.n; i++)
        if (isfinite(s->pool.states[i]->log_evidence)) sum += s->pool.states[i]->log_evidence;
    kb_trace_line(s->run->trace, "%s: patches %zu weighed %zu states %zu evidences %.17g", stage, s->solver->n_patches,
                  s->n_weighed, s->pool.n, sum);
    for (size_t i = 0; i < s->pool.n && i < SHOWN; i++) kb_trace_kernel_state(s, "  state", s->pool.states[i]);
}
