/* States over time, against each other, and after the record. */
#include <math.h>

#include "panels.h"

static const double WIDE = 1.96; /* standard deviations to each side: 95 % */

static void samples_block(FILE *script, const view *v, size_t state)
{
    panel_block(script, "samples");
    for (size_t i = 0; i < v->n_rows; i++) {
        panel_number(script, v->at[0][i]);
        panel_number(script, v->measured[state][i]);
        panel_row(script);
    }
    panel_block_end(script);
}

static void curve_block(FILE *script, const view *v, size_t state)
{
    panel_block(script, "curve");
    for (size_t i = 0; i < v->n_along[0]; i++) {
        double mean = v->mean[state][i], half = WIDE * v->sd[state][i];
        panel_number(script, v->along[0][i]);
        panel_number(script, mean);
        panel_number(script, mean - half);
        panel_number(script, mean + half);
        panel_row(script);
    }
    panel_block_end(script);
}

/* ---------------------------------------------------------------- solution */

size_t solution_count(const view *v) { return v->n_points && v->n_axes == 1 ? v->n_states : 0; }

void solution_draw(FILE *script, const view *v, size_t state)
{
    panel_begin(script, v->axes[0], v->states[state]);
    samples_block(script, v, state);
    curve_block(script, v, state);
    fprintf(script,
            "plot $curve using 1:3:4 with filledcurves fc rgb '" PANEL_BLUE "' fs transparent solid 0.3 title '95 %% band', "
            "'' using 1:2 with lines lw 1.5 lc rgb '" PANEL_BLUE "' title 'fitted', "
            "$samples using 1:2 with points pt 7 ps %g lc rgb '" PANEL_INK "' title 'measured'\n",
            panel_point_size(v->n_rows));
}

void solution_describe(const view *v, size_t state, char words[PANEL_WORDS])
{
    double low = INFINITY, high = -INFINITY;
    for (size_t i = 0; i < v->n_points; i++) {
        low = fmin(low, v->mean[state][i]);
        high = fmax(high, v->mean[state][i]);
    }
    snprintf(words, PANEL_WORDS, "%s over %s: samples (dots), fitted solution (line) between %.3g and %.3g, with its 95 %% band.",
             v->states[state], v->axes[0], low, high);
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

void phase_draw(FILE *script, const view *v, size_t panel)
{
    size_t i = 0, j = 0;
    pair_of(v, panel, &i, &j);
    panel_begin(script, v->states[i], v->states[j]);
    panel_block(script, "path");
    for (size_t k = 0; k < v->n_points; k++) {
        panel_number(script, v->mean[i][k]);
        panel_number(script, v->mean[j][k]);
        panel_row(script);
    }
    panel_block_end(script);
    panel_block(script, "samples");
    for (size_t k = 0; k < v->n_rows; k++) {
        panel_number(script, v->measured[i][k]);
        panel_number(script, v->measured[j][k]);
        panel_row(script);
    }
    panel_block_end(script);
    fprintf(script,
            "plot $path using 1:2 with lines lw 1.5 lc rgb '" PANEL_BLUE "' title 'fitted', "
            "$path using 1:2 every ::0::0 with points pt 6 ps 1 lw 2 lc rgb '" PANEL_ORANGE "' title 'start', "
            "$samples using 1:2 with points pt 7 ps %g lc rgb '" PANEL_INK "' title 'measured'\n",
            panel_point_size(v->n_rows));
}

void phase_describe(const view *v, size_t panel, char words[PANEL_WORDS])
{
    size_t i = 0, j = 0;
    pair_of(v, panel, &i, &j);
    snprintf(words, PANEL_WORDS, "Phase portrait: %s against %s, samples (dots), fitted path (line) and where it starts (ring).",
             v->states[j], v->states[i]);
}

/* ---------------------------------------------------------------- forecast */

size_t forecast_count(const view *v) { return v->forecast.n_times ? v->n_states : 0; }

static void forecast_map(FILE *script, const view *v, size_t state)
{
    const view_forecast *f = &v->forecast;
    panel_begin(script, v->axes[0], v->axes[1]);
    field_palette(script);
    fprintf(script, "set colorbox\nset title '%s, median' noenhanced textcolor rgb '" PANEL_INK "'\n", v->states[state]);
    panel_block(script, "map");
    for (size_t i = 0; i < f->n_times * f->n_places; i++) {
        panel_number(script, f->times[i / f->n_places]);
        panel_number(script, f->places[i % f->n_places]);
        panel_number(script, f->quantiles[1][i * v->n_states + state]);
        panel_row(script);
    }
    panel_block_end(script);
    fputs("set autoscale xfix\nset autoscale yfix\nplot $map using 1:2:3 with image notitle\n", script);
}

void forecast_draw(FILE *script, const view *v, size_t state)
{
    const view_forecast *f = &v->forecast;
    if (v->n_axes > 1) {
        forecast_map(script, v, state);
        return;
    }
    panel_begin(script, v->axes[0], v->states[state]);
    samples_block(script, v, state);
    if (v->n_points) curve_block(script, v, state);
    panel_block(script, "ahead");
    for (size_t i = 0; i < f->n_times; i++) {
        panel_number(script, f->times[i]);
        for (size_t k = 0; k < 3; k++) panel_number(script, f->quantiles[k][i * v->n_states + state]);
        panel_row(script);
    }
    panel_block_end(script);
    fprintf(script, "set arrow from first %.10g, graph 0 to first %.10g, graph 1 nohead dt 2 lc rgb '" PANEL_GREY "'\nplot ",
            v->span[0][1], v->span[0][1]);
    if (v->n_points) fputs("$curve using 1:2 with lines lw 1.5 lc rgb '" PANEL_BLUE "' title 'fitted', ", script);
    fprintf(script,
            "$ahead using 1:2:4 with filledcurves fc rgb '" PANEL_ORANGE "' fs transparent solid 0.3 title '5 to 95 %%', "
            "'' using 1:3 with lines lw 1.5 lc rgb '" PANEL_ORANGE "' title 'median', "
            "$samples using 1:2 with points pt 7 ps %g lc rgb '" PANEL_INK "' title 'measured'\n",
            panel_point_size(v->n_rows));
}

void forecast_describe(const view *v, size_t state, char words[PANEL_WORDS])
{
    const view_forecast *f = &v->forecast;
    size_t n = f->n_places ? f->n_places : 1, last = ((f->n_times - 1) * n + n / 2) * v->n_states + state;
    snprintf(words, PANEL_WORDS,
             "Forecast of %s until %s = %.4g: there the median is %.3g%s, 90 %% of the draws lie between %.3g and %.3g.",
             v->states[state], v->axes[0], f->times[f->n_times - 1], f->quantiles[1][last],
             f->n_places ? " halfway along space" : "", f->quantiles[0][last], f->quantiles[2][last]);
}
