#include "answer/judge.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "answer/alike.h"
#include "answer/same.h"
#include "answer/twins.h"
#include "answer/verdict.h"
#include "base/memory.h"
#include "base/status.h"
#include "evidence/thresholds.h"
#include "evidence/without_law_fields.h"
#include "forward/shoot_noise.h"
#include "gp/noise.h"

enum { REASON_SIZE = 600 }; /* room: a sentence */

/* ---------------------------------------------------------------- numbers */

/* log sum_m exp(E_m - E_best), and the best one's share with the caution of probabilities */
static double weigh_others(const kb_pool *pool, double *chosen)
{
    double sum = 0, cautious = 0;
    for (size_t i = 0; i < pool->n && pool->fits[i]->valid; i++) {
        sum += exp(pool->fits[i]->log_evidence - pool->fits[0]->log_evidence);
        cautious += exp(kb_fit_log_odds(pool->fits[i], pool->fits[0]));
    }
    *chosen = 1 / cautious;
    return log(sum);
}

static bool is_line(const kb_frame *frame, const kb_support *law)
{
    size_t one = kb_dictionary_find(frame->dictionary, "1");
    for (size_t q = 0; q < law->n; q++)
        if (frame->columns->term[law->column[q]] != one) return false;
    return law->n > 0 && frame->columns->n_fixed == 0;
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
    n->values = n->freedom = 1;
    for (size_t g = 0; g < without->n_groups; g++) {
        double ratio = sqrt(best->variance[g] / without->field_variance[g]);
        if (!(ratio > n->noise_ratio)) continue;
        n->noise_ratio = ratio;
        n->values = without->counts[g];
        n->freedom = without->freedom[g];
    }
}

/* One state, no time and no input among the terms, and no monotone curve is nearly as good as the bare field. */
static bool turns(const kb_dictionary *d, const kb_without_law *without)
{
    if (d->n_states != 1 || d->n_axes != 1) return false;
    for (size_t i = 0; i < d->n_terms; i++)
        if (kb_dictionary_depends(d, i, d->n_variables - 1)) return false;
    return kb_log_odds(without->field - without->monotone) >= log(kb_threshold.clearly);
}

static bool is_white(const kb_residual_tests *tests)
{
    for (size_t i = 0; i < tests->n; i++)
        if (tests->tests[i].kind == KB_TEST_WHITENESS && tests->tests[i].p_value < kb_threshold.not_white) return false;
    return true;
}

/* Each selected term that was not given is in, and none beside them may well be, too. */
static bool is_sure(const kbass_result *result)
{
    for (size_t i = 0; i < result->n_equations; i++)
        for (size_t j = 0; !result->equations[i].known && j < result->equations[i].n_terms; j++) {
            const kbass_term *term = &result->equations[i].terms[j];
            if (term->selected ? term->verdict != KBASS_IN : term->probability > kb_threshold.missing) return false;
        }
    return true;
}

static kb_verdict_numbers gather(const kb_frame *frame, const kb_search_result *found, const kb_without_law *without,
                                 const kbass_result *result)
{
    const kb_fit *best = found->pool.fits[0];
    kb_verdict_numbers n = {.law = best->log_evidence,
                            .constant = without->constant,
                            .drift = without->drift,
                            .field = without->field,
                            .noise = without->noise,
                            .drift_is_law = has_constant_term(frame->dictionary),
                            .is_empty = best->support.n == 0 && frame->columns->n_fixed == 0,
                            .is_line = frame->dictionary->n_axes == 1 && is_line(frame, &best->support),
                            .is_sure = is_sure(result),
                            .is_whole = result->outcome == KBASS_CONVERGED || result->outcome == KBASS_NOT_CONVERGED,
                            .is_white = is_white(&found->residual_tests),
                            .turns = turns(frame->dictionary, without),
                            .explained = 1 - best->misfit * best->misfit,
                            .change = 1 - best->misfit * best->misfit / without->rest};
    n.others = weigh_others(&found->pool, &n.chosen);
    compare_noise(best, without, &n);
    return n;
}

/* A state without terms is a constant in the law, too, and is weighed as that: columns of noise beside a law are no
   matter between the law and none. */
static double weigh_rest(const kb_frame *frame, const kb_search_result *found, const kb_dynamics *d,
                         const kb_without_law *without)
{
    double sum = 0;
    if (found->noise_is_relative) return 0;
    for (size_t i = 0; i < frame->dictionary->n_states; i++)
        if (without->counts[i] > 0 && !(d->known_variance[i] > 0) && kb_is_at_rest(frame, found, i))
            sum += fmax(without->constants[i] - kb_evidence_at_rest(d, without->counts, found->pool.fits[0], i), 0);
    return sum;
}

static size_t count_rivals(const kbass_result *result)
{
    size_t n = 0;
    for (size_t i = 0; i < result->n_runners_up; i++) n += result->runners_up[i].log_odds >= log(kb_threshold.rival);
    return n;
}

/* ---------------------------------------------------------------- words */

static bool is_undecided(const kbass_result *result, const char *lhs, const char *name)
{
    for (size_t e = 0; e < result->n_equations; e++)
        for (size_t i = 0; i < result->equations[e].n_terms; i++) {
            const kbass_term *term = &result->equations[e].terms[i];
            if (!strcmp(result->equations[e].lhs, lhs) && !strcmp(term->term, name))
                return term->verdict == KBASS_UNDECIDED;
        }
    return false;
}

static bool has_substitute(const kbass_result *result)
{
    for (size_t i = 0; i < result->n_alike; i++) {
        const kbass_alike *a = &result->alike[i];
        if (a->kind == KBASS_ALIKE_TERMS && is_undecided(result, a->lhs, a->what)) return true;
    }
    return false;
}

static void say_misses(const kb_verdict_numbers *n, char *text)
{
    char noise[100] = "";
    if (n->noise_ratio > 1)
        snprintf(noise, sizeof noise, " leaves %.3g times the noise of a smooth curve%s", n->noise_ratio,
                 n->is_white ? "" : ", and");
    snprintf(text, REASON_SIZE, "it is better than no law, but%s%s: something may be missing in this dictionary", noise,
             n->is_white ? "" : " its residuals are not white");
}

static void say_undecided(const kb_verdict_numbers *n, size_t n_rivals, bool has_alike, char *text)
{
    if (!n->is_whole)
        snprintf(text, REASON_SIZE,
                 "the search was stopped; what it had not yet seen may be better (so far %.3g times the noise of a "
                 "smooth curve is left)",
                 n->noise_ratio);
    else if (n->is_improving)
        snprintf(
            text, REASON_SIZE,
            "the search was still improving when its budget ended, so that other laws may be better (%.3g times the "
            "noise of a smooth curve is left)",
            n->noise_ratio);
    else if (kb_verdict_probability(n) < kb_threshold.sure)
        snprintf(text, REASON_SIZE, "%s, which needs no law, explains the data %s (log evidence %.1f, the law's %.1f)",
                 n->field >= kb_verdict_rest(n)      ? "a smooth curve"
                 : n->constant >= kb_verdict_rest(n) ? "a constant"
                                                     : "a straight line",
                 fmax(n->field, kb_verdict_rest(n)) > n->law ? "better" : "nearly as well",
                 fmax(n->field, kb_verdict_rest(n)), n->law);
    else if (n->is_sure && kb_verdict_misses(n)) say_misses(n, text);
    else if (n_rivals)
        snprintf(text, REASON_SIZE, "%zu other law%s of this dictionary explain%s the data nearly as well", n_rivals,
                 n_rivals == 1 ? "" : "s", n_rivals == 1 ? "s" : "");
    else if (has_alike) snprintf(text, REASON_SIZE, "terms of it may as well be others on this record (alike, below)");
    else snprintf(text, REASON_SIZE, "not all of its terms are sure");
}

static void say(const kb_verdict_numbers *n, const kbass_law *law, bool has_alike, const char *name, char *text)
{
    switch (law->verdict) {
    case KBASS_LAW_UNDECIDED: say_undecided(n, law->n_rivals, has_alike, text); break;
    case KBASS_LAW_NONE:
        if (n->turns) {
            snprintf(text, REASON_SIZE,
                     "%.60s rises and falls through the same values beyond its noise, which no law %.60s_t = f(%.60s) "
                     "does; a second quantity, --lhs %.60s_tt, or a term of time would",
                     name, name, name, name);
            break;
        }
        snprintf(text, REASON_SIZE, "the best law leaves %.3g times the noise of a smooth curve without one%s",
                 n->noise_ratio, n->is_white ? "" : ", and its residuals are not white");
        break;
    case KBASS_NOTHING_TO_EXPLAIN:
        if (n->is_empty) snprintf(text, REASON_SIZE, "the law without any term is the best: nothing changes");
        else
            snprintf(text, REASON_SIZE, "%s explains the data best (log evidence %.1f, the best law's %.1f)",
                     n->constant >= kb_verdict_rest(n) ? "a constant with noise" : "a straight line",
                     kb_verdict_rest(n), n->law);
        break;
    case KBASS_LAW_APPROXIMATE:
        snprintf(text, REASON_SIZE, "it explains %.4g %% of what changes, but leaves %.3g times the noise",
                 100 * n->change, n->noise_ratio);
        break;
    case KBASS_LAW_FOUND:
        if (n->field > n->law) {
            snprintf(text, REASON_SIZE,
                     "it leaves no more noise than a smooth curve without a law (%.2g times), which describes so short "
                     "a record as well (log evidence %.1f, the law's %.1f)",
                     n->noise_ratio, n->field, n->law);
            break;
        }
        snprintf(text, REASON_SIZE, "log evidence %.1f, without a law %.1f at best", n->law,
                 fmax(n->field, kb_verdict_rest(n)));
        break;
    case KBASS_LAW_NOT_JUDGED:
        snprintf(text, REASON_SIZE, "log evidence %.1f, without a law %.1f at best", n->law,
                 fmax(n->field, kb_verdict_rest(n)));
        break;
    }
}

/* After a stop no term is in while the law leaves far more noise than the bare field, nor by the kernel engine alone:
   on the way its probabilities are those of its last structure. */
static void demote_terms(kbass_result *result)
{
    for (size_t e = 0; e < result->n_equations; e++)
        for (size_t i = 0; !result->equations[e].known && i < result->equations[e].n_terms; i++) {
            kbass_term *term = (kbass_term *)&result->equations[e].terms[i];
            if (term->verdict == KBASS_IN) term->verdict = KBASS_UNDECIDED;
        }
}

static kbass_status judge(const kb_verdict_numbers *n, const kb_frame *frame, double misfit, kb_answer *answer,
                          kbass_error *error)
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
                       .misfit = misfit,
                       .reason = reason};
    bool is_far = n->noise_ratio >= kb_threshold.far_above;
    if (!n->is_whole && (is_far || n->is_improving)) demote_terms(&answer->result);
    say(n, law, has_substitute(&answer->result), frame->dictionary->state_names[0], reason);
    return KBASS_OK;
}

kbass_status kb_judge_unfinished(const kb_search_result *found, kb_answer *answer, kbass_error *error)
{
    const kb_fit *best = kb_has_model(found) ? found->pool.fits[0] : NULL;
    double misfit = best ? best->misfit : NAN;
    char *reason = kb_answer_own(answer, REASON_SIZE, 1);
    if (!reason) return kb_out_of_memory(error, "the verdict");
    snprintf(reason, REASON_SIZE, "the search was stopped, and left no time to compare its law with none");
    answer->result.law = (kbass_law){.verdict = KBASS_LAW_UNDECIDED,
                                     .probability = NAN,
                                     .law = best ? best->log_evidence : NAN,
                                     .constant = NAN,
                                     .drift = NAN,
                                     .field = NAN,
                                     .explained = 1 - misfit * misfit,
                                     .noise_ratio = NAN,
                                     .is_white = is_white(&found->residual_tests),
                                     .n_rivals = count_rivals(&answer->result),
                                     .misfit = misfit,
                                     .reason = reason};
    demote_terms(&answer->result);
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
                                          p->threads, &without, error);
    if (status == KBASS_OK) status = kb_answer_alike(answer, &frame, found, &without, p->record, error);
    if (status == KBASS_OK) status = kb_answer_twins(answer, &frame, found, error);
    if (status == KBASS_OK) {
        kb_verdict_numbers numbers = gather(&frame, found, &without, &answer->result);
        numbers.law += weigh_rest(&frame, found, &trajectory->dynamics, &without);
        status = judge(&numbers, &frame, found->pool.fits[0]->misfit, answer, error);
    }
    kb_without_law_clear(&without);
    if (trajectory) trajectory->dynamics.destroy(&trajectory->dynamics);
    return status;
}

static kbass_status judge_samples(const kb_frame *frame, size_t n_runs, kb_field_samples *const *samples,
                                  kb_kernel_kind kind, const kb_search_result *found, kb_run *clock, kb_answer *answer,
                                  kbass_error *error)
{
    kb_without_law without = {0};
    if (!kb_has_model(found) || samples[0]->noise_model != KB_NOISE_ADDITIVE) return KBASS_OK;
    kbass_status status = kb_without_law_of_fields(n_runs, samples, kind, found->noise_floor, clock, &without, error);
    if (status == KBASS_OK) status = kb_answer_alike(answer, frame, found, &without, NULL, error);
    if (status == KBASS_OK) {
        kb_verdict_numbers numbers = gather(frame, found, &without, &answer->result);
        status = judge(&numbers, frame, found->pool.fits[0]->misfit, answer, error);
    }
    kb_without_law_clear(&without);
    return status;
}

kbass_status kb_judge_fields(const kb_pde1d_problem *p, const kb_search_result *found, kb_run *clock, kb_answer *answer,
                             kbass_error *error)
{
    kb_frame frame = kb_pde1d_problem_frame(p);
    return judge_samples(&frame, p->n_runs, p->run_samples, (kb_kernel_kind)p->settings->kernel, found, clock, answer,
                         error);
}

kbass_status kb_judge_axes(const kb_pde_nd_problem *p, kb_kernel_kind kind, const kb_search_result *found,
                           kb_run *clock, kb_answer *answer, kbass_error *error)
{
    kb_frame frame = kb_pde_nd_problem_frame(p);
    return judge_samples(&frame, p->n_runs, p->run_samples, kind, found, clock, answer, error);
}

/* ---------------------------------------------------------------- by the noise left alone */

/* Share of the points whose values a law leaves free: where the record begins, and open ends in space. */
static double free_share(const kb_field_samples *s, size_t time_order)
{
    double bound = 1, even = pow((double)s->n_points, 1 / (double)s->n_axes);
    for (size_t a = 0; a < s->n_axes; a++) {
        double n = s->gridded ? (double)s->n_grid[a] : even;
        double ends = a == 0 ? (double)time_order : s->period[a] > 0 || s->periodic[a] ? 0 : 2;
        bound *= 1 - fmin(ends / n, 1);
    }
    return 1 - bound;
}

static double count_weights(const kbass_result *result)
{
    double n = 0;
    for (size_t e = 0; e < result->n_equations; e++)
        for (size_t i = 0; !result->equations[e].known && i < result->equations[e].n_terms; i++)
            n += result->equations[e].terms[i].selected;
    return n;
}

/* -N/2 (log v + 1) of the noise that is left, over all fields. */
static void compare_left(const kbass_result *result, const kb_field_samples *s, const kb_without_law *without,
                         double *law, double *values, kb_verdict_numbers *n)
{
    double left = 0, measured = 0;
    n->values = n->freedom = 1;
    for (size_t i = 0; i < without->n_groups; i++) {
        double v = pow(result->noise[i] / s->sd[i], 2), beside = without->field_variance[i], count = without->counts[i];
        if (!(count > 0) || !isfinite(v)) continue;
        v = fmax(v, KB_LEAST_NOISE);
        *law -= 0.5 * count * (log(v) + 1);
        *values += count;
        left += v;
        measured++;
        if (!(sqrt(v / beside) > n->noise_ratio)) continue;
        n->noise_ratio = sqrt(v / beside);
        n->values = count;
        n->freedom = without->freedom[i];
    }
    n->explained = measured > 0 ? 1 - left / measured : NAN;
    n->change = measured > 0 ? 1 - left / measured / without->rest : NAN;
}

/* Equations that the user gave have terms without a weight to find. */
static bool has_given_terms(const kb_dictionary *d)
{
    for (size_t i = 0; i < d->n_terms * d->n_states; i++)
        if (d->roles[i] == KB_FIXED) return true;
    return false;
}

/* docs/math.md, section 10: the law pays for its weights, and of the bare field's Occam factor for the share of points
   that it leaves free. */
static kb_verdict_numbers gather_left(const kb_dictionary *dictionary, const kb_field_samples *s,
                                      const kb_without_law *without, const kbass_result *result)
{
    double law = 0, values = 0, k = count_weights(result);
    kb_verdict_numbers n = {.others = result->probability > 0 ? -log(result->probability) : 0,
                            .chosen = result->probability,
                            .constant = without->constant,
                            .drift = without->drift,
                            .field = without->field,
                            .noise = without->noise,
                            .drift_is_law = has_constant_term(dictionary),
                            .is_empty = k == 0 && !has_given_terms(dictionary),
                            .is_sure = is_sure(result),
                            .is_improving = result->outcome != KBASS_CONVERGED,
                            .is_whole = result->outcome == KBASS_CONVERGED || result->outcome == KBASS_NOT_CONVERGED,
                            .is_white = true};
    compare_left(result, s, without, &law, &values, &n);
    n.law =
        law - 0.5 * k * log(fmax(values, 1)) - free_share(s, (size_t)dictionary->time_order) * fmax(without->occam, 0);
    for (size_t i = 0; i < result->n_tests; i++)
        if (result->tests[i].kind == KBASS_TEST_WHITENESS && result->tests[i].p_value < kb_threshold.not_white)
            n.is_white = false;
    return n;
}

kbass_status kb_judge_noise_left(const kbass_data *data, const kbass_settings *settings, const kb_frame *frame,
                                 kb_run *clock, kb_answer *answer, kbass_error *error)
{
    size_t n_runs = kbass_data_runs(data);
    kb_field_samples **samples = KB_NEW(kb_field_samples *, n_runs);
    kb_without_law without = {0};
    bool is_one = false;
    if (!answer->result.n_equations) n_runs = 0;
    kbass_status status = samples ? KBASS_OK : kb_out_of_memory(error, "the bare field");
    if (status == KBASS_OK && n_runs)
        status = kb_field_samples_create_runs(data, settings->noise, samples, &is_one, error);
    for (size_t run = 0; status == KBASS_OK && run < n_runs; run++)
        status = kb_field_samples_read_periodic(samples[run], data, settings->periodic, error);
    if (status == KBASS_OK && n_runs)
        status = kb_without_law_of_fields(n_runs, samples, (kb_kernel_kind)settings->kernel, KB_LEAST_NOISE, clock,
                                          &without, error);
    if (status == KBASS_OK && n_runs) {
        kb_verdict_numbers numbers = gather_left(frame->dictionary, samples[0], &without, &answer->result);
        status = judge(&numbers, frame, sqrt(1 - numbers.explained), answer, error);
    }
    for (size_t run = 0; samples && run < n_runs; run++) kb_field_samples_destroy(samples[run]);
    kb_without_law_clear(&without);
    kb_free(samples);
    return status;
}
