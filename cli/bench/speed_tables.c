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
    double products[SPEED_MOST_SIZES], paper[SPEED_MOST_SIZES];
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
    c->paper[k] = number(row, "paper_seconds_per_iteration");
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

enum { SWEEP, SIZE, STAGES, MODELS = STAGES + KBASS_STAGE_COUNT + 1, RATES, DGEMM = RATES + 3, PAPER };

/* Of a stage long enough for the clock. */
static double rate(const curve *c, int stage, size_t k)
{
    return c->seconds[stage][k] >= shortest ? c->gflop[stage][k] / c->seconds[stage][k] : NAN;
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
        table_number(table, PAPER, c->paper[k]);
    }
    table_row(table);
    table_put(table, SWEEP, "%s", key);
    table_put(table, SIZE, "n^");
    for (int stage = 0; stage <= KBASS_STAGE_COUNT; stage++)
        table_number(table, STAGES + (size_t)stage, exponent(c->n, c->size, c->seconds[stage]));
    table_number(table, PAPER, exponent(c->n, c->size, c->paper));
}

void bench_speed_table(const json_t *document, int digits, bench_table *table)
{
    table_begin(table, digits,
                "sweep|n|field|search|arbitrate|polish|all|models|GF/s field|search|arbitrate|DGEMM|paper s/it");
    for (size_t i = 0; speed_key(i); i++) {
        curve c = read_curve(document, speed_key(i));
        if (c.n) write_curve(speed_key(i), &c, table);
    }
}

int bench_speed_figure(const json_t *document, const char *path)
{
    FILE *script = NULL;
    int code = figure_begin(path, 900, 560, &script);
    if (code != EXIT_OK) return code;
    fputs("set multiplot layout 2,3\nset logscale xy\nset ylabel 'CPU seconds'\nset key below horizontal samplen "
          "2\nset format y '%g'\n",
          script);
    for (size_t i = 0; speed_key(i); i++) {
        curve c = read_curve(document, speed_key(i));
        if (!c.n) continue;
        fprintf(script, "set title '%s'\n$data%zu << EOD\n", speed_key(i), i);
        for (size_t k = 0; k < c.n; k++) {
            fprintf(script, "%g", c.size[k]);
            for (int stage = 0; stage <= KBASS_STAGE_COUNT; stage++) fprintf(script, " %g", c.seconds[stage][k]);
            fputc('\n', script);
        }
        fprintf(script,
                "EOD\nplot $data%zu using 1:3 with linespoints title 'search', '' using 1:4 with linespoints title "
                "'arbitrate', '' using 1:6 with linespoints lw 2 title 'all'\n",
                i);
    }
    return figure_end(path, script);
}
