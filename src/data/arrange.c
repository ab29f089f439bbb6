/* Fields on a grid: every dimension of a field is one of the axes, told by its length, or the field's components. */
#include "data/arrange.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/memory.h"
#include "base/number.h"
#include "base/status.h"
#include "data/roles.h"

enum { MOST_COMPONENTS = 64, MOST_CHOICES = 16, COMPONENTS = MOST_CHOICES };

/* Dimension i runs along axis along[i], or over components. */
typedef struct {
    size_t along[KB_MOST_DIMS];
    int score;
    size_t n_best; /* how many have this score */
} assignment;

typedef struct {
    kb_arrangement *arrangement;
    size_t n_axes; /* those chosen; while they are looked for, all that may be one, time first */
    kb_view *axes[MOST_CHOICES];
    bool is_ordered; /* the caller gave the axes, all of them, in the order of dimensions where lengths do not tell */
    size_t order[MOST_CHOICES]; /* place of each axis in the caller's list */
    size_t n_fields;
    kb_view **fields;
    assignment *runs;  /* n_fields */
    bool *is_left_out; /* of axes and components */
} grid;

/* ---------------------------------------------------------------- dimensions */

/* Inferred: as many axes as possible, x, y and z first. Given: in the caller's order, components last. */
static int score_of(const grid *g, const kb_view *v, const size_t *along)
{
    int score = 0;
    size_t last = 0;
    bool is_in_order = true;
    for (size_t i = 0; i < v->n_dims; i++) {
        if (along[i] == COMPONENTS) {
            if (g->is_ordered) score += (int)i;
            continue;
        }
        const char *name = g->axes[along[i]]->name;
        score += 100 + (!name[1] && strchr("xyzXYZ", name[0]) ? 10 : 0);
        is_in_order &= g->order[along[i]] >= last;
        last = g->order[along[i]];
    }
    return g->is_ordered && is_in_order ? score + 50 : score;
}

static bool is_taken(const size_t *along, size_t n, size_t axis)
{
    for (size_t i = 0; i < n; i++)
        if (along[i] == axis) return true;
    return false;
}

/* Tries every axis of the right length on every dimension; time must be there, and all axes that were given. */
static void try_dimension(const grid *g, const kb_view *v, size_t dim, size_t *along, assignment *best)
{
    if (dim == v->n_dims) {
        bool is_whole = is_taken(along, dim, 0);
        for (size_t i = 1; g->is_ordered && i < g->n_axes; i++) is_whole &= is_taken(along, dim, i);
        int score = is_whole ? score_of(g, v, along) : 0;
        if (!is_whole || score < best->score) return;
        best->n_best = score == best->score ? best->n_best + 1 : 1;
        best->score = score;
        memcpy(best->along, along, sizeof best->along);
        return;
    }
    for (size_t i = 0; i < g->n_axes; i++) {
        if (g->axes[i]->dims[0] != v->dims[dim] || is_taken(along, dim, i) || g->axes[i] == v) continue;
        along[dim] = i;
        try_dimension(g, v, dim + 1, along, best);
    }
    along[dim] = COMPONENTS;
    if (v->dims[dim] <= MOST_COMPONENTS && !is_taken(along, dim, COMPONENTS)) try_dimension(g, v, dim + 1, along, best);
}

static bool assign(const grid *g, const kb_view *v, assignment *best)
{
    size_t along[KB_MOST_DIMS];
    for (size_t i = 0; i < KB_MOST_DIMS; i++) along[i] = KB_MOST_ARRAYS;
    *best = (assignment){.score = 0};
    try_dimension(g, v, 0, along, best);
    return best->n_best > 0;
}

/* ---------------------------------------------------------------- axes */

static kbass_status fail_with_list(const kb_arrangement *a, const char *what, const char *name)
{
    char list[KB_VIEWS_SIZE];
    kb_list_views(a, list, sizeof list);
    return kb_fail(a->reading->error, KBASS_ERROR_DATA, "%s: %s \"%.100s\"; there are: %s", a->reading->file.path, what,
                   name, list);
}

static kbass_status take_given_axes(grid *g, kb_view *time)
{
    const kb_arrangement *a = g->arrangement;
    char *copy = NULL, *names[KBASS_MAX_AXES];
    size_t n = 0;
    kbass_status status = kb_axes_split(a->reading->axes, &copy, &n, names, a->reading->error);
    g->is_ordered = true;
    g->n_axes = 1;
    g->axes[0] = time;
    for (size_t i = 0; status == KBASS_OK && i < n; i++) {
        kb_view *v = kb_find_view(a, names[i]);
        if (v == time) {
            g->order[0] = i;
        } else if (!v || v->n_dims != 1) {
            status = fail_with_list(
                a, v ? "an axis is an array of one dimension, which is not" : "no array for the axis", names[i]);
        } else {
            g->order[g->n_axes] = i;
            g->axes[g->n_axes++] = v;
        }
    }
    kb_free(copy);
    return status;
}

/* Arrays of one dimension that are as long as a dimension of the field. */
static void list_choices(grid *g, kb_view *time, const kb_view *field)
{
    kb_arrangement *a = g->arrangement;
    g->n_axes = 1;
    g->axes[0] = time;
    for (size_t i = 0; i < a->n_views && g->n_axes < MOST_CHOICES; i++) {
        kb_view *v = &a->views[i];
        bool fits = false;
        for (size_t k = 0; k < field->n_dims; k++) fits |= v->n_dims == 1 && v->dims[0] == field->dims[k];
        if (fits && v != time && v != field) g->axes[g->n_axes++] = v;
    }
}

/* "x,y,t", as one of the best assignments has it. */
static void write_order(const grid *g, const kb_view *field, const assignment *run, bool is_other, char *text,
                        size_t size)
{
    size_t length = 0, n = field->n_dims, swapped[2] = {n, n}, n_swapped = 0;
    for (size_t i = 0; i < n && n_swapped < 2; i++)
        for (size_t k = i + 1; k < n && n_swapped < 2; k++)
            if (field->dims[i] == field->dims[k]) swapped[0] = i, swapped[1] = k, n_swapped = 2;
    for (size_t i = 0; i < n && length < size; i++) {
        size_t from = is_other && i == swapped[0] ? swapped[1] : is_other && i == swapped[1] ? swapped[0] : i;
        if (run->along[from] == COMPONENTS) continue;
        length += (size_t)snprintf(text + length, size - length, "%s%.60s", length ? "," : "",
                                   g->axes[run->along[from]]->name);
    }
}

static kbass_status ask_for_order(const grid *g, const kb_view *field, const assignment *best)
{
    const kb_arrangement *a = g->arrangement;
    char shape[100], list[KB_VIEWS_SIZE], one[200], other[200];
    write_order(g, field, best, true, one, sizeof one);
    write_order(g, field, best, false, other, sizeof other);
    kb_array_shape(field->array, shape, sizeof shape);
    kb_list_views(a, list, sizeof list);
    return kb_fail(a->reading->error, KBASS_ERROR_DATA,
                   "%s: \"%.60s\" (%s): its lengths do not tell which dimension is which axis; name the axes in their "
                   "order, as in --axes %s or --axes %s; there are: %s",
                   a->reading->file.path, field->name, shape, one, other, list);
}

/* Runs that are stacked in one array are told how to be given. */
static kbass_status refuse_dimensions(const grid *g, const kb_view *time, const kb_view *field)
{
    const kb_arrangement *a = g->arrangement;
    char list[KB_VIEWS_SIZE];
    size_t n_along = 0;
    for (size_t i = 0; i < field->n_dims; i++) n_along += field->dims[i] == time->dims[0];
    if (field->n_dims != 3 || !n_along) return fail_with_list(a, "no axes for the dimensions of", field->name);
    kb_list_views(a, list, sizeof list);
    return kb_fail(
        a->reading->error, KBASS_ERROR_DATA,
        "%s: no axes for the dimensions of \"%.100s\": fields over space need them beside it; if a dimension "
        "counts runs, save each into a file of its own and give these together; there are: %s",
        a->reading->file.path, field->name, list);
}

static int by_name(const void *left, const void *right)
{
    const kb_view *a = *(kb_view *const *)left, *b = *(kb_view *const *)right;
    int order = strcasecmp(a->name, b->name);
    return order ? order : strcmp(a->name, b->name);
}

/* The axes that the field's dimensions single out, space by name. */
static kbass_status infer_axes(grid *g, kb_view *time, const kb_view *field)
{
    assignment best;
    list_choices(g, time, field);
    if (!assign(g, field, &best)) return refuse_dimensions(g, time, field);
    if (best.n_best > 1) return ask_for_order(g, field, &best);
    kb_view *chosen[MOST_CHOICES] = {time};
    size_t n = 1;
    for (size_t i = 0; i < field->n_dims; i++)
        if (best.along[i] != COMPONENTS && best.along[i] != 0) chosen[n++] = g->axes[best.along[i]];
    qsort(chosen + 1, n - 1, sizeof *chosen, by_name);
    if (n > KBASS_MAX_AXES) return fail_with_list(g->arrangement, "more than three axes of space for", field->name);
    memcpy(g->axes, chosen, sizeof chosen);
    g->n_axes = n;
    return KBASS_OK;
}

/* The largest, or the one that was asked for. */
kb_view *kb_leading_view(const kb_arrangement *a)
{
    kb_view *leading = NULL;
    for (size_t i = 0; i < a->n_views; i++)
        if (kb_view_is_asked(a, &a->views[i]) && (!leading || a->views[i].n_dims > leading->n_dims))
            leading = &a->views[i];
    return leading;
}

/* ---------------------------------------------------------------- fields */

static bool is_axis(const grid *g, const kb_view *v)
{
    for (size_t i = 0; i < g->n_axes; i++)
        if (g->axes[i] == v) return true;
    return false;
}

static void note_field(kb_arrangement *a, const grid *g, const kb_view *v, const assignment *run)
{
    char shape[100];
    kb_array_shape(v->array, shape, sizeof shape);
    kb_arrangement_note(a, "%s%s (%s) runs over ", *a->note ? "; " : "", v->name, shape);
    for (size_t i = 0; i < v->n_dims; i++)
        kb_arrangement_note(a, "%s%s", i ? ", " : "",
                            run->along[i] == COMPONENTS ? "components" : g->axes[run->along[i]]->name);
}

/* All that run along every axis; from now on the axes are settled, and their order that of the leading field. */
static kbass_status take_fields(grid *g, const kb_view *leading)
{
    kb_arrangement *a = g->arrangement;
    assignment first;
    g->fields = KB_NEW(kb_view *, a->n_views);
    g->runs = KB_NEW(assignment, a->n_views);
    if (!g->fields || !g->runs) return kb_out_of_memory(a->reading->error, "the fields");
    bool was_given = g->is_ordered;
    g->is_ordered = true;
    if (!was_given && assign(g, leading, &first))
        for (size_t i = 0; i < leading->n_dims; i++)
            if (first.along[i] != COMPONENTS) g->order[first.along[i]] = i;
    for (size_t i = 0; i < a->n_views; i++) {
        kb_view *v = &a->views[i];
        bool is_field =
            !is_axis(g, v) && !v->is_elsewhere && kb_view_is_asked(a, v) && assign(g, v, &g->runs[g->n_fields]);
        if (is_field) note_field(a, g, v, &g->runs[g->n_fields]);
        if (is_field) g->fields[g->n_fields++] = v;
        v->is_used |= is_field || is_axis(g, v);
    }
    if (g->n_fields) return KBASS_OK;
    return fail_with_list(a, "no field that runs along all axes beside", g->axes[0]->name);
}

static size_t components_of(const kb_view *v, const assignment *run, size_t *stride)
{
    for (size_t i = 0; i < v->n_dims; i++)
        if (run->along[i] == COMPONENTS) {
            *stride = v->strides[i];
            return v->dims[i];
        }
    *stride = 0;
    return 1;
}

/* Axes, then the fields' components, u or u1, u2, ..., as the file has them. */
static bool list_names(const grid *g, char **names)
{
    size_t n = 0, stride = 0;
    for (size_t i = 0; i < g->n_axes; i++)
        if (!(names[n++] = kb_strdup(g->axes[i]->name))) return false;
    for (size_t i = 0; i < g->n_fields; i++) {
        size_t n_components = components_of(g->fields[i], &g->runs[i], &stride);
        for (size_t k = 0; k < n_components; k++) {
            char name[KB_LONGEST_NAME + 24];
            if (n_components == 1) snprintf(name, sizeof name, "%s", g->fields[i]->name);
            else snprintf(name, sizeof name, "%s%zu", g->fields[i]->name, k + 1);
            if (!(names[n++] = kb_strdup(name))) return false;
        }
    }
    return true;
}

static kbass_status name_everything(grid *g)
{
    const kb_reading *r = g->arrangement->reading;
    kb_roles roles = {.place = r->file.path, .n = g->n_axes, .n_axes = g->n_axes};
    size_t stride = 0;
    for (size_t i = 0; i < g->n_axes; i++) roles.axes[i] = i;
    for (size_t i = 0; i < g->n_fields; i++) roles.n += components_of(g->fields[i], &g->runs[i], &stride);
    char **names = KB_NEW(char *, roles.n);
    g->is_left_out = KB_NEW(bool, roles.n);
    roles.names = names;
    bool all = names && g->is_left_out && list_names(g, names);
    kbass_status status = all ? kb_name_as_wished(r, &roles, g->is_left_out, g->arrangement->data)
                              : kb_out_of_memory(r->error, "the names");
    for (size_t i = 0; names && i < roles.n; i++) kb_free(names[i]);
    kb_free(names);
    return status;
}

/* ---------------------------------------------------------------- numbers */

static kbass_status check_axis(const kb_arrangement *a, const kb_view *axis)
{
    for (size_t i = 0; i < axis->dims[0]; i++) {
        double number = 0;
        kb_view_read(axis, i, 1, &number);
        if (!isfinite(number))
            return kb_fail(a->reading->error, KBASS_ERROR_DATA,
                           "%s: axis \"%.100s\": number %zu is %g, it must be finite", a->reading->file.path,
                           axis->name, i + 1, number);
    }
    return KBASS_OK;
}

static kbass_status load_everything(grid *g)
{
    kb_arrangement *a = g->arrangement;
    kbass_status status = KBASS_OK;
    for (size_t i = 0; status == KBASS_OK && i < g->n_axes; i++) status = kb_source_load(&a->source, g->axes[i]->array);
    for (size_t i = 0; status == KBASS_OK && i < g->n_fields; i++) {
        status = kb_source_load(&a->source, g->fields[i]->array);
        if (status == KBASS_OK && g->fields[i]->array->owned)
            status = kb_reading_tell(a->reading, 0.5 * (double)(i + 1) / (double)g->n_fields);
    }
    for (size_t i = 0; status == KBASS_OK && i < g->n_axes; i++) status = check_axis(a, g->axes[i]);
    return status;
}

/* The field's component, or an axis, as a column over all axes. */
static kb_view spread(const grid *g, const kb_view *v, const assignment *run, size_t component)
{
    kb_view column = {.name = v->name, .array = v->array, .n_dims = g->n_axes, .shift = v->shift};
    for (size_t i = 0; i < g->n_axes; i++) column.dims[i] = g->axes[i]->dims[0];
    for (size_t i = 0; i < v->n_dims; i++)
        if (run->along[i] == COMPONENTS) column.shift += component * v->strides[i];
        else column.strides[run->along[i]] = v->strides[i];
    return column;
}

static void list_columns(const grid *g, kb_column *columns)
{
    size_t n = 0, state = 0, stride = 0, place = g->n_axes;
    for (size_t i = 0; i < g->n_axes; i++)
        columns[n++] = (kb_column){spread(g, g->axes[i], &(assignment){.along = {i}}, 0), true, i};
    for (size_t i = 0; i < g->n_fields; i++)
        for (size_t k = 0; k < components_of(g->fields[i], &g->runs[i], &stride); k++)
            if (!g->is_left_out[place++])
                columns[n++] = (kb_column){spread(g, g->fields[i], &g->runs[i], k), false, state++};
}

static kbass_status fail_at_time(const grid *g, const kb_filling *f)
{
    const kbass_data *data = g->arrangement->data;
    const kb_column *bad = &f->columns[f->bad_column];
    double time = 0;
    char at[KB_NUMBER_SIZE];
    kb_view_read(&f->columns[0].view, f->bad_row, 1, &time);
    kb_number_round(time, 10, at);
    return kb_fail(g->arrangement->reading->error, KBASS_ERROR_DATA,
                   "%s: \"%.100s\" is infinite at %s = %s (use NaN for missing)", g->arrangement->reading->file.path,
                   data->state_names[bad->place], data->time_name, at);
}

static kbass_status fill(const grid *g)
{
    size_t n_columns = g->n_axes + g->arrangement->data->n_states;
    kb_filling f = {
        .arrangement = g->arrangement, .n_rows = 1, .n_columns = n_columns, .columns = KB_NEW(kb_column, n_columns)};
    if (!f.columns) return kb_out_of_memory(g->arrangement->reading->error, "the columns");
    for (size_t i = 0; i < g->n_axes; i++) f.n_rows *= g->axes[i]->dims[0]; /* no more than the field has numbers */
    list_columns(g, f.columns);
    kbass_status status = kb_fill(&f);
    if (f.is_bad) status = fail_at_time(g, &f);
    kb_free(f.columns);
    return status;
}

/* ---------------------------------------------------------------- many numbers */

/* More values than are asked into memory, all of them. */
static bool is_large(const grid *g)
{
    const kb_reading *r = g->arrangement->reading;
    double values = (double)g->arrangement->data->n_states;
    for (size_t i = 0; i < g->n_axes; i++) values *= (double)g->axes[i]->dims[0];
    return r->most_values && values > (double)r->most_values && g->n_axes > 1 && !r->within && r->every <= 1 && !r->run;
}

/* They stay in the file, where their axes ascend. */
static kbass_status leave_in_file(const grid *g, bool *is_done)
{
    kb_arrangement *a = g->arrangement;
    size_t n_states = a->data->n_states;
    kbass_status status = KBASS_OK;
    kb_column *columns = KB_NEW(kb_column, g->n_axes + n_states);
    kb_view *fields = KB_NEW(kb_view, n_states);
    if (!columns || !fields) status = kb_out_of_memory(a->reading->error, "the columns");
    for (size_t i = 0; status == KBASS_OK && i < g->n_axes; i++) status = kb_source_load(&a->source, g->axes[i]->array);
    for (size_t i = 0; status == KBASS_OK && i < g->n_axes; i++) status = check_axis(a, g->axes[i]);
    if (status == KBASS_OK) {
        list_columns(g, columns);
        for (size_t i = 0; i < n_states; i++) fields[i] = columns[g->n_axes + i].view;
        status = kb_tiles_of_arrays(a, g->n_axes, g->axes, n_states, fields, is_done);
    }
    kb_free(columns);
    kb_free(fields);
    return status;
}

kbass_status kb_arrange_grid(kb_arrangement *a, kb_view *time)
{
    grid g = {.arrangement = a};
    kb_view *leading = kb_leading_view(a);
    kbass_status status = leading ? KBASS_OK : fail_with_list(a, "no array of numbers", a->field);
    if (status == KBASS_OK) status = a->reading->axes ? take_given_axes(&g, time) : infer_axes(&g, time, leading);
    if (status == KBASS_OK) status = take_fields(&g, leading);
    if (status == KBASS_OK) status = name_everything(&g);
    bool is_left = false;
    if (status == KBASS_OK && is_large(&g)) status = leave_in_file(&g, &is_left);
    if (status == KBASS_OK && !is_left) status = load_everything(&g);
    if (status == KBASS_OK && !is_left) status = fill(&g);
    kb_free(g.fields);
    kb_free(g.runs);
    kb_free(g.is_left_out);
    return status;
}
