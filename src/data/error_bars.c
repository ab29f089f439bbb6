/* Error bars: columns that say how precise the values of other columns are. */
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/status.h"
#include "data/data.h"

typedef struct {
    kbass_data *data;
    size_t *of;   /* n_states: the column of each state's error bars; n_states: none */
    bool *is_bar; /* n_states: the column is one of error bars */
} bars;

static kbass_status find_column(const kbass_data *data, const char *name, size_t length, size_t *state,
                                kbass_error *error)
{
    char *copy = KB_NEW(char, length + 1);
    if (!copy) return kb_out_of_memory(error, "the error bars");
    memcpy(copy, name, length);
    *state = kb_data_find_state(data, copy);
    kb_free(copy);
    if (*state < data->n_states) return KBASS_OK;
    return kb_fail(error, KBASS_ERROR_ARGUMENT, "sigma: there is no column \"%.*s\"", (int)length, name);
}

static const char *trim(const char *begin, const char *end, size_t *length)
{
    while (begin < end && *begin == ' ') begin++;
    while (end > begin && end[-1] == ' ') end--;
    *length = (size_t)(end - begin);
    return begin;
}

/* "sx", or "x=sx"; *state is n_states when none is named. */
static kbass_status read_part(const kbass_data *data, const char *part, const char *end, size_t *state, size_t *column,
                              kbass_error *error)
{
    size_t length;
    kbass_status status = KBASS_OK;
    const char *sign = memchr(part, '=', (size_t)(end - part)), *name = trim(part, sign ? sign : part, &length);
    *state = data->n_states;
    if (sign) status = find_column(data, name, length, state, error);
    name = trim(sign ? sign + 1 : part, end, &length);
    return status == KBASS_OK ? find_column(data, name, length, column, error) : status;
}

static kbass_status read_columns(bars *b, const char *columns, kbass_error *error)
{
    size_t n = b->data->n_states, common = n, state = n, column = n;
    for (const char *part = columns, *end; part; part = *end ? end + 1 : NULL) {
        end = part + strcspn(part, ",");
        kbass_status status = read_part(b->data, part, end, &state, &column, error);
        if (status != KBASS_OK) return status;
        b->is_bar[column] = true;
        if (state < n) b->of[state] = column;
        else common = column;
    }
    for (size_t i = 0; i < n; i++) {
        if (common < n && b->of[i] == n) b->of[i] = common;
        if (b->is_bar[i] && b->of[i] < n && b->of[i] != common)
            return kb_fail(error, KBASS_ERROR_ARGUMENT, "sigma: \"%s\" is both a state and a column of error bars",
                           b->data->state_names[i]);
    }
    return KBASS_OK;
}

static kbass_status check_row(const bars *b, size_t row, kbass_error *error)
{
    const kbass_data *data = b->data;
    const double *values = data->values + row * data->n_states;
    for (size_t i = 0; i < data->n_states; i++) {
        if (b->is_bar[i] || b->of[i] == data->n_states || isnan(values[i])) continue;
        double sigma = values[b->of[i]];
        if (!(sigma > 0 && isfinite(sigma)))
            return kb_fail(error, KBASS_ERROR_DATA,
                           "%s%ssigma: found \"%s\" = %g at %s = %g, where \"%s\" is measured; needed a number above 0",
                           data->source, *data->source ? ": " : "", data->state_names[b->of[i]], sigma, data->time_name,
                           data->times[row], data->state_names[i]);
    }
    return KBASS_OK;
}

/* Values and error bars by state, without the bars' columns. */
static kbass_status divide(const bars *b, kbass_error *error)
{
    kbass_data *data = b->data;
    size_t n = data->n_states, kept = 0;
    for (size_t i = 0; i < n; i++) kept += !b->is_bar[i];
    if (!kept) return kb_fail(error, KBASS_ERROR_DATA, "sigma: no states but columns of error bars");
    data->sigma = KB_NEW(double, data->n_rows *kept);
    if (!data->sigma) return kb_out_of_memory(error, "the error bars");
    for (size_t row = 0; row < data->n_rows; row++) {
        double *from = data->values + row * n, *values = data->values + row * kept, *sigma = data->sigma + row * kept;
        for (size_t i = 0, k = 0; i < n; i++)
            if (!b->is_bar[i]) sigma[k++] = b->of[i] < n ? from[b->of[i]] : NAN;
        for (size_t i = 0, k = 0; i < n; i++)
            if (!b->is_bar[i]) values[k++] = from[i];
    }
    for (size_t i = n; i-- > 0;)
        if (b->is_bar[i]) kb_data_forget_state(data, i);
    return KBASS_OK;
}

const double *kbass_data_sigma(const kbass_data *data) { return data->sigma; }

kbass_status kbass_data_error_bars(kbass_data *data, const char *columns, kbass_error *error)
{
    size_t n = data->n_states;
    if (data->sigma) return kb_fail(error, KBASS_ERROR_ARGUMENT, "sigma: these data have error bars already");
    bars b = {data, KB_NEW(size_t, n), KB_NEW(bool, n)};
    kbass_status status = b.of && b.is_bar ? KBASS_OK : kb_out_of_memory(error, "the error bars");
    for (size_t i = 0; b.of && i < n; i++) b.of[i] = n;
    if (status == KBASS_OK) status = read_columns(&b, columns, error);
    for (size_t row = 0; status == KBASS_OK && row < data->n_rows; row++) status = check_row(&b, row, error);
    if (status == KBASS_OK) status = divide(&b, error);
    if (status == KBASS_OK && !(data->sigma_columns = kb_strdup(columns)))
        status = kb_out_of_memory(error, "the error bars");
    kb_free(b.of);
    kb_free(b.is_bar);
    return status;
}
