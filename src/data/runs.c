/* Several runs of one law in one table: rows by run, then time, then place. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/name.h"
#include "base/number.h"
#include "base/status.h"
#include "data/data.h"

size_t kbass_data_runs(const kbass_data *data) { return data->n_runs ? data->n_runs : 1; }

const char *kbass_data_run_name(const kbass_data *data, size_t run)
{
    return run < data->n_runs ? data->run_names[run] : NULL;
}

size_t kbass_data_run_start(const kbass_data *data, size_t run)
{
    return run < kbass_data_runs(data) ? kb_data_run_start(data, run) : data->n_rows;
}

kbass_data kb_data_run(const kbass_data *data, size_t run)
{
    return kb_data_rows(data, kb_data_run_start(data, run), kb_data_run_start(data, run + 1));
}

kbass_data kb_data_rows(const kbass_data *data, size_t first, size_t end)
{
    kbass_data view = *data;
    view.n_rows = end - first;
    view.n_runs = 0;
    view.times += first;
    if (view.positions) view.positions += first * (data->n_axes - 1);
    view.values += first * data->n_states;
    if (view.sigma) view.sigma += first * data->n_states;
    return view;
}

kbass_status kbass_data_pick(const kbass_data *data, size_t run, kbass_data **out, kbass_error *error)
{
    if (run >= kbass_data_runs(data))
        return kb_fail(error, KBASS_ERROR_ARGUMENT, "there is no run %zu, found %zu (the first is 0)", run,
                       kbass_data_runs(data));
    kbass_data view = kb_data_run(data, run);
    return kb_data_copy(&view, out, error);
}

static size_t find_state(const kbass_data *data, const char *name)
{
    size_t state = 0;
    while (state < data->n_states && strcmp(data->state_names[state], name) != 0) state++;
    return state;
}

size_t kb_data_find_state(const kbass_data *data, const char *name)
{
    size_t state = find_state(data, name);
    if (state < data->n_states) return state;
    for (state = 0; state < data->n_states && !kb_face_is(kbass_data_face(data, data->state_names[state]), name);)
        state++;
    return state;
}

static kbass_status allocate_runs(kbass_data *data, size_t n_runs, kbass_error *error)
{
    data->run_names = KB_NEW(char *, n_runs);
    data->run_start = KB_NEW(size_t, n_runs + 1);
    if (data->run_names) data->n_runs = n_runs;
    return data->run_names && data->run_start ? KBASS_OK : kb_out_of_memory(error, "the runs");
}

/* ---------------------------------------------------------------- a column that says which run */

typedef struct {
    double label;
    size_t row;
} member;

static int by_label(const void *left, const void *right)
{
    const member *a = left, *b = right;
    if (a->label != b->label) return a->label < b->label ? -1 : 1;
    return a->row < b->row ? -1 : a->row > b->row;
}

static int by_word(const void *left, const void *right)
{
    char *const *a = *(char *const *const *)left, *const *b = *(char *const *const *)right;
    return strcmp(*a, *b);
}

kbass_status kb_data_label(kbass_data *data, size_t state, size_t n, char *const *words, kbass_error *error)
{
    char *const **order = KB_NEW(char *const *, n);
    double *number = KB_NEW(double, n);
    data->labels = KB_NEW(char *, n);
    bool all = order && number && data->labels;
    if (data->labels) data->n_labels = n;
    for (size_t i = 0; all && i < n; i++) order[i] = &words[i];
    if (all) qsort(order, n, sizeof *order, by_word);
    for (size_t i = 0; all && i < n; i++) {
        number[order[i] - words] = (double)i;
        all = (data->labels[i] = kb_face_copy(*order[i])) != NULL;
    }
    for (size_t row = 0; all && row < data->n_rows; row++) {
        double *value = &data->values[row * data->n_states + state];
        if (!isnan(*value)) *value = number[(size_t)*value];
    }
    kb_free(order);
    kb_free(number);
    return all ? KBASS_OK : kb_out_of_memory(error, "the runs");
}

static kbass_status find_column(const kbass_data *data, const char *column, size_t *state, kbass_error *error)
{
    const char *source = data->source ? data->source : "", *colon = *source ? ": " : "";
    *state = kb_data_find_state(data, column);
    if (*state == data->n_states)
        return kb_fail(error, KBASS_ERROR_ARGUMENT, "%s%sno column \"%s\" that could say which run a row belongs to",
                       source, colon, column);
    if (data->n_states == 1)
        return kb_fail(error, KBASS_ERROR_DATA, "%s%sno states but the column of runs, \"%s\"", source, colon, column);
    for (size_t row = 0; row < data->n_rows; row++)
        if (isnan(data->values[row * data->n_states + *state]))
            return kb_fail(error, KBASS_ERROR_DATA, "%s%sthe run, \"%s\", is missing at %s = %g", source, colon, column,
                           data->time_name, data->times[row]);
    return KBASS_OK;
}

/* The rows in the members' order, without the column; rows where nothing else was measured are dropped. */
static kbass_status take_rows(kbass_data *data, size_t column, member *members, kbass_error *error)
{
    size_t n = data->n_rows, width = data->n_states - 1, space = data->n_axes - 1, kept = 0;
    double *times = KB_NEW(double, n), *values = KB_NEW(double, n *width);
    double *positions = space ? KB_NEW(double, n *space) : NULL;
    if (!times || !values || (space && !positions)) {
        kb_free(times);
        kb_free(values);
        kb_free(positions);
        return kb_out_of_memory(error, "the runs");
    }
    for (size_t i = 0; i < n; i++) {
        const double *row = data->values + members[i].row * data->n_states;
        double *out = values + kept * width;
        size_t missing = 0;
        memcpy(out, row, column * sizeof *out);
        memcpy(out + column, row + column + 1, (width - column) * sizeof *out);
        for (size_t k = 0; k < width; k++) missing += isnan(out[k]) != 0;
        if (missing == width) continue;
        times[kept] = data->times[members[i].row];
        for (size_t k = 0; k < space; k++) positions[kept * space + k] = data->positions[members[i].row * space + k];
        members[kept++] = members[i];
    }
    kb_free(data->times);
    kb_free(data->positions);
    kb_free(data->values);
    kb_data_forget_state(data, column);
    data->times = times;
    data->positions = positions;
    data->values = values;
    data->n_rows = kept;
    return KBASS_OK;
}

static kbass_status name_runs(kbass_data *data, const member *members, kbass_error *error)
{
    size_t n = 0, run = 0;
    char text[KB_NUMBER_SIZE];
    for (size_t i = 0; i < data->n_rows; i++) n += i == 0 || members[i].label != members[i - 1].label;
    kbass_status status = allocate_runs(data, n, error);
    for (size_t i = 0; status == KBASS_OK && i < data->n_rows; i++) {
        if (i > 0 && members[i].label == members[i - 1].label) continue;
        text[kb_number_print(members[i].label, text)] = '\0';
        data->run_start[run] = i;
        data->run_names[run] = kb_strdup(data->labels ? data->labels[(size_t)members[i].label] : text);
        if (!data->run_names[run++]) status = kb_out_of_memory(error, "the runs");
    }
    if (status == KBASS_OK) data->run_start[n] = data->n_rows;
    return status;
}

kbass_status kbass_data_split(kbass_data *data, const char *column, kbass_error *error)
{
    size_t state = 0;
    if (data->n_runs) return kb_fail(error, KBASS_ERROR_ARGUMENT, "run: these data have runs already");
    kbass_status status = find_column(data, column, &state, error);
    if (status != KBASS_OK) return status;
    member *members = KB_NEW(member, data->n_rows);
    if (!members) return kb_out_of_memory(error, "the runs");
    for (size_t row = 0; row < data->n_rows; row++)
        members[row] = (member){data->values[row * data->n_states + state], row};
    qsort(members, data->n_rows, sizeof *members, by_label);
    status = take_rows(data, state, members, error);
    if (status == KBASS_OK && !data->n_rows)
        status = kb_fail(error, KBASS_ERROR_DATA, "no measured values beside the column of runs, \"%s\"", column);
    if (status == KBASS_OK) status = name_runs(data, members, error);
    if (status == KBASS_OK && !(data->run_column = kb_strdup(column))) status = kb_out_of_memory(error, "the runs");
    kb_free(members);
    return status;
}

/* ---------------------------------------------------------------- several tables */

static kbass_status check_part(const kbass_data *first, const kbass_data *part, const char *name, kbass_error *error)
{
    if (part->n_axes != first->n_axes)
        return kb_fail(error, KBASS_ERROR_DATA, "%s: found %zu %s, the first run has %zu: runs share their axes", name,
                       part->n_axes, part->n_axes == 1 ? "axis" : "axes", first->n_axes);
    for (size_t axis = 1; axis < first->n_axes; axis++)
        if (strcmp(part->axis_names[axis], first->axis_names[axis]) != 0)
            return kb_fail(error, KBASS_ERROR_DATA,
                           "%s: found axis \"%s\", the first run has \"%s\": runs share their axes", name,
                           part->axis_names[axis], first->axis_names[axis]);
    for (size_t i = 0; i < first->n_states; i++)
        if (find_state(part, first->state_names[i]) == part->n_states)
            return kb_fail(error, KBASS_ERROR_DATA,
                           "%s: no state \"%s\", which the first run has: runs share their states", name,
                           first->state_names[i]);
    for (size_t i = 0; i < part->n_states; i++)
        if (find_state(first, part->state_names[i]) == first->n_states)
            return kb_fail(error, KBASS_ERROR_DATA, "%s: state \"%s\" is not in the first run: runs share their states",
                           name, part->state_names[i]);
    return KBASS_OK;
}

/* "file", or "file:3" when it has runs of its own. */
static char *name_of(const kbass_data *part, size_t run, const char *name)
{
    const char *own = kbass_data_run_name(part, run);
    size_t size = strlen(name) + (own ? strlen(own) : 0) + 2;
    char *text = KB_NEW(char, size);
    if (text) snprintf(text, size, "%s%s%s", name, own ? ":" : "", own ? own : "");
    return text;
}

static kbass_status append_part(kbass_data *data, const kbass_data *part, const char *name, size_t *row, size_t *run,
                                kbass_error *error)
{
    for (size_t i = 0; i < kbass_data_runs(part); i++) {
        data->run_start[*run] = *row + kb_data_run_start(part, i);
        data->run_names[*run] = name_of(part, i, name);
        if (!data->run_names[(*run)++]) return kb_out_of_memory(error, "the runs");
    }
    size_t space = data->n_axes - 1;
    memcpy(data->times + *row, part->times, part->n_rows * sizeof *data->times);
    if (space) memcpy(data->positions + *row * space, part->positions, part->n_rows * space * sizeof *data->positions);
    for (size_t i = 0; i < data->n_states; i++) {
        size_t from = find_state(part, data->state_names[i]);
        for (size_t k = 0; k < part->n_rows; k++) {
            data->values[(*row + k) * data->n_states + i] = part->values[k * part->n_states + from];
            if (data->sigma)
                data->sigma[(*row + k) * data->n_states + i] =
                    part->sigma ? part->sigma[k * part->n_states + from] : NAN;
        }
    }
    *row += part->n_rows;
    return KBASS_OK;
}

/* Room for all rows, and the first part's names. */
static kbass_status begin_join(size_t n, const kbass_data *const *parts, kbass_data **out, kbass_error *error)
{
    size_t rows = 0, runs = 0, space = parts[0]->n_axes - 1;
    kbass_data *data = NULL;
    kbass_status status = kb_data_copy(parts[0], &data, error);
    if (status != KBASS_OK) return status;
    *out = data;
    for (size_t i = 0; i < data->n_runs; i++) kb_free(data->run_names[i]);
    kb_free(data->run_names);
    kb_free(data->run_start);
    kb_free(data->times);
    kb_free(data->positions);
    kb_free(data->values);
    kb_free(data->sigma);
    data->sigma = NULL;
    data->n_runs = 0;
    data->run_names = NULL;
    data->run_start = NULL;
    for (size_t i = 0; i < n; i++) rows += parts[i]->n_rows, runs += kbass_data_runs(parts[i]);
    data->n_rows = rows;
    data->times = KB_NEW(double, rows);
    data->positions = space ? KB_NEW(double, rows *space) : NULL;
    data->values = KB_NEW(double, rows * data->n_states);
    data->sigma = parts[0]->sigma ? KB_NEW(double, rows * data->n_states) : NULL;
    status = allocate_runs(data, runs, error);
    bool complete = data->times && data->values && (data->positions || !space) && (data->sigma || !parts[0]->sigma);
    return complete ? status : kb_out_of_memory(error, "the runs");
}

kbass_status kbass_data_join(size_t n, const kbass_data *const *parts, const char *const *names, kbass_data **out,
                             kbass_error *error)
{
    kbass_data *data = NULL;
    kbass_status status = n ? KBASS_OK : kb_fail(error, KBASS_ERROR_ARGUMENT, "no runs: at least one is needed");
    for (size_t i = 0; status == KBASS_OK && i < n; i++) status = check_part(parts[0], parts[i], names[i], error);
    if (status == KBASS_OK) status = begin_join(n, parts, &data, error);
    for (size_t i = 0, row = 0, run = 0; status == KBASS_OK && i < n; i++)
        status = append_part(data, parts[i], names[i], &row, &run, error);
    if (status == KBASS_OK) {
        data->run_start[data->n_runs] = data->n_rows;
        status = kb_data_hash(data, error);
    }
    if (status == KBASS_OK) *out = data;
    else kbass_data_destroy(data);
    return status;
}
