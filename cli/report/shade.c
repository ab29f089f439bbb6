#include "shade.h"

#include <math.h>

#include "message.h"

static const char ramp[] = " .:-=+*#%@";

/* n_across x n_up values, the second axis running upwards on the page. */
typedef struct {
    size_t n_across, n_up, stride;
    const double *values, *across, *up;
    const char *across_name, *up_name;
} chart;

static double value_at(const chart *c, size_t i, size_t j) { return c->values[(i * c->n_up + j) * c->stride]; }

static void range_of(const chart *c, double *low, double *high)
{
    *low = INFINITY;
    *high = -INFINITY;
    for (size_t i = 0; i < c->n_across * c->n_up; i++) {
        double value = c->values[i * c->stride];
        if (!isfinite(value)) continue;
        *low = fmin(*low, value);
        *high = fmax(*high, value);
    }
}

static char shade_of(double value, double low, double high)
{
    double level = high > low ? (value - low) / (high - low) * (double)(sizeof ramp - 2) : 0;
    return isfinite(level) ? ramp[(size_t)(level + 0.5)] : '?';
}

static void print_chart(const chart *c, const char *title, int columns, int lines)
{
    double low, high;
    size_t width = (size_t)(columns - 12), height = (size_t)(lines - 4);
    range_of(c, &low, &high);
    printf("%s: from %.4g \"%c\" to %.4g \"%c\"\n", title, low, ramp[0], high, ramp[sizeof ramp - 2]);
    for (size_t line = 0; line < height; line++) {
        size_t j = (height - 1 - line) * (c->n_up - 1) / (height - 1);
        if (line == 0 || line + 1 == height) printf("%9.4g |", c->up[j]);
        else printf("%9s |", line == height / 2 ? c->up_name : "");
        for (size_t k = 0; k < width; k++)
            putchar(shade_of(value_at(c, k * (c->n_across - 1) / (width - 1), j), low, high));
        putchar('\n');
    }
    printf("%10s %-*.4g%s%*.4g\n\n", "", (int)width / 2, c->across[0], c->across_name, (int)(width - width / 2 - 1),
           c->across[c->n_across - 1]);
}

/* Over two space axes the chart is of the last time. */
static chart fitted(const view *v, size_t state)
{
    size_t a = v->n_axes - 2, last = v->n_axes == 3 ? (v->n_along[0] - 1) * v->n_along[1] * v->n_along[2] : 0;
    return (chart){.n_across = v->n_along[a],
                   .n_up = v->n_along[a + 1],
                   .stride = 1,
                   .values = v->mean[state] + last,
                   .across = v->along[a],
                   .up = v->along[a + 1],
                   .across_name = v->axes[a],
                   .up_name = v->axes[a + 1]};
}

static chart ahead(const view *v, size_t state)
{
    const view_forecast *f = &v->forecast;
    return (chart){.n_across = f->n_times,
                   .n_up = f->n_places,
                   .stride = v->n_states,
                   .values = f->quantiles[1] + state,
                   .across = f->times,
                   .up = f->places,
                   .across_name = v->axes[0],
                   .up_name = v->axes[1]};
}

static void shade_run(const view *v, bool is_forecast, const char *run, int columns, int lines)
{
    for (size_t state = 0; state < v->n_states; state++) {
        char title[PANEL_WORDS];
        chart c = is_forecast ? ahead(v, state) : fitted(v, state);
        snprintf(title, sizeof title, "%.100s, %s%s%.100s", v->states[state],
                 is_forecast ? "median of the forecast" : "fitted", *run ? ", run " : "", run);
        print_chart(&c, title, columns, lines);
    }
}

int shade_fields(const view *v, const panel_kind *kind, int columns, int lines)
{
    bool is_done = true;
    if (kind->count == forecast_count) {
        shade_run(v, true, v->runs[v->forecast.run], columns, lines);
        return EXIT_OK;
    }
    for (size_t run = 0; is_done && run < v->n_runs; run++) {
        view own;
        is_done = view_run_open(v, run, &own);
        if (is_done) shade_run(&own, false, v->runs[run], columns, lines);
        view_run_close(&own);
    }
    return is_done ? EXIT_OK : cli_fail("out of memory for the runs");
}
