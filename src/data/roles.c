#include "data/roles.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/memory.h"
#include "base/status.h"
#include "base/suggest.h"

#define FAIL_AT(r, error, format, ...) kb_fail(error, KBASS_ERROR_DATA, "%s: " format, (r)->place, __VA_ARGS__)

bool kb_is_time_name(const char *name) { return strcasecmp(name, "t") == 0 || strcasecmp(name, "time") == 0; }

void kb_list_names(size_t n, char *const *names, char *list, size_t size)
{
    size_t length = 0;
    list[0] = '\0';
    for (size_t i = 0; i < n && length < size; i++)
        length += (size_t)snprintf(list + length, size - length, "%s%s", i ? ", " : "", names[i]);
    if (length >= size) memcpy(list + size - 4, "...", 4);
}

/* ---------------------------------------------------------------- names */

static int by_name_then_place(const void *left, const void *right)
{
    char *const *a = *(char *const *const *)left, *const *b = *(char *const *const *)right;
    int order = strcmp(*a, *b);
    return order ? order : (a > b) - (a < b);
}

static kbass_status refuse_twins(const kb_roles *r, kbass_error *error)
{
    char *const **order = KB_NEW(char *const *, r->n);
    kbass_status status = order ? KBASS_OK : kb_out_of_memory(error, "the column names");
    for (size_t i = 0; order && i < r->n; i++) order[i] = &r->names[i];
    if (order) qsort(order, r->n, sizeof *order, by_name_then_place);
    for (size_t i = 1; status == KBASS_OK && i < r->n; i++)
        if (strcmp(*order[i - 1], *order[i]) == 0)
            status = FAIL_AT(r, error, "columns %zu and %zu have the same name \"%.100s\"",
                             (size_t)(order[i - 1] - r->names) + 1, (size_t)(order[i] - r->names) + 1, *order[i]);
    kb_free(order);
    return status;
}

kbass_status kb_roles_check(const kb_roles *r, kbass_error *error)
{
    if (r->n > KB_MOST_COLUMNS)
        return FAIL_AT(r, error, "found %zu columns, at most %d are read", r->n, KB_MOST_COLUMNS);
    for (size_t i = 0; i < r->n; i++)
        if (!*r->names[i]) return FAIL_AT(r, error, "column %zu has no name", i + 1);
    kbass_status status = refuse_twins(r, error);
    if (status == KBASS_OK && r->n == 1)
        status = FAIL_AT(r, error, "only one column, \"%.100s\": time and at least one state are needed", r->names[0]);
    return status;
}

/* ---------------------------------------------------------------- axes */

static bool find_column(kb_roles *r, const char *name, int (*compare)(const char *, const char *))
{
    size_t *column = &r->axes[r->n_axes];
    for (*column = 0; *column < r->n; ++*column)
        if (compare(r->names[*column], name) == 0) {
            r->n_axes++;
            return true;
        }
    return false;
}

static kbass_status no_column(const kb_roles *r, const char *name, const char *use, kbass_error *error)
{
    char list[KB_LIST_SIZE], advice[KB_LIST_SIZE] = "";
    const char *nearest = kb_nearest(name, r->n, (const char *const *)r->names);
    kb_list_names(r->n, r->names, list, sizeof list);
    if (nearest) snprintf(advice, sizeof advice, " (did you mean \"%.100s\"?)", nearest);
    return FAIL_AT(r, error, "no column \"%s\" for %s%s; there are: %s", name, use, advice, list);
}

static kbass_status find_time(kb_roles *r, const char *name, kbass_error *error)
{
    char list[KB_LIST_SIZE];
    bool found = name ? find_column(r, name, strcmp) || find_column(r, name, strcasecmp)
                      : find_column(r, "t", strcmp) || find_column(r, "time", strcmp) ||
                            find_column(r, "t", strcasecmp) || find_column(r, "time", strcasecmp);
    if (found) return KBASS_OK;
    if (name) return no_column(r, name, "time", error);
    kb_list_names(r->n, r->names, list, sizeof list);
    return FAIL_AT(r, error, "no time column \"t\" or \"time\" (name it with --time NAME); there are: %s", list);
}

kbass_status kb_axes_split(const char *axes, char **copy, size_t *n, char *names[KBASS_MAX_AXES], kbass_error *error)
{
    char *name = *copy = kb_strdup(axes);
    if (!name) return kb_out_of_memory(error, "the axes");
    for (*n = 0; name; ++*n) {
        char *comma = strchr(name, ','), *end = comma ? comma : name + strlen(name);
        while (*name == ' ') name++;
        while (end > name && end[-1] == ' ') end--;
        *end = '\0';
        if (*n == KBASS_MAX_AXES)
            return kb_fail(error, KBASS_ERROR_ARGUMENT, "axes: found more than %d, needed time and up to %d of space",
                           KBASS_MAX_AXES, KBASS_MAX_AXES - 1);
        if (!*name)
            return kb_fail(error, KBASS_ERROR_ARGUMENT, "axes: found a name missing in \"%s\", needed \"t,x\"", axes);
        for (size_t i = 0; i < *n; i++)
            if (strcmp(names[i], name) == 0)
                return kb_fail(error, KBASS_ERROR_ARGUMENT, "axes: \"%s\" is named twice", name);
        if (!kb_data_is_name(name))
            return kb_fail(error, KBASS_ERROR_ARGUMENT,
                           "axes: \"%s\" cannot stand in equations: a name needs letters, digits or _", name);
        names[*n] = name;
        name = comma ? comma + 1 : NULL;
    }
    return KBASS_OK;
}

/* The one that is said to be time, else called t or time, else the first. */
static void put_time_first(kb_roles *r, const char *said)
{
    size_t time = 0;
    while (time < r->n_axes &&
           !(said ? strcmp(r->names[r->axes[time]], said) == 0 : kb_is_time_name(r->names[r->axes[time]])))
        time++;
    if (time == r->n_axes) return;
    size_t column = r->axes[time];
    memmove(r->axes + 1, r->axes, time * sizeof *r->axes);
    r->axes[0] = column;
}

static kbass_status find_axes(kb_roles *r, const char *time, const char *axes, kbass_error *error)
{
    char *copy = NULL, *names[KBASS_MAX_AXES];
    size_t n = 0;
    kbass_status status = kb_axes_split(axes, &copy, &n, names, error);
    for (size_t i = 0; status == KBASS_OK && i < n; i++)
        if (!find_column(r, names[i], strcmp)) status = no_column(r, names[i], "an axis", error);
    if (status == KBASS_OK && r->n_axes == r->n)
        status = FAIL_AT(r, error, "all %zu columns are axes: at least one field is needed", r->n);
    size_t i = 0;
    while (time && i < n && strcmp(names[i], time) != 0) i++;
    if (status == KBASS_OK && time && i == n)
        status = kb_fail(error, KBASS_ERROR_ARGUMENT, "%s: --time %s is not among --axes %s", r->place, time, axes);
    put_time_first(r, time);
    kb_free(copy);
    return status;
}

kbass_status kb_roles_find(kb_roles *roles, const char *time, const char *axes, kbass_error *error)
{
    roles->n_axes = 0;
    return axes ? find_axes(roles, time, axes, error) : find_time(roles, time, error);
}

bool kb_roles_axis(const kb_roles *roles, size_t column, size_t *axis)
{
    for (*axis = 0; *axis < roles->n_axes; ++*axis)
        if (roles->axes[*axis] == column) return true;
    return false;
}

kbass_status kb_roles_name(const kb_roles *r, kbass_data *data, kbass_error *error)
{
    size_t axis = 0;
    data->n_axes = r->n_axes;
    data->n_states = r->n - r->n_axes;
    data->axis_names = KB_NEW(char *, data->n_axes);
    data->state_names = KB_NEW(char *, data->n_states);
    bool all = data->axis_names && data->state_names;
    for (size_t i = 0; all && i < r->n_axes; i++) all = (data->axis_names[i] = kb_strdup(r->names[r->axes[i]])) != NULL;
    if (all) data->time_name = data->axis_names[0];
    for (size_t i = 0, state = 0; all && i < r->n; i++) {
        if (kb_roles_axis(r, i, &axis)) continue;
        if (!kb_data_is_name(r->names[i]))
            return FAIL_AT(r, error,
                           "column \"%.100s\": a state's name stands in equations and needs letters, digits or _",
                           r->names[i]);
        data->state_names[state] = kb_strdup(r->names[i]);
        all = data->state_names[state++] != NULL;
    }
    return all ? KBASS_OK : kb_out_of_memory(error, "the column names");
}
