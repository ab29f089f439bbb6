#include "answer/answer.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/number.h"
#include "base/status.h"
#include "dictionary/dimensions.h"
#include "evidence/average.h"
#include "evidence/groups.h"
#include "answer/jumps.h"
#include "answer/noise_report.h"
#include "answer/rivals.h"
#include "answer/same.h"
#include "weights/constraints.h"

static const double normal_quantile = 1.959963984540054; /* 95 % lie within so many standard deviations */
enum { N_COLUMNS = 8 };                                  /* room: arrays of kb_weights */

/* ---------------------------------------------------------------- memory */

void *kb_answer_own(kb_answer *answer, size_t count, size_t size)
{
    if (answer->n_owned == answer->capacity) {
        size_t capacity = 2 * answer->capacity + 32;
        void **owned = kb_reallocate(answer->owned, answer->n_owned, capacity, sizeof *owned);
        if (!owned) return NULL;
        answer->owned = owned;
        answer->capacity = capacity;
    }
    void *memory = kb_allocate(count, size);
    if (memory) answer->owned[answer->n_owned++] = memory;
    return memory;
}

char *kb_answer_text(kb_answer *answer, const char *text)
{
    size_t size = strlen(text) + 1;
    char *copy = kb_answer_own(answer, size, 1);
    if (copy) memcpy(copy, text, size);
    return copy;
}

kbass_status kb_answer_warn(kb_answer *answer, const char *text, kbass_error *error)
{
    kbass_result *result = &answer->result;
    const char **warnings = kb_answer_own(answer, result->n_warnings + 1, sizeof *warnings);
    char *own = kb_answer_text(answer, text);
    if (!warnings || !own) return kb_out_of_memory(error, "the answer");
    if (result->n_warnings) memcpy(warnings, result->warnings, result->n_warnings * sizeof *warnings);
    warnings[result->n_warnings++] = own;
    result->warnings = warnings;
    return KBASS_OK;
}

void kb_answer_destroy(kb_answer *answer)
{
    if (!answer) return;
    for (size_t i = 0; i < answer->n_owned; i++) kb_free(answer->owned[i]);
    kb_free(answer->owned);
    kb_free(answer);
}

/* ---------------------------------------------------------------- equations */

static size_t count_equations(const kb_dictionary *dictionary)
{
    size_t n = 0;
    for (size_t i = 0; i < dictionary->n_states; i++) n += dictionary->has_equation[i];
    return n;
}

kbass_status kb_answer_begin(const kb_frame *p, kb_answer **out, kbass_error *error)
{
    const kb_dictionary *dictionary = p->dictionary;
    kb_answer *answer = KB_NEW(kb_answer, 1);
    if (!answer) return kb_out_of_memory(error, "the answer");
    size_t n = count_equations(dictionary), states = dictionary->n_states, e = 0;
    kbass_equation *equations = kb_answer_own(answer, n, sizeof *equations);
    double *noise = kb_answer_own(answer, states, sizeof *noise);
    size_t runs = p->n_runs;
    double *initial = kb_answer_own(answer, runs * states, sizeof *initial);
    bool complete = equations && noise && initial;
    for (size_t i = 0; complete && i < states; i++) {
        char lhs[256];
        noise[i] = NAN;
        for (size_t run = 0; run < runs; run++) initial[run * states + i] = NAN;
        if (!dictionary->has_equation[i]) continue;
        snprintf(lhs, sizeof lhs, "%s%s", dictionary->state_names[i], kb_dictionary_tail(dictionary, i));
        equations[e].lhs = kb_answer_text(answer, lhs);
        equations[e].known = dictionary->is_known[i];
        complete = equations[e++].lhs != NULL;
    }
    if (!complete) {
        kb_answer_destroy(answer);
        return kb_out_of_memory(error, "the answer");
    }
    answer->result = (kbass_result){.equations = equations,
                                    .n_states = states,
                                    .noise = noise,
                                    .n_runs = runs,
                                    .initial = initial,
                                    .outcome = KBASS_NO_MODEL,
                                    .log_evidence = NAN,
                                    .probability = NAN,
                                    .seconds_per_iteration = NAN,
                                    .period = NAN,
                                    .law = {.probability = NAN,
                                            .law = NAN,
                                            .constant = NAN,
                                            .drift = NAN,
                                            .field = NAN,
                                            .explained = NAN,
                                            .noise_ratio = NAN,
                                            .misfit = NAN}};
    *out = answer;
    return KBASS_OK;
}

static int by_falling_probability(const void *a, const void *b)
{
    const kbass_term *x = a, *y = b;
    int order = (x->probability < y->probability) - (x->probability > y->probability);
    return order ? order : strcmp(x->term, y->term);
}

/* A weight that may as well be 0 is of no term that is in. */
static bool is_clear(const kbass_term *term)
{
    return fabs(term->weight) >= term->sd && fabs(term->weight) >= term->own_sd && !(term->low <= 0 && term->high >= 0);
}

static kbass_verdict judge(const kbass_term *term)
{
    double p = term->probability;
    if (term->selected) return p >= KBASS_IN_FROM && is_clear(term) ? KBASS_IN : KBASS_UNDECIDED;
    return p <= KBASS_OUT_BELOW ? KBASS_OUT : KBASS_UNDECIDED;
}

static size_t gather_fixed(const kb_frame *p, size_t state, kbass_term *terms)
{
    const kb_columns *c = p->columns;
    size_t n = 0;
    for (size_t q = 0; q < c->n_fixed; q++) {
        double weight = c->fixed_weight[q] * kb_slope_unit(p, state);
        if (c->fixed_equation[q] == state)
            terms[n++] = (kbass_term){.term = kb_dictionary_name(p->dictionary, c->fixed_term[q]),
                                      .weight = weight,
                                      .probability = 1,
                                      .selected = 1,
                                      .verdict = KBASS_IN,
                                      .low = weight,
                                      .high = weight,
                                      .average = weight};
    }
    return n;
}

/* sd and 95 % interval of a weight, given that its term is in: over all models that have it. */
static void find_interval(const kb_weights *w, size_t c, kbass_term *term)
{
    bool is_mixed = w->sd && isfinite(w->sd[c]);
    term->own_sd = w->own_sd[c];
    term->sd = is_mixed ? w->sd[c] : term->own_sd;
    term->low = is_mixed ? w->low[c] : term->weight - normal_quantile * term->sd;
    term->high = is_mixed ? w->high[c] : term->weight + normal_quantile * term->sd;
}

static bool is_at_bound(const kb_columns *c, size_t column, double weight)
{
    const kb_constraints *s = c->constraints;
    return s && (weight == c->unit[column] * s->low[column] || weight == c->unit[column] * s->high[column]);
}

static kbass_term make_term(const kb_frame *p, const kb_weights *w, size_t column, bool selected)
{
    kbass_term term = {.term = kb_dictionary_name(p->dictionary, p->columns->term[column]),
                       .weight = w->weight[column],
                       .probability = w->probability[column],
                       .selected = selected,
                       .average = w->average[column],
                       .average_sd = w->average_sd[column]};
    find_interval(w, column, &term);
    term.at_bound = selected && is_at_bound(p->columns, column, term.weight);
    term.verdict = judge(&term);
    return term;
}

/* Selected terms first, in the dictionary's order, then the others by falling probability. */
static size_t gather_terms(const kb_frame *p, size_t state, const kb_weights *weights, const kb_support *selected,
                           kbass_term *terms)
{
    const kb_columns *c = p->columns;
    size_t n = 0;
    for (int pass = 1; pass >= 0; pass--) {
        size_t first = n;
        for (size_t column = 0; column < c->n; column++)
            if (c->equation[column] == state && kb_support_has(selected, column) == pass)
                terms[n++] = make_term(p, weights, column, pass);
        if (!pass) qsort(terms + first, n - first, sizeof *terms, by_falling_probability);
    }
    return n;
}

/* The weights' units, where there are any. */
static bool add_units(kb_answer *answer, const kb_dictionary *dictionary, size_t state, size_t n, kbass_term *terms)
{
    bool complete = true;
    for (size_t i = 0; dictionary->units && complete && i < n; i++) {
        char unit[256];
        size_t term = kb_dictionary_find(dictionary, terms[i].term);
        if (!kb_dictionary_weight_text(dictionary, term, state, unit, sizeof unit)) continue;
        terms[i].unit = kb_answer_text(answer, unit);
        complete = terms[i].unit != NULL;
    }
    return complete;
}

kbass_status kb_answer_equations(kb_answer *answer, const kb_frame *p, const kb_weights *weights,
                                 const kb_support *selected, kbass_error *error)
{
    kbass_equation *equations = (kbass_equation *)answer->result.equations;
    size_t e = 0;
    for (size_t state = 0; state < p->dictionary->n_states; state++) {
        if (!p->dictionary->has_equation[state]) continue;
        kbass_term *terms = kb_answer_own(answer, p->dictionary->n_terms + 1, sizeof *terms);
        if (!terms) return kb_out_of_memory(error, "the answer");
        size_t fixed = gather_fixed(p, state, terms);
        equations[e].terms = terms;
        size_t n = fixed + gather_terms(p, state, weights, selected, terms + fixed);
        if (!add_units(answer, p->dictionary, state, n, terms)) return kb_out_of_memory(error, "the answer");
        equations[e++].n_terms = n;
    }
    answer->result.n_equations = e;
    return KBASS_OK;
}

/* ---------------------------------------------------------------- averaging over models */

/* A column's weight and sd in the likeliest model that has it, fitted or by the chosen model's message; NaN if none. */
static void weigh(const kb_frame *p, const kb_search_result *found, size_t column, double *weight, double *sd)
{
    const kb_pool *pool = &found->pool;
    const kb_neighbour *neighbour = found->neighbours ? &found->neighbours[column] : NULL;
    double unit = p->columns->unit[column];
    const kb_fit *fit = NULL;
    for (size_t i = 0; !fit && i < pool->n && pool->fits[i]->valid; i++)
        if (kb_support_has(&pool->fits[i]->support, column)) fit = pool->fits[i];
    bool is_fitted = fit && !(neighbour && neighbour->gain > fit->log_evidence - pool->fits[0]->log_evidence);
    *weight = unit * (is_fitted ? fit->w[column] : neighbour ? neighbour->mean : NAN);
    *sd = fabs(unit) * sqrt(is_fitted ? kb_fit_variance(fit, column) : neighbour ? neighbour->variance : NAN);
}

/* Of all columns: weights in the data's units, and averages over models. */
static void weigh_all(const kb_frame *p, const kb_search_result *found, const kb_average *average, double *out)
{
    size_t n = p->columns->n;
    for (size_t c = 0; c < n; c++) {
        double mean, variance, unit = p->columns->unit[c];
        weigh(p, found, c, &out[c], &out[c + n]);
        kb_average_weight(average, c, &mean, &variance);
        out[c + 2 * n] = kb_average_inclusion(average, c);
        out[c + 3 * n] = unit * mean;
        out[c + 4 * n] = fabs(unit) * sqrt(variance);
        double sd, low, high;
        kb_average_interval(average, c, &sd, &low, &high);
        out[c + 5 * n] = fabs(unit) * sd;
        out[c + 6 * n] = unit * (unit > 0 ? low : high);
        out[c + 7 * n] = unit * (unit > 0 ? high : low);
    }
}

/* Of the selected weights: units have no part in it. */
static kbass_status add_correlation(kb_answer *answer, const kb_columns *columns, const kb_fit *best,
                                    kbass_error *error)
{
    size_t k = best->support.n;
    double *out = kb_answer_own(answer, k * k, sizeof *out);
    if (!out) return kb_out_of_memory(error, "the answer");
    for (size_t i = 0; i < k; i++)
        for (size_t j = 0; j < k; j++) {
            double unit_i = columns->unit[best->support.column[i]], unit_j = columns->unit[best->support.column[j]];
            double sds = sqrt(best->covariance[i + i * k] * best->covariance[j + j * k]);
            out[i + j * k] = copysign(1, unit_i * unit_j) * best->covariance[i + j * k] / sds;
        }
    answer->result.n_weights = k;
    answer->result.correlation = out;
    return KBASS_OK;
}

static kbass_status name_group(kb_answer *answer, const kb_frame *p, const kb_group *group, kbass_group *out,
                               kbass_error *error)
{
    const char **terms = kb_answer_own(answer, group->n, sizeof *terms);
    if (!terms) return kb_out_of_memory(error, "the answer");
    for (size_t i = 0; i < group->n; i++)
        terms[i] = kb_dictionary_name(p->dictionary, p->columns->term[group->column[i]]);
    *out = (kbass_group){kb_answer_lhs(answer, p, group->column[0]), group->n, terms, group->n_present,
                         group->probability};
    return KBASS_OK;
}

static kbass_status add_groups(kb_answer *answer, const kb_frame *p, const kb_average *average, kbass_error *error)
{
    kb_group *groups = NULL;
    size_t n = 0;
    kbass_status status = kb_average_groups(average, &groups, &n, error);
    kbass_group *named = kb_answer_own(answer, n, sizeof *named);
    if (status == KBASS_OK && !named) status = kb_out_of_memory(error, "the answer");
    for (size_t i = 0; status == KBASS_OK && i < n; i++) status = name_group(answer, p, &groups[i], &named[i], error);
    if (status == KBASS_OK) {
        answer->result.groups = named;
        answer->result.n_groups = n;
    }
    kb_groups_free(groups, n);
    return status;
}

/* ---------------------------------------------------------------- the whole */

/* Each run's first window begins with it. */
static void add_initial(kb_answer *answer, const kb_frame *p, const kb_search_result *found)
{
    if (!p->starts_with_states) return;
    size_t n = p->dictionary->n_states, each = found->windows->n / p->n_runs;
    double *initial = (double *)answer->result.initial;
    for (size_t run = 0; run < p->n_runs; run++)
        for (size_t i = 0; i < n; i++)
            if (p->dictionary->has_equation[i])
                initial[run * n + i] = p->mean[i] + p->sd[i] * found->pool.fits[0]->start[run * each * n + i];
}

static kbass_status fill(kb_answer *answer, const kb_frame *p, const kb_search_result *found, kbass_error *error)
{
    size_t n = p->columns->n;
    const kb_fit *best = found->pool.fits[0];
    kb_average *average = NULL;
    kb_same same = {0};
    kbass_status status = kb_same_find(p, found, &same, error);
    if (status == KBASS_OK)
        status = kb_average_create(p->columns, &found->pool, found->neighbours, found->noise_freedom, &same, &average,
                                   error);
    double *all = KB_NEW(double, N_COLUMNS *n);
    if (status == KBASS_OK && !all) status = kb_out_of_memory(error, "the answer");
    if (status == KBASS_OK) {
        kb_weights weights = {all,         all + n,     all + 2 * n, all + 3 * n,
                              all + 4 * n, all + 5 * n, all + 6 * n, all + 7 * n};
        weigh_all(p, found, average, all);
        answer->result.probability = average->share[0];
        answer->result.log_evidence = best->log_evidence;
        status = kb_answer_equations(answer, p, &weights, &best->support, error);
    }
    if (status == KBASS_OK) status = kb_answer_runners_up(answer, p, &found->pool, &same, error);
    if (status == KBASS_OK) status = add_correlation(answer, p->columns, best, error);
    if (status == KBASS_OK) status = add_groups(answer, p, average, error);
    if (status == KBASS_OK) status = kb_answer_explanations(answer, p, found, error);
    if (status == KBASS_OK) status = kb_answer_noise(answer, p, found, error);
    if (status == KBASS_OK) status = kb_answer_jumps(answer, p->dictionary, error);
    if (status == KBASS_OK) add_initial(answer, p, found);
    kb_free(all);
    kb_average_destroy(average);
    kb_same_clear(&same);
    return status;
}

kbass_status kb_answer_create(const kb_frame *p, const kb_search_result *found, kbass_outcome outcome, kb_answer **out,
                              kbass_error *error)
{
    kb_answer *answer = NULL;
    kbass_status status = kb_answer_begin(p, &answer, error);
    bool has_model = found->pool.n && found->pool.fits[0]->valid;
    if (status == KBASS_OK && has_model) status = fill(answer, p, found, error);
    if (status == KBASS_OK) {
        bool was_stopped = outcome == KBASS_TIME_LIMIT || outcome == KBASS_CANCELLED;
        answer->result.outcome = has_model || was_stopped ? outcome : KBASS_NO_MODEL;
        answer->result.n_starts = found->n_starts;
        answer->result.n_starts_lost = found->n_lost;
        answer->result.n_screened = p->columns->n_screened;
        answer->result.n_part = found->part;
        answer->result.n_condensed = p->n_rows_before ? p->n_rows : 0;
        answer->result.rows_used = p->n_rows_before ? (double)p->n_rows / (double)p->n_rows_before : 1;
        answer->result.n_models = found->n_models;
        answer->result.n_windows = found->windows ? found->windows->n : 0;
        answer->result.n_patches = found->engine.n_patches;
        memcpy(answer->result.seconds, found->seconds, sizeof found->seconds);
        *out = answer;
    } else {
        kb_answer_destroy(answer);
    }
    return status;
}
