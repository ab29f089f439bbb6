#include "answer/judge.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "answer/verdict.h"
#include "base/status.h"
#include "evidence/without_law_fields.h"

enum { REASON_SIZE = 400 };
static const double rival_odds = -2.302585092994046; /* 1 : 10 */
static const double not_white = 0.01;                /* p-value */

/* ---------------------------------------------------------------- numbers */

/* log sum_m exp(0.6 (E_m - E_best)) */
static double weigh_others(const kb_pool *pool)
{
    double sum = 0;
    for (size_t i = 0; i < pool->n && pool->fits[i]->valid; i++)
        sum += exp(kb_fit_log_odds(pool->fits[i], pool->fits[0]));
    return log(sum);
}

static bool has_constant_term(const kb_dictionary *dictionary)
{
    size_t term = kb_dictionary_find(dictionary, "1");
    return term < dictionary->n_terms;
}

/* The worst state's. */
static void compare_noise(const kb_fit *best, const kb_without_law *without, kb_verdict_numbers *n)
{
    n->noise_ratio = 0;
    n->values = 1;
    for (size_t g = 0; g < without->n_groups; g++) {
        double ratio = sqrt(best->variance[g] / without->field_variance[g]);
        if (!(ratio > n->noise_ratio)) continue;
        n->noise_ratio = ratio;
        n->values = without->counts[g];
    }
}

static bool is_white(const kb_residual_tests *tests)
{
    for (size_t i = 0; i < tests->n; i++)
        if (tests->tests[i].kind == KB_TEST_WHITENESS && tests->tests[i].p_value < not_white) return false;
    return true;
}

/* Each selected term that was not given is in. */
static bool is_sure(const kbass_result *result)
{
    for (size_t i = 0; i < result->n_equations; i++)
        for (size_t j = 0; !result->equations[i].known && j < result->equations[i].n_terms; j++) {
            const kbass_term *term = &result->equations[i].terms[j];
            if (term->selected && term->verdict != KBASS_IN) return false;
        }
    return true;
}

static kb_verdict_numbers gather(const kb_frame *frame, const kb_search_result *found, const kb_without_law *without,
                                 const kbass_result *result)
{
    const kb_fit *best = found->pool.fits[0];
    kb_verdict_numbers n = {.law = best->log_evidence,
                            .others = weigh_others(&found->pool),
                            .constant = without->constant,
                            .drift = without->drift,
                            .field = without->field,
                            .drift_is_law = has_constant_term(frame->dictionary),
                            .is_empty = best->support.n == 0 && frame->columns->n_fixed == 0,
                            .is_sure = is_sure(result),
                            .is_whole = result->outcome == KBASS_CONVERGED || result->outcome == KBASS_NOT_CONVERGED,
                            .is_white = is_white(&found->residual_tests),
                            .explained = 1 - best->misfit * best->misfit};
    compare_noise(best, without, &n);
    return n;
}

static size_t count_rivals(const kbass_result *result)
{
    size_t n = 0;
    for (size_t i = 0; i < result->n_runners_up; i++) n += result->runners_up[i].log_odds >= rival_odds;
    return n;
}

/* ---------------------------------------------------------------- words */

static void say_undecided(const kb_verdict_numbers *n, size_t n_rivals, char *text)
{
    if (!n->is_whole) snprintf(text, REASON_SIZE, "the search was stopped; what it had not yet seen may be better");
    else if (kb_verdict_probability(n) < 0.9)
        snprintf(text, REASON_SIZE, "%s, which needs no law, explains the data %s (log evidence %.1f, the law's %.1f)",
                 n->field >= fmax(n->constant, n->drift) ? "a smooth curve" : "a straight line",
                 n->field > n->law || n->constant > n->law ? "better" : "nearly as well",
                 fmax(n->field, fmax(n->constant, n->drift)), n->law);
    else if (n_rivals)
        snprintf(text, REASON_SIZE, "%zu other law%s of this dictionary explain%s the data nearly as well", n_rivals,
                 n_rivals == 1 ? "" : "s", n_rivals == 1 ? "s" : "");
    else snprintf(text, REASON_SIZE, "not all of its terms are sure");
}

static void say(const kb_verdict_numbers *n, const kbass_law *law, char *text)
{
    switch (law->verdict) {
    case KBASS_LAW_UNDECIDED: say_undecided(n, law->n_rivals, text); break;
    case KBASS_LAW_NONE:
        snprintf(text, REASON_SIZE, "the best law leaves %.3g times the noise of a smooth curve without one%s",
                 n->noise_ratio, n->is_white ? "" : ", and its residuals are not white");
        break;
    case KBASS_NOTHING_TO_EXPLAIN:
        if (n->is_empty) snprintf(text, REASON_SIZE, "the law without any term is the best: nothing changes");
        else
            snprintf(text, REASON_SIZE, "%s explains the data best (log evidence %.1f, the best law's %.1f)",
                     n->drift > n->constant && !n->drift_is_law ? "a straight line" : "a constant with noise",
                     n->drift_is_law ? n->constant : fmax(n->constant, n->drift), n->law);
        break;
    case KBASS_LAW_APPROXIMATE:
        snprintf(text, REASON_SIZE, "it explains %.4g %% of the variance, but leaves %.3g times the noise",
                 100 * n->explained, n->noise_ratio);
        break;
    case KBASS_LAW_FOUND:
    case KBASS_LAW_NOT_JUDGED:
        snprintf(text, REASON_SIZE, "log evidence %.1f, without a law %.1f at best", n->law,
                 fmax(n->field, fmax(n->constant, n->drift)));
        break;
    }
}

static kbass_status judge(const kb_verdict_numbers *n, const kb_fit *best, kb_answer *answer, kbass_error *error)
{
    char *reason = kb_answer_own(answer, REASON_SIZE, 1);
    kbass_law *law = &answer->result.law;
    if (!reason) return kb_out_of_memory(error, "the verdict");
    *law = (kbass_law){.verdict = kb_verdict(n),
                       .probability = kb_verdict_probability(n),
                       .law = n->law,
                       .constant = n->constant,
                       .drift = n->drift,
                       .field = n->field,
                       .explained = n->explained,
                       .noise_ratio = n->noise_ratio,
                       .is_white = n->is_white,
                       .n_rivals = count_rivals(&answer->result),
                       .misfit = best->misfit,
                       .reason = reason};
    say(n, law, reason);
    return KBASS_OK;
}

/* ---------------------------------------------------------------- by kind of data */

kbass_status kb_judge_states(const kb_ode_problem *p, const kb_search_result *found, kb_answer *answer,
                             kbass_error *error)
{
    if (!kb_has_model(found)) return KBASS_OK;
    kb_frame frame = kb_ode_problem_frame(p);
    kb_trajectory *trajectory = NULL;
    kb_without_law without = {0};
    kbass_status status = kb_trajectory_create(p->record, p->dictionary, p->columns, 0, &trajectory, error);
    if (status == KBASS_OK)
        status = kb_without_law_of_states(&trajectory->dynamics, p->record->time, (kb_kernel_kind)p->settings->kernel,
                                          &without, error);
    if (status == KBASS_OK) {
        kb_verdict_numbers numbers = gather(&frame, found, &without, &answer->result);
        status = judge(&numbers, found->pool.fits[0], answer, error);
    }
    kb_without_law_clear(&without);
    if (trajectory) trajectory->dynamics.destroy(&trajectory->dynamics);
    return status;
}

static kbass_status judge_samples(const kb_frame *frame, size_t n_runs, kb_field_samples *const *samples,
                                  kb_kernel_kind kind, const kb_search_result *found, kb_answer *answer,
                                  kbass_error *error)
{
    kb_without_law without = {0};
    if (!kb_has_model(found) || samples[0]->noise_model != KB_NOISE_ADDITIVE) return KBASS_OK;
    kbass_status status = kb_without_law_of_fields(n_runs, samples, kind, found->noise_floor, &without, error);
    if (status == KBASS_OK) {
        kb_verdict_numbers numbers = gather(frame, found, &without, &answer->result);
        status = judge(&numbers, found->pool.fits[0], answer, error);
    }
    kb_without_law_clear(&without);
    return status;
}

kbass_status kb_judge_fields(const kb_pde1d_problem *p, const kb_search_result *found, kb_answer *answer,
                             kbass_error *error)
{
    kb_frame frame = kb_pde1d_problem_frame(p);
    return judge_samples(&frame, p->n_runs, p->run_samples, (kb_kernel_kind)p->settings->kernel, found, answer, error);
}

kbass_status kb_judge_axes(const kb_pde_nd_problem *p, kb_kernel_kind kind, const kb_search_result *found,
                           kb_answer *answer, kbass_error *error)
{
    kb_frame frame = kb_pde_nd_problem_frame(p);
    return judge_samples(&frame, p->n_runs, p->run_samples, kind, found, answer, error);
}
