/* States over time, against each other, and after the record. */
#include <math.h>

#include "panels.h"

/* A colour for each run; one run alone has the page's own. */
static const char *run_colour(const view *v, size_t run)
{
    static const char *const colours[] = {PANEL_BLUE, PANEL_ORANGE, "#009e73", "#cc79a7", "#8c6d00", "#56b4e9"};
    return v->n_runs > 1 ? colours[run % (sizeof colours / sizeof *colours)] : PANEL_BLUE;
}

/* Two empty lines before a run make it gnuplot's next index. */
static void part_runs(FILE *script, const size_t *run, size_t i)
{
    if (run && i && run[i] != run[i - 1]) fputs("\n\n", script);
}

/* Columns: time, value, error bar. */
static void samples_block(FILE *script, const view *v, size_t state)
{
    panel_block(script, "samples");
    for (size_t i = 0; i < v->n_rows; i++) {
        part_runs(script, v->row_run, i);
        panel_place(script, v->at[0][i]);
        panel_number(script, v->measured[state][i]);
        panel_number(script, v->sigma ? v->sigma[state][i] : NAN);
        panel_row(script);
    }
    panel_block_end(script);
}

static void curve_block(FILE *script, const view *v, size_t state)
{
    panel_block(script, "curve");
    for (size_t i = 0; i < v->n_along[0]; i++) {
        part_runs(script, v->point_run, i);
        panel_band_row(script, v->along[0][i], v->mean[state][i], v->sd[state][i]);
    }
    panel_block_end(script);
}

/* The samples of all runs, at the end of a plot command. */
static void plot_samples(FILE *script, const view *v)
{
    for (size_t run = 0; run < v->n_runs; run++)
        fprintf(script, "%s$samples index %zu using %s pt 7 ps %g lc rgb '%s' %s", run ? ", " : "", run,
                v->sigma ? "1:2:3 with yerrorbars" : "1:2 with points", panel_point_size(v->n_rows),
                v->n_runs > 1 ? run_colour(v, run) : PANEL_INK, v->n_runs > 1 ? "notitle" : "title 'measured'");
    fputc('\n', script);
}

/* ---------------------------------------------------------------- solution */

enum { MOST_NAMED_RUNS = 6 };

size_t solution_count(const view *v) { return v->n_points && v->n_axes == 1 ? v->n_states : 0; }

static void plot_title(FILE *script, const view *v, size_t run, const char *alone)
{
    if (v->n_runs == 1) fprintf(script, "title '%s'", alone);
    else if (v->n_runs <= MOST_NAMED_RUNS) fprintf(script, "title '%s'", v->runs[run]);
    else fputs("notitle", script);
}

void solution_draw(FILE *script, const view *v, size_t state)
{
    panel_begin_time(script, v, v->state_labels[state], v->span[0][0], v->span[0][1]);
    samples_block(script, v, state);
    curve_block(script, v, state);
    fputs("plot ", script);
    for (size_t run = 0; run < v->n_runs; run++) {
        fprintf(script,
                "$curve index %zu using 1:3:4 with filledcurves fc rgb '%s' fs transparent solid 0.3 %s, "
                "'' index %zu using 1:2 with lines lw 1.5 lc rgb '%s' ",
                run, run_colour(v, run), v->n_runs > 1 ? "notitle" : "title '95 % band'", run, run_colour(v, run));
        plot_title(script, v, run, "fitted");
        fputs(", ", script);
    }
    plot_samples(script, v);
}

void solution_describe(const view *v, size_t state, char words[PANEL_WORDS])
{
    double low = INFINITY, high = -INFINITY;
    for (size_t i = 0; i < v->n_points; i++) {
        low = fmin(low, v->mean[state][i]);
        high = fmax(high, v->mean[state][i]);
    }
    snprintf(words, PANEL_WORDS,
             "%s over %s%s: samples (dots%s), fitted solution (line) between %.3g and %.3g, with its 95 %% band.",
             v->states[state], v->axes[0], v->n_runs > 1 ? " in each run" : "", v->sigma ? " with error bars" : "", low,
             high);
}

/* ---------------------------------------------------------------- phase portrait */

enum { MOST_PORTRAITS = 3 };

/* x-y; x-y, x-z, y-z; for more states 1-2, 2-3, 3-4. */
static void pair_of(const view *v, size_t panel, size_t *i, size_t *j)
{
    *i = v->n_states == 3 ? panel / 2 : panel;
    *j = v->n_states == 3 && panel ? 2 : *i + 1;
}

size_t phase_count(const view *v)
{
    if (!v->n_points || v->n_axes > 1 || v->n_states < 2) return 0;
    return v->n_states == 2 ? 1 : MOST_PORTRAITS;
}

static void pairs_block(FILE *script, const char *name, size_t n, const size_t *run, const double *x, const double *y)
{
    panel_block(script, name);
    for (size_t k = 0; k < n; k++) {
        part_runs(script, run, k);
        panel_number(script, x[k]);
        panel_number(script, y[k]);
        panel_row(script);
    }
    panel_block_end(script);
}

void phase_draw(FILE *script, const view *v, size_t panel)
{
    size_t i = 0, j = 0;
    pair_of(v, panel, &i, &j);
    panel_begin(script, v->state_labels[i], v->state_labels[j]);
    pairs_block(script, "path", v->n_points, v->point_run, v->mean[i], v->mean[j]);
    pairs_block(script, "samples", v->n_rows, v->row_run, v->measured[i], v->measured[j]);
    fputs("plot ", script);
    for (size_t run = 0; run < v->n_runs; run++) {
        fprintf(script, "$path index %zu using 1:2 with lines lw 1.5 lc rgb '%s' ", run, run_colour(v, run));
        plot_title(script, v, run, "fitted");
        fprintf(script, ", $path index %zu using 1:2 every ::0::0 with points pt 6 ps 1 lw 2 lc rgb '%s' %s, ", run,
                v->n_runs > 1 ? run_colour(v, run) : PANEL_ORANGE, v->n_runs > 1 ? "notitle" : "title 'start'");
        fprintf(script, "$samples index %zu using 1:2 with points pt 7 ps %g lc rgb '%s' %s%s", run,
                panel_point_size(v->n_rows), v->n_runs > 1 ? run_colour(v, run) : PANEL_INK,
                v->n_runs > 1 ? "notitle" : "title 'measured'", run + 1 < v->n_runs ? ", " : "\n");
    }
}

void phase_describe(const view *v, size_t panel, char words[PANEL_WORDS])
{
    size_t i = 0, j = 0;
    pair_of(v, panel, &i, &j);
    snprintf(words, PANEL_WORDS,
             "Phase portrait: %s against %s, samples (dots), fitted path%s (line%s) and where it starts (ring).",
             v->states[j], v->states[i], v->n_runs > 1 ? "s of all runs" : "", v->n_runs > 1 ? "s" : "");
}

/* ---------------------------------------------------------------- forecast */

size_t forecast_count(const view *v) { return v->forecast.n_times ? v->n_states : 0; }

/* Of which run, where there are several. */
static const char *run_ahead(const view *v) { return v->runs[v->forecast.run]; }

static void forecast_map(FILE *script, const view *v, size_t state)
{
    const view_forecast *f = &v->forecast;
    const char *run = run_ahead(v);
    panel_begin_time(script, v, v->axis_labels[1], f->times[0], f->times[f->n_times - 1]);
    field_palette(script);
    fprintf(script, "set colorbox\nset title '%s, median%s%s' noenhanced textcolor rgb '" PANEL_INK "'\n",
            v->states[state], *run ? ", " : "", run);
    panel_block(script, "map");
    for (size_t i = 0; i < f->n_times * f->n_places; i++) {
        panel_place(script, f->times[i / f->n_places]);
        panel_place(script, f->places[i % f->n_places]);
        panel_number(script, f->quantiles[1][i * v->n_states + state]);
        panel_row(script);
    }
    panel_block_end(script);
    fputs("set autoscale xfix\nset autoscale yfix\nplot $map using 1:2:3 with image notitle\n", script);
}

/* A known input has no forecast. */
static bool is_ahead(const view_forecast *f, size_t state) { return isfinite(f->quantiles[1][state]); }

static void forecast_curve(FILE *script, const view *v, size_t state)
{
    const view_forecast *f = &v->forecast;
    panel_begin_time(script, v, v->state_labels[state], v->span[0][0], f->times[f->n_times - 1]);
    samples_block(script, v, state);
    if (v->n_points) curve_block(script, v, state);
    panel_block(script, "ahead");
    for (size_t i = 0; i < f->n_times; i++) {
        panel_place(script, f->times[i]);
        for (size_t k = 0; k < 3; k++) panel_number(script, f->quantiles[k][i * v->n_states + state]);
        panel_row(script);
    }
    panel_block_end(script);
    fprintf(script,
            "set arrow from first %.15g, graph 0 to first %.15g, graph 1 nohead dt 2 lc rgb '" PANEL_GREY "'\nplot ",
            v->span[0][1], v->span[0][1]);
    if (v->n_points) fputs("$curve using 1:2 with lines lw 1.5 lc rgb '" PANEL_BLUE "' title 'fitted', ", script);
    if (is_ahead(f, state))
        fprintf(script, "$ahead using 1:2:4 with filledcurves fc rgb '" PANEL_ORANGE
                        "' fs transparent solid 0.3 title '5 to 95 %%', "
                        "'' using 1:3 with lines lw 1.5 lc rgb '" PANEL_ORANGE "' title 'median', ");
    plot_samples(script, v);
}

void forecast_draw(FILE *script, const view *v, size_t state)
{
    view own;
    if (v->n_axes > 1) forecast_map(script, v, state);
    else if (v->n_runs == 1) forecast_curve(script, v, state);
    else {
        if (view_run_open(v, v->forecast.run, &own)) forecast_curve(script, &own, state);
        view_run_close(&own);
    }
}

void forecast_describe(const view *v, size_t state, char words[PANEL_WORDS])
{
    const view_forecast *f = &v->forecast;
    size_t n = f->n_places ? f->n_places : 1, last = ((f->n_times - 1) * n + n / 2) * v->n_states + state;
    if (!is_ahead(f, state)) {
        snprintf(words, PANEL_WORDS, "The input %s over the record.", v->states[state]);
        return;
    }
    snprintf(words, PANEL_WORDS,
             "Forecast of %s%s%.100s until %s = %.4g: there the median is %.3g%s, 90 %% of the draws lie between %.3g "
             "and %.3g.",
             v->states[state], *run_ahead(v) ? " in run " : "", run_ahead(v), v->axes[0], f->times[f->n_times - 1],
             f->quantiles[1][last], f->n_places ? " halfway along space" : "", f->quantiles[0][last],
             f->quantiles[2][last]);
}
