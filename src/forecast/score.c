/* Scores: what a law foretells of measurements that it has not seen, held against them (docs/math.md, eq. 69). */
#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/status.h"
#include "forecast/baseline.h"
#include "forecast/predictive.h"
#include "forecast/restart.h"

enum { DRAWS = 400, FEWEST_TIMES = 3, MOST_TIMES = 20, PREDICTORS = 4, LINES_PER_START = 2 };
static const double start_share = 0.1;     /* of the times, for the start */
static const size_t most_points = 2000000; /* of a forecast: times x places */

typedef struct {
    const kbass_posterior *posterior;
    kbass_score_options options;
    kb_measurements measurements;
    kb_input_curves inputs; /* along the data */
    size_t n_used;          /* rows */
    kb_baseline *baseline;
    kbass_score *score;
} task;

/* ---------------------------------------------------------------- predictors */

/* A law's draws at all scored times and places. */
typedef struct {
    const kbass_posterior *posterior; /* restarted: one model */
    kbass_forecast *forecast;
    size_t n_times, n_places;
    double *times, *places;
    size_t *time_of, *place_of; /* of each scored row */
} outlook;

static kb_prediction law_says(const void *context, size_t point, size_t state, double *draws)
{
    const outlook *o = context;
    size_t n = 0, F = o->posterior->n_states, at = (o->time_of[point] * o->n_places + o->place_of[point]) * F + state;
    double sum = 0;
    for (size_t d = 0; d < kbass_forecast_draws(o->forecast); d++) {
        double value = kbass_forecast_values(o->forecast, d)[at];
        if (isfinite(value)) sum += draws[n++] = value;
    }
    double noise = kb_belief_noise(o->posterior, &o->posterior->models[0], state, n ? sum / (double)n : 0);
    return (kb_prediction){n, draws, fmax(noise, 1e-300)};
}

typedef void (*baseline)(const kb_baseline *, size_t, double, const double *, double *, double *);

static kb_prediction baseline_says(baseline ask, const task *t, size_t point, size_t state, double *draws)
{
    const kbass_score *s = t->score;
    double variance = 0;
    ask(t->baseline, state, s->times[point], s->positions ? &s->positions[point] : NULL, draws, &variance);
    double noise = kb_belief_noise(t->posterior, &t->posterior->models[0], state, *draws);
    return (kb_prediction){1, draws, fmax(sqrt(variance + noise * noise), 1e-300)};
}

static kb_prediction no_change_says(const void *context, size_t point, size_t state, double *draws)
{
    return baseline_says(kb_baseline_no_change, context, point, state, draws);
}

static kb_prediction bare_field_says(const void *context, size_t point, size_t state, double *draws)
{
    return baseline_says(kb_baseline_bare_field, context, point, state, draws);
}

/* ---------------------------------------------------------------- a law's forecast */

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The distinct values of a list, ascending, and which of them each is. */
static bool list_distinct(size_t n, const double *values, size_t *n_distinct, double **distinct, size_t **which)
{
    *distinct = KB_NEW(double, n);
    *which = KB_NEW(size_t, n);
    if (!*distinct || !*which) return false;
    memcpy(*distinct, values, n * sizeof *values);
    qsort(*distinct, n, sizeof **distinct, ascending);
    *n_distinct = n > 0;
    for (size_t i = 1; i < n; i++)
        if ((*distinct)[i] > (*distinct)[*n_distinct - 1]) (*distinct)[(*n_distinct)++] = (*distinct)[i];
    for (size_t i = 0; i < n; i++)
        (*which)[i] =
            (size_t)((double *)bsearch(&values[i], *distinct, *n_distinct, sizeof *values, ascending) - *distinct);
    return true;
}

static kbass_status list_places(const task *t, outlook *o, kbass_error *error)
{
    const kbass_score *s = t->score;
    bool complete = list_distinct(s->n_points, s->times, &o->n_times, &o->times, &o->time_of);
    if (complete && s->positions)
        complete = list_distinct(s->n_points, s->positions, &o->n_places, &o->places, &o->place_of);
    if (complete && !s->positions) {
        o->place_of = KB_NEW(size_t, s->n_points);
        o->n_places = 1;
        complete = o->place_of != NULL;
    }
    if (!complete) return kb_out_of_memory(error, "the score");
    if (o->n_times > most_points / o->n_places)
        return kb_fail(error, KBASS_ERROR_DATA,
                       "%zu times at %zu places are too many to score at once: score a part (--within, --every)",
                       o->n_times, o->n_places);
    return KBASS_OK;
}

static void outlook_clear(outlook *o)
{
    kbass_forecast_destroy(o->forecast);
    kb_free(o->times);
    kb_free(o->places);
    kb_free(o->time_of);
    kb_free(o->place_of);
}

/* Carries one model on from its start, or from the end of the record. */
static kbass_status score_law(task *t, size_t model, const char *name, kbass_error *error)
{
    kbass_posterior *restarted = NULL, own = *t->posterior;
    own.models += model;
    own.n_models = 1;
    own.inputs = t->inputs;
    outlook o = {.posterior = &own};
    kbass_forecast_options options = {.size = sizeof options,
                                      .n_draws = t->options.n_draws,
                                      .seed = t->options.seed,
                                      .threads = t->options.threads,
                                      .boundary = t->options.boundary,
                                      .time_limit = t->options.time_limit,
                                      .progress = t->options.progress,
                                      .user = t->options.user};
    kbass_status status = list_places(t, &o, error);
    if (status == KBASS_OK && !t->options.continues) {
        status = kb_posterior_restart(&own, &t->measurements, t->n_used, t->options.state, &restarted, error);
        o.posterior = restarted;
    }
    if (status == KBASS_OK)
        status = kbass_posterior_forecast(o.posterior, &options, o.n_times, o.times, o.n_places, o.places, &o.forecast,
                                          error);
    if (status == KBASS_OK) status = kb_score_add(t->score, name, t->options.n_draws, law_says, &o, error);
    outlook_clear(&o);
    kbass_posterior_destroy(restarted);
    return status;
}

/* ---------------------------------------------------------------- which rows */

/* So many rows as the first times have. */
static size_t rows_of_times(const kb_measurements *m, size_t n_times)
{
    size_t row = 0;
    for (size_t times = 0; row < m->n && times < n_times; times++) {
        double now = m->times[row];
        while (row < m->n && m->times[row] == now) row++;
    }
    return row;
}

static size_t count_times(const kb_measurements *m)
{
    size_t n = m->n > 0;
    for (size_t row = 1; row < m->n; row++) n += m->times[row] > m->times[row - 1];
    return n;
}

/* Of states a tenth of the times, 3 to 20; of fields also as many as have twice the start's unknowns. */
static size_t usual_rows(const kbass_posterior *p, const kb_measurements *m)
{
    double share = ceil(start_share * (double)count_times(m));
    size_t rows = rows_of_times(m, (size_t)fmin(fmax(share, FEWEST_TIMES), MOST_TIMES));
    size_t enough = p->n_axes > 1 ? LINES_PER_START * p->n_start / p->n_states : 0;
    while (rows < m->n && rows < enough) rows += 1;
    while (rows < m->n && rows && m->times[rows] == m->times[rows - 1]) rows++;
    return rows;
}

static kbass_status choose_rows(task *t, kbass_error *error)
{
    const kb_measurements *m = &t->measurements;
    const kbass_posterior *p = t->posterior;
    double end = p->last[0] + 1e-9 * (p->last[0] - p->first[0]);
    if (t->options.continues)
        while (t->n_used < m->n && m->times[t->n_used] <= end) t->n_used++;
    else if (t->options.state) t->n_used = rows_of_times(m, 1);
    else t->n_used = t->options.n_start ? rows_of_times(m, t->options.n_start) : usual_rows(p, m);
    if (t->options.continues && !t->n_used)
        return kb_fail(error, KBASS_ERROR_DATA,
                       "the data begin at %s = %.10g, after the record ended at %.10g: they do not go on with it",
                       p->axis_names[0], m->n ? m->times[0] : NAN, p->last[0]);
    if (t->n_used >= m->n)
        return kb_fail(error, KBASS_ERROR_DATA, "%zu rows are there and %zu are for the start: none is left to score",
                       m->n, t->n_used);
    return KBASS_OK;
}

static kbass_status score_allocate(task *t, kbass_error *error)
{
    const kb_measurements *m = &t->measurements;
    kbass_score *s = t->score = KB_NEW(kbass_score, 1);
    if (!s) return kb_out_of_memory(error, "the score");
    size_t n = m->n - t->n_used, F = t->posterior->n_states;
    double *times = KB_NEW(double, n), *positions = m->positions ? KB_NEW(double, n) : NULL,
           *values = KB_NEW(double, n *F);
    s->predictors = KB_NEW(kbass_predictor, PREDICTORS);
    s->times = times, s->positions = positions, s->values = values;
    if (!times || (m->positions && !positions) || !values || !s->predictors)
        return kb_out_of_memory(error, "the score");
    memcpy(times, m->times + t->n_used, n * sizeof *times);
    if (positions) memcpy(positions, m->positions + t->n_used, n * sizeof *positions);
    memcpy(values, m->values + t->n_used * F, n * F * sizeof *values);
    s->n_states = F;
    s->n_points = n;
    s->n_used = t->n_used;
    s->first = times[0];
    s->last = times[n - 1];
    for (size_t i = 0; i < n * F; i++) s->n_values += isfinite(values[i]) != 0;
    return KBASS_OK;
}

/* ---------------------------------------------------------------- the public door */

static kbass_status check_options(const kbass_posterior *p, const kbass_score_options *o, kbass_error *error)
{
    if (p->n_axes > 2)
        return kb_fail(error, KBASS_ERROR_ARGUMENT, "laws over several space axes cannot be scored on new data");
    if ((o->n_start != 0) + (o->state != NULL) + (o->continues != 0) > 1)
        return kb_fail(error, KBASS_ERROR_ARGUMENT,
                       "found several ways to begin, needed one: the first measurements, a state, or the record's end");
    if (o->state && p->n_axes > 1)
        return kb_fail(error, KBASS_ERROR_ARGUMENT, "a field cannot start from a list of numbers");
    return KBASS_OK;
}

/* Those of the data, after the record where they go on with it. */
static kbass_status take_inputs(task *t, const kbass_data *data, size_t run, kbass_error *error)
{
    const kbass_posterior *p = t->posterior;
    const kbass_data *from = t->options.inputs ? t->options.inputs : data;
    size_t its_run = t->options.inputs ? t->options.input_run : run;
    if (!p->inputs.n) return KBASS_OK;
    kbass_status status = kb_input_curves_copy(&p->inputs, &t->inputs, error);
    if (status == KBASS_OK && its_run >= kbass_data_runs(from))
        status = kb_fail(error, KBASS_ERROR_ARGUMENT, "there is no run %zu of the inputs", its_run);
    return status == KBASS_OK
               ? kb_input_curves_take(&t->inputs, from, its_run, t->options.continues ? p->last[0] : NAN, error)
               : status;
}

static kbass_status score_all(task *t, kbass_error *error)
{
    kbass_status status = choose_rows(t, error);
    if (status == KBASS_OK) status = score_allocate(t, error);
    if (status == KBASS_OK) status = kb_baseline_create(t->posterior, &t->measurements, t->n_used, &t->baseline, error);
    if (status == KBASS_OK) status = score_law(t, 0, "law", error);
    if (status == KBASS_OK && t->posterior->n_models > 1) {
        status = score_law(t, 1, "runner-up", error);
        if (status == KBASS_ERROR_NUMERICAL) status = KBASS_OK; /* a rival that cannot be followed is no rival */
    }
    if (status == KBASS_OK) status = kb_score_add(t->score, "no change", 1, no_change_says, t, error);
    if (status == KBASS_OK) status = kb_score_add(t->score, "bare field", 1, bare_field_says, t, error);
    return status;
}

kbass_status kbass_posterior_score(const kbass_posterior *posterior, const kbass_data *data, size_t run,
                                   const kbass_score_options *options, kbass_score **score, kbass_error *error)
{
    static const size_t size_0_2 = offsetof(kbass_score_options, user) + sizeof options->user;
    task t = {.posterior = posterior};
    if (options) kb_options_take(options, options->size, size_0_2, &t.options, sizeof t.options);
    if (!t.options.n_draws) t.options.n_draws = DRAWS;
    if (run >= kbass_data_runs(data))
        return kb_fail(error, KBASS_ERROR_ARGUMENT, "run %zu: there are %zu, counted from 0", run,
                       kbass_data_runs(data));
    kbass_status status = check_options(posterior, &t.options, error);
    if (status == KBASS_OK) status = kb_measurements_create(posterior, data, run, &t.measurements, error);
    if (status == KBASS_OK) status = take_inputs(&t, data, run, error);
    if (status == KBASS_OK) status = score_all(&t, error);
    kb_measurements_clear(&t.measurements);
    kb_input_curves_clear(&t.inputs);
    kb_baseline_destroy(t.baseline);
    if (status == KBASS_OK) *score = t.score;
    else kbass_score_destroy(t.score);
    return status;
}

void kbass_score_destroy(kbass_score *s)
{
    if (!s) return;
    for (size_t i = 0; s->predictors && i < s->n_predictors; i++) {
        const kbass_predictor *p = &s->predictors[i];
        const double *all[] = {p->r2, p->log_score, p->within_50, p->within_90, p->mean, p->low, p->high};
        for (size_t k = 0; k < sizeof all / sizeof *all; k++) kb_free((void *)all[k]);
    }
    kb_free((void *)s->predictors);
    kb_free((void *)s->times);
    kb_free((void *)s->positions);
    kb_free((void *)s->values);
    kb_free(s);
}
