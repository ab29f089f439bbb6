#include "panels.h"

#include <math.h>
#include <string.h>

#include "figure.h"

const panel_kind panel_kinds[] = {
    {"solution", "each state over time: measured, fitted, 95 % band", 370, 255, 1, solution_count, solution_draw,
     solution_describe},
    {"phase", "states against each other", 370, 255, 3, phase_count, phase_draw, phase_describe},
    {"field", "fields over space: measured, fitted, residuals", 370, 255, 3, field_count, field_draw, field_describe},
    {"slices", "fields at three times: measured, fitted, 95 % band", 370, 255, 3, slices_count, slices_draw,
     slices_describe},
    {"weights", "posterior densities of the weights", 300, 150, 3, weights_count, weights_draw, weights_describe},
    {"residuals", "residuals over time, and their quantiles against the normal ones", 430, 280, 2, residuals_count,
     residuals_draw, residuals_describe},
    {"forecast", "what happens next (with --until)", 370, 255, 1, forecast_count, forecast_draw, forecast_describe},
    {0}};

const panel_kind *panel_find(const char *name)
{
    for (const panel_kind *kind = panel_kinds; kind->name; kind++)
        if (!strcmp(kind->name, name)) return kind;
    return NULL;
}

void panel_begin(FILE *script, const char *x_label, const char *y_label)
{
    fprintf(script,
            "unset title\nunset tmargin\nunset bmargin\nunset lmargin\nunset rmargin\nunset arrow\nunset label\nunset "
            "colorbox\nset autoscale\nset datafile missing 'NaN'\n"
            "set border 3 lc rgb '" PANEL_INK "'\nset xtics autofreq nomirror out scale 0.5 textcolor rgb '" PANEL_INK
            "'\n"
            "set ytics autofreq nomirror out scale 0.5 textcolor rgb '" PANEL_INK "'\nset style fill noborder\n"
            "set key outside top center horizontal samplen 1.5 noenhanced textcolor rgb '" PANEL_INK "'\n"
            "set xlabel '%s' noenhanced textcolor rgb '" PANEL_INK
            "'\nset ylabel '%s' noenhanced textcolor rgb '" PANEL_INK "'\n",
            x_label, y_label);
}

void panel_begin_time(FILE *script, const view *v, const char *y_label, double low, double high)
{
    enum { ROOM = 290 }; /* of the narrowest panel */
    panel_begin(script, v->axis_labels[0], y_label);
    fputs("set lmargin 12\n", script);
    figure_time_axis(script, v->axis_labels[0], low, high, ROOM);
    if (v->origin) figure_date_axis(script, v->origin, v->seconds, low, high);
}

void panel_block(FILE *script, const char *name) { fprintf(script, "$%s << EOD\n", name); }

void panel_number(FILE *script, double value)
{
    if (isfinite(value)) fprintf(script, "%.15g ", value);
    else fputs("NaN ", script);
}

void panel_place(FILE *script, double at) { fprintf(script, "%.15g ", at); }

void panel_row(FILE *script) { fputc('\n', script); }

void panel_band_row(FILE *script, double at, double mean, double sd)
{
    static const double wide = 1.96; /* standard deviations to each side: 95 % */
    panel_place(script, at);
    panel_number(script, mean);
    panel_number(script, mean - wide * sd);
    panel_number(script, mean + wide * sd);
    panel_row(script);
}

void panel_block_end(FILE *script) { fputs("EOD\n", script); }

double panel_point_size(size_t n) { return n < 150 ? 0.5 : n < 1500 ? 0.3 : 0.15; }
