/* The family of fields over space: u^i * D for every power up to P and every space derivative D up to order K. */
#include <math.h>

#include "base/memory.h"
#include "base/status.h"
#include "dictionary/build.h"

enum { DEFAULT_DEGREE = 3, DEFAULT_ORDER = 4, DEFAULT_ORDER_MANY_AXES = 2 };

static bool is_factor(const kb_dictionary *d, size_t variable, int highest)
{
    int order = kb_variable_order(&d->variables[variable]);
    return order >= 1 && order <= highest;
}

static kbass_status check_count(const kb_dictionary *d, const kbass_settings *settings, int degree, int highest,
                                kbass_error *error)
{
    double powers = 1, n_factors = 0;
    if (settings->box_degree) powers = pow(degree + 1, (double)d->n_states);
    else
        for (int k = 1; k <= degree; k++) powers *= ((double)d->n_states + k) / k;
    for (size_t v = 0; v < d->n_variables; v++) n_factors += is_factor(d, v, highest);
    double count = round(powers) * (1 + n_factors);
    if (settings->products) count += n_factors * (n_factors - 1) / 2;
    if (count <= KB_DICTIONARY_LIMIT) return KBASS_OK;
    return kb_fail(error, KBASS_ERROR_ARGUMENT,
                   "degree %d and derivatives up to order %d of %zu fields make %.6g terms, needed at most %d: lower "
                   "them, or list --terms",
                   degree, highest, d->n_states, count, KB_DICTIONARY_LIMIT);
}

static kbass_status add_product(kb_dictionary *d, int *powers, size_t a, size_t b, kbass_error *error)
{
    kb_expression *term = NULL;
    powers[a] = powers[b] = 1;
    kbass_status status = kb_expression_monomial(powers, kb_dictionary_variables(d), &term, error);
    powers[a] = powers[b] = 0;
    return status == KBASS_OK ? kb_dictionary_append(d, term, error) : status;
}

/* Of two different derivatives: u_x*u_xx */
static kbass_status add_products(kb_dictionary *d, int highest, kbass_error *error)
{
    int *powers = KB_NEW(int, d->n_variables);
    kbass_status status = powers ? KBASS_OK : kb_out_of_memory(error, "the dictionary");
    for (size_t a = 0; a < d->n_variables; a++)
        for (size_t b = a + 1; status == KBASS_OK && is_factor(d, a, highest) && b < d->n_variables; b++)
            if (is_factor(d, b, highest)) status = add_product(d, powers, a, b, error);
    kb_free(powers);
    return status;
}

kbass_status kb_dictionary_add_fields(kb_dictionary *d, const kbass_settings *settings, kbass_error *error)
{
    int degree = settings->degree ? settings->degree : settings->box_degree ? settings->box_degree : DEFAULT_DEGREE;
    int total = settings->box_degree ? degree * (int)d->n_states : degree;
    int usual = d->n_axes == 2 ? DEFAULT_ORDER : DEFAULT_ORDER_MANY_AXES;
    int highest = settings->derivatives ? settings->derivatives : usual;
    kbass_status status = check_count(d, settings, degree, highest, error);
    if (status == KBASS_OK) status = kb_dictionary_add_monomials(d, 1, total, degree, 0, error);
    for (size_t v = 0; status == KBASS_OK && v < d->n_variables; v++)
        if (is_factor(d, v, highest)) status = kb_dictionary_add_monomials(d, 0, total, degree, v, error);
    if (status == KBASS_OK && settings->products) status = add_products(d, highest, error);
    return status;
}
