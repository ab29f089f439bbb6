#include "answer/alike.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "answer/same.h"
#include "base/linalg.h"
#include "base/memory.h"
#include "base/number.h"
#include "base/status.h"
#include "evidence/thresholds.h"

enum { TEXT = 700 };     /* room: a sentence */
enum { MOST_WHOLE = 5 }; /* whole numbers: of a conserved sum that are written as such */
enum { DIGITS = 3 };     /* digits: of numbers in a sentence */

/* ---------------------------------------------------------------- combinations that stay constant */

bool kb_is_conserved(size_t n, double *covariance, double *lambda, double rows)
{
    if (n < 2 || !kb_eigen_symmetric(n, covariance, n, lambda)) return false;
    return lambda[0] <= 1 + 3 * sqrt(2 / rows) && lambda[1] >= kb_threshold.clearly_moves;
}

static bool are_whole(size_t n, const double *c, double unit)
{
    for (size_t i = 0; i < n; i++) {
        double k = fabs(c[i] / unit);
        if (c[i] != 0 && (fabs(k - round(k)) > kb_threshold.near_whole * k || k > MOST_WHOLE + 0.5)) return false;
    }
    return true;
}

/* Divides by the smallest where that leaves whole numbers, else by the largest; the first one is positive. */
static void scale_coefficients(size_t n, double *c)
{
    double least = INFINITY, most = 0, first = 0;
    for (size_t i = 0; i < n; i++) {
        if (c[i] == 0) continue;
        least = fmin(least, fabs(c[i]));
        most = fmax(most, fabs(c[i]));
        if (first == 0) first = c[i];
    }
    bool whole = are_whole(n, c, least);
    double unit = copysign(whole ? least : most, first);
    for (size_t i = 0; i < n; i++) c[i] = whole ? round(c[i] / unit) : c[i] / unit;
}

static size_t append_term(char *text, size_t size, size_t used, double c, const char *name)
{
    char number[KB_NUMBER_SIZE];
    kb_number_round(fabs(c), DIGITS, number);
    const char *sign = used ? (c < 0 ? " - " : " + ") : (c < 0 ? "-" : "");
    bool is_one = fabs(c) == 1, is_constant = !strcmp(name, "1");
    int length = snprintf(text + used, size - used, "%s%s%s%s", sign, is_one && !is_constant ? "" : number,
                          is_constant || is_one ? "" : " ", is_constant ? "" : name);
    return length > 0 && (size_t)length < size - used ? used + (size_t)length : used;
}

bool kb_combination_text(size_t n, const char *const *names, double *c, const double *spread, char *text, size_t size)
{
    double most = 0;
    size_t kept = 0, used = 0;
    for (size_t i = 0; i < n; i++) most = fmax(most, fabs(c[i]) * spread[i]);
    for (size_t i = 0; i < n; i++) {
        if (fabs(c[i]) * spread[i] < kb_threshold.small_part * most) c[i] = 0;
        kept += c[i] != 0;
    }
    if (kept < 2) return false;
    scale_coefficients(n, c);
    *text = '\0';
    for (size_t i = 0; i < n; i++)
        if (c[i] != 0) used = append_term(text, size, used, c[i], names[i]);
    return true;
}

/* ---------------------------------------------------------------- the record's states */

/* Of states that are measured and move, at rows where all of them are. */
typedef struct {
    size_t n, *state;
    double rows, *mean, *covariance, *lambda, *coefficient, *spread;
    const char **names;
} moving;

static kbass_status moving_create(size_t n, moving *m, kbass_error *error)
{
    m->state = KB_NEW(size_t, n);
    m->mean = KB_NEW(double, n);
    m->covariance = KB_NEW(double, n *n);
    m->lambda = KB_NEW(double, n);
    m->coefficient = KB_NEW(double, n);
    m->spread = KB_NEW(double, n);
    m->names = KB_NEW(const char *, n);
    bool complete = m->state && m->mean && m->covariance && m->lambda && m->coefficient && m->spread && m->names;
    return complete ? KBASS_OK : kb_out_of_memory(error, "states that stay constant");
}

static void moving_clear(moving *m)
{
    void *arrays[] = {m->state, m->mean, m->covariance, m->lambda, m->coefficient, m->spread, (void *)m->names};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++) kb_free(arrays[i]);
}

static bool is_complete(const kb_record *r, const moving *m, size_t row)
{
    for (size_t i = 0; i < m->n; i++)
        if (!(r->measured[row + m->state[i] * r->n_rows] > 0)) return false;
    return true;
}

/* Covariance of values over the sds of their noise. */
static void find_covariance(const kb_record *r, const double *noise, moving *m)
{
    m->rows = 0;
    memset(m->mean, 0, m->n * sizeof *m->mean);
    memset(m->covariance, 0, m->n * m->n * sizeof *m->covariance);
    for (int pass = 0; pass < 2; pass++)
        for (size_t row = 0; row < r->n_rows; row++) {
            if (!is_complete(r, m, row)) continue;
            if (pass == 0) m->rows++;
            for (size_t i = 0; i < m->n; i++) {
                double q = r->value[row + m->state[i] * r->n_rows];
                if (pass == 0) m->mean[i] += q;
                for (size_t j = 0; pass && j <= i; j++) {
                    double other = r->value[row + m->state[j] * r->n_rows] - m->mean[j] / m->rows;
                    double product = (q - m->mean[i] / m->rows) * other / m->rows;
                    m->covariance[i + j * m->n] += product / sqrt(noise[m->state[i]] * noise[m->state[j]]);
                    m->covariance[j + i * m->n] = m->covariance[i + j * m->n];
                }
            }
        }
}

/* ---------------------------------------------------------------- entries */

static kbass_alike *add(kb_answer *answer, const char *sentence, const char *what)
{
    kbass_result *result = &answer->result;
    kbass_alike *list = (kbass_alike *)result->alike;
    char *texts[2] = {kb_answer_own(answer, strlen(sentence) + 1, 1), kb_answer_own(answer, strlen(what) + 1, 1)};
    if (!texts[0] || !texts[1]) return NULL;
    strcpy(texts[0], sentence);
    strcpy(texts[1], what);
    list[result->n_alike] = (kbass_alike){.what = texts[1], .sentence = texts[0], .share = NAN};
    return &list[result->n_alike++];
}

static kbass_status add_rest(kb_answer *answer, const kb_frame *frame, size_t state, kbass_error *error)
{
    char text[TEXT], value[KB_NUMBER_SIZE];
    const char *name = frame->dictionary->state_names[state];
    kb_number_round(frame->mean[state], DIGITS + 1, value);
    snprintf(text, sizeof text,
             "%.100s stays at %s within its noise: terms with it and without it are the same on this record. A run in "
             "which %.100s changes would tell them apart.",
             name, value, name);
    kbass_alike *entry = add(answer, text, name);
    if (!entry) return kb_out_of_memory(error, "the answer");
    entry->kind = KBASS_ALIKE_REST;
    entry->value = frame->mean[state];
    return KBASS_OK;
}

static kbass_status add_conserved(kb_answer *answer, const kb_frame *frame, const double *noise, moving *m,
                                  kbass_error *error)
{
    char text[TEXT], what[TEXT / 8], number[KB_NUMBER_SIZE];
    double value = 0;
    for (size_t i = 0; i < m->n; i++) {
        size_t state = m->state[i];
        m->names[i] = frame->dictionary->state_names[state];
        m->spread[i] = frame->sd[state];
        m->coefficient[i] = m->covariance[i] / (sqrt(noise[state]) * frame->sd[state]);
    }
    if (!kb_combination_text(m->n, m->names, m->coefficient, m->spread, what, sizeof what)) return KBASS_OK;
    for (size_t i = 0; i < m->n; i++)
        value += m->coefficient[i] * (frame->mean[m->state[i]] + frame->sd[m->state[i]] * m->mean[i] / m->rows);
    kb_number_round(value, DIGITS, number);
    snprintf(text, sizeof text,
             "%s stays at %s within the noise: laws that differ only by it are one on this record (equal modulo %s). A "
             "run with another value of %s would tell them apart.",
             what, number, what, what);
    kbass_alike *entry = add(answer, text, what);
    if (!entry) return kb_out_of_memory(error, "the answer");
    entry->kind = KBASS_ALIKE_CONSERVED;
    entry->value = value;
    return KBASS_OK;
}

/* By its noise, or by the law that was found. */
static bool rests(const kb_frame *frame, const kb_search_result *found, const double *noise, size_t state)
{
    return noise[state] >= kb_threshold.only_noise || kb_is_at_rest(frame, found, state);
}

/* noise: by state, scaled, the smaller of what the law and the bare field leave. */
static kbass_status look_at_states(kb_answer *answer, const kb_frame *frame, const kb_search_result *found,
                                   const kb_without_law *without, const double *noise, const kb_record *record,
                                   kbass_error *error)
{
    moving m = {0};
    size_t n = frame->dictionary->n_states, n_rest = 0;
    kbass_status status = moving_create(n, &m, error);
    for (size_t i = 0; status == KBASS_OK && i < n; i++) {
        if (!frame->dictionary->has_equation[i] || !(without->counts[i] > 0)) continue;
        if (!rests(frame, found, noise, i)) m.state[m.n++] = i;
        else n_rest++;
    }
    for (size_t i = 0; status == KBASS_OK && m.n && n_rest && i < n; i++)
        if (without->counts[i] > 0 && frame->dictionary->has_equation[i] && rests(frame, found, noise, i))
            status = add_rest(answer, frame, i, error);
    if (status == KBASS_OK && m.n > 1) {
        find_covariance(record, noise, &m);
        if (m.rows > (double)m.n + 1 && kb_is_conserved(m.n, m.covariance, m.lambda, m.rows))
            status = add_conserved(answer, frame, noise, &m, error);
    }
    moving_clear(&m);
    return status;
}

/* ---------------------------------------------------------------- terms */

static kbass_term *term_of(kb_answer *answer, const kb_frame *frame, size_t column, const char **lhs)
{
    size_t e = 0, state = frame->columns->equation[column];
    for (size_t i = 0; i < state; i++) e += frame->dictionary->has_equation[i];
    const kbass_equation *equation = &answer->result.equations[e];
    const char *name = kb_dictionary_name(frame->dictionary, frame->columns->term[column]);
    *lhs = equation->lhs;
    for (size_t i = 0; i < equation->n_terms; i++)
        if (!strcmp(equation->terms[i].term, name)) return (kbass_term *)&equation->terms[i];
    return NULL;
}

/* What measurement would decide. */
static const char *decider(const kb_answer *answer, const kb_frame *frame)
{
    for (size_t i = 0; i < answer->result.n_alike; i++)
        if (answer->result.alike[i].kind == KBASS_ALIKE_CONSERVED) return "";
    return frame->dictionary->n_axes > 1 ? "A field of another height or shape would tell them apart."
                                         : "A run from another start would tell them apart.";
}

/* On one orbit of an autonomous system monomials are bound to each other, and on every other orbit of the same law by
   other numbers (y = (x^2 y + y^3) / r^2 on circles): the law with fewer terms is preferred there, as everywhere, and
   the other one named. A field has a profile of its own at each time: that two laws are the same on it is a coincidence
   (one soliton), which another profile would end. */
static bool prefers_fewer(const kb_frame *frame, const kb_substitute *s)
{
    return frame->dictionary->n_axes == 1 && s->n > 1;
}

static kbass_status add_terms(kb_answer *answer, const kb_frame *frame, const kb_substitute *s, kbass_error *error)
{
    const kb_columns *c = frame->columns;
    char text[TEXT], other[TEXT / 4] = "", own[TEXT / 4] = "";
    const char *lhs = NULL, **terms = kb_answer_own(answer, s->n, sizeof *terms);
    double *weights = kb_answer_own(answer, s->n, sizeof *weights);
    kbass_term *term = term_of(answer, frame, s->column, &lhs);
    if (!terms || !weights) return kb_out_of_memory(error, "the answer");
    if (!term || term->verdict != KBASS_IN) return KBASS_OK; /* rivals speak for those that are undecided anyway */
    for (size_t i = 0, used = 0; i < s->n; i++) {
        terms[i] = kb_dictionary_name(frame->dictionary, c->term[s->other[i]]);
        weights[i] = s->weight[i] * c->unit[s->other[i]];
        used = append_term(other, sizeof other, used, weights[i], terms[i]);
    }
    append_term(own, sizeof own, 0, term->weight, term->term);
    bool is_simpler = prefers_fewer(frame, s);
    snprintf(text, sizeof text, "%s: %s %s %s: on this record the two are the same within the noise%s. %s", lhs, own,
             is_simpler ? "or" : "may as well be", other,
             is_simpler ? ", and the law with fewer terms is preferred" : "", decider(answer, frame));
    kbass_alike *entry = add(answer, text, term->term);
    if (!entry) return kb_out_of_memory(error, "the answer");
    entry->lhs = lhs;
    entry->value = term->weight;
    entry->n_terms = s->n;
    entry->terms = terms;
    entry->weights = weights;
    entry->share = s->share;
    if (!is_simpler) term->verdict = KBASS_UNDECIDED;
    return KBASS_OK;
}

/* Is it told already, since a state is at rest? */
static bool knows_rest(const kb_frame *frame, const kb_search_result *found, const kb_substitute *s)
{
    for (size_t state = 0; state < frame->dictionary->n_states; state++)
        for (size_t i = 0; i < s->n && kb_is_at_rest(frame, found, state); i++)
            if (kb_dictionary_depends(frame->dictionary, frame->columns->term[s->other[i]], state)) return true;
    return false;
}

/* ---------------------------------------------------------------- waves that only travel */

/* The first derivative of the only field along its only axis of space; NULL where there is none. */
static const char *name_of_slope(const kb_dictionary *d)
{
    if (d->n_states != 1 || d->n_axes != 2 || d->time_order != 1) return NULL;
    for (size_t v = 0; v < d->n_variables; v++)
        if (d->variables[v].axis < 0 && d->variables[v].order[1] == 1) return d->variable_names[v];
    return NULL;
}

/* Where the law is u_t = -c u_x, and nothing else is sure: that is what it says, and no more. */
static kbass_status add_travelling(kb_answer *answer, const kb_dictionary *d, kbass_error *error)
{
    const char *slope = name_of_slope(d);
    const kbass_equation *equation = &answer->result.equations[0];
    const kbass_term *only = NULL;
    char text[TEXT], speed[KB_NUMBER_SIZE];
    for (size_t i = 0; slope && i < equation->n_terms; i++)
        if (equation->terms[i].selected && equation->terms[i].verdict == KBASS_IN) {
            if (only || strcmp(equation->terms[i].term, slope)) return KBASS_OK;
            only = &equation->terms[i];
        }
    if (!only) return KBASS_OK;
    kb_number_round(-only->weight, DIGITS + 1, speed);
    snprintf(text, sizeof text,
             "%.100s travels, at the speed %s, and its shape stays: %.100s says no more than that, and every law with "
             "such a wave is the same on this record. A field of another height or shape would tell them apart.",
             d->state_names[0], speed, slope);
    kbass_alike *entry = add(answer, text, only->term);
    if (!entry) return kb_out_of_memory(error, "the answer");
    entry->lhs = equation->lhs;
    entry->value = only->weight;
    return KBASS_OK;
}

kbass_status kb_answer_alike(kb_answer *answer, const kb_frame *frame, const kb_search_result *found,
                             const kb_without_law *without, const kb_record *record, kbass_error *error)
{
    size_t n = frame->dictionary->n_states;
    double *noise = KB_NEW(double, n);
    const kb_fit *law = found->pool.fits[0];
    answer->result.alike = kb_answer_own(answer, n + 2 + law->support.n, sizeof *answer->result.alike);
    kbass_status status = noise && answer->result.alike ? KBASS_OK : kb_out_of_memory(error, "the answer");
    if (status == KBASS_OK && record && !found->noise_is_relative) {
        for (size_t i = 0; i < n; i++) noise[i] = fmin(found->pool.fits[0]->variance[i], without->field_variance[i]);
        status = look_at_states(answer, frame, found, without, noise, record, error);
    }
    for (size_t q = 0; status == KBASS_OK && q < law->support.n; q++) {
        kb_substitute other;
        const kb_substitute *known = NULL;
        for (size_t i = 0; i < found->n_substitutes; i++)
            if (found->substitutes[i].column == law->support.column[q]) known = &found->substitutes[i];
        if (!known && kb_substitute_in_pool(&found->pool, frame->columns, law->support.column[q], &other))
            known = &other;
        if (known && !knows_rest(frame, found, known)) status = add_terms(answer, frame, known, error);
    }
    if (status == KBASS_OK) status = add_travelling(answer, frame->dictionary, error);
    kb_free(noise);
    return status;
}
