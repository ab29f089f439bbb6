#include "doctor_figure.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "figure.h"
#include "message.h"

enum { WIDTH = 900, PANEL_HEIGHT = 260, FIELD_HEIGHT = 420, MOST_PANELS = 12, CURVE = 400 };

typedef struct {
    const kbass_data *data;
    const kbass_doctor *doctor;
    FILE *script;
} sheet;

static double value_of(const kbass_data *data, size_t row, size_t state)
{
    return kbass_data_values(data)[row * kbass_data_states(data) + state];
}

static double coordinate_of(const kbass_data *data, size_t row)
{
    size_t space = kbass_data_axes(data) - 1;
    return space ? kbass_data_positions(data)[row * space] : 0;
}

static bool is_about(const kbass_finding *finding, const char *check, const char *state)
{
    return !strcmp(finding->check, check) && !strcmp(finding->subject, state);
}

/* ---------------------------------------------------------------- blocks of data */

/* time, place, value */
static void write_row(const sheet *s, size_t row, size_t state)
{
    double value = value_of(s->data, row, state);
    if (isfinite(value))
        fprintf(s->script, "%.15g %.15g %.15g\n", kbass_data_times(s->data)[row], coordinate_of(s->data, row), value);
}

static void write_values(const sheet *s, size_t state)
{
    fputs("$values << EOD\n", s->script);
    for (size_t row = 0; row < kbass_data_rows(s->data); row++) write_row(s, row, state);
    fputs("EOD\n", s->script);
}

/* The rows of one kind of finding about a state; returns how many. */
static size_t write_marked(const sheet *s, size_t state, const char *check)
{
    size_t n = 0;
    const kbass_finding *finding = NULL;
    fprintf(s->script, "$%s << EOD\n", check);
    for (size_t i = 0; (finding = kbass_doctor_finding(s->doctor, i)); i++)
        for (size_t k = 0; is_about(finding, check, kbass_data_state_name(s->data, state)) && k < finding->n_rows;
             k++, n++)
            write_row(s, finding->rows[k], state);
    fputs("EOD\n", s->script);
    return n;
}

/* The smoothed state with two standard deviations to each side: of all states at once, state by state into the script.
 */
static int write_curve(const sheet *s, size_t state)
{
    kbass_error error;
    size_t n_states = kbass_data_states(s->data), rows = kbass_data_rows(s->data);
    double first = kbass_data_times(s->data)[0], span = kbass_data_times(s->data)[rows - 1] - first;
    double *mean = calloc(CURVE * n_states, sizeof *mean), *sd = calloc(CURVE * n_states, sizeof *sd), times[CURVE];
    for (size_t k = 0; k < CURVE; k++) times[k] = first + span * (double)k / (CURVE - 1);
    int code = mean && sd ? EXIT_OK : cli_fail("out of memory for the figure");
    if (code == EXIT_OK) {
        kbass_status status = kbass_doctor_smooth(s->doctor, CURVE, times, NULL, mean, sd, &error);
        if (status != KBASS_OK) code = cli_fail_with(status, &error);
    }
    fputs("$curve << EOD\n", s->script);
    for (size_t k = 0; code == EXIT_OK && k < CURVE; k++) {
        double m = mean[k * n_states + state], d = 2 * sd[k * n_states + state];
        if (isfinite(m)) fprintf(s->script, "%.15g %.15g %.15g %.15g\n", times[k], m, m - d, m + d);
    }
    fputs("EOD\n", s->script);
    free(mean);
    free(sd);
    return code;
}

/* ---------------------------------------------------------------- panels */

/* "x: outliers, gap" of warnings about the state */
static void write_title(const sheet *s, size_t state)
{
    const char *name = kbass_data_state_name(s->data, state);
    const kbass_finding *finding = NULL;
    size_t n = 0;
    fprintf(s->script, "set title '%s", name);
    for (size_t i = 0; (finding = kbass_doctor_finding(s->doctor, i)); i++)
        if (finding->severity != KBASS_FINE && !strcmp(finding->subject, name))
            fprintf(s->script, "%s%s", n++ ? ", " : ": ", finding->check);
    fputs("' noenhanced left\n", s->script);
}

static void write_gaps(const sheet *s, size_t state)
{
    const kbass_finding *finding = NULL;
    fputs("unset object\n", s->script);
    for (size_t i = 0; (finding = kbass_doctor_finding(s->doctor, i)); i++)
        if (is_about(finding, "gap", kbass_data_state_name(s->data, state)))
            fprintf(s->script,
                    "set object rectangle from first %.15g, graph 0 to first %.15g, graph 1 behind fc rgb '#eecc66' "
                    "fs transparent solid 0.35 noborder\n",
                    kbass_data_times(s->data)[finding->rows[0]], kbass_data_times(s->data)[finding->rows[1]]);
}

static int plot_state(const sheet *s, size_t state)
{
    write_values(s, state);
    size_t n_outliers = write_marked(s, state, "outliers"), n_saturated = write_marked(s, state, "saturated");
    int code = write_curve(s, state);
    write_title(s, state);
    write_gaps(s, state);
    fputs("plot $curve using 1:3:4 with filledcurves fc rgb '#4477aa' fs transparent solid 0.25 noborder title '2 sd', "
          "$curve using 1:2 with lines lw 1.5 lc rgb '#224466' title 'smoothed', "
          "$values using 1:3 with points pt 7 ps 0.5 lc rgb '#333333' title 'measured'",
          s->script);
    if (n_saturated)
        fputs(", $saturated using 1:3 with points pt 7 ps 0.9 lc rgb '#ee7733' title 'saturated'", s->script);
    if (n_outliers)
        fputs(", $outliers using 1:3 with points pt 6 ps 1.8 lw 2 lc rgb '#cc3311' title 'outliers'", s->script);
    fputc('\n', s->script);
    return code;
}

static int plot_field(const sheet *s, size_t state)
{
    write_values(s, state);
    size_t n_outliers = write_marked(s, state, "outliers"), n_saturated = write_marked(s, state, "saturated");
    write_title(s, state);
    fprintf(s->script,
            "set ylabel '%s' noenhanced\nset palette defined (0 '#224488', 1 '#eeeeee', 2 '#bb3322')\n"
            "plot $values using 1:2:3 with points pt 5 ps 0.8 lc palette title ''",
            kbass_data_axis_name(s->data, 1));
    if (n_saturated)
        fputs(", $saturated using 1:2 with points pt 4 ps 1.2 lw 2 lc rgb '#ee7733' title 'saturated'", s->script);
    if (n_outliers)
        fputs(", $outliers using 1:2 with points pt 6 ps 1.8 lw 2 lc rgb '#000000' title 'outliers'", s->script);
    fputc('\n', s->script);
    return EXIT_OK;
}

int cli_doctor_figure(const kbass_data *data, const kbass_doctor *doctor, const char *path)
{
    sheet s = {data, doctor, NULL};
    bool is_field = kbass_data_axes(data) > 1;
    size_t n = kbass_data_states(data) < MOST_PANELS ? kbass_data_states(data) : MOST_PANELS;
    int code = figure_begin(path, WIDTH, (int)n * (is_field ? FIELD_HEIGHT : PANEL_HEIGHT), &s.script);
    if (code != EXIT_OK) return code;
    const double *times = kbass_data_times(data);
    fprintf(s.script, "set multiplot layout %zu,1\nset key outside right top\nset border 3\nset tics nomirror\n", n);
    if (!is_field) fputs(FIGURE_MARGINS, s.script);
    figure_time_axis(s.script, kbass_data_axis_name(data, 0), times[0], times[kbass_data_rows(data) - 1], 640);
    for (size_t i = 0; code == EXIT_OK && i < n; i++) code = is_field ? plot_field(&s, i) : plot_state(&s, i);
    int drawn = figure_end(path, s.script);
    return code != EXIT_OK ? code : drawn;
}
