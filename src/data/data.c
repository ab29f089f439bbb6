#include "data/data.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/random.h"
#include "base/status.h"

size_t kbass_data_rows(const kbass_data *data) { return data->n_rows; }
size_t kbass_data_states(const kbass_data *data) { return data->n_states; }
const char *kbass_data_time_name(const kbass_data *data) { return data->time_name; }
const double *kbass_data_times(const kbass_data *data) { return data->times; }
const double *kbass_data_values(const kbass_data *data) { return data->values; }
const char *kbass_data_sha256(const kbass_data *data) { return data->sha256; }

const char *kbass_data_state_name(const kbass_data *data, size_t state)
{
    return state < data->n_states ? data->state_names[state] : NULL;
}

void kbass_data_destroy(kbass_data *data)
{
    if (!data) return;
    for (size_t i = 0; data->state_names && i < data->n_states; i++) kb_free(data->state_names[i]);
    kb_free(data->state_names);
    kb_free(data->time_name);
    kb_free(data->times);
    kb_free(data->values);
    kb_free(data->source);
    kb_free(data);
}

/* ---------------------------------------------------------------- create */

bool kb_data_is_name(const char *name)
{
    static const char allowed[] = "_abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
    bool digit_first = *name >= '0' && *name <= '9';
    return *name && !digit_first && !name[strspn(name, allowed)];
}

static kbass_status check_names(size_t n_states, const char *time_name, const char *const *names, kbass_error *error)
{
    if (!*time_name || strpbrk(time_name, "\r\n"))
        return kb_fail(error, KBASS_ERROR_ARGUMENT, "the name of time is \"%s\", one line is needed", time_name);
    for (size_t i = 0; i < n_states; i++) {
        if (!names[i] || !kb_data_is_name(names[i]))
            return kb_fail(error, KBASS_ERROR_ARGUMENT,
                           "state %zu: \"%s\" cannot stand in equations: a name needs letters, digits or _", i + 1,
                           names[i] ? names[i] : "");
        bool taken = strcmp(names[i], time_name) == 0;
        for (size_t k = 0; k < i; k++) taken |= strcmp(names[i], names[k]) == 0;
        if (taken) return kb_fail(error, KBASS_ERROR_ARGUMENT, "two columns have the name \"%s\"", names[i]);
    }
    return KBASS_OK;
}

static kbass_status check_numbers(size_t n_rows, size_t n_states, const double *times, const double *values,
                                  const char *const *names, kbass_error *error)
{
    for (size_t row = 0; row < n_rows; row++) {
        if (!isfinite(times[row]))
            return kb_fail(error, KBASS_ERROR_DATA, "row %zu: the time is %g, it must be finite", row + 1, times[row]);
        for (size_t i = 0; i < n_states; i++)
            if (isinf(values[row * n_states + i]))
                return kb_fail(error, KBASS_ERROR_DATA, "row %zu: \"%s\" is infinite (use NaN for missing)", row + 1,
                               names[i]);
    }
    return KBASS_OK;
}

static bool copy_names(kbass_data *data, const char *time_name, const char *const *names)
{
    data->source = kb_strdup("");
    data->time_name = kb_strdup(time_name);
    data->state_names = KB_NEW(char *, data->n_states);
    bool all = data->source && data->time_name && data->state_names;
    for (size_t i = 0; all && i < data->n_states; i++) all = (data->state_names[i] = kb_strdup(names[i])) != NULL;
    return all;
}

static bool copy_numbers(kbass_data *data, const double *times, const double *values)
{
    data->times = KB_NEW(double, data->n_rows);
    data->values = KB_NEW(double, data->n_rows *data->n_states);
    if (!data->times || !data->values) return false;
    memcpy(data->times, times, data->n_rows * sizeof *times);
    memcpy(data->values, values, data->n_rows * data->n_states * sizeof *values);
    return true;
}

kbass_status kbass_data_create(size_t n_rows, size_t n_states, const double *times, const double *values,
                               const char *time_name, const char *const *state_names, kbass_data **out,
                               kbass_error *error)
{
    kbass_data *data = NULL;
    if (!time_name) time_name = "t";
    if (!n_rows || !n_states)
        return kb_fail(error, KBASS_ERROR_DATA, "%zu rows of %zu states: at least one of each is needed", n_rows,
                       n_states);
    kbass_status status = check_names(n_states, time_name, state_names, error);
    if (status == KBASS_OK) status = check_numbers(n_rows, n_states, times, values, state_names, error);
    if (status == KBASS_OK && !(data = KB_NEW(kbass_data, 1))) status = kb_out_of_memory(error, "the data");
    if (status == KBASS_OK) {
        data->n_rows = n_rows;
        data->n_states = n_states;
        if (!copy_names(data, time_name, state_names) || !copy_numbers(data, times, values))
            status = kb_out_of_memory(error, "the data");
    }
    if (status == KBASS_OK) status = kb_data_settle(data, error);
    if (status == KBASS_OK) status = kb_data_hash(data, error);

    if (status == KBASS_OK) *out = data;
    else                    kbass_data_destroy(data);
    return status;
}

kbass_status kb_data_copy(const kbass_data *data, kbass_data **out, kbass_error *error)
{
    kbass_status status = kbass_data_create(data->n_rows, data->n_states, data->times, data->values, data->time_name,
                                            (const char *const *)data->state_names, out, error);
    if (status != KBASS_OK) return status;
    char *source = kb_strdup(data->source ? data->source : "");
    if (!source) {
        kbass_data_destroy(*out);
        *out = NULL;
        return kb_out_of_memory(error, "the data");
    }
    kb_free((*out)->source);
    (*out)->source = source;
    memcpy((*out)->sha256, data->sha256, sizeof data->sha256);
    return KBASS_OK;
}

/* ---------------------------------------------------------------- order */

typedef struct {
    double time;
    size_t row;
} moment;

static int compare_moments(const void *left, const void *right)
{
    const moment *a = left, *b = right;
    if (a->time != b->time) return a->time < b->time ? -1 : 1;
    return a->row < b->row ? -1 : a->row > b->row;
}

static kbass_status sort_by_time(kbass_data *data, kbass_error *error)
{
    size_t n = data->n_rows, width = data->n_states;
    moment *order = KB_NEW(moment, n);
    double *values = KB_NEW(double, n *width);
    if (!order || !values) {
        kb_free(order);
        kb_free(values);
        return kb_out_of_memory(error, "sorting the rows");
    }
    for (size_t i = 0; i < n; i++) order[i] = (moment){data->times[i], i};
    qsort(order, n, sizeof *order, compare_moments);
    for (size_t i = 0; i < n; i++) {
        data->times[i] = order[i].time;
        memcpy(values + i * width, data->values + order[i].row * width, width * sizeof *values);
    }
    kb_free(data->values);
    kb_free(order);
    data->values = values;
    return KBASS_OK;
}

static void drop_empty_rows(kbass_data *data)
{
    size_t kept = 0, width = data->n_states;
    for (size_t row = 0; row < data->n_rows; row++) {
        const double *values = data->values + row * width;
        size_t missing = 0;
        for (size_t i = 0; i < width; i++) missing += isnan(values[i]) != 0;
        if (missing == width) continue;
        data->times[kept] = data->times[row];
        memmove(data->values + kept * width, values, width * sizeof *values);
        kept++;
    }
    data->n_rows = kept;
}

kbass_status kb_data_settle(kbass_data *data, kbass_error *error)
{
    bool sorted = true;
    drop_empty_rows(data);
    if (!data->n_rows)
        return kb_fail(error, KBASS_ERROR_DATA, "%s%sno measured values: every cell is empty or NaN", data->source,
                       *data->source ? ": " : "");
    for (size_t i = 1; i < data->n_rows; i++) sorted &= data->times[i - 1] <= data->times[i];
    return sorted ? KBASS_OK : sort_by_time(data, error);
}

/* ---------------------------------------------------------------- noise */

/* Over the measured values, divided by their number. */
static double standard_deviation(const kbass_data *data, size_t state)
{
    double n = 0, mean = 0, squares = 0;
    for (size_t row = 0; row < data->n_rows; row++) {
        double value = data->values[row * data->n_states + state];
        if (isnan(value)) continue;
        double step = value - mean;
        mean += step / ++n;
        squares += step * (value - mean);
    }
    return n > 0 ? sqrt(squares / n) : 0;
}

/* Every cell draws its number, measured or not: a gap does not change the noise of the others. */
static void noisy_copy(const kbass_data *data, double share, uint64_t seed, double *sd, double *noisy)
{
    kb_random random;
    kb_random_seed(&random, seed);
    for (size_t i = 0; i < data->n_states; i++) sd[i] = standard_deviation(data, i);
    for (size_t k = 0; k < data->n_rows * data->n_states; k++)
        noisy[k] = data->values[k] + share * sd[k % data->n_states] * kb_random_normal(&random);
}

kbass_status kbass_data_add_noise(kbass_data *data, double percent, uint64_t seed, kbass_error *error)
{
    if (!(percent >= 0 && percent <= 1000))
        return kb_fail(error, KBASS_ERROR_ARGUMENT, "noise of %g percent: a number from 0 to 1000 is needed", percent);
    double *sd = KB_NEW(double, data->n_states);
    double *noisy = KB_NEW(double, data->n_rows *data->n_states), *clean = data->values;
    kbass_status status = sd && noisy ? KBASS_OK : kb_out_of_memory(error, "adding noise");

    if (status == KBASS_OK) {
        noisy_copy(data, percent / 100, seed, sd, noisy);
        data->values = noisy;
        status = kb_data_hash(data, error);
        if (status == KBASS_OK) noisy = clean;
        else                    data->values = clean;
    }
    kb_free(noisy);
    kb_free(sd);
    return status;
}
