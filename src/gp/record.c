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
        for (size_t row = 0, run = 0; row < record->n_rows; row++) {
            if (row == record->run_start[run + 1]) run++, last = NAN;
            if (record->measured[row + i * record->n_rows] == 0) continue;
            if (record->time[row] > last) gaps[n++] = record->time[row] - last;
            last = record->time[row];
        }
    }
    qsort(gaps, n, sizeof *gaps, ascending);
    return n ? gaps[n / 2] : 1;
}

kbass_status kb_record_measure_spacing(kb_record *record, kbass_error *error)
{
    double *gaps = KB_NEW(double, record->n_rows * record->n_states);
    if (!gaps) return kb_out_of_memory(error, "the scaled record");
    record->spacing = median_gap(record, gaps);
    kb_free(gaps);
    return KBASS_OK;
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
    record->sd[state] = 1;
    if (!record->count[state]) return; /* a hidden velocity: kb_record_assume comes later */
    double mean = sum / (double)record->count[state];
    for (size_t row = 0; row < n; row++)
        if (measured[row] > 0) squares += (value[row] - mean) * (value[row] - mean);
    record->mean[state] = mean;
    record->sd[state] = sqrt(squares / (double)record->count[state]);
    for (size_t row = 0; row < n; row++)
        if (measured[row] > 0) value[row] = (value[row] - mean) / record->sd[state];
}

static void scale_times(kb_record *record, const kbass_data *data)
{
    record->span = 0;
    for (size_t run = 0; run < record->n_runs; run++) {
        size_t first = kb_data_run_start(data, run), end = kb_data_run_start(data, run + 1);
        record->run_start[run] = first;
        record->run_start[run + 1] = end;
        record->origin[run] = data->times[first];
        record->duration[run] = data->times[end - 1] - data->times[first];
        record->span = fmax(record->span, record->duration[run]);
    }
    record->first = record->origin[0];
    for (size_t run = 0; run < record->n_runs; run++) {
        record->duration[run] /= record->span;
        for (size_t row = record->run_start[run]; row < record->run_start[run + 1]; row++)
            record->time[row] = (data->times[row] - record->origin[run]) / record->span;
    }
}

/* Error bars make the noise known, and its share in each value: measured = h^{-1/2}. */
static void weigh_state(kb_record *record, const kbass_data *data, size_t state)
{
    double reference = kb_noise_reference(data, state), *measured = record->measured + state * record->n_rows;
    if (!(reference > 0)) return;
    record->has_error_bars = true;
    record->known_variance[state] = reference / (record->sd[state] * record->sd[state]);
    for (size_t row = 0; row < record->n_rows; row++)
        if (measured[row] > 0) measured[row] = sqrt(reference) / data->sigma[row * data->n_states + state];
}

static kbass_status fill(kb_record *record, const kbass_data *data, const char *noise, kbass_error *error)
{
    scale_times(record, data);
    for (size_t i = 0; i < record->n_states; i++) {
        scale_state(record, data, i);
        weigh_state(record, data, i);
        record->n_values += record->count[i];
    }
    kbass_status status = kb_record_measure_spacing(record, error);
    return status == KBASS_OK && noise ? kb_noise_read(data, noise, record->sd, record->known_variance, error) : status;
}

kbass_status kb_record_allocate(size_t n, size_t states, size_t runs, kb_record **out, kbass_error *error)
{
    kb_record *record = KB_NEW(kb_record, 1);
    if (!record) return kb_out_of_memory(error, "the scaled record");
    record->n_rows = n;
    record->n_states = states;
    record->n_runs = runs;
    record->stretch = 1;
    record->run_start = KB_NEW(size_t, runs + 1);
    record->origin = KB_NEW(double, runs);
    record->duration = KB_NEW(double, runs);
    record->mean = KB_NEW(double, states);
    record->sd = KB_NEW(double, states);
    record->known_variance = KB_NEW(double, states);
    record->count = KB_NEW(size_t, states);
    record->time = KB_NEW(double, n);
    record->value = KB_NEW(double, n *states);
    record->measured = KB_NEW(double, n *states);
    if (!record->run_start || !record->origin || !record->duration || !record->mean || !record->sd ||
        !record->known_variance || !record->count || !record->time || !record->value || !record->measured) {
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
    if (status == KBASS_OK)
        status = kb_record_allocate(data->n_rows, data->n_states, kbass_data_runs(data), &record, error);
    if (status == KBASS_OK) status = fill(record, data, noise, error);
    if (status == KBASS_OK) *out = record;
    else kb_record_destroy(record);
    return status;
}

void kb_record_assume(kb_record *record, size_t state, const double *values, double variance)
{
    size_t n = record->n_rows;
    double mean = 0, squares = 0;
    for (size_t row = 0; row < n; row++) mean += values[row] / (double)n;
    for (size_t row = 0; row < n; row++) squares += (values[row] - mean) * (values[row] - mean);
    record->mean[state] = mean;
    record->sd[state] = squares > 0 ? sqrt(squares / (double)n) : 1;
    for (size_t row = 0; row < n; row++) {
        record->value[row + state * n] = (values[row] - mean) / record->sd[state];
        record->measured[row + state * n] = 1;
    }
    record->known_variance[state] = variance / (record->sd[state] * record->sd[state]);
    record->n_values += n - record->count[state];
    record->count[state] = n;
}

void kb_record_forget(kb_record *record, size_t state)
{
    size_t n = record->n_rows;
    memset(record->value + state * n, 0, n * sizeof *record->value);
    memset(record->measured + state * n, 0, n * sizeof *record->measured);
    record->n_values -= record->count[state];
    record->count[state] = 0;
}

kbass_status kb_record_take_inputs(kb_record *record, const kbass_data *data, const bool *is_input, bool is_held,
                                   kbass_error *error)
{
    size_t n = 0;
    for (size_t i = 0; i < record->n_states; i++) n += is_input[i];
    kbass_status status = n ? kb_inputs_create(data, is_input, is_held, &record->inputs, error) : KBASS_OK;
    for (size_t i = 0; status == KBASS_OK && i < record->n_states; i++)
        if (is_input[i]) kb_record_forget(record, i);
    return status;
}

double kb_record_input(const kb_record *record, size_t run, size_t state, double time, double *slope)
{
    const kb_curve *curve = kb_inputs_curve(record->inputs, record->is_slice ? record->run : run, state);
    double value = kb_curve_at(curve, record->origin[run] + record->span * time, slope);
    if (slope) *slope *= record->span / record->sd[state];
    return (value - record->mean[state]) / record->sd[state];
}

double kb_record_next_jump(const kb_record *record, size_t run, double time)
{
    double now = record->origin[run] + record->span * time, next = INFINITY;
    for (size_t i = 0; record->inputs && i < record->n_states; i++) {
        const kb_curve *curve = kb_inputs_curve(record->inputs, record->is_slice ? record->run : run, i);
        if (curve) next = fmin(next, kb_curve_next_jump(curve, now));
    }
    return (next - record->origin[run]) / record->span;
}

size_t kb_record_run(const kb_record *record, size_t row)
{
    size_t run = 0;
    while (row >= record->run_start[run + 1]) run++;
    return run;
}

kbass_status kb_record_slice(const kb_record *record, size_t run, size_t i, size_t n, kb_record **out,
                             kbass_error *error)
{
    double duration = record->duration[run], share = duration / (double)n;
    double begin = duration * ((double)i / (double)n), end = duration * ((double)(i + 1) / (double)n);
    size_t first = record->run_start[run], last, states = record->n_states;
    while (first < record->run_start[run + 1] && record->time[first] < begin) first++;
    for (last = first; last < record->run_start[run + 1] && record->time[last] <= end; last++) {}
    kb_record *slice = NULL;
    kbass_status status = kb_record_allocate(last - first, states, 1, &slice, error);
    if (status != KBASS_OK) return status;
    slice->first = slice->origin[0] = record->origin[run] + begin * record->span;
    slice->span = record->span * share;
    slice->stretch = record->stretch / share;
    slice->spacing = record->spacing / share;
    slice->duration[0] = 1;
    slice->run_start[1] = slice->n_rows;
    slice->has_error_bars = record->has_error_bars;
    slice->inputs = record->inputs;
    slice->is_slice = true;
    slice->run = run;
    memcpy(slice->mean, record->mean, states * sizeof *slice->mean);
    memcpy(slice->sd, record->sd, states * sizeof *slice->sd);
    memcpy(slice->known_variance, record->known_variance, states * sizeof *slice->sd);
    for (size_t row = first; row < last; row++) slice->time[row - first] = (record->time[row] - begin) / share;
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
    if (!record->is_slice) kb_inputs_destroy(record->inputs);
    kb_free(record->run_start);
    kb_free(record->origin);
    kb_free(record->duration);
    kb_free(record->mean);
    kb_free(record->sd);
    kb_free(record->known_variance);
    kb_free(record->count);
    kb_free(record->time);
    kb_free(record->value);
    kb_free(record->measured);
    kb_free(record);
}
