#include "dictionary/dictionary.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/status.h"
#include "dictionary/algebra.h"
#include "dictionary/build.h"
#include "dictionary/text.h"

/* ---------------------------------------------------------------- names */

static kbass_status check_name(size_t state, const char *const *names, const char *time_name, kbass_error *error)
{
    const char *name = names[state];
    if (!kb_is_identifier(name))
        return kb_fail(error, KBASS_ERROR_ARGUMENT,
                       "state name \"%.100s\" cannot stand in equations: needed letters, digits and _, no digit first",
                       name);
    for (size_t i = 0; i < KB_FUNCTION_COUNT; i++)
        if (!strcmp(name, kb_function_names[i]))
            return kb_fail(error, KBASS_ERROR_ARGUMENT, "state name \"%s\" is the name of a function: rename it", name);
    if (!strcmp(name, time_name))
        return kb_fail(error, KBASS_ERROR_ARGUMENT, "state name \"%.100s\" is also the name of time: rename one", name);
    for (size_t i = 0; i < state; i++)
        if (!strcmp(name, names[i]))
            return kb_fail(error, KBASS_ERROR_ARGUMENT, "two states have the name \"%.100s\": rename one", name);
    return KBASS_OK;
}

static kbass_status copy_names(kb_dictionary *d, const char *const *names, const char *time_name, kbass_error *error)
{
    for (size_t i = 0; i < d->n_states; i++) {
        kbass_status status = check_name(i, names, time_name, error);
        if (status != KBASS_OK) return status;
    }
    bool is_done = (d->state_names = KB_NEW(char *, d->n_states)) && (d->time_name = kb_strdup(time_name)) &&
                   (d->variable_names = KB_NEW(const char *, d->n_variables));
    for (size_t i = 0; is_done && i < d->n_states; i++)
        is_done = (d->variable_names[i] = d->state_names[i] = kb_strdup(names[i]));
    if (!is_done) return kb_out_of_memory(error, "the dictionary");
    d->variable_names[d->n_states] = d->time_name;
    return KBASS_OK;
}

/* ---------------------------------------------------------------- life */

kbass_status kb_dictionary_create(const kbass_settings *settings, size_t n_states, const char *const *state_names,
                                  const char *time_name, kb_dictionary **out, kbass_error *error)
{
    kb_dictionary *d = KB_NEW(kb_dictionary, 1);
    if (!d) return kb_out_of_memory(error, "the dictionary");
    d->n_states = n_states;
    d->n_variables = n_states + 1;

    kbass_status status = KBASS_OK;
    if (!n_states) status = kb_fail(error, KBASS_ERROR_ARGUMENT, "found no states, needed at least one");
    if (status == KBASS_OK) status = copy_names(d, state_names, time_name, error);
    if (status == KBASS_OK) status = kb_dictionary_fill(d, settings, error);
    if (status == KBASS_OK) status = kb_dictionary_assign(d, settings, error);
    if (status == KBASS_OK) status = kb_dictionary_tabulate(d, error);

    if (status == KBASS_OK) *out = d;
    else                    kb_dictionary_destroy(d);
    return status;
}

void kb_dictionary_destroy(kb_dictionary *d)
{
    if (!d) return;
    for (size_t j = 0; j < d->n_terms; j++) kb_expression_destroy(d->terms[j]);
    for (size_t i = 0; d->state_names && i < d->n_states; i++) kb_free(d->state_names[i]);
    kb_free(d->terms);
    kb_free(d->roles);
    kb_free(d->fixed_weights);
    kb_free(d->has_equation);
    kb_free(d->is_known);
    kb_free(d->state_names);
    kb_free(d->time_name);
    kb_free(d->variable_names);
    kb_free(d->table_start);
    kb_free(d->is_monomial);
    kb_free(d->factor_start);
    kb_free(d->factors);
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
    d->capacity = capacity;
    return KBASS_OK;
}

kbass_status kb_dictionary_append(kb_dictionary *d, kb_expression *term, kbass_error *error)
{
    kbass_status status = make_room(d, error);
    if (status == KBASS_OK) d->terms[d->n_terms++] = term;
    else                    kb_expression_destroy(term);
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
    kbass_status status = kb_expression_term(text, kb_dictionary_variables(d), &term, error);
    return status == KBASS_OK ? kb_dictionary_take(d, term, index, error) : status;
}

kb_variables kb_dictionary_variables(const kb_dictionary *d)
{
    return (kb_variables){d->n_variables, d->variable_names};
}

size_t kb_dictionary_find(const kb_dictionary *d, const char *name)
{
    size_t j = 0;
    while (j < d->n_terms && strcmp(kb_expression_name(d->terms[j]), name)) j++;
    return j;
}

const char *kb_dictionary_name(const kb_dictionary *d, size_t term) { return kb_expression_name(d->terms[term]); }

double kb_dictionary_prior(const kb_dictionary *d, size_t term)
{
    int degree = kb_expression_degree(d->terms[term]);
    return ldexp(0.2, 1 - (degree > 1 ? degree : 1));
}

bool kb_dictionary_depends(const kb_dictionary *d, size_t term, size_t variable)
{
    return kb_expression_depends(d->terms[term], variable);
}
