#include "discover/trace.h"

#include <math.h>
#include <stdio.h>

enum { SHOWN = 10, ROOM = 480 };

/* The columns, "3 7 12"; cut off where the line ends. */
static void write_support(const kb_support *support, char *text)
{
    int at = 0;
    text[0] = 0;
    for (size_t q = 0; q < support->n && at < ROOM - 24; q++)
        at += snprintf(text + at, ROOM - (size_t)at, " %zu", support->column[q]);
}

/* A number that changes when a weight does. */
static double sum_weights(const kb_support *support, const double *w)
{
    double sum = 0;
    for (size_t q = 0; q < support->n; q++) sum += (double)(q + 1) * w[support->column[q]];
    return sum;
}

/* Evidences that are not finite say nothing. */
static void add_evidence(double log_evidence, double *sum)
{
    if (isfinite(log_evidence)) *sum += log_evidence;
}

static void trace_fit(const kb_trace *trace, const kb_fit *fit)
{
    char columns[ROOM];
    write_support(&fit->support, columns);
    kb_trace_line(trace, "  %.17g %s misfit %.17g weights %.17g:%s", fit->log_evidence, fit->valid ? "valid" : "lost",
                  fit->misfit, sum_weights(&fit->support, fit->w), columns);
}

void kb_trace_pool(const kb_arena *a, const char *stage)
{
    const kb_trace *trace = a->run->trace;
    const kb_pool *pool = a->pool;
    const kb_dynamics *d = a->n_explorers ? a->explorers[0]->shooter->dynamics : NULL;
    double sum = 0;
    if (!trace) return;
    for (size_t i = 0; i < pool->n; i++) add_evidence(pool->fits[i]->log_evidence, &sum);
    kb_trace_line(trace, "%s: rows %zu windows %zu start %zu floor %.17g models %zu evidences %.17g", stage,
                  a->windows ? kb_windows_rows(a->windows) : 0, a->windows ? a->windows->n : 0, pool->n_start,
                  d ? d->noise_floor : 0, pool->n, sum);
    for (size_t i = 0; i < pool->n && i < SHOWN; i++) trace_fit(trace, pool->fits[i]);
}

void kb_trace_state(const kb_seeker *s, const char *stage, const kb_state *state)
{
    char columns[ROOM];
    if (!s->run->trace) return;
    write_support(&state->support, columns);
    kb_trace_line(s->run->trace, "%s: %.17g tau %.17g steps %d %d freedom %.17g weights %.17g:%s", stage,
                  state->log_evidence, state->tau, state->steps.time, state->steps.space, state->freedom,
                  sum_weights(&state->support, state->w), columns);
}

void kb_trace_states(const kb_seeker *s, const char *stage)
{
    double sum = 0;
    for (size_t i = 0; i < s->pool.n; i++) add_evidence(s->pool.states[i]->log_evidence, &sum);
    kb_trace_line(s->run->trace, "%s: patches %zu weighed %zu states %zu evidences %.17g", stage, s->mosaic->n_patches,
                  s->n_weighed, s->pool.n, sum);
    for (size_t i = 0; i < s->pool.n && i < SHOWN; i++) kb_trace_state(s, "  state", s->pool.states[i]);
}

/* ---------------------------------------------------------------- the answer */

static void trace_equation(const kb_trace *trace, const kbass_equation *equation)
{
    for (size_t q = 0; q < equation->n_terms; q++) {
        const kbass_term *term = &equation->terms[q];
        if (term->selected)
            kb_trace_line(trace, "  %s: %s weight %.17g sd %.17g probability %.17g", equation->lhs, term->term,
                          term->weight, term->sd, term->probability);
    }
}

static void trace_questions(const kb_trace *trace, const kbass_result *result)
{
    for (size_t i = 0; i < result->n_explanations; i++)
        kb_trace_line(trace, "  explained %s: %s evidence %.17g", result->explanations[i].lhs,
                      result->explanations[i].term, result->explanations[i].log_evidence);
    for (size_t i = 0; i < result->n_varied; i++)
        kb_trace_line(trace, "  varied %s: %s spread %.17g odds %.17g", result->varied[i].lhs, result->varied[i].term,
                      result->varied[i].spread, result->varied[i].log_odds);
    for (size_t i = 0; i < result->n_missing; i++)
        kb_trace_line(trace, "  missing %s score %.17g", result->missing[i].term, result->missing[i].score);
}

void kb_trace_result(const kb_trace *trace, const kbass_result *result)
{
    if (!trace) return;
    kb_trace_line(trace, "answer: outcome %d probability %.17g evidence %.17g windows %zu patches %zu models %zu",
                  (int)result->outcome, result->probability, result->log_evidence, result->n_windows, result->n_patches,
                  result->n_models);
    for (size_t i = 0; i < result->n_states && result->noise; i++)
        kb_trace_line(trace, "  noise %.17g", result->noise[i]);
    for (size_t i = 0; i < result->n_equations; i++) trace_equation(trace, &result->equations[i]);
    trace_questions(trace, result);
    for (size_t i = 0; i < result->n_runners_up; i++)
        kb_trace_line(trace, "  runner-up odds %.17g", result->runners_up[i].log_odds);
}
