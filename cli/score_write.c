/* The score as a table and as a figure. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "figure.h"
#include "message.h"
#include "output.h"
#include "score.h"

enum { NAME_SIZE = 120, PARTS = 3, PANEL_WIDTH = 760, PANEL_HEIGHT = 260 };

/* ---------------------------------------------------------------- the table */

/* "x", then "x_law", "x_law_low", "x_law_high" and the same of the others, blanks made "_". */
static void name_column(const score_job *job, size_t state, size_t column, char *name)
{
    static const char *const parts[PARTS] = {"", "_low", "_high"};
    const char *own = kbass_posterior_state_name(job->posterior, state);
    if (!column) {
        snprintf(name, NAME_SIZE, "%.80s", own);
        return;
    }
    snprintf(name, NAME_SIZE, "%.80s_%s%s", own, job->score->predictors[(column - 1) / PARTS].name,
             parts[(column - 1) % PARTS]);
    for (char *c = name; *c; c++)
        if (*c == ' ' || *c == '-') *c = '_';
}

static double value_at(const score_job *job, size_t point, size_t state, size_t column)
{
    const kbass_score *s = job->score;
    size_t at = point * s->n_states + state;
    if (!column) return s->values[at];
    const kbass_predictor *p = &s->predictors[(column - 1) / PARTS];
    const double *const parts[PARTS] = {p->mean, p->low, p->high};
    return parts[(column - 1) % PARTS][at];
}

int score_write(const score_job *job, const char *path)
{
    const kbass_score *s = job->score;
    size_t each = 1 + PARTS * s->n_predictors, width = each * s->n_states, n_axes = s->positions ? 2 : 1;
    char(*names)[NAME_SIZE] = calloc(width, sizeof *names);
    const char **columns = calloc(width, sizeof *columns), *axes[KBASS_MAX_AXES] = {0};
    double *values = calloc(s->n_points * width, sizeof *values);
    kbass_data *data = NULL;
    kbass_error error;
    int code = names && columns && values ? EXIT_OK : cli_fail("out of memory for the table");
    for (size_t c = 0; code == EXIT_OK && c < width; c++) {
        name_column(job, c / each, c % each, names[c]);
        columns[c] = names[c];
        for (size_t i = 0; i < s->n_points; i++) values[i * width + c] = value_at(job, i, c / each, c % each);
    }
    for (size_t a = 0; a < n_axes; a++) axes[a] = kbass_posterior_axis_name(job->posterior, a);
    if (code == EXIT_OK) {
        kbass_status status = kbass_data_create_axes(s->n_points, n_axes, width, s->times, s->positions, values, axes,
                                                     columns, &data, &error);
        code = status == KBASS_OK ? cli_output_data(path, data) : cli_fail_with(status, &error);
    }
    kbass_data_destroy(data);
    free(names);
    free(columns);
    free(values);
    return code;
}

/* ---------------------------------------------------------------- the figure */

/* Rows of time, measured, then mean, low and high of every predictor. */
static void write_block(FILE *script, const score_job *job, size_t state)
{
    const kbass_score *s = job->score;
    fputs("$scored << EOD\n", script);
    for (size_t i = 0; i < s->n_points; i++) {
        fprintf(script, "%.15g", s->times[i]);
        for (size_t c = 0; c < 1 + PARTS * s->n_predictors; c++) {
            double value = value_at(job, i, state, c);
            if (isfinite(value)) fprintf(script, " %.15g", value);
            else fputs(" NaN", script);
        }
        fputc('\n', script);
    }
    fputs("EOD\n", script);
}

static void plot_state(FILE *script, const score_job *job, size_t state)
{
    static const char *const colours[] = {"#224466", "#ee6677", "#999999", "#ccbb44"};
    const kbass_score *s = job->score;
    write_block(script, job, state);
    fputs("set ylabel ", script);
    figure_put_quoted(script, kbass_data_face(job->data, kbass_posterior_state_name(job->posterior, state)));
    fputs(" noenhanced\nplot $scored using 1:4:5 with filledcurves fc rgb '#d3dfec' fs solid title 'law, 90 %'",
          script);
    for (size_t i = 0; i < s->n_predictors; i++)
        fprintf(script, ", $scored using 1:%zu with lines lw %d lc rgb '%s' title '%s'", 3 + PARTS * i, i ? 1 : 2,
                colours[i % 4], s->predictors[i].name);
    fputs(", $scored using 1:2 with points pt 7 ps 0.5 lc rgb '#333333' title 'measured'\n", script);
}

/* Fields: measured, foretold, and their difference in standard deviations of the band. */
static void plot_field(FILE *script, const score_job *job, size_t state)
{
    static const char *const titles[] = {"measured", "law", "measured less law"};
    static const char *const columns[] = {"1:2:3", "1:2:4", "1:2:($3-$4)"};
    const kbass_score *s = job->score;
    fputs("$scored << EOD\n", script);
    for (size_t i = 0; i < s->n_points; i++)
        fprintf(script, "%.15g %.15g %.15g %.15g\n", s->times[i], s->positions[i], value_at(job, i, state, 0),
                value_at(job, i, state, 1));
    fputs("EOD\n", script);
    for (size_t i = 0; i < 3; i++)
        fprintf(script,
                "set title '%s: %s' noenhanced\nplot $scored using %s with points pt 5 ps 0.7 palette notitle\n",
                kbass_posterior_state_name(job->posterior, state), titles[i], columns[i]);
}

int score_draw(const score_job *job, const char *path)
{
    FILE *script = NULL;
    const kbass_score *s = job->score;
    int rows = (int)s->n_states;
    int code = figure_begin(path, s->positions ? 960 : PANEL_WIDTH, rows < 2 ? 380 : rows * PANEL_HEIGHT, &script);
    if (code != EXIT_OK) return code;
    fprintf(script, "set multiplot layout %d,%d\nset border 3\nset tics nomirror\nset key outside right top\n", rows,
            s->positions ? 3 : 1);
    fprintf(script, "set xrange [%.15g:%.15g]\n", s->first, s->last);
    if (s->positions)
        fputs("set palette defined (0 '#224466', 0.5 '#4aa3a2', 1 '#fde725')\nset style fill noborder\n", script);
    else fputs(FIGURE_MARGINS "set style fill noborder\n", script);
    figure_time_axis(script, kbass_posterior_axis_name(job->posterior, 0), s->first, s->last, s->positions ? 200 : 520);
    for (size_t i = 0; i < s->n_states; i++)
        if (s->positions) plot_field(script, job, i);
        else plot_state(script, job, i);
    return figure_end(path, script);
}
