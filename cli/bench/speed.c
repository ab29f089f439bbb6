/* kbass bench speed: the seconds of each stage against the size of the problem, on one thread.
 *
 * Sizes double, or nearly; the exponents are fitted to CPU seconds. Beside them the rate of the dense linear algebra,
 * and that of plain matrix products measured in the same run.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "bench.h"
#include "choose.h"
#include "judge.h"
#include "message.h"
#include "pace.h"
#include "speed.h"

/* What grows. */
typedef enum { SAMPLES, LENGTH, MESH, DICTIONARY, GRID, FIELD_MESH, PATCHES } growth;

static const struct {
    const char *key, *what;
    growth grows;
    bench_case base;
    double noise;
    double sizes[SPEED_MOST_SIZES]; /* 0 after the last */
} sweeps[] = {
    {"samples",
     "samples of van der Pol over 8 units of time",
     SAMPLES,
     {.system = "vdp", .box_degree = 3},
     5,
     {25, 50, 100, 200, 400}},
    {"length",
     "length of a record of Lorenz 63, 50 samples a unit: more windows",
     LENGTH,
     {.system = "lorenz63", .step = 0.02, .degree = 2, .constant = 1},
     5,
     {2, 4, 8, 16}},
    {"mesh",
     "mesh points, 50 samples of van der Pol",
     MESH,
     {.system = "vdp", .n = 50, .box_degree = 3},
     5,
     {100, 200, 400, 800}},
    {"dictionary",
     "candidate terms, 25 samples of van der Pol",
     DICTIONARY,
     {.system = "vdp", .n = 25},
     5,
     {2, 3, 5, 8}},
    {"grid",
     "samples of Burgers' equation along each axis",
     GRID,
     {.system = "burgers", .is_field = true, .degree = 2, .derivatives = 2},
     5,
     {10, 20, 40}},
    {"field-mesh",
     "mesh points along each axis, 20 x 24 samples of waves",
     FIELD_MESH,
     {.is_field = true, .degree = 2, .derivatives = 2},
     5,
     {40, 80, 160, 320}},
    {"patches",
     "patches of the domain of waves, 768 samples each",
     PATCHES,
     {.is_field = true, .degree = 2, .derivatives = 2},
     5,
     {2, 4, 8}},
};

enum { N_SWEEPS = sizeof sweeps / sizeof *sweeps };

const char *speed_key(size_t sweep) { return sweep < N_SWEEPS ? sweeps[sweep].key : NULL; }
const char *speed_what(size_t sweep) { return sweeps[sweep].what; }

typedef struct {
    size_t sweep, size;
    const kbass_settings *settings;
} speed_task;

/* ---------------------------------------------------------------- the clock of a run */

static const double record_length = 8; /* of van der Pol */

typedef struct {
    int stage;
    clock_t then;
    double operations;
    double seconds[KBASS_STAGE_COUNT], flops[KBASS_STAGE_COUNT];
} stopwatch;

/* Books what has passed since the last look on the stage it was in. */
static void look(stopwatch *w, int stage)
{
    clock_t now = clock();
    double operations = kbass_dense_operations();
    w->seconds[w->stage] += (double)(now - w->then) / CLOCKS_PER_SEC;
    w->flops[w->stage] += operations - w->operations;
    w->then = now;
    w->operations = operations;
    w->stage = stage;
}

static int watch(const kbass_progress *progress, void *user)
{
    stopwatch *w = user;
    for (int stage = 0; stage < KBASS_STAGE_COUNT; stage++)
        if (!strcmp(progress->stage, kbass_stage_name(stage))) look(w, stage);
    return 0;
}

static json_t *readings(const double *values, double factor)
{
    json_t *object = json_object();
    for (int stage = 0; stage < KBASS_STAGE_COUNT; stage++)
        json_object_set_new(object, kbass_stage_name(stage), bench_real(factor * values[stage]));
    return object;
}

/* ---------------------------------------------------------------- tasks */

/* Ripples of period 4 pi on a ring of so many periods. Of second order in time, so that the kernel engine answers. */
static kbass_status make_waves(size_t periods, double until, const size_t *grid, double noise, kbass_data **data,
                               kbass_error *error)
{
    const char *const equation = "u_tt = u_xx - u";
    const bench_case relative = {0};
    kbass_model *pde = NULL;
    char domain[64];
    const kbass_model_options options = {.domain = domain, .initial = "sin(x) + 0.5*cos(2*x) + 0.3*sin(2.5*x)"};
    double sd = 0;
    snprintf(domain, sizeof domain, "x=0:%.17g, t=0:%g", 4 * acos(-1) * (double)periods, until);
    kbass_status status = kbass_model_parse(1, &equation, &options, &pde, error);
    if (status == KBASS_OK) status = kbass_model_grid(pde, grid, data, error);
    kbass_model_destroy(pde);
    if (status != KBASS_OK) return status;
    bench_case_noise(&relative, noise, *data, &sd);
    return kbass_data_disturb(*data, &sd, 1, error);
}

static kbass_status make_data(growth grows, double size, const bench_case *c, double noise, kbass_data **data,
                              kbass_error *error)
{
    const size_t few[] = {20, 24}, many[] = {32, 24 * (size_t)size};
    if (grows == FIELD_MESH) return make_waves(1, 5, few, noise, data, error);
    if (grows == PATCHES) return make_waves((size_t)size, 8, many, noise, data, error);
    return bench_case_data(c, noise, 1, data, error);
}

static void grow(growth grows, double size, bench_case *c, kbass_settings *settings)
{
    char mesh[32];
    if (grows == SAMPLES) c->n = (size_t)size;
    if (grows == LENGTH) c->n = (size_t)lround(size / c->step) + 1;
    if (grows == DICTIONARY) c->box_degree = (int)size;
    if (grows == GRID) c->grid[0] = c->grid[1] = (size_t)size;
    if (!c->is_field && !(c->step > 0)) c->step = record_length / (double)(c->n - 1);
    bench_case_dictionary(c, settings);
    snprintf(mesh, sizeof mesh, grows == MESH ? "%d" : "%d,%d", (int)size, (int)size);
    if (grows == MESH || grows == FIELD_MESH) bench_choose(settings, "mesh", mesh);
    if (grows == FIELD_MESH || grows == PATCHES) bench_choose(settings, "lhs", "u_tt");
}

static json_t *measure(const kbass_data *data, const kbass_settings *settings)
{
    kbass_discovery *discovery = NULL;
    kbass_error error = {0};
    stopwatch w = {.stage = KBASS_STAGE_FIELD, .then = clock(), .operations = kbass_dense_operations()};
    kbass_status status = kbass_discovery_create(data, settings, &discovery, &error);
    if (status == KBASS_OK) status = kbass_discovery_run(discovery, watch, &w, &error);
    look(&w, w.stage);
    json_t *row = status != KBASS_OK
                      ? bench_failed("%s", error.message)
                      : json_pack("{s:o, s:o, s:i, s:i, s:i}", "seconds", readings(w.seconds, 1), "gflop",
                                  readings(w.flops, 1e-9), "candidates", (int)kbass_discovery_candidates(discovery),
                                  "models", (int)kbass_discovery_result(discovery)->n_models, "patches",
                                  (int)kbass_discovery_result(discovery)->n_patches);
    kbass_discovery_destroy(discovery);
    return row;
}

/* In the same process, just after the run: the same machine under the same load. */
static double product_speed(void)
{
    enum { SIZE = 1000 };
    double gflops = NAN;
    return kbass_product_speed(SIZE, &gflops, NULL) == KBASS_OK ? gflops : NAN;
}

/* What this size is in the sweep's own count, where that is known only after the run. */
static double true_size(growth grows, double size, const json_t *row)
{
    if (grows == DICTIONARY) return json_number_value(json_object_get(row, "candidates"));
    if (grows == PATCHES) return json_number_value(json_object_get(row, "patches"));
    return size;
}

static void add_published(const kbass_data *data, const kbass_settings *settings, json_t *row)
{
    static const double patience = 10; /* seconds */
    bench_pace pace = bench_published_pace(data, settings, 0, patience);
    json_object_set_new(row, "paper_seconds_per_iteration", bench_real(pace.per_iteration));
    json_object_set_new(row, "paper_seconds", bench_real(pace.seconds));
    json_object_set_new(row, "paper_outcome", json_string(kbass_outcome_name(pace.outcome)));
}

static json_t *run_size(const void *argument)
{
    const speed_task *task = argument;
    kbass_settings *settings = bench_settings(task->settings);
    bench_case c = sweeps[task->sweep].base;
    double size = sweeps[task->sweep].sizes[task->size];
    kbass_data *data = NULL;
    growth grows = sweeps[task->sweep].grows;
    kbass_error error = {0};
    grow(grows, size, &c, settings);
    if (make_data(grows, size, &c, sweeps[task->sweep].noise, &data, &error) != KBASS_OK)
        return bench_failed("%s", error.message);
    json_t *row = measure(data, settings);
    json_object_set_new(row, "size", json_real(true_size(grows, size, row)));
    json_object_set_new(row, "product_gflops", bench_real(product_speed()));
    add_published(data, settings, row);
    kbass_settings_destroy(settings);
    kbass_data_destroy(data);
    return row;
}

/* ---------------------------------------------------------------- the plan */

static int report(const json_t *document, const bench_options *options)
{
    bench_table table, csv;
    bench_speed_table(document, 2, &table);
    bench_speed_table(document, 6, &csv);
    table_text(&table, stdout);
    puts("\nCPU seconds on one thread, by stage; arbitration follows the number of models fitted rather than n. GF/s: "
         "GFLOP/s\nof products and factorisations over all seconds of the stage, beside products of 1000 x 1000 "
         "matrices just after.\npaper: the published algorithm on the same data, an iteration and all of it; > when "
         "stopped after 10 s,\nnone when it is left without a term.\nn^: the exponent that fits the seconds best. The "
         "paper claims O(sum d_k^3 + (N + "
         "sum d_k) d) a step for d = d_1 d_2 ...\nmesh points: n^3 for mesh and field-mesh; compressed to the rank r "
         "of the "
         "kernels a step takes O(r d).");
    for (size_t i = 0; i < N_SWEEPS; i++)
        if (bench_is_asked(options->cases, sweeps[i].key)) printf("  %-11s %s\n", sweeps[i].key, sweeps[i].what);
    int code = options->csv ? bench_write_csv(&csv, options->csv) : EXIT_OK;
    table_clear(&csv);
    table_clear(&table);
    if (code == EXIT_OK && options->figure) code = bench_speed_figure(document, options->figure);
    return code;
}

int bench_speed(bench_options *options)
{
    bench_task tasks[N_SWEEPS * SPEED_MOST_SIZES];
    speed_task details[N_SWEEPS * SPEED_MOST_SIZES];
    const char *keys[N_SWEEPS];
    size_t n = 0;
    for (size_t i = 0; i < N_SWEEPS; i++) keys[i] = sweeps[i].key;
    int code = bench_check_asked(options->cases, N_SWEEPS, keys);
    if (code != EXIT_OK) return code;
    bench_choose_number(options->settings, "threads", 1);
    for (size_t i = 0; i < N_SWEEPS; i++)
        for (size_t k = 0; k < SPEED_MOST_SIZES && sweeps[i].sizes[k] > 0; k++) {
            if (!bench_is_asked(options->cases, sweeps[i].key)) continue;
            details[n] = (speed_task){i, k, options->settings};
            tasks[n] = (bench_task){.work = run_size, .task = &details[n]};
            snprintf(tasks[n].name, sizeof tasks[n].name, "%s %g", sweeps[i].key, sweeps[i].sizes[k]);
            n++;
        }
    return bench_execute("speed", n, tasks, options, report);
}
