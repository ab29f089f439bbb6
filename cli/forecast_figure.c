/* The forecast as a figure: bands over time for states; for fields the median and the width of the widest band. */
#include <math.h>
#include <stdbool.h>

#include "figure.h"
#include "forecast.h"
#include "message.h"

enum { PANEL_WIDTH = 760, PANEL_HEIGHT = 260 };

static double quantile_at(const cli_outlook *o, size_t k, size_t time, size_t place, size_t state)
{
    size_t states = kbass_posterior_states(o->posterior), places = o->places.n ? o->places.n : 1;
    return o->quantiles[((k * o->times.n + time) * places + place) * states + state];
}

/* ---------------------------------------------------------------- states */

/* A block of time and all quantiles of one state. */
static void write_bands(FILE *script, const cli_outlook *o, size_t state)
{
    fputs("$bands << EOD\n", script);
    for (size_t i = 0; i < o->n_written; i++) {
        fprintf(script, "%.15g", o->times.values[i]);
        for (size_t k = 0; k < o->percents.n; k++) fprintf(script, " %.15g", quantile_at(o, k, i, 0, state));
        fputc('\n', script);
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

/* In gnuplot's single quotes a quote is written twice. */
static void put_quoted(FILE *script, const char *text)
{
    fputc('\'', script);
    for (; *text; text++) {
        if (*text == '\'') fputc('\'', script);
        fputc((unsigned char)*text < ' ' ? ' ' : *text, script);
    }
    fputc('\'', script);
}

/* "Day: days since 2021-03-04" where times were dates. */
static void put_time_label(FILE *script, const cli_outlook *o)
{
    const char *name = kbass_posterior_axis_name(o->posterior, 0),
               *origin = o->data ? kbass_data_time_origin(o->data) : NULL;
    const char *unit = o->data ? kbass_data_unit(o->data, name) : NULL;
    char label[200];
    if (origin)
        snprintf(label, sizeof label, "%.100s: %s since %s", name, unit && *unit == 'd' ? "days" : "seconds", origin);
    else snprintf(label, sizeof label, "%.190s", o->data ? kbass_data_face(o->data, name) : name);
    fputs("set xlabel ", script);
    put_quoted(script, label);
    fputs(" noenhanced\n", script);
}

/* Pairs of quantiles from the outermost in, shaded; the middle one, if there is one, as a line. */
static void plot_state(FILE *script, const cli_outlook *o, size_t state)
{
    size_t n = o->percents.n;
    write_bands(script, o, state);
    write_points(script, o, state);
    const char *name = kbass_posterior_state_name(o->posterior, state);
    fputs("set ylabel ", script);
    put_quoted(script, o->data ? kbass_data_face(o->data, name) : name);
    fputs(" noenhanced\nplot ", script);
    for (size_t k = 0; k < n / 2; k++)
        fprintf(script,
                "$bands using 1:%zu:%zu with filledcurves fc rgb '#4477aa' fs transparent solid 0.3 noborder title "
                "'%g to %g %%', ",
                k + 2, n - k + 1, o->percents.values[k], o->percents.values[n - 1 - k]);
    if (n % 2)
        fprintf(script, "$bands using 1:%zu with lines lw 2 lc rgb '#224466' title '%g %%'", n / 2 + 2,
                o->percents.values[n / 2]);
    if (o->data) fputs(", $points using 1:2 with points pt 7 ps 0.5 lc rgb '#333333' title 'measured'", script);
    fputc('\n', script);
}

static void plot_states(FILE *script, const cli_outlook *o)
{
    double first = NAN, last = NAN;
    size_t n = kbass_posterior_states(o->posterior);
    kbass_posterior_range(o->posterior, 0, &first, &last);
    fprintf(script,
            "set multiplot layout %zu,1\nset style fill noborder\nset key outside right top\nset xrange [%.15g:%.15g]\n"
            "set border 3\nset tics nomirror\n",
            n, o->data ? first : o->times.values[0], o->times.values[o->times.n - 1]);
    if (o->data)
        fprintf(script, "set arrow from first %.15g, graph 0 to first %.15g, graph 1 nohead dt 2 lc rgb '#888888'\n",
                last, last);
    for (size_t i = 0; i < n; i++) {
        if (i + 1 == n) put_time_label(script, o);
        plot_state(script, o, i);
    }
}

/* ---------------------------------------------------------------- fields */

static void plot_map(FILE *script, const cli_outlook *o, size_t state, bool is_width)
{
    size_t n = o->percents.n;
    fputs("$map << EOD\n", script);
    for (size_t i = 0; i < o->n_written; i++) {
        for (size_t j = 0; j < o->places.n; j++) {
            double value = is_width ? quantile_at(o, n - 1, i, j, state) - quantile_at(o, 0, i, j, state)
                                    : quantile_at(o, n / 2, i, j, state);
            fprintf(script, "%.15g %.15g %.15g\n", o->times.values[i], o->places.values[j], value);
        }
        fputc('\n', script);
    }
    fputs("EOD\n", script);
    if (is_width)
        fprintf(script, "set title '%s: %g to %g %%' noenhanced\n", kbass_posterior_state_name(o->posterior, state),
                o->percents.values[0], o->percents.values[n - 1]);
    else
        fprintf(script, "set title '%s: %g %%' noenhanced\n", kbass_posterior_state_name(o->posterior, state),
                o->percents.values[n / 2]);
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
            o->times.values[0], o->times.values[o->n_written - 1], o->places.values[0],
            o->places.values[o->places.n - 1]);
    for (size_t i = 0; i < n; i++) {
        plot_map(script, o, i, false);
        plot_map(script, o, i, true);
    }
}

int cli_outlook_figure(const cli_outlook *o, const char *path)
{
    FILE *script = NULL;
    int rows = (int)kbass_posterior_states(o->posterior);
    int code = figure_begin(path, PANEL_WIDTH, (rows < 2 ? 2 : rows) * PANEL_HEIGHT * 3 / 4 + 40, &script);
    if (code != EXIT_OK) return code;
    if (o->places.n) plot_fields(script, o);
    else plot_states(script, o);
    return figure_end(path, script);
}
