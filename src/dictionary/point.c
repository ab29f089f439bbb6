/* Evaluation of a dictionary: many points at once, and one point at a time through a table of powers. */
#include "base/memory.h"
#include "base/status.h"
#include "dictionary/build.h"

/* ---------------------------------------------------------------- the table's plan */

static size_t count_factors(const kb_dictionary *d)
{
    size_t total = 0;
    for (size_t j = 0; j < d->n_terms; j++) {
        size_t n = 0;
        const kb_power *powers = NULL;
        kb_expression_powers(d->terms[j], &n, &powers);
        total += n;
    }
    return total;
}

static void list_factors(kb_dictionary *d)
{
    size_t next = 0;
    for (size_t j = 0; j < d->n_terms; j++) {
        size_t n = 0;
        const kb_power *powers = NULL;
        d->is_monomial[j] = kb_expression_powers(d->terms[j], &n, &powers);
        d->factor_start[j] = next;
        for (size_t i = 0; i < n; i++) d->factors[next++] = (kb_table_power){powers[i].variable, powers[i].power, 0};
    }
    d->factor_start[d->n_terms] = next;
}

/* Powers 0 to the highest used, variable after variable; at least 0 and 1. */
static void plan_table(kb_dictionary *d)
{
    size_t n = d->factor_start[d->n_terms];
    for (size_t i = 0; i < n; i++) {
        size_t *highest = &d->table_start[d->factors[i].variable + 1];
        if (d->factors[i].power > *highest) *highest = d->factors[i].power;
    }
    for (size_t v = 0; v < d->n_variables; v++) {
        size_t highest = d->table_start[v + 1];
        d->table_start[v + 1] = d->table_start[v] + (highest > 1 ? highest : 1) + 1;
    }
    for (size_t i = 0; i < n; i++)
        d->factors[i].position = (unsigned)d->table_start[d->factors[i].variable] + d->factors[i].power;
}

void kb_dictionary_clear_tables(kb_dictionary *d)
{
    kb_free(d->table_start);
    kb_free(d->is_monomial);
    kb_free(d->factor_start);
    kb_free(d->factors);
    d->table_start = d->factor_start = NULL;
    d->is_monomial = NULL;
    d->factors = NULL;
}

kbass_status kb_dictionary_tabulate(kb_dictionary *d, kbass_error *error)
{
    d->table_start = KB_NEW(size_t, d->n_variables + 1);
    d->is_monomial = KB_NEW(bool, d->n_terms);
    d->factor_start = KB_NEW(size_t, d->n_terms + 1);
    d->factors = KB_NEW(kb_table_power, count_factors(d));
    if (!d->table_start || !d->is_monomial || !d->factor_start || !d->factors)
        return kb_out_of_memory(error, "the dictionary");
    list_factors(d);
    plan_table(d);
    return KBASS_OK;
}

/* ---------------------------------------------------------------- many points */

size_t kb_dictionary_work(const kb_dictionary *d, size_t n_points)
{
    size_t largest = 0;
    for (size_t j = 0; j < d->n_terms; j++) {
        size_t size = kb_expression_work(d->terms[j], n_points ? n_points : 1);
        if (size > largest) largest = size;
    }
    return d->table_start[d->n_variables] + largest;
}

void kb_dictionary_values(const kb_dictionary *d, size_t n_terms, const size_t *terms, size_t n_points,
                          const double *points, size_t ld, double *values, double *work)
{
    for (size_t q = 0; q < n_terms; q++)
        kb_expression_values(d->terms[terms[q]], n_points, points, ld, values + q * n_points, work);
}

void kb_dictionary_slopes(const kb_dictionary *d, size_t term, size_t variable, size_t n_points, const double *points,
                          size_t ld, double *slope, double *work)
{
    kb_expression_slopes(d->terms[term], variable, n_points, points, ld, slope, work);
}

/* ---------------------------------------------------------------- one point */

static void fill_table(const kb_dictionary *d, const double *x, double *table)
{
    for (size_t v = 0; v < d->n_variables; v++) {
        size_t start = d->table_start[v], end = d->table_start[v + 1];
        table[start] = 1;
        for (size_t k = start + 1; k < end; k++) table[k] = table[k - 1] * x[v];
    }
}

static double monomial_value(const kb_dictionary *d, size_t term, const double *table)
{
    double value = 1;
    for (size_t i = d->factor_start[term]; i < d->factor_start[term + 1]; i++) value *= table[d->factors[i].position];
    return value;
}

/* slope_i = p_i x_i^(p_i - 1) * the other factors */
static void monomial_slopes(const kb_dictionary *d, size_t term, const double *table, double *slopes)
{
    size_t first = d->factor_start[term], end = d->factor_start[term + 1];
    for (size_t i = first; i < end; i++) {
        const kb_table_power *factor = &d->factors[i];
        if (factor->variable >= d->n_states) continue;
        double slope = factor->power * table[factor->position - 1];
        for (size_t k = first; k < end; k++)
            if (k != i) slope *= table[d->factors[k].position];
        slopes[factor->variable] = slope;
    }
}

static void expression_slopes(const kb_dictionary *d, size_t term, const double *x, double *slopes, double *work)
{
    const kb_expression *e = d->terms[term];
    for (size_t j = 0; j < d->n_states; j++)
        if (kb_expression_depends(e, j)) kb_expression_slopes(e, j, 1, x, 1, &slopes[j], work);
}

void kb_dictionary_at_point(const kb_dictionary *d, size_t n_terms, const size_t *terms, const double *x,
                            double *values, double *slopes, double *work)
{
    double *table = work, *rest = work + d->table_start[d->n_variables];
    fill_table(d, x, table);
    for (size_t q = 0; q < n_terms; q++) {
        size_t term = terms[q];
        double *row = slopes ? slopes + q * d->n_states : NULL;
        if (d->is_monomial[term]) {
            values[q] = monomial_value(d, term, table);
            if (row) monomial_slopes(d, term, table, row);
        } else {
            kb_expression_values(d->terms[term], 1, x, 1, &values[q], rest);
            if (row) expression_slopes(d, term, x, row, rest);
        }
    }
}
