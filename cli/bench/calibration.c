/* kbass bench calibration: are the probabilities, intervals and bands what they say, on random sparse systems? */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"
#include "choose.h"
#include "draw_field.h"
#include "draw_information.h"
#include "figure.h"
#include "judge.h"
#include "message.h"

enum { N_BINS = 4, N_DRAWS = 200, N_AHEAD = 50, FIGURE_BINS = 10 };
static const double edges[N_BINS + 1] = {0, 0.1, 0.5, 0.9, 1};
static const double normal_quantile = 1.959963984540054;

typedef struct {
    uint64_t seed;
    bench_draw_kind kind;
    const kbass_settings *settings;
} calibration_task;

/* ---------------------------------------------------------------- one draw */

static size_t state_of(const char *lhs) { return *lhs == 'u' ? 0 : (size_t)(lhs[0] - 'x'); }

/* [[probability, is true], ...] of all candidates, and [[truth, low, high], ...] of the true terms selected */
static void judge_terms(const bench_draw *draw, const kbass_result *result, json_t *row)
{
    json_t *terms = json_array(), *weights = json_array();
    int is_exact = 1, is_clear = 1;
    for (size_t e = 0; e < result->n_equations; e++)
        for (size_t j = 0; j < result->equations[e].n_terms; j++) {
            const kbass_term *term = &result->equations[e].terms[j];
            double truth = bench_draw_weight(draw, state_of(result->equations[e].lhs), term->term);
            json_array_append_new(terms, json_pack("[o,b]", bench_real(term->probability), truth != 0));
            if (term->selected && truth != 0)
                json_array_append_new(weights,
                                      json_pack("[f,o,o,o,o,s]", truth, bench_real(term->low), bench_real(term->high),
                                                bench_real(term->weight), bench_real(term->own_sd), term->term));
            if (term->selected != (truth != 0)) is_exact = 0;
            if (term->selected && !(fabs(term->weight) >= bench_decidable * term->own_sd)) is_clear = 0;
        }
    json_object_set_new(row, "exact", json_boolean(is_exact && result->n_equations));
    is_clear = draw->clearness > 0 ? draw->clearness >= bench_decidable : is_clear && is_exact;
    json_object_set_new(row, "decidable", json_boolean(is_clear && result->n_equations));
    json_object_set_new(row, "terms", terms);
    json_object_set_new(row, "weights", weights);
}

/* Points of the noise-free solution within the band, and all. */
static kbass_status judge_band(const bench_draw *draw, const kbass_discovery *discovery, json_t *row,
                               kbass_error *error)
{
    double mean[DRAW_FINE * DRAW_STATES], sd[DRAW_FINE * DRAW_STATES];
    int inside = 0, n = DRAW_FINE * (int)draw->n_states;
    kbass_status status = kbass_discovery_solution(discovery, 0, DRAW_FINE, draw->times, NULL, mean, sd, error);
    if (status != KBASS_OK) return status;
    for (int k = 0; k < n; k++) inside += fabs(mean[k] - draw->states[k]) <= normal_quantile * sd[k];
    json_object_set_new(row, "band", json_pack("[i,i]", inside, n));
    return KBASS_OK;
}

/* Points of the noise-free solution over one more record length between the 2.5 and 97.5 % quantiles, and all. */
static kbass_status judge_forecast(const bench_draw *draw, const kbass_discovery *discovery, json_t *row,
                                   kbass_error *error)
{
    static const double probabilities[] = {0.025, 0.975};
    kbass_posterior *posterior = NULL;
    kbass_forecast *forecast = NULL;
    kbass_forecast_options options = {.n_draws = N_DRAWS, .seed = 1, .threads = 1, .average = 1};
    double times[N_AHEAD], quantiles[2 * N_AHEAD * DRAW_STATES];
    int inside = 0, n = N_AHEAD * (int)draw->n_states;
    for (size_t k = 0; k < N_AHEAD; k++) times[k] = draw->times[DRAW_FINE + 1 + 2 * k];
    kbass_status status = kbass_discovery_posterior(discovery, 0, &posterior, error);
    if (status == KBASS_OK)
        status = kbass_posterior_forecast(posterior, &options, N_AHEAD, times, 0, NULL, &forecast, error);
    if (status == KBASS_OK) status = kbass_forecast_summary(forecast, 2, probabilities, NULL, quantiles, NULL, error);
    for (int k = 0; status == KBASS_OK && k < n; k++) {
        size_t state = (size_t)k % draw->n_states, at = DRAW_FINE + 1 + 2 * ((size_t)k / draw->n_states);
        double truth = draw->states[at * draw->n_states + state];
        inside += quantiles[k] <= truth && truth <= quantiles[k + n];
    }
    if (status == KBASS_OK) json_object_set_new(row, "forecast", json_pack("[i,i]", inside, n));
    kbass_forecast_destroy(forecast);
    kbass_posterior_destroy(posterior);
    return status;
}

static void describe(const bench_draw *draw, json_t *row)
{
    json_t *law = json_array(), *start = json_array();
    for (size_t i = 0; i < draw->n_states; i++) {
        json_array_append_new(law, json_string(draw->equation[i]));
        json_array_append_new(start, json_real(draw->start[i]));
    }
    json_object_set_new(row, "law", law);
    json_object_set_new(row, "start", start);
    json_object_set_new(row, "samples", json_integer((json_int_t)draw->n_samples));
    json_object_set_new(row, "noise", json_real(draw->noise));
    json_object_set_new(row, "span", json_real(draw->span));
}

static json_t *chosen_equation(const kbass_equation *equation)
{
    char text[600];
    size_t used = (size_t)snprintf(text, sizeof text, "%s =", equation->lhs);
    for (size_t j = 0; j < equation->n_terms && used < sizeof text; j++) {
        const kbass_term *term = &equation->terms[j];
        if (!term->selected) continue;
        used += (size_t)snprintf(text + used, sizeof text - used, " %+.4g*%s (%s)", term->weight, term->term,
                                 kbass_verdict_name(term->verdict));
    }
    return json_string(text);
}

/* What the verdict rests on. */
static void describe_verdict(const kbass_result *result, json_t *row)
{
    const kbass_law *law = &result->law;
    json_t *chosen = json_array();
    for (size_t e = 0; e < result->n_equations; e++)
        json_array_append_new(chosen, chosen_equation(&result->equations[e]));
    json_object_set_new(row, "verdict", json_string(kbass_law_verdict_name(law->verdict)));
    json_object_set_new(row, "chosen", chosen);
    json_object_set_new(row, "reason", json_string(law->reason ? law->reason : ""));
    json_object_set_new(row, "numbers",
                        json_pack("{s:o,s:o,s:o,s:o,s:o,s:o,s:b,s:I,s:o,s:o}", "law", bench_real(law->law), "constant",
                                  bench_real(law->constant), "drift", bench_real(law->drift), "field",
                                  bench_real(law->field), "explained", bench_real(law->explained), "noise_ratio",
                                  bench_real(law->noise_ratio), "white", law->is_white, "rivals",
                                  (json_int_t)law->n_rivals, "probability", bench_real(law->probability), "chosen",
                                  bench_real(result->probability)));
}

static kbass_status discover(const bench_draw *draw, const kbass_data *data, const calibration_task *task, double noise,
                             kbass_discovery **discovery, kbass_error *error)
{
    kbass_settings *settings = bench_settings(task->settings);
    if (task->kind == DRAW_MANY) { /* 36, 35 terms */
        bench_choose(settings, "degree", draw->n_states == 2 ? "7" : "4");
        bench_choose(settings, "constant", "1");
    }
    if (bench_draw_is_field(task->kind)) {
        bench_choose(settings, "terms", bench_field_candidates);
        bench_choose(settings, "periodic", "x");
    }
    if (noise > 0) {
        char share[32];
        snprintf(share, sizeof share, "%g%%", noise);
        bench_choose(settings, "noise", share);
    }
    kbass_status status = kbass_discovery_create(data, settings, discovery, error);
    kbass_settings_destroy(settings);
    return status == KBASS_OK ? kbass_discovery_run(*discovery, NULL, NULL, error) : status;
}

/* By how much the dictionary's best law for the record without noise misses it, in units of the noise: at most, and
   as a root of the sum of squares. The noise is told, so that the law is the one that such data would be given. */
static kbass_status judge_miss(const bench_draw *draw, const calibration_task *task, json_t *row, kbass_error *error)
{
    size_t n = kbass_data_rows(draw->clean), n_states = kbass_data_states(draw->clean);
    double *mean = calloc(2 * n * n_states, sizeof *mean), most = 0, squares = 0;
    const double *clean = kbass_data_values(draw->clean);
    kbass_discovery *discovery = NULL;
    kbass_status status = discover(draw, draw->clean, task, draw->noise, &discovery, error);
    if (status == KBASS_OK && mean)
        status = kbass_discovery_solution(discovery, 0, n, kbass_data_times(draw->clean),
                                          kbass_data_positions(draw->clean), mean, mean + n * n_states, error);
    for (size_t k = 0; status == KBASS_OK && mean && k < n * n_states; k++) {
        double miss = fabs(mean[k] - clean[k]) / draw->sigma[k % n_states];
        if (!(miss <= most)) most = miss;
        squares += miss * miss;
    }
    if (status == KBASS_OK)
        json_object_set_new(row, "miss", json_pack("[o,o]", bench_real(most), bench_real(sqrt(squares))));
    kbass_discovery_destroy(discovery);
    free(mean);
    return status;
}

static kbass_status judge_draw(const bench_draw *draw, const calibration_task *task, json_t *row, kbass_error *error)
{
    kbass_discovery *discovery = NULL;
    bool has_law = bench_draw_has_terms(task->kind), is_field = bench_draw_is_field(task->kind);
    kbass_status status = discover(draw, draw->data, task, 0, &discovery, error);
    describe(draw, row);
    json_object_set_new(row, "kind", json_string(bench_draw_kinds[task->kind]));
    if (status == KBASS_OK) {
        const kbass_result *result = kbass_discovery_result(discovery);
        describe_verdict(result, row);
        if (has_law) judge_terms(draw, result, row);
    }
    if (status == KBASS_OK && has_law && !is_field) status = judge_band(draw, discovery, row, error);
    if (status == KBASS_OK && has_law && !is_field) status = judge_forecast(draw, discovery, row, error);
    if (status == KBASS_OK && (task->kind == DRAW_OUTSIDE || task->kind == DRAW_FIELD_OUTSIDE))
        status = judge_miss(draw, task, row, error);
    kbass_discovery_destroy(discovery);
    return status;
}

static json_t *judge(const void *argument)
{
    const calibration_task *task = argument;
    bench_draw draw;
    kbass_error error = {0};
    json_t *row = json_object();
    if (!bench_draw_make(task->seed, task->kind, &draw)) return bench_failed("no system could be drawn");
    if (judge_draw(&draw, task, row, &error) != KBASS_OK) {
        json_decref(row);
        row = bench_failed("%s", error.message);
    }
    bench_draw_clear(&draw);
    return row;
}

/* ---------------------------------------------------------------- sums over the draws */

typedef struct {
    double n, n_true, sum; /* candidates, true ones, and their probabilities */
} bin;

static void count_terms(const json_t *document, size_t n_bins, const double *limits, bin *bins)
{
    const json_t *row, *term;
    size_t i, j;
    json_array_foreach(json_object_get(document, "rows"), i, row)
        json_array_foreach(json_object_get(row, "terms"), j, term)
    {
        double p = json_number_value(json_array_get(term, 0));
        size_t b = 0;
        while (b + 1 < n_bins && p >= limits[b + 1]) b++;
        bins[b].n++;
        bins[b].n_true += json_is_true(json_array_get(term, 1));
        bins[b].sum += p;
    }
}

/* Share of [inside, all] under a key; *n: of how many. */
static double share(const json_t *document, const char *key, double *n)
{
    const json_t *row;
    size_t i;
    double inside = 0;
    *n = 0;
    json_array_foreach(json_object_get(document, "rows"), i, row)
    {
        inside += json_number_value(json_array_get(json_object_get(row, key), 0));
        *n += json_number_value(json_array_get(json_object_get(row, key), 1));
    }
    return inside / *n;
}

static double interval_share(const json_t *document, double *n)
{
    const json_t *row, *weight;
    size_t i, j;
    double inside = 0;
    *n = 0;
    json_array_foreach(json_object_get(document, "rows"), i, row)
        json_array_foreach(json_object_get(row, "weights"), j, weight)
    {
        double truth = json_number_value(json_array_get(weight, 0));
        inside += json_number_value(json_array_get(weight, 1)) <= truth &&
                  truth <= json_number_value(json_array_get(weight, 2));
        ++*n;
    }
    return inside / *n;
}

/* ---------------------------------------------------------------- the report */

static void put_share(bench_table *table, const char *what, double n, double said, double found, double low,
                      double high)
{
    if (!(n > 0)) return;
    table_row(table);
    table_put(table, 0, "%s", what);
    table_put(table, 1, "%.0f", n);
    if (isnan(said)) table_put(table, 2, "-");
    else table_put(table, 2, "%.3f", said);
    table_put(table, 3, "%.3f", found);
    if (isnan(low)) table_put(table, 4, "-");
    else table_put(table, 4, "%g to %g", low, high);
    table_put(table, 5, "%s", isnan(low) ? "" : found >= low && found <= high ? "met" : "missed");
}

void bench_calibration_table(const json_t *document, bench_table *table)
{
    static const double wanted[N_BINS][2] = {{0, 0.05}, {NAN, NAN}, {0.5, 0.95}, {0.93, 1}};
    static const char *const labels[N_BINS] = {"terms with probability below 0.1", "0.1 to 0.5", "0.5 to 0.9",
                                               "0.9 to 1"};
    bin bins[N_BINS] = {{0}};
    double n;
    table_begin(table, 3, "what|n|said|true|bar|");
    count_terms(document, N_BINS, edges, bins);
    for (size_t b = 0; b < N_BINS; b++)
        put_share(table, labels[b], bins[b].n, bins[b].sum / bins[b].n, bins[b].n_true / bins[b].n, wanted[b][0],
                  wanted[b][1]);
    double found = interval_share(document, &n);
    put_share(table, "true weights in their 95 % intervals", n, 0.95, found, 0.9, 0.98);
    found = share(document, "band", &n);
    put_share(table, "points of the solution in its 95 % band", n, 0.95, found, 0.9, 0.98);
    found = share(document, "forecast", &n);
    put_share(table, "points of the forecast in its 95 % band", n, 0.95, found, 0.85, 1);
}

int bench_calibration_figure(const json_t *document, const char *path)
{
    FILE *script = NULL;
    bin bins[FIGURE_BINS] = {{0}};
    double limits[FIGURE_BINS + 1];
    int code = figure_begin(path, 480, 440, &script);
    if (code != EXIT_OK) return code;
    for (size_t b = 0; b <= FIGURE_BINS; b++) limits[b] = (double)b / FIGURE_BINS;
    count_terms(document, FIGURE_BINS, limits, bins);
    fputs("set size square\nset xrange [0:1]\nset yrange [0:1]\nset xlabel 'probability said'\nset ylabel 'share of "
          "true terms'\n"
          "set key top left\n$bins << EOD\n",
          script);
    for (size_t b = 0; b < FIGURE_BINS; b++) {
        double n = bins[b].n, found = bins[b].n_true / n;
        if (n > 0) fprintf(script, "%g %g %g\n", bins[b].sum / n, found, 2 * sqrt((found * (1 - found) + 1 / n) / n));
    }
    fputs("EOD\nplot x with lines linecolor '#999999' dashtype 2 title 'calibrated', $bins using 1:2:3 with yerrorbars "
          "pointtype 7 linecolor '#08519c' title 'found, two standard errors'\n",
          script);
    return figure_end(path, script);
}

static int report(const json_t *document, const bench_options *options)
{
    const json_t *rows = json_object_get(document, "rows"), *row;
    bench_table table;
    size_t i, failed = 0, exact = 0;
    json_array_foreach(rows, i, row)
    {
        failed += json_object_get(row, "error") != NULL;
        exact += json_is_true(json_object_get(row, "exact"));
    }
    bench_calibration_table(document, &table);
    printf("%zu random sparse systems, exactly the true terms in %zu, %zu failed:\n\n", json_array_size(rows), exact,
           failed);
    if (table.n_rows > 1) table_text(&table, stdout);
    bench_calibration_verdicts(document, stdout);
    int code = options->csv ? bench_write_csv(&table, options->csv) : EXIT_OK;
    table_clear(&table);
    if (code == EXIT_OK && options->figure) code = bench_calibration_figure(document, options->figure);
    return code;
}

int bench_calibration(bench_options *options)
{
    size_t n = 0;
    const char *const *kinds = bench_draw_kinds;
    int code = options->cases ? bench_check_asked(options->cases, DRAW_KINDS, kinds) : EXIT_OK;
    bench_task *tasks = calloc(options->n_seeds * DRAW_KINDS, sizeof *tasks);
    calibration_task *details = calloc(options->n_seeds * DRAW_KINDS, sizeof *details);
    if (!tasks || !details) code = cli_fail("out of memory for the tasks");
    for (int kind = 0; code == EXIT_OK && kind < DRAW_KINDS; kind++)
        for (size_t i = 0; i < options->n_seeds; i++) {
            if (options->cases ? !bench_is_asked(options->cases, kinds[kind]) : kind != DRAW_LAW) continue;
            details[n] = (calibration_task){options->first_seed + i, (bench_draw_kind)kind, options->settings};
            tasks[n] = (bench_task){.work = judge, .task = &details[n]};
            snprintf(tasks[n++].name, sizeof tasks->name, "%s%sdraw %zu", kind ? kinds[kind] : "", kind ? " " : "",
                     options->first_seed + i);
        }
    if (code == EXIT_OK) code = bench_execute("calibration", n, tasks, options, report);
    free(details);
    free(tasks);
    return code;
}
