#include "weights/columns.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "base/status.h"
#include "dictionary/constants.h"
#include "weights/constraints.h"
#include "weights/ties.h"

/* Slab variance in units of the mean squared slope: five times what the whole right-hand side has to explain. */
static const double most_expected = 2;                 /* terms in an equation, beforehand */
static const double slab_widths[] = {0.04, 0.2, 1, 5}; /* of an unknown slab, times the standard variance */

static void count_roles(const kb_dictionary *dictionary, size_t *n, size_t *n_fixed)
{
    *n = *n_fixed = 0;
    for (size_t i = 0; i < dictionary->n_terms * dictionary->n_states; i++) {
        *n += dictionary->roles[i] == KB_CANDIDATE || dictionary->roles[i] == KB_REQUIRED;
        *n_fixed += dictionary->roles[i] == KB_FIXED;
    }
}

static kbass_status allocate(const kb_dictionary *dictionary, kb_columns **out, kbass_error *error)
{
    size_t n, n_fixed;
    kb_columns *c = KB_NEW(kb_columns, 1);
    if (!c) return kb_out_of_memory(error, "the columns");
    count_roles(dictionary, &n, &n_fixed);
    c->equation = KB_NEW(size_t, n);
    c->term = KB_NEW(size_t, n);
    c->log_odds = KB_NEW(double, n);
    c->required = KB_NEW(bool, n);
    c->explained = KB_NEW(bool, n);
    c->scale = KB_NEW(double, n);
    c->unit = KB_NEW(double, n);
    c->slab = KB_NEW(double, n);
    c->fixed_equation = KB_NEW(size_t, n_fixed);
    c->fixed_term = KB_NEW(size_t, n_fixed);
    c->fixed_weight = KB_NEW(double, n_fixed);
    if (!c->equation || !c->term || !c->log_odds || !c->required || !c->explained || !c->scale || !c->unit ||
        !c->slab || !c->fixed_equation || !c->fixed_term || !c->fixed_weight) {
        kb_columns_destroy(c);
        return kb_out_of_memory(error, "the columns");
    }
    *out = c;
    return KBASS_OK;
}

static void add_column(kb_columns *c, const kb_dictionary *dictionary, double slope_unit, size_t term, size_t state,
                       double rms, double slope_square)
{
    size_t n = c->n++;
    c->equation[n] = state;
    c->term[n] = term;
    c->required[n] = dictionary->roles[term + state * dictionary->n_terms] == KB_REQUIRED;
    c->explained[n] = dictionary->explained[term + state * dictionary->n_terms];
    c->log_odds[n] = c->required[n] ? 0 : kb_dictionary_log_odds(dictionary, term);
    c->scale[n] = rms;
    c->unit[n] = slope_unit / rms;
    c->slab[n] = KB_SLAB_FACTOR * slope_square;
}

static void add_fixed(kb_columns *c, const kb_dictionary *dictionary, double slope_unit, size_t term, size_t state)
{
    double weight = dictionary->fixed_weights[term + state * dictionary->n_terms];
    c->fixed_equation[c->n_fixed] = state;
    c->fixed_term[c->n_fixed] = term;
    c->fixed_weight[c->n_fixed++] = weight / slope_unit;
}

/* Equation by equation, so that the columns of one equation are neighbours. */
static void add_columns(kb_columns *c, const kb_dictionary *dictionary, const double *sd, double span,
                        const double *rms, const double *slope_squares)
{
    for (size_t state = 0; state < dictionary->n_states; state++)
        for (size_t term = 0; term < dictionary->n_terms; term++) {
            kb_role role = dictionary->roles[term + state * dictionary->n_terms];
            double slope_unit = sd[state] / pow(span, dictionary->time_order);
            if (role == KB_CANDIDATE || role == KB_REQUIRED)
                add_column(c, dictionary, slope_unit, term, state, rms[term], slope_squares[state]);
            if (role == KB_FIXED) add_fixed(c, dictionary, slope_unit, term, state);
        }
}

size_t kb_columns_end(const kb_columns *c, size_t first)
{
    size_t end = first;
    while (end < c->n && c->equation[end] == c->equation[first]) end++;
    return end;
}

size_t kb_columns_equations(const kb_columns *c)
{
    size_t n = 0;
    for (size_t first = 0; first < c->n; first = kb_columns_end(c, first)) n++;
    return n;
}

/* The more candidates, the likelier that one fits by chance: an equation expects `most_expected` terms at most. */
static void limit_expectation(kb_columns *c)
{
    for (size_t first = 0, last; first < c->n; first = last) {
        double sum = 0;
        last = kb_columns_end(c, first);
        for (size_t j = first; j < last; j++)
            if (!c->required[j]) sum += 1 / (1 + exp(-c->log_odds[j]));
        for (size_t j = first; sum > most_expected && j < last; j++) {
            double prior = most_expected / sum / (1 + exp(-c->log_odds[j]));
            if (!c->required[j]) c->log_odds[j] = log(prior / (1 - prior));
        }
    }
}

/* ---------------------------------------------------------------- terms must be finite */

static bool has_role(const kb_dictionary *dictionary, size_t term)
{
    for (size_t state = 0; state < dictionary->n_states; state++)
        if (dictionary->roles[term + state * dictionary->n_terms] != KB_ABSENT) return true;
    return false;
}

static bool is_measured(const kb_dictionary *dictionary, size_t term, const double *point, size_t ld)
{
    for (size_t i = 0; i < dictionary->n_states; i++)
        if (kb_dictionary_depends(dictionary, term, i) && isnan(point[i * ld])) return false;
    return true;
}

/* `the term "log(x-K)" is not finite in the data at t = 3, where x = 0, K = 1`: what is in it, time apart */
static kbass_status refuse(const kb_dictionary *dictionary, size_t term, const double *point, size_t ld,
                           const char *where, kbass_error *error)
{
    char variables[200] = "";
    size_t used = 0, time = dictionary->n_variables - dictionary->n_axes;
    for (size_t i = 0; i < dictionary->n_variables && used < sizeof variables; i++)
        if (i != time && kb_dictionary_depends(dictionary, term, i))
            used += (size_t)snprintf(variables + used, sizeof variables - used, "%s%s = %g", used ? ", " : ", where ",
                                     dictionary->variable_names[i], point[i * ld]);
    for (size_t i = 0; i < dictionary->n_constants && used < sizeof variables; i++)
        if (kb_dictionary_names_constant(dictionary, term, i))
            used += (size_t)snprintf(variables + used, sizeof variables - used, "%s%s = %.4g", used ? ", " : ", where ",
                                     dictionary->constants[i].name, dictionary->constants[i].value);
    const char *form = kb_dictionary_form(dictionary, term);
    return kb_fail(error, KBASS_ERROR_DATA, "the term \"%s\" is not finite in the %s at %s = %g%s",
                   form ? form : kb_dictionary_name(dictionary, term), where, dictionary->time_name, point[time * ld],
                   variables);
}

/* values: the term at the points */
static kbass_status check_finite(const kb_dictionary *dictionary, size_t term, size_t n_points, const double *points,
                                 const char *where, double *values, double *work, kbass_error *error)
{
    kb_dictionary_values(dictionary, 1, &term, n_points, points, n_points, values, work);
    for (size_t p = 0; p < n_points; p++)
        if (!isfinite(values[p]) && is_measured(dictionary, term, points + p, n_points))
            return refuse(dictionary, term, points + p, n_points, where, error);
    return KBASS_OK;
}

kbass_status kb_columns_check_data(const kb_dictionary *dictionary, const kbass_data *data, kbass_error *error)
{
    size_t rows = data->n_rows, n = data->n_states;
    double *points = KB_NEW(double, rows *(n + 1)), *values = KB_NEW(double, rows);
    double *work = KB_NEW(double, kb_dictionary_work(dictionary, rows));
    kbass_status status = points && values && work ? KBASS_OK : kb_out_of_memory(error, "the terms");
    for (size_t row = 0; status == KBASS_OK && row < rows; row++) {
        for (size_t i = 0; i < n; i++) points[row + i * rows] = data->values[row * n + i];
        points[row + n * rows] = data->times[row];
    }
    for (size_t term = 0; status == KBASS_OK && term < dictionary->n_terms; term++)
        if (has_role(dictionary, term))
            status = check_finite(dictionary, term, rows, points, "data", values, work, error);
    kb_free(points);
    kb_free(values);
    kb_free(work);
    return status;
}

static kbass_status measure_terms(const kb_dictionary *dictionary, size_t n_points, const double *reference,
                                  double *rms, double *values, double *work, kbass_error *error)
{
    for (size_t term = 0; term < dictionary->n_terms; term++) {
        double squares = 0;
        if (!has_role(dictionary, term)) continue;
        kbass_status status = check_finite(dictionary, term, n_points, reference, "smoothed data", values, work, error);
        if (status != KBASS_OK) return status;
        for (size_t p = 0; p < n_points; p++) squares += values[p] * values[p];
        if (!isfinite(squares))
            return kb_fail(error, KBASS_ERROR_DATA, "the term \"%s\" is too large on these data: its square overflows",
                           kb_dictionary_name(dictionary, term));
        rms[term] = squares > 0 ? sqrt(squares / (double)n_points) : 1;
    }
    return KBASS_OK;
}

kbass_status kb_columns_create(const kb_dictionary *dictionary, const double *sd, double span, size_t n_points,
                               const double *reference, const double *slope_squares, kb_columns **out,
                               kbass_error *error)
{
    kb_columns *c = NULL;
    double *values = KB_NEW(double, n_points), *work = KB_NEW(double, kb_dictionary_work(dictionary, n_points));
    double *rms = KB_NEW(double, dictionary->n_terms);
    kbass_status status = values && work && rms ? KBASS_OK : kb_out_of_memory(error, "the columns");
    if (status == KBASS_OK) status = measure_terms(dictionary, n_points, reference, rms, values, work, error);
    if (status == KBASS_OK) status = allocate(dictionary, &c, error);
    if (status == KBASS_OK) {
        add_columns(c, dictionary, sd, span, rms, slope_squares);
        limit_expectation(c);
        status = kb_constraints_create(dictionary, c, &c->constraints, error);
        if (status == KBASS_OK && c->constraints) status = kb_ties_create(c, &c->constraints->ties, error);
    }
    kb_free(values);
    kb_free(rms);
    kb_free(work);
    if (status == KBASS_OK) *out = c;
    else kb_columns_destroy(c);
    return status;
}

void kb_columns_destroy(kb_columns *c)
{
    if (!c) return;
    kb_free(c->equation);
    kb_free(c->term);
    kb_free(c->log_odds);
    kb_free(c->required);
    kb_free(c->explained);
    kb_free(c->scale);
    kb_free(c->unit);
    kb_free(c->slab);
    kb_free(c->fixed_equation);
    kb_free(c->fixed_term);
    kb_free(c->fixed_weight);
    kb_constraints_destroy(c->constraints);
    kb_free(c);
}

kbass_status kb_support_create(size_t capacity, kb_support *out, kbass_error *error)
{
    *out = (kb_support){0, KB_NEW(size_t, capacity)};
    return out->column ? KBASS_OK : kb_out_of_memory(error, "a model's structure");
}

void kb_support_clear(kb_support *support)
{
    kb_free(support->column);
    *support = (kb_support){0};
}

void kb_support_copy(const kb_support *from, kb_support *to)
{
    to->n = from->n;
    if (from->n) memcpy(to->column, from->column, from->n * sizeof *from->column);
}

bool kb_support_equal(const kb_support *a, const kb_support *b)
{
    return a->n == b->n && (!a->n || !memcmp(a->column, b->column, a->n * sizeof *a->column));
}

bool kb_support_contains(const kb_support *all, const kb_support *part)
{
    size_t n = 0;
    while (n < part->n && kb_support_has(all, part->column[n])) n++;
    return n == part->n;
}

size_t kb_support_count(const kb_support *support, size_t first, size_t end)
{
    size_t n = 0;
    for (size_t q = 0; q < support->n; q++) n += support->column[q] >= first && support->column[q] < end;
    return n;
}

bool kb_support_has(const kb_support *support, size_t column)
{
    for (size_t i = 0; i < support->n; i++)
        if (support->column[i] == column) return true;
    return false;
}

void kb_support_add(kb_support *support, size_t column)
{
    size_t i = support->n;
    if (kb_support_has(support, column)) return;
    for (; i > 0 && support->column[i - 1] > column; i--) support->column[i] = support->column[i - 1];
    support->column[i] = column;
    support->n++;
}

void kb_support_remove(kb_support *support, size_t column)
{
    size_t kept = 0;
    for (size_t i = 0; i < support->n; i++)
        if (support->column[i] != column) support->column[kept++] = support->column[i];
    support->n = kept;
}

double kb_support_log_prior(const kb_support *support, const kb_columns *columns)
{
    double sum = 0;
    for (size_t i = 0; i < support->n; i++)
        sum += kb_constraints_share(columns, support, support->column[i]) * columns->log_odds[support->column[i]];
    return sum;
}

/* log 1/G sum_g prod_j N(w_j; 0, r_g S_j) / N(w_j; 0, S_j) over the support's weights of one equation */
static double log_width(const kb_support *support, const kb_columns *c, const double *w, size_t equation)
{
    enum { WIDTHS = sizeof slab_widths / sizeof *slab_widths };
    double n = 0, squares = 0, largest = -INFINITY, terms[WIDTHS], sum = 0;
    for (size_t q = 0; q < support->n; q++) {
        size_t column = support->column[q];
        if (c->equation[column] != equation) continue;
        squares += w[column] * w[column] / kb_constraints_slab(c, support, column);
        n += kb_constraints_share(c, support, column);
    }
    for (size_t g = 0; g < WIDTHS; g++) {
        terms[g] = -0.5 * n * log(slab_widths[g]) - 0.5 * squares * (1 / slab_widths[g] - 1);
        largest = fmax(largest, terms[g]);
    }
    for (size_t g = 0; g < WIDTHS; g++) sum += exp(terms[g] - largest) / WIDTHS;
    return largest + log(sum);
}

double kb_support_log_width(const kb_support *support, const kb_columns *c, const double *w)
{
    double sum = 0;
    for (size_t q = 0; q < support->n; q++) { /* columns of one equation are neighbours */
        size_t equation = c->equation[support->column[q]];
        if (q == 0 || equation != c->equation[support->column[q - 1]]) sum += log_width(support, c, w, equation);
    }
    return sum;
}
