/* The numbers as they stand: constant and saturated states, copies, axes that were taken for states. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "doctor/doctor.h"

enum { LEAST_VALUES = 4, LEAST_SATURATED = 3 };
static const double saturated_share = 0.02, saturated_ties = 4; /* so many times as often as other values repeat */
static const double same = 1e-9;

static double value_at(const kbass_data *data, size_t row, size_t state)
{
    return data->values[row * data->n_states + state];
}

typedef struct {
    size_t n, n_distinct;
    double low, high, mean, sd;
} summary;

static int ascending(const void *left, const void *right)
{
    double a = *(const double *)left, b = *(const double *)right;
    return (a > b) - (a < b);
}

static summary summarise(const kbass_data *data, size_t state)
{
    summary s = {.low = INFINITY, .high = -INFINITY};
    double squares = 0;
    for (size_t row = 0; row < data->n_rows; row++) {
        double u = value_at(data, row, state), step = u - s.mean;
        if (isnan(u)) continue;
        s.mean += step / (double)++s.n;
        squares += step * (u - s.mean);
        s.low = fmin(s.low, u);
        s.high = fmax(s.high, u);
    }
    s.sd = s.n ? sqrt(squares / (double)s.n) : 0;
    return s;
}

bool kb_doctor_is_usable(const kbass_data *data, size_t state)
{
    summary s = summarise(data, state);
    return s.n >= LEAST_VALUES && s.high > s.low;
}

/* ---------------------------------------------------------------- constant, saturated */

static size_t count_distinct(const kbass_data *data, size_t state)
{
    size_t n = 0, distinct = 0;
    double *values = KB_NEW(double, data->n_rows);
    for (size_t row = 0; values && row < data->n_rows; row++)
        if (!isnan(value_at(data, row, state))) values[n++] = value_at(data, row, state);
    if (values) qsort(values, n, sizeof *values, ascending);
    for (size_t i = 0; i < n; i++) distinct += !i || values[i] > values[i - 1];
    kb_free(values);
    return distinct;
}

/* Boundary values of fields repeat for good reasons. */
static bool is_on_boundary(const kbass_data *data, const double *low, const double *high, size_t row)
{
    bool is_on = false;
    for (size_t a = 1; a < data->n_axes; a++) {
        double x = kb_data_coordinate(data, row, a);
        is_on = is_on || x == low[a] || x == high[a];
    }
    return is_on;
}

static size_t find_rows(const kbass_data *data, size_t state, double value, size_t *rows)
{
    size_t n = 0;
    double low[KBASS_MAX_AXES], high[KBASS_MAX_AXES];
    for (size_t a = 0; a < data->n_axes; a++) {
        low[a] = INFINITY, high[a] = -INFINITY;
        for (size_t row = 0; row < data->n_rows; row++) {
            low[a] = fmin(low[a], kb_data_coordinate(data, row, a));
            high[a] = fmax(high[a], kb_data_coordinate(data, row, a));
        }
    }
    for (size_t row = 0; row < data->n_rows; row++)
        if (value_at(data, row, state) == value && !is_on_boundary(data, low, high, row)) rows[n++] = row;
    return n;
}

static void examine_end(kb_doctor *doctor, size_t state, const summary *s, double value, const char *end)
{
    const kbass_data *data = doctor->data;
    size_t *rows = kb_doctor_own(doctor, data->n_rows, sizeof *rows);
    if (!rows) return;
    size_t n = find_rows(data, state, value, rows);
    double ties = (double)s->n / (double)(s->n_distinct ? s->n_distinct : 1), share = (double)n / (double)s->n;
    if (n < LEAST_SATURATED || share < saturated_share || (double)n < saturated_ties * ties) return;
    kbass_finding finding = {.severity = KBASS_WARNING,
                             .check = "saturated",
                             .subject = data->state_names[state],
                             .number = share,
                             .measure = "share of the values",
                             .n_rows = n,
                             .rows = rows};
    kb_doctor_say(doctor, finding, "empty those cells: a value that was cut off is not a measurement",
                  "%zu of %zu values of %s are exactly its %s, %.6g: it looks saturated", n, s->n,
                  data->state_names[state], end, value);
}

static void examine_state(kb_doctor *doctor, size_t state)
{
    const kbass_data *data = doctor->data;
    const char *name = data->state_names[state];
    summary s = summarise(data, state);
    kbass_finding few = {
        .severity = KBASS_HOPELESS, .check = "too few", .subject = name, .number = (double)s.n, .measure = "values"};
    kbass_finding constant = {.severity = KBASS_HOPELESS,
                              .check = "constant",
                              .subject = name,
                              .number = s.sd,
                              .measure = "standard deviation"};
    if (s.n < LEAST_VALUES)
        kb_doctor_say(doctor, few, "measure more, or leave the column out",
                      "%s has %zu measured values: nothing can be fitted to "
                      "fewer than %d",
                      name, s.n, LEAST_VALUES);
    else if (s.high == s.low)
        kb_doctor_say(doctor, constant, "leave the column out: its equation is 0, and in others it is a number",
                      "%s is %.6g throughout", name, s.low);
    else if (s.high - s.low <= same * fmax(fabs(s.low), fabs(s.high))) {
        constant.severity = KBASS_WARNING;
        kb_doctor_say(doctor, constant, "subtract the offset before writing the file, with all digits",
                      "%s moves by %.2g about %.6g: most of its digits are lost", name, s.high - s.low, s.mean);
    } else {
        s.n_distinct = count_distinct(data, state);
        examine_end(doctor, state, &s, s.high, "highest");
        examine_end(doctor, state, &s, s.low, "lowest");
    }
}

/* ---------------------------------------------------------------- copies */

static double correlation(const kbass_data *data, size_t i, size_t j)
{
    double xx = 0, xy = 0, yy = 0;
    summary a = summarise(data, i), b = summarise(data, j);
    for (size_t row = 0; row < data->n_rows; row++) {
        double x = value_at(data, row, i) - a.mean, y = value_at(data, row, j) - b.mean;
        if (isnan(x) || isnan(y)) continue;
        xx += x * x, xy += x * y, yy += y * y;
    }
    return xy / sqrt(xx * yy);
}

static void examine_copies(kb_doctor *doctor)
{
    const kbass_data *data = doctor->data;
    for (size_t i = 0; i < data->n_states; i++)
        for (size_t j = i + 1; j < data->n_states; j++) {
            double r = correlation(data, i, j);
            if (!(fabs(r) > 0.9999)) continue;
            kbass_finding finding = {.severity = KBASS_WARNING,
                                     .check = "copies",
                                     .subject = data->state_names[j],
                                     .number = r,
                                     .measure = "correlation"};
            kb_doctor_say(doctor, finding, "leave one of them out", "%s is %s up to a factor: correlation %.6f",
                          data->state_names[j], data->state_names[i], r);
        }
}

/* ---------------------------------------------------------------- axes */

static size_t count_times(const kbass_data *data)
{
    size_t n = 0;
    for (size_t row = 0; row < data->n_rows; row++) n += !row || data->times[row] > data->times[row - 1];
    return n;
}

/* Rows run through the same few values of the column at every time. */
static bool looks_like_space(const kbass_data *data, size_t state, size_t n_times)
{
    size_t distinct = count_distinct(data, state);
    double per_time = (double)data->n_rows / (double)n_times;
    return summarise(data, state).n == data->n_rows && distinct >= 3 && (double)distinct <= 1.5 * per_time;
}

static void examine_times(kb_doctor *doctor)
{
    const kbass_data *data = doctor->data;
    size_t n_times = count_times(data), state = 0;
    double repeats = (double)data->n_rows / (double)n_times;
    char advice[200];
    if (repeats < 2) return;
    while (state < data->n_states && !looks_like_space(data, state, n_times)) state++;
    bool is_found = state < data->n_states && data->n_states > 1;
    kbass_finding finding = {.severity = is_found ? KBASS_HOPELESS : KBASS_WARNING,
                             .check = "axes",
                             .subject = data->time_name,
                             .number = repeats,
                             .measure = "rows for each time"};
    if (is_found) snprintf(advice, sizeof advice, "--axes %.60s,%.60s", data->time_name, data->state_names[state]);
    else snprintf(advice, sizeof advice, "name the axes with --axes, or keep one run in a file");
    kb_doctor_say(doctor, finding, advice, "each %s comes %.3g times%s%s%s", data->time_name, repeats,
                  is_found ? ", and " : ": several runs, or fields over space?",
                  is_found ? data->state_names[state] : "",
                  is_found ? " runs through the same values every time: it looks like an axis of space" : "");
}

/* The farthest that a state is from a straight line through its ends, as a share of its range. */
static double bend(const kbass_data *data, size_t state)
{
    size_t n = data->n_rows;
    double t0 = data->times[0], span = data->times[n - 1] - t0, worst = 0;
    double first = value_at(data, 0, state), range = value_at(data, n - 1, state) - first;
    for (size_t row = 0; row < n; row++) {
        double off = fabs(value_at(data, row, state) - first - range * (data->times[row] - t0) / span) / fabs(range);
        if (!(off <= worst)) worst = off;
    }
    return worst;
}

static void examine_straight(kb_doctor *doctor, size_t state)
{
    const kbass_data *data = doctor->data;
    const char *name = data->state_names[state];
    double off = bend(data, state);
    if (data->n_rows < LEAST_VALUES || !(off <= 1e-6)) return;
    kbass_finding finding = {.severity = KBASS_WARNING,
                             .check = "axes",
                             .subject = name,
                             .number = off,
                             .measure = "largest distance from a straight line, of its range"};
    kb_doctor_say(doctor, finding, "leave the column out, or name the time with --time",
                  "%s is a straight line in %s: a counter, or a second clock?", name, data->time_name);
}

void kb_doctor_examine_values(kb_doctor *doctor)
{
    const kbass_data *data = doctor->data;
    if (data->n_axes == 1) examine_times(doctor);
    for (size_t i = 0; i < data->n_states; i++) {
        examine_state(doctor, i);
        if (data->n_axes == 1) examine_straight(doctor, i);
    }
    examine_copies(doctor);
}
