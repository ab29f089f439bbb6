#include "data/data.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/name.h"
#include "base/status.h"
#include "data/tiles.h"

size_t kbass_data_rows(const kbass_data *data) { return data->n_rows; }
size_t kbass_data_states(const kbass_data *data) { return data->n_states; }
const double *kbass_data_times(const kbass_data *data) { return data->times; }
const double *kbass_data_positions(const kbass_data *data) { return data->positions; }
size_t kbass_data_axes(const kbass_data *data) { return data->n_axes; }
const double *kbass_data_values(const kbass_data *data) { return data->values; }
const char *kbass_data_sha256(const kbass_data *data) { return data->sha256; }

const char *kbass_data_state_name(const kbass_data *data, size_t state)
{
    return state < data->n_states ? data->state_names[state] : NULL;
}

const char *kbass_data_axis_name(const kbass_data *data, size_t axis)
{
    return axis < data->n_axes ? data->axis_names[axis] : NULL;
}

const char *kbass_data_time_origin(const kbass_data *data) { return data->time_origin; }

static const kb_caption *caption_of(const kbass_data *data, const char *name)
{
    for (size_t i = 0; i < data->n_axes; i++)
        if (!strcmp(data->axis_names[i], name)) return &data->axis_captions[i];
    for (size_t i = 0; data->state_captions && i < data->n_states; i++)
        if (!strcmp(data->state_names[i], name)) return &data->state_captions[i];
    return NULL;
}

const char *kbass_data_face(const kbass_data *data, const char *name)
{
    const kb_caption *caption = caption_of(data, name);
    return caption && caption->face ? caption->face : name;
}

const char *kb_data_unit(const kbass_data *data, const char *name)
{
    const kb_caption *caption = caption_of(data, name);
    return caption ? caption->unit : NULL;
}

static void free_names(size_t n, char **names)
{
    for (size_t i = 0; names && i < n; i++) kb_free(names[i]);
    kb_free(names);
}

const char *const kb_asked_names[KB_ASKED] = {"time",   "axes",  "run",     "use",    "ignore",
                                              "rename", "dates", "missing", "within", "every"};

static void free_caption(kb_caption *caption)
{
    kb_free(caption->face);
    kb_free(caption->unit);
}

void kb_data_forget_state(kbass_data *data, size_t state)
{
    size_t behind = data->n_states - state - 1;
    kb_free(data->state_names[state]);
    memmove(data->state_names + state, data->state_names + state + 1, behind * sizeof *data->state_names);
    if (data->state_captions) {
        free_caption(&data->state_captions[state]);
        memmove(data->state_captions + state, data->state_captions + state + 1, behind * sizeof *data->state_captions);
    }
    data->n_states--;
}

void kbass_data_destroy(kbass_data *data)
{
    if (!data) return;
    for (size_t i = 0; data->state_captions && i < data->n_states; i++) free_caption(&data->state_captions[i]);
    for (size_t i = 0; i < KBASS_MAX_AXES; i++) free_caption(&data->axis_captions[i]);
    for (size_t i = 0; i < KB_ASKED; i++) kb_free(data->asked[i]);
    kb_free(data->state_captions);
    kb_free(data->time_origin);
    free_names(data->n_states, data->state_names);
    free_names(data->n_axes, data->axis_names);
    free_names(data->n_runs, data->run_names);
    free_names(data->n_labels, data->labels);
    kb_free(data->run_start);
    kb_free(data->part);
    kb_free(data->run_column);
    kb_free(data->sigma_columns);
    kb_free(data->times);
    kb_free(data->positions);
    kb_free(data->values);
    kb_free(data->sigma);
    kb_free(data->source);
    kb_free(data->note);
    kb_tiles_release(data->tiles);
    kb_free(data);
}

bool kb_data_is_name(const char *name) { return kb_is_identifier(name); }

/* Time alone may have any name; axes of space, and time beside them, stand in equations. */
static kbass_status check_axes(size_t n_axes, const char *const *names, kbass_error *error)
{
    if (n_axes < 1 || n_axes > KBASS_MAX_AXES)
        return kb_fail(error, KBASS_ERROR_ARGUMENT, "%zu axes: time and up to %d of space are needed", n_axes,
                       KBASS_MAX_AXES - 1);
    if (n_axes == 1 && (!*names[0] || strpbrk(names[0], "\r\n")))
        return kb_fail(error, KBASS_ERROR_ARGUMENT, "the name of time is \"%s\", one line is needed", names[0]);
    for (size_t i = 0; n_axes > 1 && i < n_axes; i++) {
        if (!names[i] || !kb_data_is_name(names[i]))
            return kb_fail(error, KBASS_ERROR_ARGUMENT,
                           "axis %zu: \"%s\" cannot stand in equations: a name needs letters, digits or _", i + 1,
                           names[i] ? names[i] : "");
        for (size_t k = 0; k < i; k++)
            if (!strcmp(names[i], names[k]))
                return kb_fail(error, KBASS_ERROR_ARGUMENT, "two axes have the name \"%s\"", names[i]);
    }
    return KBASS_OK;
}

static kbass_status check_states(size_t n_axes, const char *const *axes, size_t n_states, const char *const *names,
                                 kbass_error *error)
{
    for (size_t i = 0; i < n_states; i++) {
        if (!names[i] || !kb_data_is_name(names[i]))
            return kb_fail(error, KBASS_ERROR_ARGUMENT,
                           "%s %zu: \"%s\" cannot stand in equations: a name needs letters, digits or _",
                           n_axes > 1 ? "field" : "state", i + 1, names[i] ? names[i] : "");
        if (kb_is_reserved(names[i]))
            return kb_fail(error, KBASS_ERROR_ARGUMENT,
                           "%s %zu: equations understand \"%s\" otherwise: it needs another name",
                           n_axes > 1 ? "field" : "state", i + 1, names[i]);
        bool taken = false;
        for (size_t k = 0; k < n_axes; k++) taken |= strcmp(names[i], axes[k]) == 0;
        for (size_t k = 0; k < i; k++) taken |= strcmp(names[i], names[k]) == 0;
        if (taken) return kb_fail(error, KBASS_ERROR_ARGUMENT, "two columns have the name \"%s\"", names[i]);
    }
    return KBASS_OK;
}

/* Of the whole table, whose parts are the caller's. */
static kbass_status check_numbers(const kbass_data *table, kbass_error *error)
{
    for (size_t row = 0; row < table->n_rows; row++) {
        for (size_t axis = 0; axis < table->n_axes; axis++) {
            double at = kb_data_coordinate(table, row, axis);
            const char *name = axis ? table->axis_names[axis] : "time";
            if (!isfinite(at))
                return kb_fail(error, KBASS_ERROR_DATA, "row %zu: the %s is %g, it must be finite", row + 1, name, at);
        }
        for (size_t i = 0; i < table->n_states; i++)
            if (isinf(table->values[row * table->n_states + i]))
                return kb_fail(error, KBASS_ERROR_DATA, "row %zu: \"%s\" is infinite (use NaN for missing)", row + 1,
                               table->state_names[i]);
    }
    return KBASS_OK;
}

static kbass_status check_table(const kbass_data *table, kbass_error *error)
{
    const char *const *axes = (const char *const *)table->axis_names;
    const char *const *states = (const char *const *)table->state_names;
    if (!table->n_rows || !table->n_states)
        return kb_fail(error, KBASS_ERROR_DATA, "%zu rows of %zu states: at least one of each is needed", table->n_rows,
                       table->n_states);
    kbass_status status = check_axes(table->n_axes, axes, error);
    if (status == KBASS_OK) status = check_states(table->n_axes, axes, table->n_states, states, error);
    if (status == KBASS_OK) status = check_numbers(table, error);
    return status;
}

static char **copy_names(size_t n, char *const *names)
{
    char **copy = KB_NEW(char *, n);
    bool all = copy != NULL;
    for (size_t i = 0; all && i < n; i++) all = (copy[i] = kb_strdup(names[i])) != NULL;
    if (all) return copy;
    free_names(n, copy);
    return NULL;
}

static double *copy_numbers(size_t n, const double *numbers)
{
    double *copy = KB_NEW(double, n);
    if (copy && n) memcpy(copy, numbers, n * sizeof *copy);
    return copy;
}

static bool copy_runs(const kbass_data *table, kbass_data *data)
{
    if (!table->n_runs) return true;
    data->run_names = copy_names(table->n_runs, table->run_names);
    data->run_start = KB_NEW(size_t, table->n_runs + 1);
    if (data->run_names) data->n_runs = table->n_runs;
    if (!data->run_names || !data->run_start) return false;
    memcpy(data->run_start, table->run_start, (table->n_runs + 1) * sizeof *data->run_start);
    return true;
}

static bool copy_caption(const kb_caption *from, kb_caption *to)
{
    if (from->face) to->face = kb_strdup(from->face);
    if (from->unit) to->unit = kb_strdup(from->unit);
    return (to->face || !from->face) && (to->unit || !from->unit);
}

static bool copy_captions(const kbass_data *table, kbass_data *data)
{
    bool all = true;
    for (size_t i = 0; all && i < KBASS_MAX_AXES; i++)
        all = copy_caption(&table->axis_captions[i], &data->axis_captions[i]);
    for (size_t i = 0; all && i < KB_ASKED; i++)
        if (table->asked[i]) all = (data->asked[i] = kb_strdup(table->asked[i])) != NULL;
    if (table->time_origin) all = all && (data->time_origin = kb_strdup(table->time_origin));
    if (!table->state_captions) return all;
    data->state_captions = KB_NEW(kb_caption, table->n_states);
    for (size_t i = 0; all && data->state_captions && i < table->n_states; i++)
        all = copy_caption(&table->state_captions[i], &data->state_captions[i]);
    return all && data->state_captions;
}

static kbass_status copy_table(const kbass_data *table, const char *source, kbass_data **out, kbass_error *error)
{
    kbass_data *data = *out = KB_NEW(kbass_data, 1);
    if (!data) return kb_out_of_memory(error, "the data");
    *data = (kbass_data){.n_rows = table->n_rows, .n_states = table->n_states, .n_axes = table->n_axes};
    data->n_hidden = table->n_hidden;
    data->source = kb_strdup(source);
    data->note = kb_strdup(table->note ? table->note : "");
    data->axis_names = copy_names(table->n_axes, table->axis_names);
    data->state_names = copy_names(table->n_states, table->state_names);
    data->times = copy_numbers(table->n_rows, table->times);
    data->values = copy_numbers(table->n_rows * table->n_states, table->values);
    if (table->part) data->part = kb_strdup(table->part);
    if (table->run_column) data->run_column = kb_strdup(table->run_column);
    if (table->sigma_columns) data->sigma_columns = kb_strdup(table->sigma_columns);
    if (table->sigma) data->sigma = copy_numbers(table->n_rows * table->n_states, table->sigma);
    if (table->n_axes > 1) data->positions = copy_numbers(table->n_rows * (table->n_axes - 1), table->positions);
    bool all = data->source && data->note && data->axis_names && data->state_names && data->times && data->values &&
               (data->positions || table->n_axes == 1) && (data->part || !table->part) &&
               (data->run_column || !table->run_column) && (data->sigma_columns || !table->sigma_columns) &&
               (data->sigma || !table->sigma) && copy_runs(table, data) && copy_captions(table, data);
    if (!all) return kb_out_of_memory(error, "the data");
    data->time_name = data->axis_names[0];
    return KBASS_OK;
}

kbass_status kbass_data_create_axes(size_t n_rows, size_t n_axes, size_t n_fields, const double *times,
                                    const double *positions, const double *values, const char *const *axis_names,
                                    const char *const *field_names, kbass_data **out, kbass_error *error)
{
    kbass_data *data = NULL;
    const kbass_data table = {.n_rows = n_rows,
                              .n_states = n_fields,
                              .n_axes = n_axes,
                              .axis_names = (char **)axis_names,
                              .state_names = (char **)field_names,
                              .times = (double *)times,
                              .positions = (double *)positions,
                              .values = (double *)values};
    kbass_status status = check_table(&table, error);
    if (status == KBASS_OK) status = copy_table(&table, "", &data, error);
    if (status == KBASS_OK) status = kb_data_settle(data, error);
    if (status == KBASS_OK) status = kb_data_hash(data, error);

    if (status == KBASS_OK) *out = data;
    else kbass_data_destroy(data);
    return status;
}

kbass_status kbass_data_create(size_t n_rows, size_t n_states, const double *times, const double *values,
                               const char *time_name, const char *const *state_names, kbass_data **out,
                               kbass_error *error)
{
    const char *axes[] = {time_name ? time_name : "t"};
    return kbass_data_create_axes(n_rows, 1, n_states, times, NULL, values, axes, state_names, out, error);
}

kbass_status kb_data_copy(const kbass_data *data, kbass_data **out, kbass_error *error)
{
    kbass_data *copy = NULL;
    kbass_status status = copy_table(data, data->source ? data->source : "", &copy, error);
    if (status == KBASS_OK) {
        memcpy(copy->sha256, data->sha256, sizeof data->sha256);
        copy->tiles = kb_tiles_hold(data->tiles);
        copy->noise_share = data->noise_share;
        *out = copy;
    } else {
        kbass_data_destroy(copy);
    }
    return status;
}
