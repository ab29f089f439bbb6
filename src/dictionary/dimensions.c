#include "dictionary/dimensions.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/status.h"
#include "dictionary/build.h"
#include "dictionary/program.h"
#include "dictionary/text.h"

enum { DEEPEST = 32 }; /* expressions that need a higher stack have no unit */
static const double negligible = 1e-6;

struct kb_units {
    kb_symbols symbols;
    kb_unit axis[KB_MAX_AXES], *field; /* n_states */
    bool knows_axis[KB_MAX_AXES], *knows_field;
    bool is_limit;  /* --dimensional */
    size_t n_basis; /* orthonormal basis of the dimensions a weight may have */
    double basis[KB_DIMENSIONS][KB_DIMENSIONS];
};

/* ---------------------------------------------------------------- units of terms */

/* [u_xx] = [u] / [x]^2 */
static bool variable_unit(const kb_dictionary *d, size_t index, kb_unit *unit)
{
    const kb_units *units = d->units;
    const kb_variable *variable = &d->variables[index];
    if (variable->axis >= 0) {
        *unit = units->axis[variable->axis];
        return units->knows_axis[variable->axis];
    }
    bool is_known = units->knows_field[variable->field];
    *unit = units->field[variable->field];
    for (size_t a = 1; a < d->n_axes; a++) {
        kb_unit_multiply(unit, &units->axis[a], -variable->order[a]);
        is_known = is_known && (!variable->order[a] || units->knows_axis[a]);
    }
    return is_known;
}

static bool is_number(const kb_units *units, const kb_unit *unit)
{
    static const kb_unit one = {0};
    return kb_unit_is_same(&units->symbols, unit, &one);
}

static void raise(kb_unit *unit, double power)
{
    for (size_t i = 0; i < KB_UNIT_SYMBOLS; i++) unit->power[i] *= power;
}

static bool call(const kb_units *units, unsigned function, kb_unit *unit)
{
    if (function == KB_FUNCTION_abs) return true;
    if (function == KB_FUNCTION_sign || function == KB_FUNCTION_step) { /* of 0, in whatever unit */
        *unit = (kb_unit){0};
        return true;
    }
    if (function == KB_FUNCTION_sqrt) raise(unit, 0.5);
    else if (!is_number(units, unit)) return false;
    else *unit = (kb_unit){0};
    return true;
}

/* a <- a o b */
static bool combine(const kb_units *units, kb_operation operation, kb_unit *a, const kb_unit *b)
{
    if (operation == KB_ADD || operation == KB_CALL_PAIR) return kb_unit_is_same(&units->symbols, a, b);
    if (operation == KB_RAISE_BY) return is_number(units, a) && is_number(units, b);
    kb_unit_multiply(a, b, operation == KB_DIVIDE ? -1 : 1);
    return true;
}

/* The program of the expression, run on units. */
static bool term_unit(const kb_dictionary *d, const kb_expression *e, kb_unit *unit)
{
    kb_unit stack[DEEPEST];
    size_t depth = 0;
    bool is_sound = e->stack_size <= DEEPEST;
    for (size_t k = 0; is_sound && k < e->n_instructions; k++) {
        const kb_instruction *step = &e->instructions[k];
        if (step->operation == KB_PUSH_NUMBER) stack[depth++] = (kb_unit){0};
        else if (step->operation == KB_PUSH_VARIABLE) is_sound = variable_unit(d, step->index, &stack[depth++]);
        else if (step->operation == KB_RAISE) raise(&stack[depth - 1], step->number);
        else if (step->operation == KB_CALL) is_sound = call(d->units, step->index, &stack[depth - 1]);
        else if (kb_is_binary(step->operation)) {
            depth--;
            is_sound = combine(d->units, step->operation, &stack[depth - 1], &stack[depth]);
        }
    }
    if (is_sound) *unit = stack[0];
    return is_sound;
}

bool kb_dictionary_weight_unit(const kb_dictionary *d, size_t term, size_t state, kb_unit *unit)
{
    const kb_units *units = d->units;
    kb_unit below = {0};
    if (!units || !units->knows_field[state] || !units->knows_axis[0] || !term_unit(d, d->terms[term], &below))
        return false;
    *unit = units->field[state];
    kb_unit_multiply(unit, &units->axis[0], -d->time_order);
    kb_unit_multiply(unit, &below, -1);
    return true;
}

size_t kb_dictionary_weight_text(const kb_dictionary *d, size_t term, size_t state, char *text, size_t size)
{
    kb_unit unit;
    if (size) *text = '\0';
    return kb_dictionary_weight_unit(d, term, state, &unit) ? kb_unit_print(&d->units->symbols, &unit, text, size) : 0;
}

/* ---------------------------------------------------------------- what fits */

/* What of a dimension the basis does not reach, in place; returns its length. */
static double leave_rest(const kb_units *units, double *dimension)
{
    double squares = 0;
    for (size_t i = 0; i < units->n_basis; i++) {
        double along = 0;
        for (size_t k = 0; k < KB_DIMENSIONS; k++) along += units->basis[i][k] * dimension[k];
        for (size_t k = 0; k < KB_DIMENSIONS; k++) dimension[k] -= along * units->basis[i][k];
    }
    for (size_t k = 0; k < KB_DIMENSIONS; k++) squares += dimension[k] * dimension[k];
    return sqrt(squares);
}

static void add_to_basis(kb_units *units, const kb_unit *unit)
{
    double dimension[KB_DIMENSIONS];
    kb_unit_dimension(&units->symbols, unit, dimension);
    double length = leave_rest(units, dimension);
    if (!(length > negligible) || units->n_basis == KB_DIMENSIONS) return;
    for (size_t k = 0; k < KB_DIMENSIONS; k++) units->basis[units->n_basis][k] = dimension[k] / length;
    units->n_basis++;
}

bool kb_dictionary_fits(const kb_dictionary *d, size_t term, size_t state)
{
    kb_unit unit;
    double dimension[KB_DIMENSIONS];
    if (!d->units || !d->units->is_limit) return true;
    if (!kb_dictionary_weight_unit(d, term, state, &unit)) return false;
    kb_unit_dimension(&d->units->symbols, &unit, dimension);
    return leave_rest(d->units, dimension) <= negligible;
}

static bool fits_somewhere(const kb_dictionary *d, size_t term)
{
    bool fits = false;
    for (size_t state = 0; !fits && state < d->n_states; state++) fits = kb_dictionary_fits(d, term, state);
    return fits;
}

kbass_status kb_dictionary_drop_misfits(kb_dictionary *d, kbass_error *error)
{
    size_t n = 0;
    if (!d->units || !d->units->is_limit) return KBASS_OK;
    for (size_t j = 0; j < d->n_terms; j++) {
        char *form = d->forms[j];
        bool fits = fits_somewhere(d, j);
        d->forms[j] = NULL;
        if (fits) d->terms[n] = d->terms[j], d->forms[n++] = form;
        else kb_expression_destroy(d->terms[j]), kb_free(form);
    }
    size_t n_before = d->n_terms;
    d->n_terms = n;
    if (n) return KBASS_OK;
    return kb_fail(error, KBASS_ERROR_ARGUMENT,
                   "--dimensional: none of the %zu terms fits: declare the constants that weights may be made of, "
                   "--constants \"g:m/s^2\"",
                   n_before);
}

/* ---------------------------------------------------------------- the options */

/* "t:s" in place: the name, and the unit behind the colon. */
static kbass_status split_item(char *item, char **unit, kbass_error *error)
{
    char *colon = strchr(item, ':');
    if (!colon) return kb_text_fail(error, item, strlen(item), "found \"%.60s\", needed NAME:UNIT such as t:s", item);
    *colon = '\0';
    *unit = kb_trim(colon + 1);
    return KBASS_OK;
}

static const char *axis_name(const kb_dictionary *d, size_t axis)
{
    return d->variable_names[d->n_variables - d->n_axes + axis];
}

static kbass_status unknown_name(const kb_dictionary *d, const char *name, kbass_error *error)
{
    char advice[200];
    const char **names = KB_NEW(const char *, d->n_axes + d->n_states);
    if (!names) return kb_out_of_memory(error, "the units");
    for (size_t a = 0; a < d->n_axes; a++) names[a] = axis_name(d, a);
    for (size_t i = 0; i < d->n_states; i++) names[d->n_axes + i] = d->state_names[i];
    kb_name_advice(name, d->n_axes + d->n_states, names, advice, sizeof advice);
    kb_free(names);
    return kb_fail(error, KBASS_ERROR_ARGUMENT, "\"%.60s\" is neither an axis nor a state%s", name, advice);
}

static kbass_status set_unit(kb_dictionary *d, char *item, kbass_error *error)
{
    char *text = NULL;
    kbass_status status = split_item(item, &text, error);
    if (status != KBASS_OK) return status;
    const char *name = kb_trim(item);
    for (size_t i = 0; i < d->n_states; i++)
        if (!strcmp(d->state_names[i], name)) {
            d->units->knows_field[i] = true;
            return kb_unit_parse(&d->units->symbols, text, &d->units->field[i], error);
        }
    for (size_t a = 0; a < d->n_axes; a++) {
        if (strcmp(axis_name(d, a), name)) continue;
        d->units->knows_axis[a] = true;
        return kb_unit_parse(&d->units->symbols, text, &d->units->axis[a], error);
    }
    return unknown_name(d, name, error);
}

static kbass_status add_constant(kb_dictionary *d, char *item, kbass_error *error)
{
    char *text = NULL;
    kb_unit unit;
    if (!strcmp(item, "none")) return KBASS_OK;
    kbass_status status = split_item(item, &text, error);
    if (status == KBASS_OK) status = kb_unit_parse(&d->units->symbols, text, &unit, error);
    if (status == KBASS_OK) add_to_basis(d->units, &unit);
    return status;
}

static kbass_status read_list(kb_dictionary *d, const char *option, const char *list,
                              kbass_status (*read)(kb_dictionary *, char *, kbass_error *), kbass_error *error)
{
    char *copy = kb_strdup(list), *rest = copy;
    kbass_status status = copy ? KBASS_OK : kb_out_of_memory(error, "the units");
    for (char *item; status == KBASS_OK && (item = kb_piece_next(&rest, ','));)
        if (*item) status = read(d, item, error);
    if (status != KBASS_OK) kb_error_prefix(error, "%s: ", option);
    kb_free(copy);
    return status;
}

static kbass_status check_complete(const kb_dictionary *d, kbass_error *error)
{
    const char *missing = NULL;
    for (size_t i = d->n_states; i-- > 0;)
        if (!d->units->knows_field[i]) missing = d->state_names[i];
    for (size_t a = d->n_axes; a-- > 0;)
        if (!d->units->knows_axis[a]) missing = axis_name(d, a);
    if (!missing) return KBASS_OK;
    return kb_fail(error, KBASS_ERROR_ARGUMENT,
                   "--dimensional needs every unit, and --units has none for \"%.60s\" (write %.60s:1 if it has none)",
                   missing, missing);
}

static kbass_status limit(kb_dictionary *d, const char *constants, kbass_error *error)
{
    kbass_status status = check_complete(d, error);
    d->units->is_limit = true;
    if (status == KBASS_OK && kb_is_given(constants))
        return read_list(d, "--constants", constants, add_constant, error);
    for (size_t a = 0; a < d->n_axes; a++) add_to_basis(d->units, &d->units->axis[a]);
    return status;
}

kbass_status kb_dictionary_read_units(kb_dictionary *d, const kbass_settings *settings, kbass_error *error)
{
    bool has_constants = kb_is_given(settings->constants);
    if (has_constants && !settings->dimensional)
        return kb_fail(error, KBASS_ERROR_ARGUMENT,
                       "--constants says what weights may be made of: it needs --dimensional");
    if (settings->dimensional && !kb_is_given(settings->units))
        return kb_fail(error, KBASS_ERROR_ARGUMENT, "--dimensional needs --units for every axis and state");
    if (!kb_is_given(settings->units)) return KBASS_OK;
    kb_units *units = d->units = KB_NEW(kb_units, 1);
    if (!units) return kb_out_of_memory(error, "the units");
    units->field = KB_NEW(kb_unit, d->n_states);
    units->knows_field = KB_NEW(bool, d->n_states);
    if (!units->field || !units->knows_field) return kb_out_of_memory(error, "the units");
    kbass_status status = read_list(d, "--units", settings->units, set_unit, error);
    return status == KBASS_OK && settings->dimensional ? limit(d, settings->constants, error) : status;
}

void kb_units_destroy(kb_units *units)
{
    if (!units) return;
    kb_free(units->field);
    kb_free(units->knows_field);
    kb_free(units);
}
