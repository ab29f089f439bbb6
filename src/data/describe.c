/* Data in words, and what discovery needs of them. */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/number.h"
#include "base/status.h"
#include "data/data.h"

enum { FEWEST_VALUES = 4, LISTED = 12, TIME_DIGITS = 10, SPACING_DIGITS = 4 };

static const double EVEN = 1e-3; /* spacings that differ by less than this share are called even */

/* ---------------------------------------------------------------- words */

typedef struct {
    char *text;
    size_t size, length; /* length counts on where the text is cut, as snprintf does */
} words;

__attribute__((format(printf, 2, 3))) static void say(words *w, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    bool room = w->length < w->size;
    int n = vsnprintf(room ? w->text + w->length : NULL, room ? w->size - w->length : 0, format, arguments);
    va_end(arguments);
    if (n > 0) w->length += (size_t)n;
}

static void say_number(words *w, double value, int digits)
{
    char number[KB_NUMBER_SIZE];
    kb_number_round(value, digits, number);
    say(w, "%s", number);
}

/* "x, y", or "x1, x2, x3, ..., x40" when there are many. */
static void say_names(words *w, const kbass_data *data)
{
    size_t n = data->n_states;
    for (size_t i = 0; i < n; i++) {
        if (n > LISTED && i == 3) {
            say(w, ", ...");
            i = n - 1;
        }
        say(w, "%s%s", i ? ", " : "", data->state_names[i]);
    }
}

/* ---------------------------------------------------------------- spacing */

static int compare_numbers(const void *left, const void *right)
{
    double a = *(const double *)left, b = *(const double *)right;
    return a < b ? -1 : a > b;
}

/* Differences between neighbouring distinct times, ascending; returns their number. */
static size_t sorted_spacings(const kbass_data *data, double *spacings)
{
    size_t n = 0;
    for (size_t i = 1; i < data->n_rows; i++)
        if (data->times[i] > data->times[i - 1]) spacings[n++] = data->times[i] - data->times[i - 1];
    qsort(spacings, n, sizeof *spacings, compare_numbers);
    return n;
}

static void say_spacing(words *w, const kbass_data *data)
{
    double *spacings = KB_NEW(double, data->n_rows);
    if (!spacings) return;
    size_t n = sorted_spacings(data, spacings);
    double median = n ? 0.5 * (spacings[(n - 1) / 2] + spacings[n / 2]) : 0;
    if (n && spacings[n - 1] - spacings[0] <= EVEN * median) {
        say(w, ", spacing ");
        say_number(w, median, SPACING_DIGITS);
        say(w, " (even)");
    } else if (n) {
        say(w, ", spacing ");
        say_number(w, spacings[0], SPACING_DIGITS);
        say(w, " to ");
        say_number(w, spacings[n - 1], SPACING_DIGITS);
        say(w, " (uneven, median ");
        say_number(w, median, SPACING_DIGITS);
        say(w, ")");
    }
    if (data->n_rows > n + 1) say(w, ", %zu rows repeat a time", data->n_rows - n - 1);
    kb_free(spacings);
}

static void say_times(words *w, const kbass_data *data)
{
    double first = data->times[0], last = data->times[data->n_rows - 1];
    say(w, first < last ? ", %s from " : ", all at %s = ", data->time_name);
    say_number(w, first, TIME_DIGITS);
    if (!(first < last)) return;
    say(w, " to ");
    say_number(w, last, TIME_DIGITS);
    say_spacing(w, data);
}

/* ---------------------------------------------------------------- missing values */

static size_t count_measured(const kbass_data *data, size_t state)
{
    size_t n = 0;
    for (size_t row = 0; row < data->n_rows; row++) n += !isnan(data->values[row * data->n_states + state]);
    return n;
}

static void say_missing(words *w, const kbass_data *data)
{
    size_t missing = 0, all = data->n_rows * data->n_states, listed = 0;
    for (size_t i = 0; i < data->n_states; i++) missing += data->n_rows - count_measured(data, i);
    if (!missing) {
        say(w, ", nothing missing");
        return;
    }
    say(w, ", %zu of %zu values missing (", missing, all);
    for (size_t i = 0; i < data->n_states && listed <= LISTED; i++) {
        size_t here = data->n_rows - count_measured(data, i);
        if (!here) continue;
        if (listed == LISTED) say(w, ", ...");
        else                  say(w, "%s%s %zu", listed ? ", " : "", data->state_names[i], here);
        listed++;
    }
    say(w, ")");
}

size_t kbass_data_describe(const kbass_data *data, char *text, size_t size)
{
    words w = {text, size, 0};
    if (size) *text = '\0';
    say(&w, "%zu row%s, %zu state%s (", data->n_rows, data->n_rows == 1 ? "" : "s", data->n_states,
        data->n_states == 1 ? "" : "s");
    say_names(&w, data);
    say(&w, ")");
    say_times(&w, data);
    say_missing(&w, data);
    return w.length;
}

/* ---------------------------------------------------------------- what discovery needs */

typedef struct {
    size_t n;
    double first, last, lowest, highest;
} extent;

static extent measured_extent(const kbass_data *data, size_t state)
{
    extent e = {0, NAN, NAN, INFINITY, -INFINITY};
    for (size_t row = 0; row < data->n_rows; row++) {
        double value = data->values[row * data->n_states + state];
        if (isnan(value)) continue;
        if (!e.n++) e.first = data->times[row];
        e.last = data->times[row];
        e.lowest = fmin(e.lowest, value);
        e.highest = fmax(e.highest, value);
    }
    return e;
}

static kbass_status check_state(const kbass_data *data, size_t state, kbass_error *error)
{
    char found[KB_NUMBER_SIZE];
    const char *name = data->state_names[state], *source = data->source, *colon = *source ? ": " : "";
    extent e = measured_extent(data, state);

    if (e.n < FEWEST_VALUES)
        return kb_fail(error, KBASS_ERROR_DATA, "%s%sstate \"%s\" has %zu measured value%s, at least %d are needed",
                       source, colon, name, e.n, e.n == 1 ? "" : "s", FEWEST_VALUES);
    kb_number_round(e.first, TIME_DIGITS, found);
    if (!(e.first < e.last))
        return kb_fail(error, KBASS_ERROR_DATA, "%s%sall %zu measured values of state \"%s\" are at one time (%s = %s)",
                       source, colon, e.n, name, data->time_name, found);
    if (!(isfinite(e.lowest) && isfinite(e.highest)))
        return kb_fail(error, KBASS_ERROR_DATA, "%s%sstate \"%s\" has infinite values", source, colon, name);
    kb_number_print(e.lowest, found);
    if (!(e.lowest < e.highest))
        return kb_fail(error, KBASS_ERROR_DATA, "%s%sstate \"%s\" is constant: all %zu measured values are %s", source,
                       colon, name, e.n, found);
    return KBASS_OK;
}

kbass_status kb_data_check(const kbass_data *data, kbass_error *error)
{
    kbass_status status = KBASS_OK;
    for (size_t i = 0; i < data->n_states && status == KBASS_OK; i++) status = check_state(data, i, error);
    return status;
}
