/* The forecast as a figure: bands over time for states; for fields the median and the width of the widest band. */
#include <math.h>
#include <stdbool.h>

#include "figure.h"
#include "forecast.h"
#include "message.h"

enum { PANEL_WIDTH = 760, PANEL_HEIGHT = 260 };

static double quantile_at(const cli_outlook *o, size_t k, size_t time, size_t place, size_t state)
{
    size_t states = kbass_posterior_states(o->posterior);
    return o->quantiles[((k * o->times.n + time) * o->n_places + place) * states + state];
}

/* ---------------------------------------------------------------- states */

/* A block of time, all quantiles of one state, and its mean. */
static void write_bands(FILE *script, const cli_outlook *o, size_t state)
{
    fputs("$bands << EOD\n", script);
    for (size_t i = 0; i < o->n_written; i++) {
        fprintf(script, "%.15g", o->times.values[i]);
        for (size_t k = 0; k < o->percents.n; k++) fprintf(script, " %.15g", quantile_at(o, k, i, 0, state));
        fprintf(script, " %.15g\n", o->mean[i * kbass_posterior_states(o->posterior) + state]);
    }
    fputs("EOD\n", script);
}

static void write_points(FILE *script, const cli_outlook *o, size_t state)
{
    fputs("$points << EOD\n", script);
    for (size_t row = 0; o->data && row < kbass_data_rows(o->data); row++) {
        double value = kbass_data_values(o->data)[row * kbass_data_states(o->data) + state];
        if (isfinite(value)) fprintf(script, "%.15g %.15g\n", kbass_data_times(o->data)[row], value);
    }
    fputs("EOD\n", script);
}

/* Dates need no name. */
static void put_time_axis(FILE *script, const cli_outlook *o, double begin, double end)
{
    enum { ROOM = 520 };
    const char *name = kbass_posterior_axis_name(o->posterior, 0);
    figure_time_axis(script, o->origin ? "" : o->data ? kbass_data_face(o->data, name) : name, begin, end, ROOM);
    if (o->origin) figure_date_axis(script, o->origin, o->seconds, begin, end);
}

/* The k-th of n shades of blue, from light to dark: inner bands cover the outer ones. */
static unsigned shade(size_t k, size_t n)
{
    static const int light[] = {0xd3, 0xdf, 0xec}, dark[] = {0x6c, 0x94, 0xc2};
    int colour = 0;
    for (size_t i = 0; i < 3; i++)
        colour = colour << 8 | (light[i] + (n > 1 ? (dark[i] - light[i]) * (int)k / (int)(n - 1) : 0));
    return (unsigned)colour;
}

/* Pairs of quantiles from the outermost in, shaded; the middle one, or the mean where there is none, as a line. */
static void plot_state(FILE *script, const cli_outlook *o, size_t state)
{
    size_t n = o->percents.n;
    write_bands(script, o, state);
    write_points(script, o, state);
    const char *name = kbass_posterior_state_name(o->posterior, state);
    fputs("set ylabel ", script);
    figure_put_quoted(script, o->data ? kbass_data_face(o->data, name) : name);
    fputs(" noenhanced\nplot ", script);
    for (size_t k = 0; k < n / 2; k++) {
        unsigned colour = shade(k, n / 2);
        fprintf(script,
                "%s$bands using 1:%zu:%zu with filledcurves fc rgb '#%06x' fs solid border lc rgb '#%06x' "
                "title '%g to %g %%'",
                k ? ", " : "", k + 2, n - k + 1, colour, colour, o->percents.values[k], o->percents.values[n - 1 - k]);
    }
    if (n % 2)
        fprintf(script, "%s$bands using 1:%zu with lines lw 2 lc rgb '#224466' title '%g %%'", n > 1 ? ", " : "",
                n / 2 + 2, o->percents.values[n / 2]);
    else fprintf(script, ", $bands using 1:%zu with lines lw 2 lc rgb '#224466' title 'mean'", n + 2);
    if (o->data) fputs(", $points using 1:2 with points pt 7 ps 0.5 lc rgb '#333333' title 'measured'", script);
    fputc('\n', script);
}

static void plot_states(FILE *script, const cli_outlook *o)
{
    double first = NAN, last = NAN, end = o->times.values[o->times.n - 1];
    size_t n = kbass_posterior_states(o->posterior);
    kbass_posterior_range(o->posterior, 0, &first, &last);
    double begin = o->data ? first : o->times.values[0];
    fprintf(script,
            "set multiplot layout %zu,1\nset style fill noborder\nset key outside right top\nset xrange [%.15g:%.15g]\n"
            "set border 3\nset tics nomirror\n" FIGURE_MARGINS,
            n, begin, end);
    put_time_axis(script, o, begin, end);
    if (o->data)
        fprintf(script, "set arrow from first %.15g, graph 0 to first %.15g, graph 1 nohead dt 2 lc rgb '#888888'\n",
                last, last);
    for (size_t i = 0; i < n; i++) plot_state(script, o, i);
}

/* ---------------------------------------------------------------- fields */

/* The place i along the first axis of space, halfway along the others. */
static size_t middle_place(const cli_outlook *o, size_t i)
{
    size_t place = i;
    for (size_t d = 1; d < o->n_space; d++) place = place * o->n_along + o->n_along / 2;
    return place;
}

/* ", y = 3" and so on: where the others are. */
static void put_middle(FILE *script, const cli_outlook *o)
{
    for (size_t a = 2; a <= o->n_space; a++)
        fprintf(script, ", %s = %.4g", kbass_posterior_axis_name(o->posterior, a),
                cli_outlook_place(o, a, o->n_along / 2));
}

static void plot_map(FILE *script, const cli_outlook *o, size_t state, bool is_width)
{
    size_t n = o->percents.n;
    fputs("$map << EOD\n", script);
    for (size_t i = 0; i < o->n_written; i++) {
        for (size_t j = 0; j < o->n_along; j++) {
            size_t place = middle_place(o, j);
            double value = is_width ? quantile_at(o, n - 1, i, place, state) - quantile_at(o, 0, i, place, state)
                                    : quantile_at(o, n / 2, i, place, state);
            fprintf(script, "%.15g %.15g %.15g\n", o->times.values[i], cli_outlook_place(o, 1, j), value);
        }
        fputc('\n', script);
    }
    fputs("EOD\n", script);
    if (is_width)
        fprintf(script, "set title '%s: %g to %g %%", kbass_posterior_state_name(o->posterior, state),
                o->percents.values[0], o->percents.values[n - 1]);
    else
        fprintf(script, "set title '%s: %g %%", kbass_posterior_state_name(o->posterior, state),
                o->percents.values[n / 2]);
    put_middle(script, o);
    fputs("' noenhanced\n", script);
    fputs("plot $map using 1:2:3 with image notitle\n", script);
}

static void plot_fields(FILE *script, const cli_outlook *o)
{
    size_t n = kbass_posterior_states(o->posterior);
    fprintf(script,
            "set multiplot layout %zu,2\nset palette defined (0 '#224466', 0.5 '#4aa3a2', 1 '#fde725')\n"
            "set xlabel '%s' noenhanced\nset ylabel '%s' noenhanced\n"
            "set xrange [%.15g:%.15g]\nset yrange [%.15g:%.15g]\n",
            n, kbass_posterior_axis_name(o->posterior, 0), kbass_posterior_axis_name(o->posterior, 1),
            o->times.values[0], o->times.values[o->n_written - 1], cli_outlook_place(o, 1, 0),
            cli_outlook_place(o, 1, o->n_along - 1));
    if (o->origin)
        figure_date_axis(script, o->origin, o->seconds, o->times.values[0], o->times.values[o->n_written - 1]);
    for (size_t i = 0; i < n; i++) {
        plot_map(script, o, i, false);
        plot_map(script, o, i, true);
    }
}

int cli_outlook_figure(const cli_outlook *o, const char *path)
{
    FILE *script = NULL;
    int rows = (int)kbass_posterior_states(o->posterior);
    int code = figure_begin(path, PANEL_WIDTH, (rows < 2 ? 420 : rows * PANEL_HEIGHT), &script);
    if (code != EXIT_OK) return code;
    if (o->n_space) plot_fields(script, o);
    else plot_states(script, o);
    return figure_end(path, script);
}
