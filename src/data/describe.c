/* Data in words, and what discovery needs of them. */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/number.h"
#include "base/status.h"
#include "data/grid.h"

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
    size_t n = data->n_states - data->n_hidden;
    for (size_t i = 0; i < n; i++) {
        if (n > LISTED && i == 3) {
            say(w, ", ...");
            i = n - 1;
        }
        say(w, "%s%s", i ? ", " : "", data->state_names[i]);
    }
}

/* ---------------------------------------------------------------- axes */

static void say_spacing(words *w, const kb_grid *grid, size_t axis)
{
    double median = grid->spacing[axis], nearest = grid->nearest[axis], farthest = grid->farthest[axis];
    bool is_even = farthest - nearest <= EVEN * median;
    say(w, ", spacing ");
    say_number(w, is_even ? median : nearest, SPACING_DIGITS);
    if (is_even) {
        say(w, " (even)");
        return;
    }
    say(w, " to ");
    say_number(w, farthest, SPACING_DIGITS);
    say(w, " (uneven, median ");
    say_number(w, median, SPACING_DIGITS);
    say(w, ")");
}

/* Scattered points have no spacing. */
static void say_axis(words *w, const kbass_data *data, const kb_grid *grid, size_t axis)
{
    double first = grid->at[axis][0], last = grid->at[axis][grid->n[axis] - 1];
    say(w, first < last ? ", %s from " : ", all at %s = ", data->axis_names[axis]);
    say_number(w, first, TIME_DIGITS);
    if (!(first < last)) return;
    say(w, " to ");
    say_number(w, last, TIME_DIGITS);
    if (grid->is_grid || data->n_axes == 1) say_spacing(w, grid, axis);
}

static void say_axes(words *w, const kbass_data *data, const kb_grid *grid)
{
    for (size_t axis = 0; axis < data->n_axes; axis++) say_axis(w, data, grid, axis);
}

/* Rows at the time and place of the one before, in one run. */
static size_t count_repeated(const kbass_data *data)
{
    size_t n = 0;
    for (size_t run = 0; run < kbass_data_runs(data); run++)
        for (size_t row = kb_data_run_start(data, run) + 1; row < kb_data_run_start(data, run + 1); row++)
            n += kb_data_same_place(data, row - 1, row);
    return n;
}

static void say_repeated(words *w, const kbass_data *data)
{
    size_t n = count_repeated(data);
    if (n)
        say(w, ", %zu row%s repeat%s a %s: separate measurements", n, n == 1 ? "" : "s", n == 1 ? "s" : "",
            data->n_axes > 1 ? "place" : "time");
}

/* "10 x 10" */
static void say_shape(words *w, const kb_grid *grid)
{
    for (size_t axis = 0; axis < grid->n_axes; axis++) say(w, "%s%zu", axis ? " x " : "", grid->n[axis]);
}

/* " in 3 runs (1, 2, 3)" */
static void say_runs(words *w, const kbass_data *data)
{
    say(w, " in %zu run%s (", data->n_runs, data->n_runs == 1 ? "" : "s");
    for (size_t i = 0; i < data->n_runs && i < LISTED; i++) say(w, "%s%s", i ? ", " : "", data->run_names[i]);
    say(w, data->n_runs > LISTED ? ", ...)" : ")");
}

/* Runs of fields: are they all on grids, and on the one of all rows together? */
static bool runs_have_grids(const kbass_data *data, const kb_grid *common, bool *is_one)
{
    bool all = data->n_runs > 0 && data->n_axes > 1;
    *is_one = all && common->is_grid;
    for (size_t i = 0; all && i < data->n_runs; i++) {
        kb_grid grid;
        kbass_data run = kb_data_run(data, i);
        all = kb_grid_create(&run, &grid, NULL) == KBASS_OK && grid.is_grid;
        for (size_t axis = 0; axis < data->n_axes; axis++) *is_one = *is_one && grid.n[axis] == common->n[axis];
        kb_grid_clear(&grid);
    }
    return all;
}

/* "100 rows on a 10 x 10 grid (t, x)", "150 scattered points in (t, x)", or "12 rows" over time alone. */
static void say_rows(words *w, const kbass_data *data, const kb_grid *grid, bool have_own)
{
    const char *plural = data->n_rows == 1 ? "" : "s";
    bool is_space = data->n_axes > 1;
    if (is_space && !grid->is_grid && !have_own) say(w, "%zu scattered point%s", data->n_rows, plural);
    else say(w, "%zu row%s", data->n_rows, plural);
    if (data->n_runs) say_runs(w, data);
    if (is_space && !grid->is_grid) say(w, have_own ? ", each on its own grid " : " in ");
    if (is_space && grid->is_grid) {
        say(w, " on a ");
        say_shape(w, grid);
        say(w, " grid ");
    }
    for (size_t axis = 0; is_space && axis < data->n_axes; axis++)
        say(w, "%s%s", axis ? ", " : "(", data->axis_names[axis]);
    if (is_space) say(w, ")");
    if (is_space && grid->is_grid && grid->n_taken < grid->n_cells)
        say(w, " with %zu left out", grid->n_cells - grid->n_taken);
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
    size_t n = data->n_states - data->n_hidden, missing = 0, all = data->n_rows * n, listed = 0;
    for (size_t i = 0; i < n; i++) missing += data->n_rows - count_measured(data, i);
    if (!missing) {
        say(w, ", nothing missing");
        return;
    }
    say(w, ", %zu of %zu values missing (", missing, all);
    for (size_t i = 0; i < n && listed <= LISTED; i++) {
        size_t here = data->n_rows - count_measured(data, i);
        if (!here) continue;
        if (listed == LISTED) say(w, ", ...");
        else say(w, "%s%s %zu", listed ? ", " : "", data->state_names[i], here);
        listed++;
    }
    say(w, ")");
}

/* ", error bars from 0.05 to 1": of all states together */
static void say_error_bars(words *w, const kbass_data *data)
{
    double least = INFINITY, most = 0;
    for (size_t i = 0; data->sigma && i < data->n_rows * data->n_states; i++) {
        if (isnan(data->values[i]) || isnan(data->sigma[i])) continue;
        least = fmin(least, data->sigma[i]);
        most = fmax(most, data->sigma[i]);
    }
    if (!(most > 0)) return;
    say(w, ", error bars ");
    if (least < most) {
        say(w, "from ");
        say_number(w, least, SPACING_DIGITS);
        say(w, " to ");
    }
    say_number(w, most, SPACING_DIGITS);
}

size_t kbass_data_describe(const kbass_data *data, char *text, size_t size)
{
    kb_grid grid;
    words w = {text, size, 0};
    const char *kind = data->n_axes > 1 ? "field" : "state";
    if (size) *text = '\0';
    bool is_known = kb_grid_create(data, &grid, NULL) == KBASS_OK, is_one = true;
    bool have_grids = is_known && runs_have_grids(data, &grid, &is_one);
    if (data->n_runs && data->n_axes > 1) grid.is_grid = grid.is_grid && is_one;
    if (is_known) say_rows(&w, data, &grid, have_grids && !is_one);
    else say(&w, "%zu rows", data->n_rows);
    size_t n = data->n_states - data->n_hidden;
    say(&w, ", %zu %s%s (", n, kind, n == 1 ? "" : "s");
    say_names(&w, data);
    say(&w, ")");
    if (is_known) say_axes(&w, data, &grid);
    say_repeated(&w, data);
    say_missing(&w, data);
    say_error_bars(&w, data);
    if (data->part) say(&w, "; part of the file: %s", data->part);
    if (data->note && *data->note) say(&w, "; %s", data->note);
    kb_grid_clear(&grid);
    return w.length;
}

/* ---------------------------------------------------------------- what discovery needs */

typedef struct {
    size_t n;
    double first[KBASS_MAX_AXES], last[KBASS_MAX_AXES]; /* where it is measured */
    double lowest, highest;
} extent;

static extent measured_extent(const kbass_data *data, size_t state)
{
    extent e = {.lowest = INFINITY, .highest = -INFINITY};
    for (size_t axis = 0; axis < data->n_axes; axis++) {
        e.first[axis] = INFINITY;
        e.last[axis] = -INFINITY;
    }
    for (size_t row = 0; row < data->n_rows; row++) {
        double value = data->values[row * data->n_states + state];
        if (isnan(value)) continue;
        e.n++;
        for (size_t axis = 0; axis < data->n_axes; axis++) {
            e.first[axis] = fmin(e.first[axis], kb_data_coordinate(data, row, axis));
            e.last[axis] = fmax(e.last[axis], kb_data_coordinate(data, row, axis));
        }
        e.lowest = fmin(e.lowest, value);
        e.highest = fmax(e.highest, value);
    }
    return e;
}

/* "data.csv: state "x"" or "field "u"", which begins every message. */
static void name_state(const kbass_data *data, size_t state, char *text, size_t size)
{
    snprintf(text, size, "%.200s%s%s \"%.100s\"", data->source, *data->source ? ": " : "",
             data->n_axes > 1 ? "field" : "state", data->state_names[state]);
}

static kbass_status check_extent(const kbass_data *data, const extent *e, const char *who, kbass_error *error)
{
    char found[KB_NUMBER_SIZE];
    for (size_t axis = 0; axis < data->n_axes; axis++) {
        if (e->first[axis] < e->last[axis]) continue;
        kb_number_round(e->first[axis], TIME_DIGITS, found);
        if (!axis)
            return kb_fail(error, KBASS_ERROR_DATA, "%s: all %zu measured values are at one time (%s = %s)", who, e->n,
                           data->time_name, found);
        return kb_fail(error, KBASS_ERROR_DATA,
                       "%s: all %zu measured values are at a single point of the axis \"%s\" (%s), at least 2 are "
                       "needed",
                       who, e->n, data->axis_names[axis], found);
    }
    return KBASS_OK;
}

static kbass_status check_state(const kbass_data *data, size_t state, kbass_error *error)
{
    char found[KB_NUMBER_SIZE], who[KB_NUMBER_SIZE + 320];
    extent e = measured_extent(data, state);
    name_state(data, state, who, sizeof who);

    if (e.n < FEWEST_VALUES)
        return kb_fail(error, KBASS_ERROR_DATA, "%s has %zu measured value%s, at least %d are needed", who, e.n,
                       e.n == 1 ? "" : "s", FEWEST_VALUES);
    kbass_status status = check_extent(data, &e, who, error);
    if (status != KBASS_OK) return status;
    if (!(isfinite(e.lowest) && isfinite(e.highest)))
        return kb_fail(error, KBASS_ERROR_DATA, "%s has infinite values", who);
    kb_number_print(e.lowest, found);
    if (!(e.lowest < e.highest))
        return kb_fail(error, KBASS_ERROR_DATA, "%s is constant: all %zu measured values are %s%s%s", who, e.n, found,
                       data->n_states > 1 ? "; to leave it out: --ignore " : "",
                       data->n_states > 1 ? data->state_names[state] : "");
    return KBASS_OK;
}

static kbass_status check_run(const kbass_data *data, size_t run, kbass_error *error)
{
    size_t first = data->run_start[run], end = data->run_start[run + 1];
    for (size_t axis = 0; axis < data->n_axes; axis++) {
        double at = kb_data_coordinate(data, first, axis);
        size_t row = first;
        while (row < end && kb_data_coordinate(data, row, axis) == at) row++;
        if (row == end)
            return kb_fail(error, KBASS_ERROR_DATA,
                           "run \"%.100s\": all %zu rows are at one %s (%s = %g), at least 2 are "
                           "needed",
                           data->run_names[run], end - first, axis ? "place" : "time", data->axis_names[axis], at);
    }
    return KBASS_OK;
}

static kbass_status check_runs(const kbass_data *data, kbass_error *error)
{
    kbass_status status = KBASS_OK;
    for (size_t run = 0; status == KBASS_OK && run < data->n_runs; run++) status = check_run(data, run, error);
    return status;
}

kbass_status kb_data_check(const kbass_data *data, kbass_error *error)
{
    kbass_status status = KBASS_OK;
    for (size_t i = 0; i + data->n_hidden < data->n_states && status == KBASS_OK; i++)
        status = check_state(data, i, error);
    return status == KBASS_OK ? check_runs(data, error) : status;
}
