#include "data/doubts.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/memory.h"
#include "base/status.h"

enum { FEWEST_ALONG = 2, FEWEST_TIMES = 3, FEWEST_COUNTED = 5, FEWEST_TURNED = 6 };
static const double alike = 0.95; /* correlation of repeated measurements */

static double value(const kbass_data *d, size_t row, size_t state) { return d->values[row * d->n_states + state]; }

static const char *file_of(const kbass_data *d) { return d->source && *d->source ? d->source : "DATA"; }

/* ---------------------------------------------------------------- a grid */

static int ascending(const void *left, const void *right)
{
    double a = *(const double *)left, b = *(const double *)right;
    return (a > b) - (a < b);
}

/* At every time the state has the same values, several of them and each once. */
static bool is_axis(const kbass_data *d, size_t state, double *here, double *first, size_t *n_along)
{
    size_t n_times = 0;
    for (size_t row = 0, end; row < d->n_rows; row = end, n_times++) {
        for (end = row; end < d->n_rows && d->times[end] == d->times[row];) end++;
        size_t n = end - row;
        if (n < FEWEST_ALONG || (n_times && n != *n_along)) return false;
        for (size_t i = 0; i < n; i++) here[i] = value(d, row + i, state);
        qsort(here, n, sizeof *here, ascending);
        for (size_t i = 0; i < n; i++)
            if (!(isfinite(here[i]) && (!i || here[i] > here[i - 1]))) return false;
        if (!n_times) memcpy(first, here, n * sizeof *first);
        if (memcmp(first, here, n * sizeof *first) != 0) return false;
        *n_along = n;
    }
    return n_times >= FEWEST_TIMES;
}

static kbass_status refuse_grid(const kbass_data *d, kbass_error *error)
{
    if (d->n_axes > 1 || d->n_runs || d->n_states < 2) return KBASS_OK;
    size_t n_along = 0, state = 0;
    double *here = KB_NEW(double, d->n_rows), *first = KB_NEW(double, d->n_rows);
    kbass_status status = here && first ? KBASS_OK : kb_out_of_memory(error, "the rows");
    while (status == KBASS_OK && state < d->n_states && !is_axis(d, state, here, first, &n_along)) state++;
    if (status == KBASS_OK && state < d->n_states) {
        const char *name = d->state_names[state], *time = d->time_name;
        status = kb_fail(
            error, KBASS_ERROR_DATA,
            "%.200s: \"%s\" has the same %zu values at every time, as the places of a field have: kbass discover "
            "%.200s --axes %s,%s; or runs, if it names them: --run %s",
            file_of(d), name, n_along, file_of(d), time, name, name);
    }
    kb_free(here);
    kb_free(first);
    return status;
}

/* ---------------------------------------------------------------- experiments side by side */

/* The name without the number it ends with: x of x_2, x2, x. */
static size_t stem_length(const char *name)
{
    size_t n = strlen(name);
    while (n > 1 && name[n - 1] >= '0' && name[n - 1] <= '9') n--;
    while (n > 1 && name[n - 1] == '_') n--;
    return n;
}

static bool have_one_stem(const char *a, const char *b)
{
    static const char unnamed[] = "column";
    size_t n = stem_length(a);
    if (strncmp(a, unnamed, sizeof unnamed - 1) == 0) return false;
    return n == stem_length(b) && strncmp(a, b, n) == 0;
}

static kbass_status refuse_times(const kbass_data *d, kbass_error *error)
{
    for (size_t i = 0; d->n_axes == 1 && i < d->n_states; i++) {
        const char *name = d->state_names[i], *time = d->time_name;
        bool rises = d->n_rows > 1;
        for (size_t row = 1; row < d->n_rows; row++) rises &= !(value(d, row, i) < value(d, row - 1, i));
        if (!rises || !have_one_stem(name, time) || d->n_states < 3) continue;
        return kb_fail(
            error, KBASS_ERROR_DATA,
            "%.120s: \"%s\" beside \"%s\" is the time of another experiment: write each into a file of its own, kbass "
            "data %.120s --time %s --use COLUMNS --rename \"%s=%.*s, ...\" -o run2.csv, and give these together",
            file_of(d), name, time, file_of(d), name, name, (int)stem_length(name), name);
    }
    return KBASS_OK;
}

/* ---------------------------------------------------------------- error bars */

/* A column whose whole name says that it has the error bars of the one before. */
static bool is_bars_alone(const char *face)
{
    static const char *const names[] = {"\xc2\xb1", "+/-",     "+-",       "sd",     "std",
                                        "stdev",    "std dev", "std.dev.", "stderr", "sem"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (!strcasecmp(face, names[i])) return true;
    return false;
}

/* x_err, x_sd, err_x, sigma_x beside x: of which state a name means the error bars; n_states: of none. */
static size_t state_of_bars(const kbass_data *d, size_t column)
{
    static const char *const words[] = {"err", "error", "sd",    "std", "stdev",
                                        "se",  "sem",   "sigma", "unc", "uncertainty"};
    const char *name = d->state_names[column];
    for (size_t k = 0; k < sizeof words / sizeof *words; k++)
        for (size_t i = 0; i < d->n_states; i++) {
            char behind[200], front[200];
            snprintf(behind, sizeof behind, "%.80s_%s", d->state_names[i], words[k]);
            snprintf(front, sizeof front, "%s_%.80s", words[k], d->state_names[i]);
            size_t stem = strlen(d->state_names[i]),
                   mean = stem > 5 && !strcasecmp(d->state_names[i] + stem - 5, "_mean");
            if (mean)
                snprintf(behind, sizeof behind, "%.*s_%s", (int)(stem < 80 ? stem - 5 : 80), d->state_names[i],
                         words[k]);
            if (i != column && (!strcasecmp(name, behind) || !strcasecmp(name, front))) return i;
        }
    const char *face = d->state_captions ? d->state_captions[column].face : NULL;
    return column && is_bars_alone(face ? face : name) ? column - 1 : d->n_states;
}

static kbass_status refuse_bars(const kbass_data *d, kbass_error *error)
{
    char list[300] = "";
    size_t length = 0;
    for (size_t i = 0; d->n_states > 1 && i < d->n_states && length < sizeof list; i++) {
        size_t of = state_of_bars(d, i);
        if (of == d->n_states) continue;
        length += (size_t)snprintf(list + length, sizeof list - length, "%s%s=%s", length ? ", " : "",
                                   d->state_names[of], d->state_names[i]);
    }
    if (!length) return KBASS_OK;
    return kb_fail(error, KBASS_ERROR_DATA,
                   "%.200s: error bars by their names: --sigma \"%s\" if they are; if they are states, they need other "
                   "names: --rename",
                   file_of(d), list);
}

/* ---------------------------------------------------------------- parts of times */

/* Units of time from the shortest on: 1 seconds, 2 minutes, 3 hours; 0: none. */
static int clock_part(const char *name)
{
    static const char *const words[][4] = {
        {"sec", "second", "seconds", "s"}, {"min", "minute", "minutes", "mins"}, {"hour", "hours", "hr", "h"}};
    for (int part = 0; part < 3; part++)
        for (size_t i = 0; i < 4; i++)
            if (!strcasecmp(name, words[part][i])) return part + 1;
    return 0;
}

/* Seconds that come again beside minutes are no time by themselves. */
static kbass_status refuse_parts(const kbass_data *d, kbass_error *error)
{
    int own = clock_part(d->time_name);
    bool repeats = false;
    for (size_t row = 1; row < d->n_rows; row++) repeats |= d->times[row] == d->times[row - 1];
    for (size_t i = 0; own && repeats && d->n_axes == 1 && i < d->n_states; i++) {
        if (clock_part(d->state_names[i]) <= own) continue;
        return kb_fail(
            error, KBASS_ERROR_DATA,
            "%.200s: \"%s\" and \"%s\" are one time together: write it into one column, as 0:01:30 or in one unit, "
            "and name that: --time NAME",
            file_of(d), d->state_names[i], d->time_name);
    }
    return KBASS_OK;
}

/* ---------------------------------------------------------------- a year in each row */

static bool is_month(const char *name)
{
    static const char *const months[] = {"jan", "feb", "mar", "apr", "may", "jun",
                                         "jul", "aug", "sep", "oct", "nov", "dec"};
    for (size_t i = 0; i < sizeof months / sizeof *months; i++)
        if (!strncasecmp(name, months[i], 3)) return true;
    return false;
}

/* Years below each other, months beside each other. */
static kbass_status refuse_months(const kbass_data *d, kbass_error *error)
{
    size_t n = 0;
    for (size_t i = 0; d->n_axes == 1 && i < d->n_states; i++) n += is_month(d->state_names[i]);
    if (n < 12 || n + 1 < d->n_states) return KBASS_OK;
    return kb_fail(error, KBASS_ERROR_DATA,
                   "%.200s: the columns %s to %s are months, each row is a year: one column needs all values in the "
                   "order of time, a row for each month, beside their dates (2021-03)",
                   file_of(d), d->state_names[0], d->state_names[d->n_states - 1]);
}

kbass_status kb_doubts_refuse(const kbass_data *data, kbass_error *error)
{
    kbass_status status = refuse_grid(data, error);
    if (status == KBASS_OK) status = refuse_times(data, error);
    if (status == KBASS_OK) status = refuse_parts(data, error);
    if (status == KBASS_OK) status = refuse_months(data, error);
    return status == KBASS_OK ? refuse_bars(data, error) : status;
}

static double correlation(const kbass_data *d, size_t a, size_t b)
{
    double n = 0, mean_a = 0, mean_b = 0, aa = 0, bb = 0, ab = 0;
    for (size_t row = 0; row < d->n_rows; row++) {
        double x = value(d, row, a), y = value(d, row, b);
        if (isnan(x) || isnan(y)) continue;
        double step_a = x - mean_a, step_b = y - mean_b;
        mean_a += step_a / ++n;
        mean_b += step_b / n;
        aa += step_a * (x - mean_a);
        bb += step_b * (y - mean_b);
        ab += step_a * (y - mean_b);
    }
    return n > 3 && aa > 0 && bb > 0 ? ab / sqrt(aa * bb) : 0;
}

/* The states that have a stem with this one and go with it; how many. */
static size_t count_repeats(const kbass_data *d, size_t state, size_t *last)
{
    size_t n = 1;
    for (size_t i = state + 1; i < d->n_states; i++) {
        if (!have_one_stem(d->state_names[state], d->state_names[i])) continue;
        if (!(correlation(d, state, i) >= alike)) return 0;
        *last = i;
        n++;
    }
    return n;
}

static size_t doubt_repeats(const kbass_data *d, char *text, size_t size)
{
    for (size_t i = 0; d->n_axes == 1 && i < d->n_states; i++) {
        size_t last = i, n = count_repeats(d, i, &last);
        const char *name = d->state_names[i];
        if (n < 2) continue;
        return (size_t)snprintf(
            text, size,
            "%s to %s run alike: %zu measurements of one quantity, or experiments side by side? Then each "
            "is a run of its own: kbass data %.120s --use %s --rename \"%s=%.*s\" -o run1.csv, and so on",
            name, d->state_names[last], n, file_of(d), name, name, (int)stem_length(name), name);
    }
    return 0;
}

/* ---------------------------------------------------------------- an index */

static size_t doubt_index(const kbass_data *d, char *text, size_t size)
{
    for (size_t i = 0;
         d->n_runs == 0 && d->n_axes == 1 && d->n_rows >= FEWEST_COUNTED && i < d->n_states && d->n_states > 1; i++) {
        size_t row = 1;
        while (row < d->n_rows && value(d, row, i) - value(d, row - 1, i) == 1) row++;
        if (row < d->n_rows || value(d, 0, i) != floor(value(d, 0, i))) continue;
        const char *name = d->state_names[i];
        return (size_t)snprintf(text, size, "%s counts the rows; if it is no measurement: --ignore %s", name, name);
    }
    return 0;
}

/* ---------------------------------------------------------------- a number for missing */

/* All others are nearer to each other than to this one. */
static bool is_far(const kbass_data *d, size_t state, double mark, size_t *n)
{
    double low = INFINITY, high = -INFINITY;
    *n = 0;
    for (size_t row = 0; row < d->n_rows; row++) {
        double x = value(d, row, state);
        if (isnan(x)) continue;
        *n += x == mark;
        if (x != mark) low = fmin(low, x);
        if (x != mark) high = fmax(high, x);
    }
    double gap = mark < low ? low - mark : mark - high;
    return *n && low < high && gap > 0.5 * (high - low) && !(mark >= low && mark <= high);
}

static size_t doubt_marks(const kbass_data *d, char *text, size_t size)
{
    static const double marks[] = {-999,
                                   -9999,
                                   -99999,
                                   -99.9,
                                   -999.9,
                                   -999.99,
                                   -9999.99,
                                   999,
                                   9999,
                                   99999,
                                   999.9,
                                   1e20,
                                   1e30,
                                   -1e30,
                                   -32768,
                                   65535,
                                   9.9e37,
                                   -9.9e37,
                                   9.91e37, /* of SCPI: over, under, no number */
                                   9.969209968386869e36 /* of netCDF */};
    for (size_t i = 0; i < d->n_states; i++)
        for (size_t k = 0; k < sizeof marks / sizeof *marks; k++) {
            size_t n = 0;
            if (!is_far(d, i, marks[k], &n)) continue;
            return (size_t)snprintf(
                text, size, "%s is %g %zu time%s, far from its other values; if that means missing: --missing %g",
                d->state_names[i], marks[k], n, n == 1 ? "" : "s", marks[k]);
        }
    return 0;
}

/* ---------------------------------------------------------------- one state that turns */

/* The noise, from how the middle of three neighbours differs from the others. */
static double noise_of(size_t n, const double *x, double *work)
{
    size_t m = 0;
    for (size_t i = 1; i + 1 < n; i++) work[m++] = fabs(x[i - 1] - 2 * x[i] + x[i + 1]);
    qsort(work, m, sizeof *work, ascending);
    return m ? work[m / 2] / (0.6745 * sqrt(6)) : 0;
}

/* It rises and falls by more than noise can. */
static bool turns(size_t n, const double *x, double *work)
{
    double low = x[0], high = x[0], rise = 0, fall = 0;
    for (size_t i = 0; i < n; i++) {
        rise = fmax(rise, x[i] - low);
        fall = fmax(fall, high - x[i]);
        low = fmin(low, x[i]);
        high = fmax(high, x[i]);
    }
    double limit = (2 * sqrt(2 * log((double)n)) + 0.5) * noise_of(n, x, work);
    return fmin(rise, fall) > limit && fmin(rise, fall) > 0.05 * (high - low);
}

static size_t doubt_turning(const kbass_data *d, char *text, size_t size)
{
    bool is_turning = false;
    double *x = d->n_axes == 1 && d->n_states == 1 ? KB_NEW(double, 2 * d->n_rows) : NULL;
    for (size_t run = 0; x && run < kbass_data_runs(d); run++) {
        size_t n = 0;
        for (size_t row = kb_data_run_start(d, run); row < kb_data_run_start(d, run + 1); row++)
            if (!isnan(d->values[row])) x[n++] = d->values[row];
        is_turning |= n >= FEWEST_TURNED && turns(n, x, x + d->n_rows);
    }
    kb_free(x);
    if (!is_turning) return 0;
    const char *name = d->state_names[0];
    return (size_t)snprintf(
        text, size,
        "%s rises and falls through the same values, which no law %s_t = f(%s) does: a second state is "
        "needed (its rate, or what drives it), or the second order: --lhs %s_tt, or a term of time: --terms "
        "\"sin(%s)\"",
        name, name, name, name, d->time_name);
}

size_t kbass_data_doubt(const kbass_data *data, size_t index, char *text, size_t size)
{
    static size_t (*const checks[])(const kbass_data *, char *, size_t) = {doubt_marks, doubt_repeats, doubt_index,
                                                                           doubt_turning};
    for (size_t i = 0; i < sizeof checks / sizeof *checks; i++) {
        size_t length = checks[i](data, text, size);
        if (length && index-- == 0) return length;
    }
    if (size) *text = '\0';
    return 0;
}
