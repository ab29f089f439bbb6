/* Long tables from arrays: one row for each measurement. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "base/status.h"
#include "data/arrange.h"
#include "data/roles.h"

typedef struct {
    kb_arrangement *arrangement;
    size_t n, n_rows;
    char **names;
    kb_view *views;
    kb_roles roles;
} columns;

/* ---------------------------------------------------------------- rows */

static kbass_status fail_at_row(const columns *c, size_t column, size_t row, const char *what)
{
    const kb_reading *r = c->arrangement->reading;
    return kb_fail(r->error, KBASS_ERROR_DATA, "%s: row %zu: \"%.100s\" %s", r->file.path, row + 1, c->names[column],
                   what);
}

static kbass_status fill(const columns *c)
{
    kb_filling f = {
        .arrangement = c->arrangement, .n_rows = c->n_rows, .n_columns = c->n, .columns = KB_NEW(kb_column, c->n)};
    size_t axis = 0, state = 0;
    if (!f.columns) return kb_out_of_memory(c->arrangement->reading->error, "the columns");
    for (size_t i = 0; i < c->n; i++) {
        bool is_axis = kb_roles_axis(&c->roles, i, &axis);
        f.columns[i] = (kb_column){c->views[i], is_axis, is_axis ? axis : state++};
    }
    kbass_status status = kb_fill(&f);
    kb_free(f.columns);
    if (!f.is_bad) return status;
    double number = 0;
    kb_view_read(&c->views[f.bad_column], f.bad_row, 1, &number);
    return fail_at_row(c, f.bad_column, f.bad_row,
                       isnan(number) ? "is missing, an axis must have a number" : "is infinite (use NaN for missing)");
}

static kbass_status take_columns(columns *c, const char *time, const char *axes)
{
    kb_arrangement *a = c->arrangement;
    kbass_error *error = a->reading->error;
    c->roles = (kb_roles){.place = a->reading->file.path, .n = c->n, .names = c->names};
    kbass_status status = kb_roles_check(&c->roles, error);
    if (status == KBASS_OK) status = kb_roles_find(&c->roles, time, axes, error);
    if (status == KBASS_OK) status = kb_roles_name(&c->roles, a->data, error);
    for (size_t i = 0; status == KBASS_OK && i < c->n; i++) status = kb_source_load(&a->source, c->views[i].array);
    return status == KBASS_OK ? fill(c) : status;
}

/* ---------------------------------------------------------------- arrays of one shape */

static bool has_shape_of(const kb_view *v, const kb_view *time)
{
    return v->n_dims == time->n_dims && memcmp(v->dims, time->dims, v->n_dims * sizeof *v->dims) == 0;
}

static bool is_space_name(const char *name) { return name[0] && !name[1] && strchr("xyzXYZ", name[0]); }

/* Of meshed coordinates, X and T as large as u, the usual names are taken for axes: "T,X". */
static void name_mesh_axes(const columns *c, const kb_view *time, char *axes, size_t size)
{
    size_t length = (size_t)snprintf(axes, size, "%s", time->name), n = 1;
    for (size_t i = 0; i < c->n && n < KBASS_MAX_AXES && length < size; i++)
        if (is_space_name(c->names[i]) && strcmp(c->names[i], time->name) != 0) {
            length += (size_t)snprintf(axes + length, size - length, ",%s", c->names[i]);
            n++;
        }
}

static bool is_asked(const kb_arrangement *a, const kb_view *v, const kb_view *time)
{
    if (v == time || kb_view_is_asked(a, v)) return true;
    char *copy = NULL, *names[KBASS_MAX_AXES];
    size_t n = 0;
    bool is_axis = false;
    if (a->reading->axes && kb_axes_split(a->reading->axes, &copy, &n, names, NULL) == KBASS_OK)
        for (size_t i = 0; i < n; i++) is_axis |= strcmp(names[i], v->name) == 0;
    kb_free(copy);
    return is_axis;
}

static kbass_status refuse_lonely(const kb_arrangement *a, const kb_view *time)
{
    char list[KB_VIEWS_SIZE];
    kb_list_views(a, list, sizeof list);
    return kb_fail(a->reading->error, KBASS_ERROR_DATA, "%s: no array of numbers as long as \"%.60s\"; there are: %s",
                   a->reading->file.path, time->name, list);
}

kbass_status kb_arrange_columns(kb_arrangement *a, const kb_view *time)
{
    char axes[KB_LONGEST_NAME];
    columns c = {
        .arrangement = a, .n_rows = 1, .names = KB_NEW(char *, a->n_views), .views = KB_NEW(kb_view, a->n_views)};
    kbass_status status = c.names && c.views ? KBASS_OK : kb_out_of_memory(a->reading->error, "the columns");
    for (size_t i = 0; i < time->n_dims; i++) c.n_rows *= time->dims[i];
    for (size_t i = 0; status == KBASS_OK && i < a->n_views; i++) {
        kb_view *v = &a->views[i];
        if (!has_shape_of(v, time) || !is_asked(a, v, time)) continue;
        v->is_used = true;
        c.names[c.n] = (char *)v->name;
        c.views[c.n++] = *v;
    }
    if (status == KBASS_OK && c.n < 2) status = refuse_lonely(a, time);
    name_mesh_axes(&c, time, axes, sizeof axes);
    bool is_mesh = time->n_dims > 1 && !a->reading->axes;
    if (status == KBASS_OK)
        status = take_columns(&c, is_mesh ? NULL : a->reading->time, is_mesh ? axes : a->reading->axes);
    kb_free(c.names);
    kb_free(c.views);
    return status;
}

/* ---------------------------------------------------------------- an array without name */

/* Axes first, in their order, then x1, x2, ... or, over space, u1, u2, ...; a single one has no number. */
static void name_column(size_t column, size_t n_columns, size_t n_axes, char *const *axes, char *name)
{
    const char *letter = n_axes > 1 ? "u" : "x";
    if (column < n_axes) snprintf(name, KB_LIST_SIZE, "%s", axes[column]);
    else if (n_columns == n_axes + 1) snprintf(name, KB_LIST_SIZE, "%s", letter);
    else snprintf(name, KB_LIST_SIZE, "%s%zu", letter, column - n_axes + 1);
}

static kbass_status cut_columns(columns *c, const kb_view *table, size_t n_axes, char *const *axes)
{
    for (size_t i = 0; i < c->n; i++) {
        c->names[i] = KB_NEW(char, KB_LIST_SIZE);
        if (!c->names[i]) return kb_out_of_memory(c->arrangement->reading->error, "the columns");
        name_column(i, c->n, n_axes, axes, c->names[i]);
        c->views[i] = (kb_view){.name = c->names[i],
                                .array = table->array,
                                .n_dims = 1,
                                .dims = {table->dims[0]},
                                .strides = {table->strides[0]},
                                .shift = i * table->strides[1]};
    }
    return KBASS_OK;
}

static kbass_status refuse_unnamed(const kb_arrangement *a, const kb_view *v)
{
    char shape[100];
    kb_array_shape(v->array, shape, sizeof shape);
    return kb_fail(
        a->reading->error, KBASS_ERROR_DATA,
        "%s: an array (%s) without times: a table needs rows and at most %d columns, time first; fields on a "
        "grid need their axes beside them, as in an NPZ with t, x, u",
        a->reading->file.path, shape, KB_MOST_COLUMNS);
}

kbass_status kb_arrange_unnamed(kb_arrangement *a)
{
    const kb_view *v = &a->views[0];
    char *copy = NULL, *axes[KBASS_MAX_AXES] = {"t"}, list[KB_LIST_SIZE];
    size_t n_axes = 1;
    kbass_status status = KBASS_OK;
    if (v->n_dims != 2 || v->dims[1] > KB_MOST_COLUMNS) return refuse_unnamed(a, v);
    if (a->reading->axes) status = kb_axes_split(a->reading->axes, &copy, &n_axes, axes, a->reading->error);
    else if (a->reading->time) axes[0] = (char *)a->reading->time;
    columns c = {.arrangement = a,
                 .n = v->dims[1],
                 .n_rows = v->dims[0],
                 .names = KB_NEW(char *, v->dims[1]),
                 .views = KB_NEW(kb_view, v->dims[1])};
    if (!c.names || !c.views) status = kb_out_of_memory(a->reading->error, "the columns");
    if (status == KBASS_OK) status = cut_columns(&c, v, n_axes, axes);
    if (status == KBASS_OK) kb_list_names(c.n, c.names, list, sizeof list);
    if (status == KBASS_OK) kb_arrangement_note(a, "columns taken for %s", list);
    if (status == KBASS_OK) status = take_columns(&c, axes[0], a->reading->axes);
    for (size_t i = 0; c.names && i < c.n; i++) kb_free(c.names[i]);
    kb_free(c.names);
    kb_free(c.views);
    kb_free(copy);
    return status;
}
