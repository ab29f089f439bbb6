#include "report/written.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "base/status.h"
#include "dictionary/build.h"
#include "dictionary/text.h"
#include "simulate/result_file.h"

void kb_written_clear(kb_written_law *law)
{
    for (size_t i = 0; law->equations && i < law->n_equations; i++) kb_free(law->equations[i].terms);
    kb_free(law->equations);
    kb_free(law->is_used);
    kb_free(law->initial);
    kb_dictionary_destroy(law->symbols);
    kb_arena_clear(&law->arena);
    json_decref(law->root);
    *law = (kb_written_law){0};
}

/* ---------------------------------------------------------------- symbols */

static kbass_status read_names(const kb_written_law *law, const char *key, size_t most, size_t *n, const char **names,
                               kbass_error *error)
{
    char field[32];
    json_t *list = json_object_get(json_object_get(law->root, "data"), key);
    bool is_list = json_array_size(list) > 0 && json_array_size(list) <= most;
    for (*n = 0; is_list && *n < json_array_size(list); ++*n) {
        names[*n] = json_string_value(json_array_get(list, *n));
        is_list = names[*n] != NULL;
    }
    snprintf(field, sizeof field, "data.%s", key);
    return is_list ? KBASS_OK : kb_result_file_wrong(law->path, field, "a list of names", error);
}

static kbass_status list_symbols(kb_written_law *law, kbass_error *error)
{
    size_t most = json_array_size(json_object_get(json_object_get(law->root, "data"), "states"));
    const char **states = KB_NEW(const char *, most), *axes[KBASS_MAX_AXES];
    kb_dictionary *symbols = law->symbols = KB_NEW(kb_dictionary, 1);
    kbass_status status = states && symbols ? KBASS_OK : kb_out_of_memory(error, law->path);

    if (status == KBASS_OK) status = read_names(law, "states", most, &symbols->n_states, states, error);
    if (status == KBASS_OK) status = read_names(law, "axes", KBASS_MAX_AXES, &symbols->n_axes, axes, error);
    if (status == KBASS_OK) {
        status = kb_dictionary_list_variables(symbols, states, axes, error);
        if (status != KBASS_OK) kb_error_prefix(error, "%s: ", law->path);
    }
    if (status == KBASS_OK) {
        law->is_used = KB_NEW(bool, symbols->n_variables);
        if (!law->is_used) status = kb_out_of_memory(error, law->path);
    }
    kb_free(states);
    return status;
}

/* ---------------------------------------------------------------- equations */

static void mark_used(const kb_poly *poly, bool *is_used)
{
    for (size_t i = 0; i < poly->n; i++)
        for (size_t j = 0; j < poly->terms[i].n; j++) {
            const kb_atom *atom = poly->terms[i].factors[j].atom;
            if (atom->kind == KB_VARIABLE) is_used[atom->index] = true;
            if (atom->inside) mark_used(atom->inside, is_used);
            if (atom->exponent) mark_used(atom->exponent, is_used);
        }
}

static kbass_status read_term(kb_written_law *law, json_t *item, bool is_known, kb_written_term *term,
                              kbass_error *error)
{
    json_t *sd = json_object_get(item, "sd");
    kbass_status status = kb_poly_parse(&law->arena, json_string_value(json_object_get(item, "term")),
                                        kb_dictionary_variables(law->symbols), &term->poly, error);
    if (status != KBASS_OK) {
        kb_error_prefix(error, "%s: ", law->path);
        return status;
    }
    term->weight = json_number_value(json_object_get(item, "weight"));
    term->sd = !is_known && json_is_number(sd) && json_number_value(sd) > 0 ? json_number_value(sd) : NAN;
    mark_used(term->poly, law->is_used);
    return KBASS_OK;
}

static bool ends_with(const char *text, const char *end)
{
    size_t length = strlen(text), tail = strlen(end);
    return length > tail && !strcmp(text + length - tail, end);
}

/* "u_t" and "u_tt" are of the state u. */
static kbass_status read_lhs(const kb_written_law *law, kb_written_equation *equation, kbass_error *error)
{
    size_t tail = strlen(equation->lhs);
    for (size_t i = 0; law->symbols->n_axes == 1 && i < law->symbols->n_states; i++) {
        const char *name = law->symbols->state_names[i];
        if (strlen(name) + 1 != tail || strncmp(equation->lhs, name, tail - 1) || !ends_with(equation->lhs, "_tt"))
            continue;
        equation->state = i; /* the velocity x_t of x_tt = ... */
        equation->order = 1;
        return KBASS_OK;
    }
    for (size_t i = 0; i < law->symbols->n_states; i++) {
        const char *name = law->symbols->state_names[i];
        size_t length = strlen(name);
        if (strncmp(equation->lhs, name, length)) continue;
        equation->state = i;
        equation->order = !strcmp(equation->lhs + length, "_t") ? 1 : !strcmp(equation->lhs + length, "_tt") ? 2 : 0;
        if (equation->order) return KBASS_OK;
    }
    return kb_fail(error, KBASS_ERROR_DATA, "%s: the left-hand side \"%.60s\" is of no state", law->path,
                   equation->lhs);
}

static kbass_status read_equation(kb_written_law *law, json_t *item, kb_written_equation *equation, kbass_error *error)
{
    json_t *terms = json_object_get(item, "terms");
    equation->lhs = json_string_value(json_object_get(item, "lhs"));
    equation->is_known = json_is_true(json_object_get(item, "known"));
    equation->terms = KB_NEW(kb_written_term, json_array_size(terms));
    kbass_status status = equation->terms ? read_lhs(law, equation, error) : kb_out_of_memory(error, law->path);
    for (size_t i = 0; i < json_array_size(terms) && status == KBASS_OK; i++) {
        json_t *term = json_array_get(terms, i);
        if (json_is_true(json_object_get(term, "selected")))
            status = read_term(law, term, equation->is_known, &equation->terms[equation->n_terms++], error);
    }
    return status;
}

static kbass_status read_equations(kb_written_law *law, kbass_error *error)
{
    json_t *list = json_object_get(law->root, "equations");
    kbass_status status = KBASS_OK;
    law->n_equations = json_array_size(list);
    law->equations = KB_NEW(kb_written_equation, law->n_equations);
    if (!law->equations) return kb_out_of_memory(error, law->path);
    for (size_t i = 0; i < law->n_equations && status == KBASS_OK; i++)
        status = read_equation(law, json_array_get(list, i), &law->equations[i], error);
    return status;
}

/* ---------------------------------------------------------------- where it starts */

static kbass_status read_start(kb_written_law *law, kbass_error *error)
{
    json_t *initial = json_object_get(law->root, "initial");
    kbass_status status = kb_result_file_number(law->path, law->root, "first_time", &law->first, error);
    if (status == KBASS_OK) status = kb_result_file_number(law->path, law->root, "last_time", &law->last, error);
    if (status != KBASS_OK || law->symbols->n_axes > 1) return status;
    law->initial = KB_NEW(double, law->symbols->n_states);
    if (!law->initial) return kb_out_of_memory(error, law->path);
    for (size_t i = 0; i < law->symbols->n_states && law->initial; i++) {
        json_t *value = json_object_get(initial, law->symbols->state_names[i]);
        law->initial[i] = json_number_value(value);
        if (json_is_number(value)) continue;
        kb_free(law->initial); /* not estimated */
        law->initial = NULL;
    }
    return KBASS_OK;
}

kbass_status kb_written_read(const char *result, kb_written_law *law, kbass_error *error)
{
    law->result = result;
    law->path = kb_result_name(result);
    kbass_status status = kb_result_file_load(result, &law->root, error);
    if (status == KBASS_OK) status = list_symbols(law, error);
    if (status == KBASS_OK) status = read_equations(law, error);
    if (status == KBASS_OK) status = read_start(law, error);
    return status;
}
