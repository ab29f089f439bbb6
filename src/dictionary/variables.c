/* What terms are made of: fields, their space derivatives, axes, and the left-hand side. */
#include <string.h>

#include "base/memory.h"
#include "base/status.h"
#include "dictionary/algebra.h"
#include "dictionary/build.h"
#include "dictionary/text.h"

int kb_variable_order(const kb_variable *variable)
{
    int order = 0;
    for (size_t axis = 0; axis < KB_MAX_AXES; axis++) order += variable->order[axis];
    return order;
}

/* ---------------------------------------------------------------- names */

static kbass_status check_word(const char *kind, const char *name, kbass_error *error)
{
    if (!kb_is_identifier(name))
        return kb_fail(error, KBASS_ERROR_ARGUMENT,
                       "%s name \"%.100s\" cannot stand in equations: needed letters, digits and _, no digit first",
                       kind, name);
    if (kb_is_reserved(name))
        return kb_fail(error, KBASS_ERROR_ARGUMENT, "%s name \"%s\" is the name of a function: rename it", kind, name);
    return KBASS_OK;
}

static kbass_status check_field(const char *kind, size_t field, const char *const *names, const char *time_name,
                                kbass_error *error)
{
    const char *name = names[field];
    kbass_status status = check_word(kind, name, error);
    if (status != KBASS_OK) return status;
    if (!strcmp(name, time_name))
        return kb_fail(error, KBASS_ERROR_ARGUMENT, "%s name \"%.100s\" is also the name of time: rename one", kind,
                       name);
    for (size_t i = 0; i < field; i++)
        if (!strcmp(name, names[i]))
            return kb_fail(error, KBASS_ERROR_ARGUMENT, "two %ss have the name \"%.100s\": rename one", kind, name);
    return KBASS_OK;
}

/* Time alone may have any name. An axis of space called t would make u_t ambiguous. */
static kbass_status check_axes(const kb_dictionary *d, const char *const *names, kbass_error *error)
{
    kbass_status status = KBASS_OK;
    for (size_t axis = 0; status == KBASS_OK && d->n_axes > 1 && axis < d->n_axes; axis++) {
        status = check_word("axis", names[axis], error);
        if (status == KBASS_OK && axis && !strcmp(names[axis], "t"))
            status = kb_fail(error, KBASS_ERROR_ARGUMENT, "the space axis \"t\" has the name of time: rename it");
    }
    return status;
}

static kbass_status check_names(const kb_dictionary *d, const char *const *fields, const char *const *axes,
                                kbass_error *error)
{
    const char *kind = d->n_axes > 1 ? "field" : "state";
    if (!d->n_states) return kb_fail(error, KBASS_ERROR_ARGUMENT, "found no %ss, needed at least one", kind);
    if (d->n_axes < 1 || d->n_axes > KB_MAX_AXES)
        return kb_fail(error, KBASS_ERROR_ARGUMENT, "found %zu axes, needed time and up to %d of space", d->n_axes,
                       KB_MAX_AXES - 1);
    kbass_status status = check_axes(d, axes, error);
    for (size_t i = 0; status == KBASS_OK && i < d->n_states; i++)
        status = check_field(kind, i, fields, axes[0], error);
    return status;
}

static const char *kind_of(const kb_variable *variable)
{
    if (variable->axis >= 0) return "an axis";
    return kb_variable_order(variable) ? "a derivative" : "a field";
}

static kbass_status check_clashes(const kb_dictionary *d, kbass_error *error)
{
    for (size_t v = 0; v < d->n_variables; v++)
        for (size_t k = 0; k < v; k++)
            if (!strcmp(d->variable_names[v], d->variable_names[k]))
                return kb_fail(error, KBASS_ERROR_ARGUMENT, "\"%.100s\" is the name of %s and of %s: rename one",
                               d->variable_names[v], kind_of(&d->variables[k]), kind_of(&d->variables[v]));
    return KBASS_OK;
}

/* ---------------------------------------------------------------- the list */

/* u_xxy */
static char *derivative_name(const char *field, const int *order, const char *const *axes)
{
    size_t size = strlen(field) + 2;
    for (size_t axis = 1; axis < KB_MAX_AXES; axis++)
        if (order[axis]) size += (size_t)order[axis] * strlen(axes[axis]);
    char *name = KB_NEW(char, size), *end = name;
    if (!name) return NULL;
    end += strlen(strcpy(end, field));
    *end++ = '_';
    for (size_t axis = 1; axis < KB_MAX_AXES; axis++)
        for (int i = 0; i < order[axis]; i++) end += strlen(strcpy(end, axes[axis]));
    return name;
}

static bool add_variable(kb_dictionary *d, kb_variable variable, char *name)
{
    d->variables[d->n_variables] = variable;
    d->variable_names[d->n_variables++] = name;
    return name != NULL;
}

/* u_x, v_x, u_xx, v_xx; within a field u_xx, u_xy, u_yy */
static bool add_derivatives(kb_dictionary *d, const char *const *fields, const char *const *axes, int order)
{
    bool is_done = true;
    for (size_t field = 0; is_done && field < d->n_states; field++) {
        kb_variable variable = {.axis = -1, .field = field};
        kb_powers_first(variable.order + 1, d->n_axes - 1, order, order);
        do is_done = add_variable(d, variable, derivative_name(fields[field], variable.order, axes));
        while (is_done && kb_powers_next(variable.order + 1, d->n_axes - 1, order));
    }
    return is_done;
}

/* (n_space + order) over order, the field itself included */
static size_t count_derivatives(size_t n_space)
{
    size_t count = 1;
    for (size_t k = 1; k <= KB_HIGHEST_ORDER; k++) count = count * (n_space + k) / k;
    return count;
}

static bool add_variables(kb_dictionary *d, const char *const *fields, const char *const *axes)
{
    bool is_done = true;
    for (size_t i = 0; is_done && i < d->n_states; i++)
        is_done = add_variable(d, (kb_variable){.axis = -1, .field = i}, kb_strdup(fields[i]));
    for (int order = 1; is_done && d->n_axes > 1 && order <= KB_HIGHEST_ORDER; order++)
        is_done = add_derivatives(d, fields, axes, order);
    for (size_t axis = 0; is_done && axis < d->n_axes; axis++)
        is_done = add_variable(d, (kb_variable){.axis = (int)axis}, kb_strdup(axes[axis]));
    return is_done;
}

static void point_at_names(kb_dictionary *d)
{
    d->state_names = d->variable_names;
    d->time_name = d->variable_names[d->n_variables - d->n_axes];
}

kbass_status kb_dictionary_list_variables(kb_dictionary *d, const char *const *fields, const char *const *axes,
                                          kbass_error *error)
{
    kbass_status status = check_names(d, fields, axes, error);
    if (status != KBASS_OK) return status;
    size_t most = d->n_states * count_derivatives(d->n_axes - 1) + d->n_axes;
    d->variables = KB_NEW(kb_variable, most);
    d->variable_names = KB_NEW(char *, most);
    if (!d->variables || !d->variable_names || !add_variables(d, fields, axes))
        return kb_out_of_memory(error, "the dictionary");
    point_at_names(d);
    return d->n_axes > 1 ? check_clashes(d, error) : KBASS_OK;
}

/* ---------------------------------------------------------------- what is in use */

static bool is_used(const kb_dictionary *d, size_t variable)
{
    bool used = false;
    for (size_t j = 0; !used && j < d->n_terms; j++) used = kb_expression_depends(d->terms[j], variable);
    return used;
}

static int highest_order(const kb_dictionary *d)
{
    int highest = 0;
    for (size_t v = 0; v < d->n_variables; v++) {
        int order = kb_variable_order(&d->variables[v]);
        if (order > highest && is_used(d, v)) highest = order;
    }
    return highest;
}

kbass_status kb_dictionary_trim_variables(kb_dictionary *d, kbass_error *error)
{
    int highest = highest_order(d);
    size_t *number = KB_NEW(size_t, d->n_variables), n = 0;
    if (!number) return kb_out_of_memory(error, "the dictionary");
    for (size_t v = 0; v < d->n_variables; v++) {
        char *name = d->variable_names[v];
        d->variable_names[v] = NULL;
        if (kb_variable_order(&d->variables[v]) <= highest) {
            d->variables[n] = d->variables[v];
            d->variable_names[n] = name;
            number[v] = n++;
        } else {
            kb_free(name);
        }
    }
    for (size_t j = 0; j < d->n_terms; j++) kb_expression_renumber(d->terms[j], n, number);
    d->n_variables = n;
    point_at_names(d);
    kb_free(number);
    return KBASS_OK;
}

kbass_status kb_dictionary_check_points(const kb_dictionary *d, const size_t *n_points, kbass_error *error)
{
    size_t times = (size_t)d->time_order + 1;
    if (n_points[0] < times)
        return kb_fail(error, KBASS_ERROR_DATA, "the axis \"%.60s\" has %zu distinct points, %s%s needs at least %zu",
                       d->time_name, n_points[0], d->state_names[0], kb_dictionary_suffix(d), times);
    for (size_t v = 0; v < d->n_variables; v++)
        for (size_t axis = 1; axis < d->n_axes; axis++) {
            size_t order = (size_t)d->variables[v].order[axis];
            if (!order || n_points[axis] >= order + 2 || !is_used(d, v)) continue;
            return kb_fail(error, KBASS_ERROR_DATA,
                           "the axis \"%.60s\" has %zu distinct points, the derivative %.60s needs at least %zu: lower "
                           "--derivatives",
                           d->variable_names[d->n_variables - d->n_axes + axis], n_points[axis], d->variable_names[v],
                           order + 2);
        }
    return KBASS_OK;
}

/* ---------------------------------------------------------------- the left-hand side */

const char *kb_dictionary_suffix(const kb_dictionary *d) { return d->time_order == 2 ? "_tt" : "_t"; }

size_t kb_dictionary_position(const kb_dictionary *d, size_t state)
{
    for (size_t i = 0; d->velocity && i < d->n_states; i++)
        if (d->velocity[i] == state) return i;
    return d->n_states;
}

const char *kb_dictionary_tail(const kb_dictionary *d, size_t state)
{
    return kb_dictionary_position(d, state) < d->n_states ? "t" : kb_dictionary_suffix(d);
}

/* The order of "u_t" or "u_tt" for a field u; 0 for anything else. */
static int order_of(const kb_dictionary *d, const char *lhs)
{
    for (size_t i = 0; i < d->n_states; i++) {
        size_t length = strlen(d->state_names[i]);
        if (strncmp(lhs, d->state_names[i], length)) continue;
        if (!strcmp(lhs + length, "_t")) return 1;
        if (!strcmp(lhs + length, "_tt")) return 2;
    }
    return 0;
}

/* "x_tt" of states over time: x_t is a state too, and x_t = x_t is known. */
static void set_velocity(kb_dictionary *d, const char *lhs)
{
    size_t length = strlen(lhs), position = d->n_states, velocity = d->n_states;
    for (size_t i = 0; i < d->n_states; i++) {
        if (strlen(d->state_names[i]) + 3 == length && !strncmp(d->state_names[i], lhs, length - 3)) position = i;
        if (strlen(d->state_names[i]) + 1 == length && !strncmp(d->state_names[i], lhs, length - 1)) velocity = i;
    }
    if (position < d->n_states) d->velocity[position] = velocity;
}

static kbass_status read_orders(kb_dictionary *d, char *list, kbass_error *error)
{
    const char *example = d->state_names[0];
    for (char *name; (name = kb_piece_next(&list, ','));) {
        int order = order_of(d, name);
        if (!order)
            return kb_fail(error, KBASS_ERROR_ARGUMENT, "--lhs: found \"%.60s\", needed %.60s_t or %.60s_tt", name,
                           example, example);
        if (d->n_axes == 1 && order == 2) set_velocity(d, name);
        if (d->n_axes > 1 && d->time_order && order != d->time_order)
            return kb_fail(error, KBASS_ERROR_ARGUMENT, "--lhs: found both first and second order in time, needed one");
        d->time_order = d->n_axes > 1 ? order : 1;
    }
    return KBASS_OK;
}

kbass_status kb_dictionary_read_lhs(kb_dictionary *d, const char *lhs, kbass_error *error)
{
    d->velocity = KB_NEW(size_t, d->n_states);
    if (!d->velocity) return kb_out_of_memory(error, "the dictionary");
    for (size_t i = 0; i < d->n_states; i++) d->velocity[i] = d->n_states;
    if (!kb_is_given(lhs)) {
        d->time_order = 1;
        return KBASS_OK;
    }
    char *list = kb_strdup(lhs);
    kbass_status status = list ? read_orders(d, list, error) : kb_out_of_memory(error, "the dictionary");
    kb_free(list);
    return status;
}
