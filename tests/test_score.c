/* Scores on new data: the fitted start against weighted least squares in closed form, the numbers of a score against
 * a direct computation from the same draws, baselines against what they are by definition. */
#include <string.h>

#include "base/memory.h"
#include "base/random.h"
#include "check.h"
#include "forecast/baseline.h"
#include "forecast/restart.h"

enum { ROWS = 40 };
static const double noise = 0.1;

/* x_t = a x on t in [0, 1]: weight and start with these standard deviations. */
static kbass_posterior *growth(double a, double sd_a)
{
    static const double times[] = {0, 1}, values[] = {1, 2};
    static const char *const names[] = {"x"};
    kbass_data *data = NULL;
    kbass_posterior *p = NULL;
    kbass_error error;
    CHECK_OK(kbass_data_create(2, 1, times, values, NULL, names, &data, &error));
    CHECK_OK(kb_posterior_create(data, 0, 1, 1, &p, &error));
    CHECK_OK(kb_belief_allocate(p, 1, 1, &p->models[0], &error));
    p->n_models = 1;
    kb_belief *b = &p->models[0];
    b->term[0] = kb_strdup("x");
    b->weight[0] = a;
    b->noise[0] = noise;
    b->windows[0].last = 1;
    b->windows[0].start[0] = 1;
    b->windows[0].covariance[0] = sd_a * sd_a;
    b->windows[0].covariance[3] = 0.01;
    kbass_data_destroy(data);
    return p;
}

/* 3 exp(a t) at t = 5, 5.05, ... with noise; every seventh value is missing. */
static kbass_data *measure(double a, uint64_t seed)
{
    double times[ROWS], values[ROWS];
    static const char *const names[] = {"x"};
    kbass_data *data = NULL;
    kbass_error error;
    kb_random random;
    kb_random_seed(&random, seed);
    for (size_t i = 0; i < ROWS; i++) {
        times[i] = 5 + 0.05 * (double)i;
        values[i] = i % 7 == 3 ? NAN : 3 * exp(a * (times[i] - 5)) + noise * kb_random_normal(&random);
    }
    CHECK_OK(kbass_data_create(ROWS, 1, times, values, NULL, names, &data, &error));
    return data;
}

/* Known weight: y_i = x0 g_i + noise is linear in x0, g_i = exp(a (t_i - t_0)). */
static void start_is_that_of_least_squares(void **state)
{
    (void)state;
    const double a = -0.7;
    kbass_posterior *p = growth(a, 0), *q = NULL;
    kbass_data *data = measure(a, 1);
    kb_measurements m = {0};
    kbass_error error;
    double top = 0, bottom = 0;
    size_t n = 12;
    CHECK_OK(kb_measurements_create(p, data, 0, &m, &error));
    CHECK_OK(kb_posterior_restart(p, &m, n, NULL, &q, &error));
    for (size_t i = 0; i < n && i < m.n; i++) {
        double g = exp(a * (m.times[i] - m.times[0]));
        if (!isfinite(m.values[i])) continue;
        top += g * m.values[i];
        bottom += g * g;
    }
    const kb_stretch *w = &q->models[0].windows[0];
    CHECK_CLOSE(w->start[0], top / bottom, 1e-6); /* linear: the integrator's 1e-9, with room */
    CHECK_CLOSE(w->covariance[3], noise * noise / bottom, 1e-4 * noise * noise); /* differences in the factor */
    CHECK(w->covariance[0] == 0 && q->models[0].weight[0] == a);
    CHECK(w->first == m.times[0] && q->last[0] == m.times[n - 1]);
    kb_measurements_clear(&m);
    kbass_posterior_destroy(q);
    kbass_posterior_destroy(p);
    kbass_data_destroy(data);
}

/* A weight that is only half known learns from the first measurements: its precision grows by what they tell. */
static void weights_learn_from_the_start(void **state)
{
    (void)state;
    kbass_posterior *p = growth(-0.5, 0.3), *q = NULL;
    kbass_data *data = measure(-0.7, 2);
    kb_measurements m = {0};
    kbass_error error;
    CHECK_OK(kb_measurements_create(p, data, 0, &m, &error));
    CHECK_OK(kb_posterior_restart(p, &m, m.n, NULL, &q, &error));
    double sd = sqrt(q->models[0].windows[0].covariance[0]);
    CHECK(sd < 0.06);                                  /* the prior's 0.3, and 40 values of 3 % noise */
    CHECK_CLOSE(q->models[0].weight[0], -0.7, 4 * sd); /* four standard deviations */
    kb_measurements_clear(&m);
    kbass_posterior_destroy(q);
    kbass_posterior_destroy(p);
    kbass_data_destroy(data);
}

static double share_below(const kbass_forecast *f, size_t at, double y)
{
    double sum = 0;
    for (size_t d = 0; d < kbass_forecast_draws(f); d++)
        sum += 0.5 * (1 + erf((y - kbass_forecast_values(f, d)[at]) / (noise * sqrt(2))));
    return sum / (double)kbass_forecast_draws(f);
}

/* The law's numbers, computed once more from the draws of the same seed. */
static void numbers_are_those_of_the_draws(void **state)
{
    (void)state;
    enum { DRAWS = 150, USED = 8 };
    kbass_posterior *p = growth(-0.7, 0.05), *q = NULL;
    kbass_data *data = measure(-0.7, 3);
    kbass_score *score = NULL;
    kbass_forecast *f = NULL;
    kbass_error error;
    kb_measurements m = {0};
    kbass_score_options options = {.size = sizeof options, .n_start = USED, .n_draws = DRAWS, .seed = 4, .threads = 2};
    CHECK_OK(kbass_posterior_score(p, data, 0, &options, &score, &error));
    CHECK_OK(kb_measurements_create(p, data, 0, &m, &error));
    CHECK_OK(kb_posterior_restart(p, &m, USED, NULL, &q, &error));
    kbass_forecast_options ahead = {.size = sizeof ahead, .n_draws = DRAWS, .seed = 4, .threads = 1};
    size_t n = m.n - USED;
    CHECK_OK(kbass_posterior_forecast(q, &ahead, n, m.times + USED, 0, NULL, &f, &error));
    double logs = 0, errors = 0, spread = 0, mean_y = 0, within = 0, count = 0;
    for (size_t i = USED; i < m.n; i++)
        if (isfinite(m.values[i])) mean_y += m.values[i], count++;
    mean_y /= count;
    for (size_t i = 0; i < n; i++) {
        double y = m.values[USED + i], mean = 0, squares = 0;
        if (!isfinite(y)) continue;
        for (size_t d = 0; d < DRAWS; d++) mean += kbass_forecast_values(f, d)[i] / DRAWS;
        for (size_t d = 0; d < DRAWS; d++) squares += pow(kbass_forecast_values(f, d)[i] - mean, 2) / DRAWS;
        double variance = squares + noise * noise, F = share_below(f, i, y);
        logs += -0.5 * log(2 * M_PI * variance) - 0.5 * (y - mean) * (y - mean) / variance;
        errors += (y - mean) * (y - mean);
        spread += (y - mean_y) * (y - mean_y);
        within += F >= 0.05 && F <= 0.95;
        CHECK_CLOSE(share_below(f, i, score->predictors[0].low[i]), 0.05, 1e-9); /* bisection to rounding */
    }
    const kbass_predictor *law = &score->predictors[0];
    CHECK(score->n_values == (size_t)count && score->n_used == USED && !strcmp(law->name, "law"));
    CHECK_CLOSE(law->log_score[1], logs / count, 1e-12);   /* rounding */
    CHECK_CLOSE(law->r2[1], 1 - errors / spread, 1e-12);   /* rounding */
    CHECK_CLOSE(law->within_90[1], within / count, 1e-12); /* rounding */
    CHECK(isnan(law->leaves) && law->n_lost == 0);
    kbass_forecast_destroy(f);
    kbass_score_destroy(score);
    kb_measurements_clear(&m);
    kbass_posterior_destroy(q);
    kbass_posterior_destroy(p);
    kbass_data_destroy(data);
}

/* Another law's data: the bands are left, and the bare field is ahead. */
static void a_wrong_law_is_found_out(void **state)
{
    (void)state;
    kbass_posterior *p = growth(0.4, 0.01);
    kbass_data *data = measure(-0.7, 5);
    kbass_score *score = NULL;
    kbass_error error;
    kbass_score_options options = {.size = sizeof options, .n_start = 4, .seed = 1, .threads = 1};
    CHECK_OK(kbass_posterior_score(p, data, 0, &options, &score, &error));
    CHECK(score->predictors[0].r2[1] < 0);
    CHECK(score->predictors[0].leaves < 6);
    CHECK(score->predictors[0].within_90[1] < 0.2);
    CHECK(score->predictors[2].log_score[1] > score->predictors[0].log_score[1]);
    kbass_score_destroy(score);
    kbass_posterior_destroy(p);
    kbass_data_destroy(data);
}

/* No change: the last known value, and what the old solution changes by in such a time; the bare field: the Gaussian
   process at a known point is the mean of prior and measurement. */
static void baselines_are_what_they_say(void **state)
{
    (void)state;
    const double a = -0.7;
    kbass_posterior *p = growth(a, 0.05);
    kbass_data *data = measure(a, 6);
    kb_measurements m = {0};
    kb_baseline *b = NULL;
    kbass_error error;
    double mean = NAN, variance = NAN, expected = 0;
    CHECK_OK(kb_measurements_create(p, data, 0, &m, &error));
    CHECK_OK(kb_baseline_create(p, &m, 1, &b, &error));
    kb_baseline_no_change(b, 0, m.times[0] + 0.5, NULL, &mean, &variance);
    CHECK(mean == m.values[0]);
    for (int i = 0; i <= 50; i++) expected += pow(exp(a * (0.5 + i / 100.0)) - exp(a * i / 100.0), 2) / 51;
    CHECK_CLOSE(variance, expected, 1e-7); /* the integrator's 1e-9 */
    double prior = 0, average = 0;
    for (int i = 0; i <= 100; i++) average += exp(a * i / 100.0) / 101;
    for (int i = 0; i <= 100; i++) prior += pow(exp(a * i / 100.0) - average, 2) / 101;
    kb_baseline_bare_field(b, 0, m.times[0], NULL, &mean, &variance);
    double gain = prior / (prior + noise * noise);
    CHECK_CLOSE(mean, average + gain * (m.values[0] - average), 1e-6); /* 1e-9 of the variance on the diagonal */
    CHECK_CLOSE(variance, prior * (1 - gain), 1e-8);
    kb_baseline_destroy(b);
    kb_measurements_clear(&m);
    kbass_posterior_destroy(p);
    kbass_data_destroy(data);
}

static void what_does_not_fit_is_refused(void **state)
{
    (void)state;
    kbass_posterior *p = growth(-0.7, 0.05);
    kbass_data *data = measure(-0.7, 7), *other = NULL;
    static const char *const names[] = {"z"};
    const double times[] = {0, 1, 2}, values[] = {1, 2, 3}, start = 1;
    kbass_score *score = NULL;
    kbass_error error;
    kbass_score_options options = {.size = sizeof options, .n_start = ROWS};
    CHECK_OK(kbass_data_create(3, 1, times, values, NULL, names, &other, &error));
    CHECK(kbass_posterior_score(p, data, 0, &options, &score, &error) == KBASS_ERROR_DATA);
    CHECK(strstr(error.message, "none is left to score"));
    CHECK(kbass_posterior_score(p, other, 0, NULL, &score, &error) == KBASS_ERROR_DATA);
    CHECK(strstr(error.message, "no column \"x\""));
    options.state = &start;
    CHECK(kbass_posterior_score(p, data, 0, &options, &score, &error) == KBASS_ERROR_ARGUMENT);
    CHECK(kbass_posterior_score(p, data, 1, NULL, &score, &error) == KBASS_ERROR_ARGUMENT);
    options = (kbass_score_options){.size = sizeof options, .continues = 1};
    CHECK(kbass_posterior_score(p, data, 0, &options, &score, &error) == KBASS_ERROR_DATA);
    CHECK(!score);
    kbass_posterior_destroy(p);
    kbass_data_destroy(data);
    kbass_data_destroy(other);
}

/* ---------------------------------------------------------------- parts left out */

/* x_t = -0.5 x + 1 from two starts, 24 samples each; the runs in one table. */
static kbass_data *relaxation(size_t n_runs)
{
    enum { N = 24 };
    static const char *const names[] = {"x", "run"};
    double times[2 * N], values[4 * N];
    kbass_data *data = NULL;
    kbass_error error;
    kb_random random;
    kb_random_seed(&random, 9);
    for (size_t i = 0; i < n_runs * N; i++) {
        times[i] = 0.25 * (double)(i % N);
        values[2 * i] = 2 + (i < N ? 3 : -2) * exp(-0.5 * times[i]) + 0.02 * kb_random_normal(&random);
        values[2 * i + 1] = i < N ? 1 : 2;
    }
    if (n_runs == 1)
        for (size_t i = 0; i < N; i++) values[i] = values[2 * i];
    CHECK_OK(kbass_data_create(n_runs * N, n_runs, times, values, NULL, names, &data, &error));
    if (n_runs > 1) CHECK_OK(kbass_data_split(data, "run", &error));
    return data;
}

static kbass_discovery *validate(size_t n_runs, const char *name, const char *value)
{
    kbass_data *data = relaxation(n_runs);
    kbass_settings *settings = NULL;
    kbass_discovery *d = NULL;
    kbass_error error;
    CHECK_OK(kbass_settings_create(&settings, &error));
    CHECK_OK(kbass_settings_set(settings, "degree", "2", &error));
    CHECK_OK(kbass_settings_set(settings, "constant", NULL, &error));
    CHECK_OK(kbass_settings_set(settings, name, value, &error));
    CHECK_OK(kbass_discovery_create(data, settings, &d, &error));
    CHECK_OK(kbass_discovery_run(d, NULL, NULL, &error));
    kbass_settings_destroy(settings);
    kbass_data_destroy(data);
    return d;
}

static void check_fold(const kbass_fold *fold, const char *name, size_t n_values)
{
    CHECK_TEXT(fold->name, name);
    CHECK(fold->is_scored && fold->is_same && fold->n_equations == 1);
    CHECK(fold->n_values == n_values);
    CHECK(fold->log_score > fold->baseline);
    CHECK(fold->within_90 >= 0.6); /* of 0.9, of few values */
}

static void the_last_part_is_foretold(void **state)
{
    (void)state;
    kbass_discovery *d = validate(1, "holdout", "0.25");
    const kbass_result *result = kbass_discovery_result(d);
    CHECK(result->n_folds == 1);
    check_fold(&result->folds[0], "t > 4.3125", 6);
    kbass_discovery_destroy(d);
}

static void runs_are_foretold(void **state)
{
    (void)state;
    kbass_discovery *d = validate(2, "holdout", "2");
    const kbass_result *result = kbass_discovery_result(d);
    CHECK(result->n_folds == 1);
    check_fold(&result->folds[0], "run 2", 21); /* three are for the start */
    kbass_discovery_destroy(d);
}

static void parts_take_turns(void **state)
{
    (void)state;
    kbass_discovery *d = validate(1, "cross-validate", "3");
    const kbass_result *result = kbass_discovery_result(d);
    static const char *const names[] = {"t = 0 to 1.91667", "t = 1.91667 to 3.83333", "t = 3.83333 to 5.75"};
    CHECK(result->n_folds == 3);
    for (size_t i = 0; i < 3; i++) { /* a part of a relaxation may do with other terms */
        CHECK_TEXT(result->folds[i].name, names[i]);
        CHECK(result->folds[i].is_scored && result->folds[i].n_values == 5); /* of 8, three are for the start */
    }
    kbass_discovery_destroy(d);
}

static void divisions_that_cannot_be_are_refused(void **state)
{
    (void)state;
    static const struct {
        const char *name, *value, *message;
    } bad[] = {{"holdout", "1.5", "share of the time"},
               {"holdout", "0.95", "up to 0.9"},
               {"holdout", "-0.2", "up to 0.9"},
               {"holdout", "b.csv", "share of the time"},
               {"cross-validate", "20", "at most 4"}};
    kbass_data *data = relaxation(1);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        kbass_settings *settings = NULL;
        kbass_discovery *d = NULL;
        kbass_error error;
        CHECK_OK(kbass_settings_create(&settings, &error));
        CHECK_OK(kbass_settings_set(settings, bad[i].name, bad[i].value, &error));
        CHECK(kbass_discovery_create(data, settings, &d, &error) == KBASS_ERROR_ARGUMENT);
        if (!strstr(error.message, bad[i].message)) fail_msg("%s", error.message);
        kbass_settings_destroy(settings);
    }
    kbass_data_destroy(data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(the_last_part_is_foretold),
                                       cmocka_unit_test(runs_are_foretold),
                                       cmocka_unit_test(parts_take_turns),
                                       cmocka_unit_test(divisions_that_cannot_be_are_refused),
                                       cmocka_unit_test(start_is_that_of_least_squares),
                                       cmocka_unit_test(weights_learn_from_the_start),
                                       cmocka_unit_test(numbers_are_those_of_the_draws),
                                       cmocka_unit_test(a_wrong_law_is_found_out),
                                       cmocka_unit_test(baselines_are_what_they_say),
                                       cmocka_unit_test(what_does_not_fit_is_refused)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
