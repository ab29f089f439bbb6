/* Fields over one space axis: measured, fitted and residual as maps, and slices at three times, of each of the first
 * runs; over two space axes the fitted field at the grid's three times.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "panels.h"

enum { MEASURED, FITTED, RESIDUAL, N_MAPS, N_SLICES = 3, MOST_CELLS = 120, MOST_RUNS = 6 };

/* ---------------------------------------------------------------- samples on cells */

/* Samples of one field sorted into the cells of an even grid. */
typedef struct {
    size_t n[2];
    double *sum; /* n[0] x n[1] */
    size_t *count;
} raster;

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* How many even steps the samples' coordinates along an axis make, or 0 when they are not even. */
static size_t even_coordinates(const view *v, size_t axis)
{
    double *sorted = calloc(v->n_rows + 1, sizeof *sorted), near = 1e-6 * (v->span[axis][1] - v->span[axis][0]);
    size_t n = 0;
    double least = INFINITY, most = 0;
    if (!sorted) return 0;
    memcpy(sorted, v->at[axis], v->n_rows * sizeof *sorted);
    qsort(sorted, v->n_rows, sizeof *sorted, ascending);
    for (size_t i = 0; i < v->n_rows; i++) {
        if (n && !(sorted[i] > sorted[n - 1] + near)) continue;
        if (n) least = fmin(least, sorted[i] - sorted[n - 1]);
        if (n) most = fmax(most, sorted[i] - sorted[n - 1]);
        sorted[n++] = sorted[i];
    }
    free(sorted);
    return n > 1 && most < 1.5 * least ? n : 0;
}

static size_t cell_of(const view *v, const raster *r, size_t row, size_t axis)
{
    double share = (v->at[axis][row] - v->span[axis][0]) / (v->span[axis][1] - v->span[axis][0]);
    double cell = floor(share * (double)(r->n[axis] - 1) + 0.5);
    return cell > 0 ? (size_t)fmin(cell, (double)(r->n[axis] - 1)) : 0;
}

static double sample(const view *v, size_t state, size_t map, const double *z, size_t row)
{
    return map == RESIDUAL ? z[row] : v->measured[state][row];
}

/* False when the samples lie on no even grid, or there is no memory. */
static bool fill_raster(const view *v, size_t state, size_t map, const double *z, raster *r)
{
    for (size_t a = 0; a < 2; a++) {
        size_t n = even_coordinates(v, a);
        r->n[a] = n < MOST_CELLS ? n : MOST_CELLS;
    }
    if (!r->n[0] || !r->n[1] || r->n[0] * r->n[1] > 3 * v->n_rows * v->step) return false;
    r->sum = calloc(r->n[0] * r->n[1], sizeof *r->sum);
    r->count = calloc(r->n[0] * r->n[1], sizeof *r->count);
    for (size_t i = 0; r->sum && r->count && i < v->n_rows; i++) {
        size_t cell = cell_of(v, r, i, 0) * r->n[1] + cell_of(v, r, i, 1);
        double value = sample(v, state, map, z, i);
        if (!isfinite(value)) continue;
        r->sum[cell] += value;
        r->count[cell]++;
    }
    return r->sum && r->count;
}

/* ---------------------------------------------------------------- palettes and ranges */

void field_palette(FILE *script)
{
    fputs("set palette defined (0 '#440154', 1 '#414487', 2 '#2a788e', 3 '#22a884', 4 '#7ad151', 5 '#fde725')\n",
          script);
}

static void widen(double value, double range[2])
{
    if (!isfinite(value)) return;
    range[0] = fmin(range[0], value);
    range[1] = fmax(range[1], value);
}

/* One scale for what was measured and what was fitted. */
static void shared_range(const view *v, size_t state, double range[2])
{
    range[0] = INFINITY;
    range[1] = -INFINITY;
    for (size_t i = 0; i < v->n_points; i++) widen(v->mean[state][i], range);
    for (size_t i = 0; i < v->n_rows; i++) widen(v->measured[state][i], range);
    if (!(range[1] > range[0])) range[1] = range[0] + 1;
}

static void set_colours(FILE *script, const view *v, size_t state, size_t map)
{
    double range[2];
    shared_range(v, state, range);
    fputs("set colorbox\n", script);
    if (map == RESIDUAL)
        fputs("set palette defined (-2 '#2166ac', -1 '#92c5de', 0 '#f7f7f7', 1 '#f4a582', 2 '#b2182b')\nset cbrange "
              "[-3.5:3.5]\n",
              script);
    else {
        field_palette(script);
        fprintf(script, "set cbrange [%.7g:%.7g]\n", range[0], range[1]);
    }
}

/* ---------------------------------------------------------------- maps */

static size_t runs_drawn(const view *v) { return v->n_runs < MOST_RUNS ? v->n_runs : MOST_RUNS; }

size_t field_count(const view *v)
{
    return v->n_points && (v->n_axes == 2 || v->n_axes == 3) ? N_MAPS * v->n_states * runs_drawn(v) : 0;
}

static void put_point(FILE *script, double x, double y, double value)
{
    panel_number(script, x);
    panel_number(script, y);
    panel_number(script, value);
    panel_row(script);
}

static void draw_solution(FILE *script, const view *v, size_t state)
{
    panel_block(script, "map");
    for (size_t i = 0; i < v->n_points; i++)
        put_point(script, v->along[0][i / v->n_along[1]], v->along[1][i % v->n_along[1]], v->mean[state][i]);
    panel_block_end(script);
    fputs("set autoscale xfix\nset autoscale yfix\nplot $map using 1:2:3 with image notitle\n", script);
}

static void draw_raster(FILE *script, const view *v, const raster *r)
{
    panel_block(script, "map");
    for (size_t i = 0; i < r->n[0] * r->n[1]; i++) {
        double share[2] = {(double)(i / r->n[1]) / (double)(r->n[0] - 1),
                           (double)(i % r->n[1]) / (double)(r->n[1] - 1)};
        put_point(script, v->span[0][0] + share[0] * (v->span[0][1] - v->span[0][0]),
                  v->span[1][0] + share[1] * (v->span[1][1] - v->span[1][0]),
                  r->count[i] ? r->sum[i] / (double)r->count[i] : NAN);
    }
    panel_block_end(script);
    fputs("set autoscale xfix\nset autoscale yfix\nplot $map using 1:2:3 with image notitle\n", script);
}

static void draw_scattered(FILE *script, const view *v, size_t state, size_t map, const double *z)
{
    panel_block(script, "map");
    for (size_t i = 0; i < v->n_rows; i++) put_point(script, v->at[0][i], v->at[1][i], sample(v, state, map, z, i));
    panel_block_end(script);
    fprintf(script, "plot $map using 1:2:3 with points pt 7 ps %g palette notitle\n", v->n_rows < 1500 ? 0.6 : 0.3);
}

static void draw_samples(FILE *script, const view *v, size_t state, size_t map)
{
    raster r = {0};
    double *z = calloc(v->n_rows + 1, sizeof *z);
    if (z) {
        view_residuals(v, state, z);
        if (fill_raster(v, state, map, z, &r)) draw_raster(script, v, &r);
        else draw_scattered(script, v, state, map, z);
    }
    free(z);
    free(r.sum);
    free(r.count);
}

/* Over two space axes: the fitted field at one time of the grid. */
static void draw_snapshot(FILE *script, const view *v, size_t state, size_t time, const char *run)
{
    size_t n = v->n_along[1] * v->n_along[2];
    panel_begin(script, v->axis_labels[1], v->axis_labels[2]);
    set_colours(script, v, state, FITTED);
    fprintf(script, "set title '%s fitted at %s = %.4g%s%s' noenhanced textcolor rgb '" PANEL_INK "'\n",
            v->states[state], v->axes[0], v->along[0][time], *run ? ", " : "", run);
    panel_block(script, "map");
    for (size_t i = 0; i < n; i++)
        put_point(script, v->along[1][i / v->n_along[2]], v->along[2][i % v->n_along[2]], v->mean[state][time * n + i]);
    panel_block_end(script);
    fputs("set autoscale xfix\nset autoscale yfix\nplot $map using 1:2:3 with image notitle\n", script);
}

static const char *const map_titles[] = {"measured", "fitted", "residual / noise"};

/* Of several runs: "u fitted, run 2". */
static void set_title(FILE *script, const view *v, size_t state, size_t map, const char *run)
{
    fprintf(script, "set title '%s %s%s%s' noenhanced textcolor rgb '" PANEL_INK "'\n", v->states[state],
            map_titles[map], *run ? ", " : "", run);
}

void field_draw(FILE *script, const view *all, size_t panel)
{
    size_t each = N_MAPS * all->n_states, run = panel / each, state = panel % each / N_MAPS, map = panel % N_MAPS;
    view own, *v = &own;
    bool is_open = view_run_open(all, run, v);
    if (is_open && v->n_axes == 3) {
        draw_snapshot(script, v, state, map < v->n_along[0] ? map : v->n_along[0] - 1, all->runs[run]);
    } else if (is_open) {
        panel_begin_time(script, v, v->axis_labels[1], v->span[0][0], v->span[0][1]);
        set_colours(script, v, state, map);
        set_title(script, v, state, map, all->runs[run]);
        if (map == FITTED) draw_solution(script, v, state);
        else draw_samples(script, v, state, map);
    }
    view_run_close(v);
}

void field_describe(const view *v, size_t panel, char words[PANEL_WORDS])
{
    size_t state = panel / N_MAPS % v->n_states;
    const char *name = v->states[state], *run = v->runs[panel / N_MAPS / v->n_states], *in = *run ? " in run " : "";
    double range[2];
    shared_range(v, state, range);
    if (v->n_axes == 3)
        snprintf(words, PANEL_WORDS, "%s as fitted%s%.100s, over %s and %s; the colours run from %.3g to %.3g.", name,
                 in, run, v->axes[1], v->axes[2], range[0], range[1]);
    else if (panel % N_MAPS == RESIDUAL)
        snprintf(words, PANEL_WORDS,
                 "What the solution leaves of %s%s%.100s, in units of the noise: there should be no pattern.", name, in,
                 run);
    else
        snprintf(words, PANEL_WORDS, "%s as %s%s%.100s, over %s and %s; the colours run from %.3g to %.3g.", name,
                 map_titles[panel % N_MAPS], in, run, v->axes[0], v->axes[1], range[0], range[1]);
}

/* ---------------------------------------------------------------- slices */

size_t slices_count(const view *v)
{
    return v->n_points && v->n_axes == 2 ? N_SLICES * v->n_states * runs_drawn(v) : 0;
}

/* The measured time nearest to 5, 50 or 95 % of the record. */
static double slice_time(const view *v, size_t slice)
{
    static const double shares[N_SLICES] = {0.05, 0.5, 0.95};
    double wanted = v->span[0][0] + shares[slice] * (v->span[0][1] - v->span[0][0]), best = wanted, distance = INFINITY;
    for (size_t i = 0; i < v->n_rows; i++)
        if (fabs(v->at[0][i] - wanted) < distance) {
            best = v->at[0][i];
            distance = fabs(best - wanted);
        }
    return best;
}

/* Between the two lines of the grid that the time lies between. */
static double at_time(const view *v, const double *values, double time, size_t place)
{
    size_t i = 0, n = v->n_along[1];
    while (i + 2 < v->n_along[0] && v->along[0][i + 1] < time) i++;
    double share = (time - v->along[0][i]) / (v->along[0][i + 1] - v->along[0][i]);
    share = fmax(0, fmin(1, share));
    return (1 - share) * values[i * n + place] + share * values[(i + 1) * n + place];
}

/* Grids have lines at the very time; of scattered samples, those within half a percent of the record. */
static void near_samples(FILE *script, const view *v, size_t state, double time)
{
    bool is_grid = even_coordinates(v, 0) > 0;
    double near = (is_grid ? 1e-6 : 5e-3) * (v->span[0][1] - v->span[0][0]);
    panel_block(script, "samples");
    panel_number(script, NAN);
    panel_number(script, NAN);
    panel_row(script);
    for (size_t i = 0; i < v->n_rows; i++)
        if (fabs(v->at[0][i] - time) <= near) {
            panel_place(script, v->at[1][i]);
            panel_number(script, v->measured[state][i]);
            panel_row(script);
        }
    panel_block_end(script);
}

static void draw_slice(FILE *script, const view *v, size_t state, size_t slice, const char *run)
{
    double time = slice_time(v, slice), range[2];
    shared_range(v, state, range);
    panel_begin(script, v->axis_labels[1], v->state_labels[state]);
    panel_block(script, "slice");
    for (size_t j = 0; j < v->n_along[1]; j++)
        panel_band_row(script, v->along[1][j], at_time(v, v->mean[state], time, j), at_time(v, v->sd[state], time, j));
    panel_block_end(script);
    near_samples(script, v, state, time);
    fprintf(script,
            "set label 1 '%s = %.4g%s%s' at graph 0.03, graph 0.94 noenhanced textcolor rgb '" PANEL_INK
            "'\nset yrange [%.7g:%.7g]\n"
            "plot $slice using 1:3:4 with filledcurves fc rgb '" PANEL_BLUE
            "' fs transparent solid 0.3 title '95 %% band', "
            "'' using 1:2 with lines lw 1.5 lc rgb '" PANEL_BLUE "' title 'fitted', "
            "$samples using 1:2 with points pt 7 ps 0.5 lc rgb '" PANEL_INK "' title 'measured'\n",
            v->axes[0], time, *run ? ", " : "", run, range[0] - 0.05 * (range[1] - range[0]),
            range[1] + 0.1 * (range[1] - range[0]));
}

void slices_draw(FILE *script, const view *all, size_t panel)
{
    size_t each = N_SLICES * all->n_states, run = panel / each;
    view v;
    if (view_run_open(all, run, &v)) draw_slice(script, &v, panel % each / N_SLICES, panel % N_SLICES, all->runs[run]);
    view_run_close(&v);
}

void slices_describe(const view *all, size_t panel, char words[PANEL_WORDS])
{
    size_t each = N_SLICES * all->n_states, run = panel / each;
    view v;
    bool is_open = view_run_open(all, run, &v);
    double time = is_open ? slice_time(&v, panel % N_SLICES) : NAN;
    snprintf(words, PANEL_WORDS,
             "%s over %s at %s = %.4g%s%.100s: samples (dots), fitted solution (line) with its 95 %% band.",
             all->states[panel % each / N_SLICES], all->axes[1], all->axes[0], time, *all->runs[run] ? " in run " : "",
             all->runs[run]);
    view_run_close(&v);
}
