/* kbass bench paper: the paper's result tables, with the oracle, the detectability of each term and the clock beside.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"
#include "choose.h"
#include "cell.h"
#include "judge.h"
#include "message.h"
#include "pace.h"

/* One task: a fit with its oracle, what can be told from the samples at all, or the published loop's pace. */
typedef struct {
    const bench_case *of;
    size_t level;
    uint64_t seed;
    const kbass_settings *settings;
    const char *method; /* of kbass_settings */
} paper_task;

/* Steps of the published loop: with it ten seeds of all cells take a night on two cores. */
enum { PUBLISHED_STEPS = 30000 };

/* ---------------------------------------------------------------- tasks */

static json_t *fit(const void *argument)
{
    const paper_task *task = argument;
    bench_law law = bench_law_read(task->of->law);
    kbass_settings *settings = bench_settings(task->settings);
    kbass_data *data = NULL;
    kbass_error error = {0};
    bool is_ours = !strcmp(task->method, bench_methods[0]);
    bench_case_dictionary(task->of, settings);
    bench_choose(settings, "method", task->method);
    bench_choose_number(settings, "paper-limit", PUBLISHED_STEPS);
    if (bench_case_data(task->of, task->of->levels[task->level].noise, task->seed, &data, &error) != KBASS_OK)
        return bench_failed("%s", error.message);
    json_t *row = bench_fit(data, settings, &law);
    kbass_settings_destroy(settings);
    if (is_ours) json_object_set_new(row, "oracle", bench_oracle(data, task->settings, &law));
    kbass_data_destroy(data);
    return row;
}

/* At the task's level of noise; detectability is proportional to 1/noise, so one level stands for all. */
static json_t *limit(const void *argument)
{
    const paper_task *task = argument;
    bench_law law = bench_law_read(task->of->law);
    double noise = task->of->levels[task->level].noise, sd[BENCH_MOST_STATES], linear[BENCH_MOST_TERMS], sigmas = 0;
    kbass_data *clean = NULL;
    kbass_error error = {0};
    json_t *row = json_object(), *linear_row = json_object();
    kbass_status status = bench_case_data(task->of, 0, 0, &clean, &error);
    if (status == KBASS_OK) {
        bench_case_noise(task->of, noise, clean, sd);
        status = bench_linear_detectability(clean, sd, task->settings, &law, linear, &error);
    }
    for (size_t i = 0; status == KBASS_OK && i < law.n; i++) {
        char label[BENCH_LABEL_SIZE];
        bench_label(&law.terms[i], label);
        status = bench_detectability(clean, sd, task->settings, &law, i, &sigmas, &error);
        json_object_set_new(row, label, bench_real(sigmas));
        json_object_set_new(linear_row, label, bench_real(linear[i]));
    }
    kbass_data_destroy(clean);
    if (status == KBASS_OK)
        return json_pack("{s:f, s:o, s:o}", "noise", noise, "sigmas", row, "linear_sigmas", linear_row);
    json_decref(linear_row);
    json_decref(row);
    return bench_failed("%s", error.message);
}

static json_t *published(const void *argument)
{
    const paper_task *task = argument;
    kbass_settings *settings = bench_settings(task->settings);
    kbass_data *data = NULL;
    kbass_error error = {0};
    bench_case_dictionary(task->of, settings);
    if (bench_case_data(task->of, 0, 0, &data, &error) != KBASS_OK) return bench_failed("%s", error.message);
    enum { ITERATIONS = 5 };
    bench_pace pace = bench_published_pace(data, settings, ITERATIONS, 0);
    kbass_settings_destroy(settings);
    json_t *row = json_pack("{s:o}", "seconds_per_iteration", bench_real(pace.per_iteration));
    kbass_data_destroy(data);
    return row;
}

/* ---------------------------------------------------------------- the plan */

typedef struct {
    size_t n, room;
    bench_task *tasks;
    paper_task *details;
} paper_plan;

static void add(paper_plan *plan, json_t *(*work)(const void *), const paper_task *task, const char *cell,
                const char *what)
{
    if (plan->n == plan->room) return;
    plan->details[plan->n] = *task;
    bench_task *t = &plan->tasks[plan->n];
    *t = (bench_task){.work = work, .task = &plan->details[plan->n++]};
    snprintf(t->name, sizeof t->name, "%s %s", cell, what);
}

/* Samples without noise are the same for every seed. Rows of our method are the cell's, those of the others the
   cell's and theirs: "vdp-10-20 em seed 1". */
static void add_seeds(paper_plan *plan, const paper_task *first, const char *cell, const bench_options *options)
{
    char name[BENCH_CELL_SIZE], what[24];
    bool is_drawn = first->of->levels[first->level].noise > 0;
    bench_row_name(cell, first->method, name);
    for (uint64_t i = 0; i < (is_drawn ? options->n_seeds : 1); i++) {
        paper_task task = *first;
        uint64_t seed = task.seed = is_drawn ? options->first_seed + i : 1;
        snprintf(what, sizeof what, "seed %d", (int)seed);
        add(plan, fit, &task, name, what);
    }
}

static void add_cell(paper_plan *plan, const paper_task *first, const bench_options *options)
{
    char cell[BENCH_CELL_SIZE];
    bench_cell_name(first->of, first->level, cell);
    if (!bench_is_asked(options->cases, cell)) return;
    for (size_t i = 0; bench_methods[i]; i++) {
        paper_task task = *first;
        task.method = bench_methods[i];
        if (bench_is_method(options->methods, task.method)) add_seeds(plan, &task, cell, options);
    }
}

static size_t noisiest(const bench_case *c)
{
    size_t best = 0;
    for (size_t level = 1; level < c->n_levels; level++)
        if (c->levels[level].noise > c->levels[best].noise) best = level;
    return best;
}

static void add_all(paper_plan *plan, const bench_options *options)
{
    for (const bench_case *c = bench_cases; c->key; c++) {
        size_t before = plan->n;
        paper_task task = {.of = c, .seed = 1, .settings = options->settings};
        for (task.level = 0; task.level < c->n_levels; task.level++) add_cell(plan, &task, options);
        if (plan->n == before || !bench_is_method(options->methods, bench_methods[0])) continue;
        task.level = noisiest(c);
        if (c->levels[task.level].noise > 0) add(plan, limit, &task, c->key, "limit");
        add(plan, published, &task, c->key, "published");
    }
}

static size_t count_tasks(unsigned long n_seeds)
{
    size_t n = 0;
    for (const bench_case *c = bench_cases; c->key; c++) n += BENCH_METHODS * c->n_levels * n_seeds + 2;
    return n;
}

/* ---------------------------------------------------------------- the report */

static void print_notes(const char *cases)
{
    for (const bench_case *c = bench_cases; c->key; c++)
        if (c->note && bench_is_asked(cases, c->key)) printf("  %-13s %s\n", c->key, c->note);
}

/* Where more than ours was run. */
static void report_methods(const json_t *document)
{
    bench_table methods;
    bench_paper_methods(document, 3, &methods);
    if (methods.n_rows > 1) {
        printf("\nThe methods beside each other; the published one stops after %d steps at most:\n\n", PUBLISHED_STEPS);
        table_text(&methods, stdout);
    }
    table_clear(&methods);
}

static int report(const json_t *document, const bench_options *options)
{
    bench_table cells, terms, csv;
    bench_paper_cells(document, 3, &cells);
    bench_paper_terms(document, 3, &terms);
    bench_paper_cells(document, 6, &csv);
    if (cells.n_rows > 1) {
        table_text(&cells, stdout);
        puts("\n*: the paper's figure lies below the oracle's on these data\n");
        table_text(&terms, stdout);
    }
    report_methods(document);
    puts("\nSamples, where they differ from the paper's text:");
    print_notes(options->cases);
    int code = options->csv ? bench_write_csv(&csv, options->csv) : EXIT_OK;
    table_clear(&csv);
    table_clear(&terms);
    table_clear(&cells);
    return code;
}

int bench_paper(bench_options *options)
{
    paper_plan plan = {.room = count_tasks(options->n_seeds)};
    int code = bench_check_cells(options->cases);
    if (code == EXIT_OK) code = bench_check_methods(options->methods);
    if (code != EXIT_OK) return code;
    plan.tasks = calloc(plan.room, sizeof *plan.tasks);
    plan.details = calloc(plan.room, sizeof *plan.details);
    if (plan.tasks && plan.details) {
        add_all(&plan, options);
        code = bench_execute("paper", plan.n, plan.tasks, options, report);
    } else {
        code = cli_fail("out of memory for %zu tasks", plan.room);
    }
    free(plan.details);
    free(plan.tasks);
    return code;
}
