/* Rows in their order: empty ones dropped, sorted by time and place, those of one place joined. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/status.h"
#include "data/data.h"

typedef struct {
    double at[KBASS_MAX_AXES];
    size_t row;
} place;

static int compare_places(const void *left, const void *right)
{
    const place *a = left, *b = right;
    for (size_t i = 0; i < KBASS_MAX_AXES; i++)
        if (a->at[i] != b->at[i]) return a->at[i] < b->at[i] ? -1 : 1;
    return a->row < b->row ? -1 : a->row > b->row;
}

static place place_of(const kbass_data *data, size_t row)
{
    place p = {.row = row};
    for (size_t axis = 0; axis < data->n_axes; axis++) p.at[axis] = kb_data_coordinate(data, row, axis);
    return p;
}

static void take_places(kbass_data *data, const place *order)
{
    size_t n_space = data->n_axes - 1;
    for (size_t i = 0; i < data->n_rows; i++) {
        data->times[i] = order[i].at[0];
        for (size_t k = 0; k < n_space; k++) data->positions[i * n_space + k] = order[i].at[k + 1];
    }
}

static kbass_status sort_rows(kbass_data *data, kbass_error *error)
{
    size_t n = data->n_rows, width = data->n_states;
    place *order = KB_NEW(place, n);
    double *values = KB_NEW(double, n *width);
    if (!order || !values) {
        kb_free(order);
        kb_free(values);
        return kb_out_of_memory(error, "sorting the rows");
    }
    for (size_t i = 0; i < n; i++) order[i] = place_of(data, i);
    qsort(order, n, sizeof *order, compare_places);
    for (size_t i = 0; i < n; i++)
        memcpy(values + i * width, data->values + order[i].row * width, width * sizeof *values);
    take_places(data, order);
    kb_free(data->values);
    kb_free(order);
    data->values = values;
    return KBASS_OK;
}

static bool is_sorted(const kbass_data *data)
{
    for (size_t i = 1; i < data->n_rows; i++) {
        place before = place_of(data, i - 1), here = place_of(data, i);
        if (compare_places(&before, &here) > 0) return false;
    }
    return true;
}

static void drop_empty_rows(kbass_data *data)
{
    size_t kept = 0, width = data->n_states, n_space = data->n_axes - 1;
    for (size_t row = 0; row < data->n_rows; row++) {
        const double *values = data->values + row * width;
        size_t missing = 0;
        for (size_t i = 0; i < width; i++) missing += isnan(values[i]) != 0;
        if (missing == width) continue;
        data->times[kept] = data->times[row];
        for (size_t k = 0; k < n_space; k++) data->positions[kept * n_space + k] = data->positions[row * n_space + k];
        memmove(data->values + kept * width, values, width * sizeof *values);
        kept++;
    }
    data->n_rows = kept;
}

static bool agree(size_t width, const double *a, const double *b)
{
    for (size_t i = 0; i < width; i++)
        if (!isnan(a[i]) && !isnan(b[i]) && a[i] != b[i]) return false;
    return true;
}

/* Rows of fields at one place that do not contradict each other are one row. */
static void join_rows(kbass_data *data)
{
    size_t kept = 0, width = data->n_states, n_space = data->n_axes - 1;
    for (size_t row = 0; n_space && row < data->n_rows; row++) {
        double *values = data->values + row * width, *last = kept ? data->values + (kept - 1) * width : NULL;
        if (last && kb_data_same_place(data, kept - 1, row) && agree(width, last, values)) {
            for (size_t i = 0; i < width; i++)
                if (isnan(last[i])) last[i] = values[i];
            continue;
        }
        data->times[kept] = data->times[row];
        memmove(data->positions + kept * n_space, data->positions + row * n_space, n_space * sizeof *data->positions);
        memmove(data->values + kept++ * width, values, width * sizeof *values);
    }
    if (n_space) data->n_rows = kept;
}

kbass_status kb_data_settle(kbass_data *data, kbass_error *error)
{
    kbass_status status = KBASS_OK;
    drop_empty_rows(data);
    if (!data->n_rows)
        return kb_fail(error, KBASS_ERROR_DATA, "%s%sno measured values: every cell is empty or NaN", data->source,
                       *data->source ? ": " : "");
    if (!is_sorted(data)) status = sort_rows(data, error);
    if (status == KBASS_OK) join_rows(data);
    return status;
}
