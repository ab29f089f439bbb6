#include "gp/record.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/status.h"
#include "gp/noise.h"

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median_gap(const kb_record *record, double *gaps)
{
    size_t n = 0;
    for (size_t i = 0; i < record->n_states; i++) {
        double last = NAN;
        for (size_t row = 0; row < record->n_rows; row++) {
            if (record->measured[row + i * record->n_rows] == 0) continue;
            if (record->time[row] > last) gaps[n++] = record->time[row] - last;
            last = record->time[row];
        }
    }
    qsort(gaps, n, sizeof *gaps, ascending);
    return n ? gaps[n / 2] : 1;
}

static void scale_state(kb_record *record, const kbass_data *data, size_t state)
{
    size_t n = record->n_rows, states = record->n_states;
    double sum = 0, squares = 0, *value = record->value + state * n, *measured = record->measured + state * n;
    for (size_t row = 0; row < n; row++) {
        double u = data->values[row * states + state];
        if (isnan(u)) continue;
        measured[row] = 1;
        value[row] = u;
        sum += u;
        record->count[state]++;
    }
    double mean = sum / (double)record->count[state];
    for (size_t row = 0; row < n; row++)
        if (measured[row] > 0) squares += (value[row] - mean) * (value[row] - mean);
    record->mean[state] = mean;
    record->sd[state] = sqrt(squares / (double)record->count[state]);
    for (size_t row = 0; row < n; row++)
        if (measured[row] > 0) value[row] = (value[row] - mean) / record->sd[state];
}

static kbass_status fill(kb_record *record, const kbass_data *data, const char *noise, kbass_error *error)
{
    size_t n = record->n_rows;
    record->first = data->times[0];
    record->span = data->times[n - 1] - data->times[0];
    for (size_t row = 0; row < n; row++) record->time[row] = (data->times[row] - record->first) / record->span;
    for (size_t i = 0; i < record->n_states; i++) {
        scale_state(record, data, i);
        record->n_values += record->count[i];
    }
    double *gaps = KB_NEW(double, n * record->n_states);
    if (!gaps) return kb_out_of_memory(error, "the scaled record");
    record->spacing = median_gap(record, gaps);
    kb_free(gaps);
    return noise ? kb_noise_read(data, noise, record->sd, record->known_variance, error) : KBASS_OK;
}

static kbass_status allocate(size_t n, size_t states, kb_record **out, kbass_error *error)
{
    kb_record *record = KB_NEW(kb_record, 1);
    if (!record) return kb_out_of_memory(error, "the scaled record");
    record->n_rows = n;
    record->n_states = states;
    record->stretch = 1;
    record->mean = KB_NEW(double, states);
    record->sd = KB_NEW(double, states);
    record->known_variance = KB_NEW(double, states);
    record->count = KB_NEW(size_t, states);
    record->time = KB_NEW(double, n);
    record->value = KB_NEW(double, n * states);
    record->measured = KB_NEW(double, n * states);
    if (!record->mean || !record->sd || !record->known_variance || !record->count || !record->time || !record->value ||
        !record->measured) {
        kb_record_destroy(record);
        return kb_out_of_memory(error, "the scaled record");
    }
    *out = record;
    return KBASS_OK;
}

kbass_status kb_record_create(const kbass_data *data, const char *noise, kb_record **out, kbass_error *error)
{
    kb_record *record = NULL;
    kbass_status status = kb_data_check(data, error);
    if (status == KBASS_OK) status = allocate(data->n_rows, data->n_states, &record, error);
    if (status == KBASS_OK) status = fill(record, data, noise, error);
    if (status == KBASS_OK) *out = record;
    else kb_record_destroy(record);
    return status;
}

kbass_status kb_record_slice(const kb_record *record, size_t i, size_t n, kb_record **out, kbass_error *error)
{
    double begin = (double)i / (double)n, end = (double)(i + 1) / (double)n;
    size_t first = 0, last, states = record->n_states;
    while (first < record->n_rows && record->time[first] < begin) first++;
    for (last = first; last < record->n_rows && record->time[last] <= end; last++) {}
    kb_record *slice = NULL;
    kbass_status status = allocate(last - first, states, &slice, error);
    if (status != KBASS_OK) return status;
    slice->first = record->first + begin * record->span;
    slice->span = record->span / (double)n;
    slice->stretch = record->stretch * (double)n;
    slice->spacing = record->spacing * (double)n;
    memcpy(slice->mean, record->mean, states * sizeof *slice->mean);
    memcpy(slice->sd, record->sd, states * sizeof *slice->sd);
    memcpy(slice->known_variance, record->known_variance, states * sizeof *slice->sd);
    for (size_t row = first; row < last; row++) slice->time[row - first] = (record->time[row] - begin) * (double)n;
    for (size_t state = 0; state < states; state++)
        for (size_t row = first; row < last; row++) {
            size_t to = row - first + state * slice->n_rows, from = row + state * record->n_rows;
            slice->value[to] = record->value[from];
            slice->measured[to] = record->measured[from];
            slice->count[state] += record->measured[from] > 0;
            slice->n_values += record->measured[from] > 0;
        }
    *out = slice;
    return KBASS_OK;
}

void kb_record_destroy(kb_record *record)
{
    if (!record) return;
    kb_free(record->mean);
    kb_free(record->sd);
    kb_free(record->known_variance);
    kb_free(record->count);
    kb_free(record->time);
    kb_free(record->value);
    kb_free(record->measured);
    kb_free(record);
}
