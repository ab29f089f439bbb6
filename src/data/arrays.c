/* Files of named arrays: whether they are a long table, fields on a grid, fields at points, or one array without name.
 */
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/number.h"
#include "base/status.h"
#include "data/arrange.h"

/* A grid has an array with more dimensions than its time. */
static bool is_grid(const kb_arrangement *a, const kb_view *time)
{
    for (size_t i = 0; i < a->n_views; i++) {
        const kb_view *v = &a->views[i];
        if (v->n_dims > time->n_dims && kb_view_is_asked(a, v)) return true;
    }
    return false;
}

static void note_unused(kb_arrangement *a)
{
    bool is_first = true;
    for (size_t i = 0; i < a->n_views; i++) {
        if (a->views[i].is_used || a->views[i].is_elsewhere || a->field) continue;
        char shape[100];
        kb_array_shape(a->views[i].array, shape, sizeof shape);
        kb_arrangement_note(a, "%s%s (%s)",
                            !is_first  ? ", "
                            : *a->note ? "; not used: "
                                       : "not used: ",
                            a->views[i].name, shape);
        is_first = false;
    }
}

/* What cannot be read but runs along time may be the field that is meant. */
static kbass_status refuse_unread(const kb_arrangement *a, const kb_view *time)
{
    for (size_t i = 0; !a->field && i < a->source.n_arrays; i++) {
        const kb_array *array = &a->source.arrays[i];
        bool fits = false;
        for (size_t k = 0; k < array->n_dims; k++) fits |= array->dims[k] == time->dims[0] && array->dims[k] > 1;
        if (!fits || !array->is_unread || kb_array_is_aside(array)) continue;
        char shape[100];
        kb_array_shape(array, shape, sizeof shape);
        return kb_fail(a->reading->error, KBASS_ERROR_DATA,
                       "%s: \"%.60s\" (%s) runs along \"%.60s\" and cannot be read: %s; to read another array alone, "
                       "name it as in file:NAME",
                       a->reading->file.path, array->name, shape, time->name, array->trouble);
    }
    return KBASS_OK;
}

/* Numbers that ascend in even steps: neither a field's boundary nor a state does. */
static bool is_even(kb_arrangement *a, const kb_view *v, size_t n, size_t stride)
{
    double first = 0, now = 0, before = 0, step = 0;
    kb_view column = {.array = v->array, .n_dims = 1, .dims = {n}, .strides = {stride}, .shift = v->shift};
    if (kb_source_load(&a->source, v->array) != KBASS_OK) return false;
    for (size_t i = 0; i < n; i++, before = now) {
        kb_view_read(&column, i, 1, &now);
        if (i == 0) first = now;
        if (i == 1) step = now - first;
        if (!isfinite(now) || (i && !(fabs(now - before - step) <= 1e-3 * step)) || (i == 1 && !(step > 0)))
            return false;
    }
    return n > 3;
}

/* The only array is a table whose first column is time, or, as Simulink writes it, whose first row is. */
static bool is_table_with_time(kb_arrangement *a)
{
    kb_view *v = &a->views[0];
    bool is_alone = a->n_views == 1 && v->n_dims == 2 && !a->reading->time && !a->reading->axes;
    if (!is_alone || v->dims[0] < 2 || v->dims[1] < 2 || kb_is_time_name(v->name)) return false;
    if (v->dims[0] > v->dims[1]) return is_even(a, v, v->dims[0], v->strides[0]);
    if (v->dims[0] == v->dims[1] || !is_even(a, v, v->dims[1], v->strides[1])) return false;
    size_t dim = v->dims[0], stride = v->strides[0];
    v->dims[0] = v->dims[1];
    v->strides[0] = v->strides[1];
    v->dims[1] = dim;
    v->strides[1] = stride;
    return true;
}

static bool is_state(const kb_arrangement *a, const kb_view *v)
{
    for (size_t i = 0; i < a->data->n_states; i++)
        if (strcmp(a->data->state_names[i], v->name) == 0) return true;
    return false;
}

/* Several series in a cell are states of one experiment, or experiments one beside another: nothing but their owner
   tells. Fields in a cell are fields of one system, as weak SINDy's files have them. */
static kbass_status refuse_cells(const kb_arrangement *a)
{
    const kb_view *first = NULL;
    for (size_t i = 0; a->data->n_axes == 1 && !a->reading->use && !a->field && i < a->n_views; i++) {
        const kb_view *v = &a->views[i];
        if (!v->array->is_of_cell || v->array->portion == KB_IMAGINARY_PART || !is_state(a, v)) continue;
        if (!first) first = v;
        size_t length = strcspn(first->name, "_") + 1;
        if (v == first || strncmp(v->name, first->name, length) != 0) continue;
        return kb_fail(
            a->reading->error, KBASS_ERROR_DATA,
            "%s: %s and %s are in one cell: if they are states of one experiment, say so by --use %s,%s ...; if "
            "each is an experiment, read one by --use %s, or save a table with a column that numbers the runs",
            a->reading->file.path, first->name, v->name, first->name, v->name, first->name);
    }
    return KBASS_OK;
}

static kbass_status arrange(kb_arrangement *a)
{
    kb_view *time = NULL;
    double step = 0;
    bool has_step = a->reading->time && kb_number_parse(a->reading->time, &step);
    bool has_name = *a->views[0].array->name && strcmp(a->views[0].array->name, "_re") != 0;
    if (!has_name && kb_axes_have_steps(a->reading->axes)) return kb_arrange_even(a);
    if (!has_name && !has_step) return kb_arrange_unnamed(a);
    if (is_table_with_time(a)) {
        kb_arrangement_note(a, "%sno array is time: the first column of %.60s is taken for it", *a->note ? "; " : "",
                            a->views[0].name);
        return kb_arrange_unnamed(a);
    }
    if (!has_name) kb_views_name(a);
    kbass_status status = kb_time_find(a, &time);
    if (status == KBASS_OK) status = refuse_unread(a, time);
    if (status != KBASS_OK) return status;
    kb_meshes_reduce(a, time);
    bool is_done = false;
    status = kb_arrange_points(a, time, &is_done);
    if (!is_done)
        status = time->n_dims == 1 && is_grid(a, time) ? kb_arrange_grid(a, time) : kb_arrange_columns(a, time);
    if (status == KBASS_OK) status = refuse_cells(a);
    note_unused(a);
    return status;
}

kbass_status kb_read_arrays(kb_reading *reading, kbass_data *data)
{
    kb_arrangement a = {.reading = reading, .data = data};
    kbass_status status = kb_source_open(reading, &a.source);
    if (status == KBASS_OK) status = kb_select_views(&a);
    if (status == KBASS_OK) status = arrange(&a);
    if (status == KBASS_OK) {
        data->note = kb_strdup(a.note);
        if (!data->note) status = kb_out_of_memory(reading->error, "the data");
    }
    kb_source_close(&a.source);
    kb_free(a.steps.name);
    kb_free(a.steps.owned);
    for (size_t i = 0; i < KBASS_MAX_AXES; i++) {
        kb_free(a.even[i].name);
        kb_free(a.even[i].owned);
    }
    kb_free(a.views);
    return status;
}
