/* The table and the figure of kbass bench speed. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "bench.h"
#include "figure.h"
#include "message.h"
#include "speed.h"

static const double shortest = 1e-3; /* seconds: below it is the clock's noise */

/* One sweep's rows, as numbers. */
typedef struct {
    size_t n;
    double size[SPEED_MOST_SIZES], seconds[KBASS_STAGE_COUNT + 1][SPEED_MOST_SIZES]; /* the last: all stages */
    double gflop[KBASS_STAGE_COUNT][SPEED_MOST_SIZES], models[SPEED_MOST_SIZES];
    double products[SPEED_MOST_SIZES];
    double pace[SPEED_MOST_SIZES], paper[SPEED_MOST_SIZES]; /* of the published method: an iteration, and all */
    const char *paper_outcome[SPEED_MOST_SIZES];
} curve;

static double number(const json_t *object, const char *key)
{
    const json_t *value = json_object_get(object, key);
    return json_is_number(value) ? json_number_value(value) : NAN;
}

static void take_row(const json_t *row, curve *c)
{
    const json_t *seconds = json_object_get(row, "seconds"), *gflop = json_object_get(row, "gflop");
    size_t k = c->n++;
    c->size[k] = number(row, "size");
    c->pace[k] = number(row, "paper_seconds_per_iteration");
    c->paper[k] = number(row, "paper_seconds");
    c->paper_outcome[k] = json_string_value(json_object_get(row, "paper_outcome"));
    c->products[k] = number(row, "product_gflops");
    c->models[k] = number(row, "models");
    c->seconds[KBASS_STAGE_COUNT][k] = 0;
    for (int stage = 0; stage < KBASS_STAGE_COUNT; stage++) {
        c->seconds[stage][k] = number(seconds, kbass_stage_name(stage));
        c->seconds[KBASS_STAGE_COUNT][k] += c->seconds[stage][k];
        c->gflop[stage][k] = number(gflop, kbass_stage_name(stage));
    }
}

static curve read_curve(const json_t *document, const char *key)
{
    const json_t *rows = json_object_get(document, "rows"), *row = NULL;
    size_t i = 0, length = strlen(key);
    curve c = {0};
    json_array_foreach(rows, i, row)
    {
        const char *name = json_string_value(json_object_get(row, "name"));
        bool is_ours = name && !strncmp(name, key, length) && name[length] == ' ';
        if (is_ours && !json_object_get(row, "error") && c.n < SPEED_MOST_SIZES) take_row(row, &c);
    }
    return c;
}

/* The slope of log y over log x by least squares. */
static double exponent(size_t n, const double *x, const double *y)
{
    double count = 0, sx = 0, sy = 0, sxx = 0, sxy = 0;
    for (size_t k = 0; k < n; k++) {
        if (!(x[k] > 0 && y[k] >= shortest)) continue;
        double u = log(x[k]), v = log(y[k]);
        count++, sx += u, sy += v, sxx += u * u, sxy += u * v;
    }
    return count >= 2 ? (count * sxy - sx * sy) / (count * sxx - sx * sx) : NAN;
}

enum { SWEEP, SIZE, STAGES, MODELS = STAGES + KBASS_STAGE_COUNT + 1, RATES, DGEMM = RATES + 3, PACE, PAPER };

/* Of a stage long enough for the clock. */
static double rate(const curve *c, int stage, size_t k)
{
    return c->seconds[stage][k] >= shortest ? c->gflop[stage][k] / c->seconds[stage][k] : NAN;
}

static void write_published(const curve *c, size_t k, bench_table *table)
{
    const char *outcome = c->paper_outcome[k];
    if (!outcome) return;
    if (!strcmp(outcome, kbass_outcome_name(KBASS_NO_MODEL))) table_put(table, PAPER, "none");
    else if (!strcmp(outcome, kbass_outcome_name(KBASS_TIME_LIMIT))) table_put(table, PAPER, ">%.0f", c->paper[k]);
    else table_number(table, PAPER, c->paper[k]);
}

static void write_curve(const char *key, const curve *c, bench_table *table)
{
    for (size_t k = 0; k < c->n; k++) {
        table_row(table);
        table_put(table, SWEEP, "%s", key);
        table_put(table, SIZE, "%g", c->size[k]);
        for (int stage = 0; stage <= KBASS_STAGE_COUNT; stage++)
            table_number(table, STAGES + (size_t)stage, c->seconds[stage][k]);
        table_put(table, MODELS, "%g", c->models[k]);
        for (int stage = KBASS_STAGE_FIELD; stage <= KBASS_STAGE_ARBITRATE; stage++)
            table_number(table, RATES + (size_t)stage, rate(c, stage, k));
        table_number(table, DGEMM, c->products[k]);
        table_number(table, PACE, c->pace[k]);
        write_published(c, k, table);
    }
    table_row(table);
    table_put(table, SWEEP, "%s", key);
    table_put(table, SIZE, "n^");
    for (int stage = 0; stage <= KBASS_STAGE_COUNT; stage++)
        table_number(table, STAGES + (size_t)stage, exponent(c->n, c->size, c->seconds[stage]));
    table_number(table, PACE, exponent(c->n, c->size, c->pace));
}

void bench_speed_table(const json_t *document, int digits, bench_table *table)
{
    table_begin(table, digits,
                "sweep|n|field|search|arbitrate|polish|all|models|GF/s field|search|arbitrate|DGEMM|paper s/it|all");
    for (size_t i = 0; speed_key(i); i++) {
        curve c = read_curve(document, speed_key(i));
        if (c.n) write_curve(speed_key(i), &c, table);
    }
}

/* Columns: size, the stages, all, an iteration of the published method. */
static void write_numbers(FILE *script, const curve *c)
{
    fputs("$data << EOD\n", script);
    for (size_t k = 0; k < c->n; k++) {
        fprintf(script, "%g", c->size[k]);
        for (int stage = 0; stage <= KBASS_STAGE_COUNT; stage++) fprintf(script, " %g", c->seconds[stage][k]);
        fprintf(script, " %g\n", c->pace[k]);
    }
    fputs("EOD\n", script);
}

static const struct {
    int column;
    const char *title, *style;
} lines[] = {{2, "field", "pt 6 ps 0.6 lc rgb '#009e73'"},
             {3, "search", "pt 7 ps 0.6 lc rgb '#2a7fba'"},
             {4, "arbitrate", "pt 5 ps 0.6 lc rgb '#d9730d'"},
             {6, "all stages", "pt 9 ps 0.7 lw 2.5 lc rgb '#222222'"},
             {7, "the paper's, one iteration", "pt 4 ps 0.6 dt 2 lc rgb '#888888'"}};

enum { N_LINES = sizeof lines / sizeof *lines };

static void draw_curve(FILE *script, const char *key, const curve *c)
{
    write_numbers(script, c);
    fprintf(script, "set title \"{/:Bold %s}\\n{/*0.85 all stages: n^{%.2f}}\"\nset xtics (", key,
            exponent(c->n, c->size, c->seconds[KBASS_STAGE_COUNT]));
    for (size_t k = 0; k < c->n; k++) fprintf(script, "%s%g", k ? ", " : "", c->size[k]);
    fprintf(script, ")\nset xrange [%g:%g]\nplot ", c->size[0] / 1.3, c->size[c->n - 1] * 1.3);
    for (size_t i = 0; i < N_LINES; i++)
        fprintf(script, "%s$data using 1:($%d > 0 ? $%d : NaN) with linespoints %s notitle", i ? ", " : "",
                lines[i].column, lines[i].column, lines[i].style);
    fputc('\n', script);
}

/* What the lines mean, in a place of its own. */
static void draw_key(FILE *script)
{
    fputs("unset title\nunset border\nunset tics\nunset xlabel\nunset ylabel\nset key center center Left reverse "
          "spacing 1.6\n"
          "set xrange [1:2]\nset yrange [1:2]\nplot ",
          script);
    for (size_t i = 0; i < N_LINES; i++)
        fprintf(script, "%sNaN with linespoints %s title \"%s\"", i ? ", " : "", lines[i].style, lines[i].title);
    fputc('\n', script);
}

int bench_speed_figure(const json_t *document, const char *path)
{
    FILE *script = NULL;
    int code = figure_begin(path, 1000, 560, &script);
    if (code != EXIT_OK) return code;
    fputs("set multiplot layout 2,4\nset logscale xy\nset ylabel 'CPU seconds'\nset xlabel 'n'\nset border 3\n"
          "set tics nomirror out scale 0.5\nset format y '10^{%T}'\n",
          script);
    for (size_t i = 0; speed_key(i); i++) {
        curve c = read_curve(document, speed_key(i));
        if (c.n) draw_curve(script, speed_key(i), &c);
    }
    draw_key(script);
    return figure_end(path, script);
}
