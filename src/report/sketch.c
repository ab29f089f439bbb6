#include "report/sketch.h"

#include <math.h>

#include "base/memory.h"
#include "base/status.h"

enum { MOST_ROWS = 10000 };

static const size_t grid_sizes[KBASS_MAX_AXES][KBASS_MAX_AXES] = {{400}, {80, 120}, {3, 60, 60}, {3, 20, 20, 20}};

static size_t points_of(const kb_sketch *s)
{
    size_t n = 1;
    for (size_t a = 0; a < s->n_axes; a++) n *= s->n_along[a];
    return n;
}

static kbass_status allocate(const kbass_data *data, kb_sketch **out, kbass_error *error)
{
    kb_sketch *s = KB_NEW(kb_sketch, 1);
    if (!s) return kb_out_of_memory(error, "the figures' numbers");
    *out = s;
    s->n_states = data->n_states;
    s->n_axes = data->n_axes;
    s->step = (data->n_rows + MOST_ROWS - 1) / MOST_ROWS;
    s->n_rows = (data->n_rows + s->step - 1) / s->step;
    bool is_there = true;
    for (size_t a = 0; a < s->n_axes; a++) {
        s->n_along[a] = grid_sizes[s->n_axes - 1][a];
        s->along[a] = KB_NEW(double, s->n_along[a]);
        is_there = is_there && s->along[a];
    }
    s->mean = KB_NEW(double, points_of(s) * s->n_states);
    s->sd = KB_NEW(double, points_of(s) * s->n_states);
    s->fitted = KB_NEW(double, s->n_rows * s->n_states);
    return is_there && s->mean && s->sd && s->fitted ? KBASS_OK : kb_out_of_memory(error, "the figures' numbers");
}

/* Even coordinates from the first measured one to the last. */
static void lay_grid(const kbass_data *data, kb_sketch *s)
{
    for (size_t a = 0; a < s->n_axes; a++) {
        size_t n = s->n_along[a];
        double low = INFINITY, high = -INFINITY;
        for (size_t row = 0; row < data->n_rows; row++) {
            low = fmin(low, kb_data_coordinate(data, row, a));
            high = fmax(high, kb_data_coordinate(data, row, a));
        }
        for (size_t i = 0; i < n; i++) s->along[a][i] = low + (high - low) * (double)i / (double)(n - 1);
        s->along[a][n - 1] = high;
    }
}

/* Coordinates of every point of the grid. */
static void spread_points(const kb_sketch *s, double *times, double *positions)
{
    size_t n = points_of(s), stride = n, n_space = s->n_axes - 1;
    for (size_t a = 0; a < s->n_axes; a++) {
        stride /= s->n_along[a];
        for (size_t i = 0; i < n; i++) {
            double at = s->along[a][i / stride % s->n_along[a]];
            if (a) positions[i * n_space + a - 1] = at;
            else   times[i] = at;
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

static kbass_status fill(const kbass_data *data, kb_sketch *s, kb_sketch_solver *solve, const void *context,
                         kbass_error *error)
{
    size_t n = points_of(s), room = n > s->n_rows ? n : s->n_rows;
    double *times = KB_NEW(double, room), *positions = KB_NEW(double, room * s->n_axes);
    kbass_status status = times && positions ? KBASS_OK : kb_out_of_memory(error, "the figures' numbers");
    const double *places = s->n_axes > 1 ? positions : NULL;
    if (status == KBASS_OK) {
        lay_grid(data, s);
        spread_points(s, times, positions);
        status = solve(context, n, times, places, s->mean, s->sd, error);
    }
    if (status == KBASS_OK) {
        choose_rows(data, s, times, positions);
        status = solve(context, s->n_rows, times, places, s->fitted, NULL, error);
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
    else                    kb_sketch_destroy(s);
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
