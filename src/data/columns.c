/* Long tables from arrays: one row for each measurement. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/memory.h"
#include "base/status.h"
#include "data/arrange.h"
#include "data/roles.h"

enum { MOST_COMPONENTS = 64 };

typedef struct {
    kb_arrangement *arrangement;
    size_t n, n_rows;
    size_t scattered[2]; /* times and points, where each point is measured at each time */
    char **names;
    kb_view *views;
    kb_roles roles;
    bool *is_left_out; /* n */
} columns;

/* ---------------------------------------------------------------- rows */

static kbass_status fail_at_row(const columns *c, const char *name, size_t row, const char *what)
{
    const kb_reading *r = c->arrangement->reading;
    return kb_fail(r->error, KBASS_ERROR_DATA, "%s: row %zu: \"%.100s\" %s", r->file.path, row + 1, name, what);
}

static kbass_status fill(const columns *c)
{
    kb_filling f = {.arrangement = c->arrangement, .n_rows = c->n_rows, .columns = KB_NEW(kb_column, c->n)};
    size_t axis = 0, state = 0;
    if (!f.columns) return kb_out_of_memory(c->arrangement->reading->error, "the columns");
    for (size_t i = 0; i < c->n; i++) {
        bool is_axis = kb_roles_axis(&c->roles, i, &axis);
        if (c->is_left_out[i]) continue;
        f.columns[f.n_columns++] = (kb_column){c->views[i], is_axis, is_axis ? axis : state++};
    }
    kbass_status status = kb_fill(&f);
    double number = 0;
    if (f.is_bad) {
        const kb_view *bad = &f.columns[f.bad_column].view;
        kb_view_read(bad, f.bad_row, 1, &number);
        status =
            fail_at_row(c, bad->name, f.bad_row,
                        isnan(number) ? "is missing, an axis must have a number" : "is infinite (use NaN for missing)");
    }
    kb_free(f.columns);
    return status;
}

static kbass_status take_columns(columns *c, const char *time, const char *axes)
{
    kb_arrangement *a = c->arrangement;
    kbass_error *error = a->reading->error;
    c->roles = (kb_roles){.place = a->reading->file.path, .n = c->n, .names = c->names};
    kbass_status status = kb_roles_check(&c->roles, error);
    if (status == KBASS_OK) status = kb_roles_find(&c->roles, time, axes, error);
    c->is_left_out = KB_NEW(bool, c->n);
    if (!c->is_left_out) status = kb_out_of_memory(error, "the columns");
    if (status == KBASS_OK) status = kb_name_as_wished(a->reading, &c->roles, c->is_left_out, a->data);
    for (size_t i = 0; status == KBASS_OK && i < c->n; i++)
        if (!c->is_left_out[i]) status = kb_source_load(&a->source, c->views[i].array);
    if (status == KBASS_OK) status = fill(c);
    kb_free(c->is_left_out);
    return status;
}

/* A column with a name of its own. */
static kbass_status add_column(columns *c, kb_view view, const char *name, const char *ending)
{
    char *full = c->names[c->n] = KB_NEW(char, KB_LIST_SIZE + 4);
    if (!full) return kb_out_of_memory(c->arrangement->reading->error, "the columns");
    snprintf(full, KB_LIST_SIZE + 4, "%s%s", name, ending);
    view.name = full;
    c->views[c->n++] = view;
    return KBASS_OK;
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
        if (!has_shape_of(v, time) || !is_asked(a, v, time) || (v->is_elsewhere && v != time)) continue;
        v->is_used = true;
        c.names[c.n] = (char *)v->name;
        c.views[c.n++] = *v;
    }
    if (status == KBASS_OK && c.n < 2) status = refuse_lonely(a, time);
    name_mesh_axes(&c, time, axes, sizeof axes);
    bool is_mesh = time->n_dims > 1 && !a->reading->axes;
    if (status == KBASS_OK) status = take_columns(&c, time->name, is_mesh ? axes : a->reading->axes);
    kb_free(c.names);
    kb_free(c.views);
    return status;
}

/* ---------------------------------------------------------------- fields at scattered points */

/* Dimensions of an array over points and times, and of its components. */
typedef struct {
    size_t point, time, component;
    bool has_components;
} sides;

static bool is_name_of_points(const char *name)
{
    static const char *const known[] = {"points", "coords", "coordinates", "pos", "positions", "locations", "nodes"};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (strcasecmp(name, known[i]) == 0) return true;
    return name[0] == 'x' || name[0] == 'X';
}

/* One dimension is as long as there are points, one as time, and at most one is left. */
static bool find_sides(const kb_view *v, size_t n_points, size_t n_times, sides *s)
{
    size_t n[3] = {0};
    *s = (sides){0};
    for (size_t i = 0; i < v->n_dims; i++) {
        size_t kind = v->dims[i] == n_points ? 0 : v->dims[i] == n_times ? 1 : 2;
        *(kind == 0 ? &s->point : kind == 1 ? &s->time : &s->component) = i;
        n[kind]++;
    }
    s->has_components = n[2] == 1;
    return n[0] == 1 && n[1] == 1 && n[2] <= 1 && (!s->has_components || v->dims[s->component] <= MOST_COMPONENTS);
}

/* Points are n x 1, 2 or 3 numbers, no more of them an axis or as many as times, along which a field runs. */
static const kb_view *find_points(const kb_arrangement *a, const kb_view *time, size_t *dim)
{
    for (size_t i = 0; i < a->n_views; i++) {
        const kb_view *v = &a->views[i];
        sides s;
        bool is_axis = false, has_field = false;
        if (v->n_dims != 2 || !is_name_of_points(v->name) || v->dims[0] == v->dims[1]) continue;
        *dim = v->dims[0] > v->dims[1] ? 0 : 1;
        size_t n = v->dims[*dim];
        for (size_t k = 0; k < a->n_views; k++) {
            is_axis |= a->views[k].n_dims == 1 && a->views[k].dims[0] == n;
            has_field |= &a->views[k] != v && find_sides(&a->views[k], n, time->dims[0], &s);
        }
        if (has_field && !is_axis && v->dims[1 - *dim] < KBASS_MAX_AXES && n != time->dims[0]) return v;
    }
    return NULL;
}

/* A view over times and points; a stride of 0 repeats. */
static kb_view over_both(const columns *c, const kb_view *v, size_t time_stride, size_t point_stride, size_t shift)
{
    const size_t *dims = c->scattered;
    return (kb_view){.array = v->array,
                     .n_dims = 2,
                     .dims = {dims[0], dims[1]},
                     .strides = {time_stride, point_stride},
                     .shift = v->shift + shift};
}

static kbass_status add_axes(columns *c, kb_view *time, kb_view *points, size_t dim, char *axes, size_t size)
{
    static const char *const names[] = {"x", "y", "z"};
    kbass_status status = add_column(c, over_both(c, time, time->strides[0], 0, 0), time->name, "");
    size_t length = (size_t)snprintf(axes, size, "%s", time->name);
    for (size_t i = 0; status == KBASS_OK && i < points->dims[1 - dim] && length < size; i++) {
        status =
            add_column(c, over_both(c, points, 0, points->strides[dim], i * points->strides[1 - dim]), names[i], "");
        length += (size_t)snprintf(axes + length, size - length, ",%s", names[i]);
    }
    time->is_used = points->is_used = true;
    return status;
}

static kbass_status add_field(columns *c, kb_view *v, const sides *s)
{
    kbass_status status = KBASS_OK;
    size_t n = s->has_components ? v->dims[s->component] : 1;
    for (size_t i = 0; status == KBASS_OK && i < n; i++) {
        char ending[24] = "";
        if (n > 1) snprintf(ending, sizeof ending, "%zu", i + 1);
        size_t shift = s->has_components ? i * v->strides[s->component] : 0;
        status = add_column(c, over_both(c, v, v->strides[s->time], v->strides[s->point], shift), v->name, ending);
    }
    v->is_used = true;
    return status;
}

kbass_status kb_arrange_points(kb_arrangement *a, kb_view *time, bool *is_done)
{
    size_t dim = 0, most = KBASS_MAX_AXES;
    char axes[KB_LONGEST_NAME];
    kb_view *points = a->reading->axes || time->n_dims != 1 ? NULL : (kb_view *)find_points(a, time, &dim);
    *is_done = points != NULL;
    if (!points) return KBASS_OK;
    for (size_t i = 0; i < a->n_views; i++) most += MOST_COMPONENTS;
    columns c = {.arrangement = a,
                 .n_rows = time->dims[0] * points->dims[dim],
                 .scattered = {time->dims[0], points->dims[dim]},
                 .names = KB_NEW(char *, most),
                 .views = KB_NEW(kb_view, most)};
    kbass_status status = c.names && c.views ? KBASS_OK : kb_out_of_memory(a->reading->error, "the columns");
    if (status == KBASS_OK) status = add_axes(&c, time, points, dim, axes, sizeof axes);
    for (size_t i = 0; status == KBASS_OK && i < a->n_views; i++) {
        sides s;
        kb_view *v = &a->views[i];
        bool is_field = v != points && v != time && kb_view_is_asked(a, v) && !v->is_elsewhere;
        if (is_field && find_sides(v, c.scattered[1], c.scattered[0], &s)) status = add_field(&c, v, &s);
    }
    kb_arrangement_note(a, "%s%s are %zu points in space: %s", *a->note ? "; " : "", points->name, c.scattered[1],
                        axes + strlen(time->name) + 1);
    if (status == KBASS_OK) status = take_columns(&c, time->name, axes);
    for (size_t i = 0; c.names && i < c.n; i++) kb_free(c.names[i]);
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

/* The column of a table, or of its imaginary part. */
static kb_view column_of(const kb_view *table, size_t column)
{
    return (kb_view){.array = table->array,
                     .n_dims = 1,
                     .dims = {table->dims[0]},
                     .strides = {table->strides[0]},
                     .shift = column * table->strides[1]};
}

/* Complex columns are two, unless their imaginary part is nil. */
static kbass_status cut_columns(columns *c, const kb_view *table, const kb_view *imaginary, size_t n_axes,
                                char *const *axes)
{
    kbass_status status = KBASS_OK;
    for (size_t i = 0; status == KBASS_OK && i < table->dims[1]; i++) {
        char name[KB_LIST_SIZE];
        name_column(i, table->dims[1], n_axes, axes, name);
        kb_view real = column_of(table, i), other = imaginary ? column_of(imaginary, i) : real;
        bool is_complex = imaginary && !kb_complex_is_nil(&real, &other);
        status = add_column(c, real, name, is_complex ? "_re" : "");
        if (status == KBASS_OK && is_complex) status = add_column(c, other, name, "_im");
    }
    return status;
}

/* Time that is not said to be in the first column has to look like it. */
static kbass_status check_first_column(kb_arrangement *a, const kb_view *table)
{
    kb_view column = column_of(table, 0);
    double before = 0, now = 0;
    kbass_status status = kb_source_load(&a->source, table->array);
    for (size_t i = 0; status == KBASS_OK && i < column.dims[0]; i++, before = now) {
        kb_view_read(&column, i, 1, &now);
        if (i && now < before)
            return kb_fail(a->reading->error, KBASS_ERROR_DATA,
                           "%s: row %zu: the first of its columns without names should be time and goes back: say "
                           "--time 0.1 where there is no time but steps of 0.1, or --time t to take it as it is",
                           a->reading->file.path, i + 1);
    }
    return status;
}

static kbass_status refuse_unnamed(const kb_arrangement *a, const kb_view *v)
{
    char shape[100];
    kb_array_shape(v->array, shape, sizeof shape);
    return kb_fail(
        a->reading->error, KBASS_ERROR_DATA,
        "%s: an array (%s) without times: a table needs rows and at most %d columns, time first, or --time 0.1 "
        "for steps of 0.1; fields on a grid need their axes beside them, as in an NPZ with t, x, u, or the steps of "
        "even ones, as in --axes t=0.1,x=0.05",
        a->reading->file.path, shape, KB_MOST_COLUMNS);
}

kbass_status kb_arrange_unnamed(kb_arrangement *a)
{
    const kb_view *v = &a->views[0], *imaginary = a->n_views > 1 ? &a->views[1] : NULL;
    char *copy = NULL, *axes[KBASS_MAX_AXES] = {"t"}, list[KB_LIST_SIZE];
    size_t n_axes = 1;
    kbass_status status = KBASS_OK;
    if (v->n_dims != 2 || v->dims[1] > KB_MOST_COLUMNS) return refuse_unnamed(a, v);
    if (a->reading->axes) status = kb_axes_split(a->reading->axes, &copy, &n_axes, axes, a->reading->error);
    else if (a->reading->time) axes[0] = (char *)a->reading->time;
    else status = check_first_column(a, v);
    columns c = {.arrangement = a,
                 .n_rows = v->dims[0],
                 .names = KB_NEW(char *, 2 * v->dims[1]),
                 .views = KB_NEW(kb_view, 2 * v->dims[1])};
    if (!c.names || !c.views) status = kb_out_of_memory(a->reading->error, "the columns");
    if (status == KBASS_OK) status = cut_columns(&c, v, imaginary, n_axes, axes);
    if (status == KBASS_OK) kb_list_names(c.n, c.names, list, sizeof list);
    if (status == KBASS_OK) kb_arrangement_note(a, "%scolumns taken for %s", *a->note ? "; " : "", list);
    if (status == KBASS_OK) status = take_columns(&c, a->reading->axes ? a->reading->time : axes[0], a->reading->axes);
    for (size_t i = 0; c.names && i < c.n; i++) kb_free(c.names[i]);
    kb_free(c.names);
    kb_free(c.views);
    kb_free(copy);
    return status;
}
