#include "answer/trace.h"

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

void kb_trace_answer(const kb_trace *trace, const kbass_result *result)
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
