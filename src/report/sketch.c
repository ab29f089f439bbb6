#include "report/sketch.h"

#include <math.h>

#include "base/memory.h"
#include "base/status.h"

enum { MOST_ROWS = 10000, MOST_TIMES = 4000, FEWEST_TIMES = 40 };

static const size_t grid_sizes[KBASS_MAX_AXES][KBASS_MAX_AXES] = {{400}, {80, 120}, {3, 60, 60}, {3, 20, 20, 20}};

size_t kb_sketch_points(const kb_sketch *s)
{
    size_t n = s->n_runs;
    for (size_t a = 0; a < s->n_axes; a++) n *= s->n_along[a] / s->n_runs;
    return n;
}

/* Along an axis, in each run. */
static size_t grid_size(size_t n_axes, size_t axis, size_t n_runs)
{
    size_t n = grid_sizes[n_axes - 1][axis], share = MOST_TIMES / n_runs;
    if (n_runs > 1 && n > share) n = share > FEWEST_TIMES ? share : FEWEST_TIMES;
    return n;
}

static kbass_status allocate(const kbass_data *data, kb_sketch **out, kbass_error *error)
{
    kb_sketch *s = KB_NEW(kb_sketch, 1);
    if (!s) return kb_out_of_memory(error, "the figures' numbers");
    *out = s;
    s->n_states = data->n_states;
    s->n_axes = data->n_axes;
    s->n_runs = data->n_runs ? data->n_runs : 1;
    s->step = (data->n_rows + MOST_ROWS - 1) / MOST_ROWS;
    s->n_rows = (data->n_rows + s->step - 1) / s->step;
    bool is_there = true;
    for (size_t a = 0; a < s->n_axes; a++) {
        s->n_along[a] = s->n_runs * grid_size(s->n_axes, a, s->n_runs);
        s->along[a] = KB_NEW(double, s->n_along[a]);
        is_there = is_there && s->along[a];
    }
    s->mean = KB_NEW(double, kb_sketch_points(s) * s->n_states);
    s->sd = KB_NEW(double, kb_sketch_points(s) * s->n_states);
    s->fitted = KB_NEW(double, s->n_rows * s->n_states);
    return is_there && s->mean && s->sd && s->fitted ? KBASS_OK : kb_out_of_memory(error, "the figures' numbers");
}

/* Even coordinates from the first measured one of a run to the last. */
static void lay_axis(const kbass_data *data, kb_sketch *s, size_t axis, size_t run)
{
    size_t n = s->n_along[axis] / s->n_runs;
    double *along = s->along[axis] + run * n, low = INFINITY, high = -INFINITY;
    for (size_t row = kb_data_run_start(data, run); row < kb_data_run_start(data, run + 1); row++) {
        low = fmin(low, kb_data_coordinate(data, row, axis));
        high = fmax(high, kb_data_coordinate(data, row, axis));
    }
    for (size_t i = 0; i < n; i++) along[i] = low + (high - low) * (double)i / (double)(n - 1);
    along[n - 1] = high;
}

static void lay_grid(const kbass_data *data, kb_sketch *s)
{
    for (size_t a = 0; a < s->n_axes; a++)
        for (size_t run = 0; run < s->n_runs; run++) lay_axis(data, s, a, run);
}

/* Coordinates of every point of the grid. */
static void spread_points(const kb_sketch *s, double *times, double *positions)
{
    size_t n = kb_sketch_points(s), each = n / s->n_runs, stride = each, n_space = s->n_axes - 1;
    for (size_t a = 0; a < s->n_axes; a++) {
        size_t along = s->n_along[a] / s->n_runs;
        stride /= along;
        for (size_t i = 0; i < n; i++) {
            double at = s->along[a][i / each * along + i / stride % along];
            if (a) positions[i * n_space + a - 1] = at;
            else times[i] = at;
        }
    }
}

static void choose_rows(const kbass_data *data, const kb_sketch *s, double *times, double *positions)
{
    for (size_t i = 0; i < s->n_rows; i++) {
        times[i] = data->times[i * s->step];
        for (size_t a = 1; a < s->n_axes; a++)
            positions[i * (s->n_axes - 1) + a - 1] = kb_data_coordinate(data, i * s->step, a);
    }
}

size_t kb_sketch_run(const kbass_data *data, size_t row)
{
    size_t run = 0;
    while (row >= kb_data_run_start(data, run + 1)) run++;
    return run;
}

/* The grid, run by run. */
static kbass_status solve_grid(kb_sketch *s, kb_sketch_solver *solve, const void *context, const double *times,
                               const double *places, kbass_error *error)
{
    size_t n = kb_sketch_points(s) / s->n_runs, size = n * s->n_states;
    kbass_status status = KBASS_OK;
    for (size_t run = 0; status == KBASS_OK && run < s->n_runs; run++)
        status = solve(context, run, n, times + run * n, places ? places + run * n * (s->n_axes - 1) : NULL,
                       s->mean + run * size, s->sd + run * size, error);
    return status;
}

/* The chosen rows, run by run. */
static kbass_status solve_rows(const kbass_data *data, kb_sketch *s, kb_sketch_solver *solve, const void *context,
                               const double *times, const double *places, kbass_error *error)
{
    kbass_status status = KBASS_OK;
    for (size_t first = 0, end = 0; status == KBASS_OK && first < s->n_rows; first = end) {
        size_t run = kb_sketch_run(data, first * s->step);
        while (end < s->n_rows && end * s->step < kb_data_run_start(data, run + 1)) end++;
        status = solve(context, run, end - first, times + first, places ? places + first * (s->n_axes - 1) : NULL,
                       s->fitted + first * s->n_states, NULL, error);
    }
    return status;
}

static kbass_status fill(const kbass_data *data, kb_sketch *s, kb_sketch_solver *solve, const void *context,
                         kbass_error *error)
{
    size_t n = kb_sketch_points(s), room = n > s->n_rows ? n : s->n_rows;
    double *times = KB_NEW(double, room), *positions = KB_NEW(double, room * s->n_axes);
    kbass_status status = times && positions ? KBASS_OK : kb_out_of_memory(error, "the figures' numbers");
    const double *places = s->n_axes > 1 ? positions : NULL;
    if (status == KBASS_OK) {
        lay_grid(data, s);
        spread_points(s, times, positions);
        status = solve_grid(s, solve, context, times, places, error);
    }
    if (status == KBASS_OK) {
        choose_rows(data, s, times, positions);
        status = solve_rows(data, s, solve, context, times, places, error);
    }
    kb_free(times);
    kb_free(positions);
    return status;
}

kbass_status kb_sketch_create(const kbass_data *data, kb_sketch_solver *solve, const void *context, kb_sketch **out,
                              kbass_error *error)
{
    kb_sketch *s = NULL;
    kbass_status status = allocate(data, &s, error);
    if (status == KBASS_OK) status = fill(data, s, solve, context, error);
    if (status == KBASS_OK) *out = s;
    else kb_sketch_destroy(s);
    return status;
}

void kb_sketch_destroy(kb_sketch *s)
{
    if (!s) return;
    for (size_t a = 0; a < KBASS_MAX_AXES; a++) kb_free(s->along[a]);
    kb_free(s->mean);
    kb_free(s->sd);
    kb_free(s->fitted);
    kb_free(s);
}
