#include "answer/rivals.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/number.h"
#include "base/status.h"
#include "dictionary/constants.h"

static const double least_log_odds = -6.907755279; /* of a runner-up: 1 : 1000 */
enum { MOST_RUNNERS_UP = 20 };                     /* models: that are listed */
enum { WEIGHT_DIGITS = 4 };                        /* digits: of weights in their equations */

double kb_slope_unit(const kb_frame *p, size_t state) { return p->sd[state] / pow(p->span, p->dictionary->time_order); }

/* ---------------------------------------------------------------- laws as text */

static void append_term(char *text, size_t size, bool first, double weight, const char *name)
{
    size_t used = strlen(text);
    char number[KB_NUMBER_SIZE];
    kb_number_round(fabs(weight), WEIGHT_DIGITS, number);
    const char *sign = first ? (weight < 0 ? "-" : "") : (weight < 0 ? " - " : " + ");
    bool is_constant = !strcmp(name, "1");
    snprintf(text + used, size - used, "%s%s%s%s", sign, number, is_constant ? "" : " ", is_constant ? "" : name);
}

/* "x_t = 1.02 y - 0.3 x^2*y" */
static char *write_equation(kb_answer *answer, const kb_frame *p, const kb_fit *fit, size_t state)
{
    const kb_columns *c = p->columns;
    size_t size = 64 + strlen(p->dictionary->state_names[state]);
    for (size_t q = 0; q < fit->support.n; q++)
        size += 40 + strlen(kb_dictionary_name(p->dictionary, c->term[fit->support.column[q]]));
    for (size_t q = 0; q < c->n_fixed; q++) size += 40 + strlen(kb_dictionary_name(p->dictionary, c->fixed_term[q]));
    char *text = kb_answer_own(answer, size, 1);
    if (!text) return NULL;
    snprintf(text, size, "%s%s = ", p->dictionary->state_names[state], kb_dictionary_tail(p->dictionary, state));
    bool first = true;
    for (size_t q = 0; q < c->n_fixed; q++)
        if (c->fixed_equation[q] == state) {
            append_term(text, size, first, c->fixed_weight[q] * kb_slope_unit(p, state),
                        kb_dictionary_name(p->dictionary, c->fixed_term[q]));
            first = false;
        }
    for (size_t q = 0; q < fit->support.n; q++) {
        size_t column = fit->support.column[q];
        if (c->equation[column] != state) continue;
        append_term(text, size, first, fit->w[column] * c->unit[column],
                    kb_dictionary_name(p->dictionary, c->term[column]));
        first = false;
    }
    if (first) strcat(text, "0");
    return text;
}

const char *const *kb_answer_law(kb_answer *answer, const kb_frame *p, const kb_fit *fit)
{
    const char **equations = kb_answer_own(answer, answer->result.n_equations, sizeof *equations);
    size_t e = 0;
    for (size_t state = 0; equations && state < p->dictionary->n_states; state++)
        if (p->dictionary->has_equation[state] && !(equations[e++] = write_equation(answer, p, fit, state)))
            return NULL;
    return equations;
}

const char *kb_answer_lhs(const kb_answer *answer, const kb_frame *p, size_t column)
{
    size_t e = 0;
    for (size_t i = 0; i < p->columns->equation[column]; i++) e += p->dictionary->has_equation[i];
    return answer->result.equations[e].lhs;
}

/* ---------------------------------------------------------------- runners-up */

/* Adds "with x_t: x^2, y" for the columns of one support that the other has not. */
static void list_columns(const kb_answer *answer, const kb_frame *p, const kb_support *of, const kb_support *not_of,
                         const char *word, char *text, size_t size)
{
    const char *lhs = NULL;
    for (size_t q = 0; q < of->n; q++) {
        size_t column = of->column[q], used = strlen(text);
        const char *here = kb_answer_lhs(answer, p, column),
                   *name = kb_dictionary_name(p->dictionary, p->columns->term[column]);
        if (kb_support_has(not_of, column)) continue;
        if (!lhs) snprintf(text + used, size - used, "%s%s %s: %s", used ? ", " : "", word, here, name);
        else snprintf(text + used, size - used, ", %s%s%s", here == lhs ? "" : here, here == lhs ? "" : ": ", name);
        lhs = here;
    }
}

static const char *write_difference(kb_answer *answer, const kb_frame *p, const kb_fit *fit, const kb_fit *chosen)
{
    size_t size = 64;
    const kb_support *both[2] = {&fit->support, &chosen->support};
    for (int k = 0; k < 2; k++)
        for (size_t q = 0; q < both[k]->n; q++)
            size += 16 + strlen(kb_dictionary_name(p->dictionary, p->columns->term[both[k]->column[q]])) +
                    strlen(kb_answer_lhs(answer, p, both[k]->column[q]));
    char *text = kb_answer_own(answer, size, 1);
    if (!text) return NULL;
    list_columns(answer, p, both[0], both[1], "with", text, size);
    list_columns(answer, p, both[1], both[0], "without", text, size);
    return text;
}

static bool fill_runner_up(kb_answer *answer, const kb_frame *p, const kb_fit *fit, const kb_fit *chosen,
                           kbass_runner_up *out)
{
    out->n_equations = answer->result.n_equations;
    out->equations = kb_answer_law(answer, p, fit);
    out->misfit = fit->misfit;
    out->difference = write_difference(answer, p, fit, chosen);
    return out->equations && out->difference;
}

/* Every column of one model, or the one that stands for it, is in the other. */
static bool is_part_of(const kb_same *same, const kb_support *one, const kb_support *other)
{
    for (size_t i = 0; i < one->n; i++) {
        bool found = false;
        for (size_t j = 0; j < other->n && !found; j++)
            found = same->column[one->column[i]] == same->column[other->column[j]];
        if (!found) return false;
    }
    return true;
}

static bool is_told(const kb_same *same, const kb_pool *pool, size_t i)
{
    const kb_support *own = &pool->fits[i]->support;
    for (size_t j = 0; j < i; j++)
        if (is_part_of(same, own, &pool->fits[j]->support) && is_part_of(same, &pool->fits[j]->support, own))
            return true;
    return false;
}

kbass_status kb_answer_runners_up(kb_answer *answer, const kb_frame *p, const kb_pool *pool, const kb_same *same,
                                  kbass_error *error)
{
    kbass_runner_up *runners = kb_answer_own(answer, MOST_RUNNERS_UP, sizeof *runners);
    size_t n = 0;
    if (!runners) return kb_out_of_memory(error, "the answer");
    for (size_t i = 1; i < pool->n && n < MOST_RUNNERS_UP && pool->fits[i]->valid; i++) {
        double log_odds = kb_fit_log_odds(pool->fits[i], pool->fits[0]);
        if (!(log_odds > least_log_odds)) break;
        if (is_told(same, pool, i)) continue;
        runners[n].log_odds = log_odds;
        runners[n].probability = exp(log_odds) * answer->result.probability;
        if (!fill_runner_up(answer, p, pool->fits[i], pool->fits[0], &runners[n++]))
            return kb_out_of_memory(error, "the answer");
    }
    answer->result.runners_up = runners;
    answer->result.n_runners_up = n;
    return KBASS_OK;
}

/* ---------------------------------------------------------------- explanations */

static double sd_in(const kb_frame *p, const kb_fit *fit, size_t column)
{
    double variance = kb_support_has(&fit->support, column) ? kb_fit_variance(fit, column) : 0;
    return fabs(p->columns->unit[column]) * sqrt(variance);
}

/* A term as the user wrote it: its constants have other values in other laws. NULL: no memory. */
static const char *face_of(kb_answer *answer, const kb_frame *p, size_t column)
{
    const kb_dictionary *d = p->dictionary;
    size_t term = p->columns->term[column];
    const char *form = kb_dictionary_form(d, term);
    if (!form || !kb_dictionary_is_form(d, term)) return kb_dictionary_name(d, term);
    char *own = kb_answer_own(answer, strlen(form) + 1, 1);
    return own ? strcpy(own, form) : NULL;
}

/* The weights of the larger of the two models, which has those of the other. */
static kbass_status add_changes(kb_answer *answer, const kb_frame *p, const kb_fit *before, const kb_fit *after,
                                kbass_explanation *out, kbass_error *error)
{
    const kb_support *both = before->support.n > after->support.n ? &before->support : &after->support;
    kbass_weight_change *changes = kb_answer_own(answer, both->n, sizeof *changes);
    if (!changes) return kb_out_of_memory(error, "the answer");
    for (size_t q = 0; q < both->n; q++) {
        size_t c = both->column[q];
        double unit = p->columns->unit[c];
        changes[q] = (kbass_weight_change){kb_answer_lhs(answer, p, c),
                                           face_of(answer, p, c),
                                           kb_support_has(&before->support, c) ? unit * before->w[c] : 0,
                                           sd_in(p, before, c),
                                           kb_support_has(&after->support, c) ? unit * after->w[c] : 0,
                                           sd_in(p, after, c)};
        if (!changes[q].term) return kb_out_of_memory(error, "the answer");
    }
    out->n_changes = both->n;
    out->changes = changes;
    return KBASS_OK;
}

kbass_status kb_answer_explanations(kb_answer *answer, const kb_frame *p, const kb_search_result *found,
                                    kbass_error *error)
{
    const kb_fit *best = found->pool.fits[0];
    size_t n = found->explained.n;
    kbass_explanation *out = kb_answer_own(answer, n, sizeof *out);
    kbass_status status = out ? KBASS_OK : kb_out_of_memory(error, "the answer");
    for (size_t i = 0; status == KBASS_OK && i < n; i++) {
        const kb_fit *other = found->explained.fits[i];
        size_t c = found->explained_column[i];
        double gain = other->valid ? other->log_evidence - best->log_evidence : NAN;
        out[i] = (kbass_explanation){.lhs = kb_answer_lhs(answer, p, c),
                                     .term = face_of(answer, p, c),
                                     .is_added = other->support.n > best->support.n,
                                     .is_fitted = other->valid,
                                     .log_evidence = gain,
                                     .log_odds = kb_log_odds(gain),
                                     .misfit_before = best->misfit,
                                     .misfit_after = other->valid ? other->misfit : NAN};
        if (!out[i].term) status = kb_out_of_memory(error, "the answer");
        else if (other->valid) status = add_changes(answer, p, best, other, &out[i], error);
    }
    answer->result.explanations = out;
    answer->result.n_explanations = status == KBASS_OK ? n : 0;
    return status;
}
