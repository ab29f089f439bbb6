#include "dictionary/dictionary.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/status.h"
#include "dictionary/build.h"
#include "dictionary/constants.h"
#include "dictionary/dimensions.h"
#include "dictionary/text.h"

/* ---------------------------------------------------------------- life */

/* What only fields over space have. */
static kbass_status refuse_for_states(const kbass_settings *settings, kbass_error *error)
{
    const char *option = NULL;
    if (settings->derivatives) option = "--derivatives";
    else if (settings->products) option = "--products";
    else if (kb_is_given(settings->periodic)) option = "--periodic";
    if (!option) return KBASS_OK;
    return kb_fail(error, KBASS_ERROR_ARGUMENT, "%s is for fields over space: name their axes with --axes t,x", option);
}

static kbass_status build(kb_dictionary *d, const kbass_settings *settings, const char *const *names,
                          const char *const *axis_names, kbass_error *error)
{
    kbass_status status = kb_dictionary_list_variables(d, names, axis_names, error);
    if (status == KBASS_OK) status = kb_dictionary_read_lhs(d, settings->lhs, error);
    if (status == KBASS_OK) status = kb_dictionary_read_units(d, settings, error);
    if (status == KBASS_OK) status = kb_dictionary_read_constants(d, settings->unknown, error);
    if (status == KBASS_OK) status = kb_dictionary_fill(d, settings, error);
    if (status == KBASS_OK) status = kb_dictionary_drop_misfits(d, error);
    if (status == KBASS_OK) status = kb_dictionary_assign(d, settings, error);
    if (status == KBASS_OK) status = kb_dictionary_check_constants(d, error);
    if (status == KBASS_OK) status = kb_dictionary_trim_variables(d, error);
    if (status == KBASS_OK) status = kb_dictionary_tabulate(d, error);
    return status;
}

kbass_status kb_dictionary_create_fields(const kbass_settings *settings, size_t n_fields,
                                         const char *const *field_names, size_t n_axes, const char *const *axis_names,
                                         kb_dictionary **out, kbass_error *error)
{
    kb_dictionary *d = KB_NEW(kb_dictionary, 1);
    if (!d) return kb_out_of_memory(error, "the dictionary");
    d->n_states = n_fields;
    d->n_axes = n_axes;

    kbass_status status = build(d, settings, field_names, axis_names, error);
    if (status == KBASS_OK) *out = d;
    else kb_dictionary_destroy(d);
    return status;
}

kbass_status kb_dictionary_create(const kbass_settings *settings, size_t n_states, const char *const *state_names,
                                  const char *time_name, kb_dictionary **out, kbass_error *error)
{
    kbass_status status = refuse_for_states(settings, error);
    if (status != KBASS_OK) return status;
    return kb_dictionary_create_fields(settings, n_states, state_names, 1, &time_name, out, error);
}

void kb_dictionary_destroy(kb_dictionary *d)
{
    if (!d) return;
    for (size_t j = 0; j < d->n_terms; j++) kb_expression_destroy(d->terms[j]);
    for (size_t j = 0; d->forms && j < d->n_terms; j++) kb_free(d->forms[j]);
    for (size_t i = 0; i < d->n_constants; i++) kb_free(d->constants[i].name);
    kb_free(d->forms);
    kb_free(d->constants);
    for (size_t i = 0; i < d->n_constraints; i++) kb_free(d->constraints[i].parts);
    kb_free(d->constraints);
    for (size_t v = 0; d->variable_names && v < d->n_variables; v++) kb_free(d->variable_names[v]);
    kb_free(d->terms);
    kb_free(d->roles);
    kb_free(d->fixed_weights);
    kb_free(d->explained);
    kb_free(d->varied);
    kb_free(d->has_equation);
    kb_free(d->is_input);
    kb_free(d->input_delay);
    kb_free(d->delay_constant);
    kb_free(d->velocity);
    kb_free(d->is_known);
    kb_free(d->variables);
    kb_free(d->variable_names);
    kb_dictionary_clear_tables(d);
    kb_units_destroy(d->units);
    kb_free(d);
}

/* ---------------------------------------------------------------- terms */

static kbass_status make_room(kb_dictionary *d, kbass_error *error)
{
    if (d->n_terms == KB_DICTIONARY_LIMIT)
        return kb_fail(error, KBASS_ERROR_ARGUMENT, "found more than the %d terms a dictionary may have",
                       KB_DICTIONARY_LIMIT);
    if (d->n_terms < d->capacity) return KBASS_OK;
    size_t capacity = d->capacity ? 2 * d->capacity : 32;
    kb_expression **terms = kb_reallocate(d->terms, d->n_terms, capacity, sizeof *terms);
    if (!terms) return kb_out_of_memory(error, "the dictionary");
    d->terms = terms;
    char **forms = kb_reallocate(d->forms, d->n_terms, capacity, sizeof *forms);
    if (!forms) return kb_out_of_memory(error, "the dictionary");
    for (size_t i = d->n_terms; i < capacity; i++) forms[i] = NULL;
    d->forms = forms;
    d->capacity = capacity;
    return KBASS_OK;
}

kbass_status kb_dictionary_append(kb_dictionary *d, kb_expression *term, kbass_error *error)
{
    kbass_status status = make_room(d, error);
    if (status == KBASS_OK) d->terms[d->n_terms++] = term;
    else kb_expression_destroy(term);
    return status;
}

kbass_status kb_dictionary_take(kb_dictionary *d, kb_expression *term, size_t *index, kbass_error *error)
{
    size_t place = kb_dictionary_find(d, kb_expression_name(term));
    if (index) *index = place;
    if (place == d->n_terms) return kb_dictionary_append(d, term, error);
    kb_expression_destroy(term);
    return KBASS_OK;
}

kbass_status kb_dictionary_take_text(kb_dictionary *d, const char *text, size_t *index, kbass_error *error)
{
    kb_expression *term = NULL;
    if (!*text) return kb_fail(error, KBASS_ERROR_ARGUMENT, "found an empty term: a comma too many");
    char *form = NULL;
    size_t place = 0, before = d->n_terms;
    kbass_status status = kb_dictionary_parse_term(d, text, &term, &form, error);
    size_t known = form ? kb_dictionary_find_form(d, form) : d->n_terms;
    if (status == KBASS_OK && form && known == d->n_terms) status = kb_dictionary_append(d, term, error);
    else if (status == KBASS_OK && form) kb_expression_destroy(term);
    else if (status == KBASS_OK) status = kb_dictionary_take(d, term, &known, error);
    place = known;
    if (index) *index = place;
    if (status == KBASS_OK && form && d->n_terms > before) d->forms[before] = form;
    else kb_free(form);
    return status;
}

kb_variables kb_dictionary_variables(const kb_dictionary *d)
{
    return (kb_variables){d->n_variables, (const char *const *)d->variable_names};
}

size_t kb_dictionary_find(const kb_dictionary *d, const char *name)
{
    size_t j = 0;
    while (j < d->n_terms && strcmp(kb_expression_name(d->terms[j]), name)) j++;
    return j;
}

const char *kb_dictionary_form(const kb_dictionary *d, size_t term) { return d->forms ? d->forms[term] : NULL; }

size_t kb_dictionary_find_form(const kb_dictionary *d, const char *form)
{
    size_t j = 0;
    while (j < d->n_terms && !(d->forms && d->forms[j] && !strcmp(d->forms[j], form))) j++;
    return j;
}

const char *kb_dictionary_name(const kb_dictionary *d, size_t term) { return kb_expression_name(d->terms[term]); }

/* A derivative's cost beyond that of a factor. */
static double order_cost(const kb_dictionary *d, size_t variable)
{
    int order = kb_variable_order(&d->variables[variable]);
    return order > 1 ? 0.5 * (order - 1) : 0;
}

double kb_dictionary_degree(const kb_dictionary *d, size_t term)
{
    const kb_expression *e = d->terms[term];
    double degree = kb_expression_degree(e);
    size_t n = 0;
    const kb_power *powers = NULL;
    bool is_monomial = kb_expression_powers(e, &n, &powers);
    for (size_t i = 0; is_monomial && i < n; i++) degree += powers[i].power * order_cost(d, powers[i].variable);
    for (size_t v = 0; !is_monomial && v < d->n_variables; v++)
        if (kb_expression_depends(e, v)) degree += order_cost(d, v);
    return degree;
}

double kb_dictionary_prior(const kb_dictionary *d, size_t term)
{
    return 0.2 * exp2(1 - fmax(kb_dictionary_degree(d, term), 1));
}

double kb_dictionary_log_odds(const kb_dictionary *d, size_t term)
{
    double prior = kb_dictionary_prior(d, term);
    return log(prior / (1 - prior));
}

bool kb_dictionary_depends(const kb_dictionary *d, size_t term, size_t variable)
{
    return kb_expression_depends(d->terms[term], variable);
}
