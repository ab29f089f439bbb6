/* kbass bench map: how often exactly the true terms are found, over noise and the length of the record. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"
#include "choose.h"
#include "cell.h"
#include "figure.h"
#include "judge.h"
#include "message.h"

enum { N_SYSTEMS = 2, N_LENGTHS = 4, N_NOISES = 5, N_CELLS = N_SYSTEMS * N_LENGTHS * N_NOISES };

static const double lengths[N_LENGTHS] = {4, 6, 8, 10}, noises[N_NOISES] = {2.5, 5, 10, 20, 40}, sampling = 0.01;

/* Both start where `kbass simulate` starts them; Lorenz 63 at (-8, 8, 27). */
static const bench_case systems[N_SYSTEMS] = {
    {.key = "lorenz63",
     .title = "Lorenz 63",
     .system = "lorenz63",
     .step = sampling,
     .degree = 2,
     .constant = 1,
     .law = "x_t: -10 x, 10 y; y_t: 28 x, -1 y, -1 x*z; z_t: -2.6666666666666667 z, 1 x*y"},
    {.key = "vdp",
     .title = "van der Pol",
     .system = "vdp",
     .step = sampling,
     .degree = 3,
     .constant = 1,
     .law = "x_t: 1 y; y_t: -1 x, 2.5 y, -2.5 x^2*y"}};

/* Published for ODR-BINDy, which is told the noise level. */
static const struct {
    const char *cell;
    double rate;
} published[] = {{"lorenz63-4-10", 1},
                 {"lorenz63-4-20", 0.57},
                 {"lorenz63-10-20", 1},
                 {"lorenz63-4-40", 0.04},
                 {"lorenz63-10-40", 0.73}};

typedef struct {
    size_t system, length, noise;
    uint64_t seed;
    const kbass_settings *settings;
} map_task;

static void cell_name(size_t system, size_t length, size_t noise, char name[BENCH_CELL_SIZE])
{
    snprintf(name, BENCH_CELL_SIZE, "%s-%g-%g", systems[system].key, lengths[length], noises[noise]);
}

static json_t *fit(const void *argument)
{
    const map_task *task = argument;
    bench_case c = systems[task->system];
    bench_law law = bench_law_read(c.law);
    kbass_settings *settings = bench_settings(task->settings);
    kbass_data *data = NULL;
    kbass_error error = {0};
    c.n = (size_t)lround(lengths[task->length] / sampling) + 1;
    bench_case_dictionary(&c, settings);
    if (bench_case_data(&c, noises[task->noise], task->seed, &data, &error) != KBASS_OK)
        return bench_failed("%s", error.message);
    json_t *row = bench_fit(data, settings, &law);
    kbass_settings_destroy(settings);
    kbass_data_destroy(data);
    return row;
}

/* ---------------------------------------------------------------- the plan */

static int check_cases(const char *cases)
{
    char cells[N_CELLS][BENCH_CELL_SIZE];
    const char *names[N_CELLS];
    for (size_t i = 0; i < N_CELLS; i++) {
        cell_name(i / (N_LENGTHS * N_NOISES), i / N_NOISES % N_LENGTHS, i % N_NOISES, cells[i]);
        names[i] = cells[i];
    }
    return bench_check_asked(cases, N_CELLS, names);
}

static size_t make_plan(const bench_options *options, bench_task *tasks, map_task *details)
{
    size_t n = 0;
    for (size_t i = 0; i < N_CELLS * options->n_seeds; i++) {
        size_t cell = i / options->n_seeds;
        map_task task = {cell / (N_LENGTHS * N_NOISES), cell / N_NOISES % N_LENGTHS, cell % N_NOISES,
                         options->first_seed + i % options->n_seeds, options->settings};
        char name[BENCH_CELL_SIZE];
        cell_name(task.system, task.length, task.noise, name);
        if (!bench_is_asked(options->cases, name)) continue;
        details[n] = task;
        tasks[n] = (bench_task){.work = fit, .task = &details[n]};
        snprintf(tasks[n].name, sizeof tasks[n].name, "%s seed %d", name, (int)task.seed);
        n++;
    }
    return n;
}

/* ---------------------------------------------------------------- the report */

/* NaN when there are no rows; failed rows count as wrong. */
static double rate(const json_t *document, const char *cell)
{
    const json_t *rows = json_object_get(document, "rows"), *row = NULL;
    double n = 0, exact = 0;
    for (size_t at = 0; (row = bench_next_row(rows, cell, &at)); n++)
        exact += json_is_true(json_object_get(row, "exact"));
    return n > 0 ? exact / n : NAN;
}

static void put_rate(const json_t *document, bench_table *table, size_t column, const char *cell)
{
    double ours = rate(document, cell);
    if (isnan(ours)) table_put(table, column, "-");
    else table_put(table, column, "%.2f", ours);
    for (size_t i = 0; i < sizeof published / sizeof *published; i++)
        if (!strcmp(published[i].cell, cell)) table_put(table, column, " (%.2f)", published[i].rate);
}

static bool has_rows(const json_t *document, size_t system, size_t length)
{
    for (size_t k = 0; k < N_NOISES; k++) {
        char name[BENCH_CELL_SIZE];
        cell_name(system, length, k, name);
        if (!isnan(rate(document, name))) return true;
    }
    return false;
}

void bench_map_rates(const json_t *document, bench_table *table)
{
    table_begin(table, 2, "system|length|2.5 %|5 %|10 %|20 %|40 %");
    for (size_t s = 0; s < N_SYSTEMS; s++)
        for (size_t l = 0; l < N_LENGTHS; l++) {
            if (!has_rows(document, s, l)) continue;
            table_row(table);
            table_put(table, 0, "%s", systems[s].title);
            table_put(table, 1, "%g", lengths[l]);
            for (size_t k = 0; k < N_NOISES; k++) {
                char name[BENCH_CELL_SIZE];
                cell_name(s, l, k, name);
                put_rate(document, table, 2 + k, name);
            }
        }
}

size_t bench_map_losses(const json_t *document, FILE *out)
{
    size_t n = 0;
    for (size_t i = 0; i < sizeof published / sizeof *published; i++) {
        double ours = rate(document, published[i].cell);
        if (!(ours < published[i].rate)) continue;
        fprintf(out, "- %s (system, length, noise in %%): %.2f, published %.2f.\n", published[i].cell, ours,
                published[i].rate);
        n++;
    }
    return n;
}

static void draw_system(FILE *script, const json_t *document, size_t s)
{
    fprintf(script, "set title '%s'\n$map%zu << EOD\n", systems[s].title, s);
    for (size_t l = 0; l < N_LENGTHS; l++)
        for (size_t k = 0; k < N_NOISES; k++) {
            char name[BENCH_CELL_SIZE];
            cell_name(s, l, k, name);
            double share = rate(document, name);
            if (!isnan(share)) fprintf(script, "%zu %zu %.3f\n", k, l, share);
        }
    fprintf(script,
            "EOD\nplot $map%zu using 1:2:(0.48):(0.48):3 with boxxyerror fill solid fillcolor palette notitle, "
            "'' using 1:2:(sprintf('%%.2f', $3)) with labels notitle\n",
            s);
}

int bench_map_figure(const json_t *document, const char *path)
{
    FILE *script = NULL;
    int code = figure_begin(path, 900, 360, &script);
    if (code != EXIT_OK) return code;
    fputs("set multiplot layout 1,2\nset xlabel 'noise, % of standard deviation'\nset ylabel 'length of the record'\n"
          "set cbrange [0:1]\nset palette defined (0 '#d7301f', 0.5 '#fdcc8a', 1 '#74c476')\nunset colorbox\n"
          "set xrange [-0.5:4.5]\nset yrange [-0.5:3.5]\nset tics scale 0\n"
          "set xtics ('2.5' 0, '5' 1, '10' 2, '20' 3, '40' 4)\nset ytics ('4' 0, '6' 1, '8' 2, '10' 3)\n",
          script);
    for (size_t s = 0; s < N_SYSTEMS; s++) draw_system(script, document, s);
    return figure_end(path, script);
}

static int report(const json_t *document, const bench_options *options)
{
    bench_table table;
    bench_map_rates(document, &table);
    puts("How often exactly the true terms were found; in brackets the published rate of ODR-BINDy, told the noise:\n");
    table_text(&table, stdout);
    int code = options->csv ? bench_write_csv(&table, options->csv) : EXIT_OK;
    table_clear(&table);
    if (code == EXIT_OK && options->figure) code = bench_map_figure(document, options->figure);
    return code;
}

int bench_map(bench_options *options)
{
    int code = check_cases(options->cases);
    if (code != EXIT_OK) return code;
    bench_task *tasks = calloc(N_CELLS * options->n_seeds, sizeof *tasks);
    map_task *details = calloc(N_CELLS * options->n_seeds, sizeof *details);
    if (tasks && details) code = bench_execute("map", make_plan(options, tasks, details), tasks, options, report);
    else code = cli_fail("out of memory for the tasks");
    free(details);
    free(tasks);
    return code;
}
