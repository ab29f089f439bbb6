/* Several runs that share one law. */
#include "check.h"
#include "found.h"
#include "weights/fit.h"
#include "gp/record.h"
#include "ode_setup.h"

/* ---------------------------------------------------------------- data */

static const double row_times[] = {0, 1, 2, 0, 1, 3}, row_values[] = {2, 10, 1, 20, 2, 11, 1, 21, 2, 12, 1, 23};
static const char *const row_names[] = {"nr", "x"};

static kbass_data *two_runs(void)
{
    kbass_data *data = NULL;
    CHECK_OK(kbass_data_create(6, 2, row_times, row_values, NULL, row_names, &data, &error));
    CHECK_OK(kbass_data_split(data, "nr", &error));
    return data;
}

static void a_column_says_which_run(void **state)
{
    (void)state;
    static const double times[] = {0, 1, 3, 0, 1, 2}, values[] = {21, 20, 23, 10, 12, 11};
    char text[400];
    kbass_data *data = two_runs();
    CHECK(kbass_data_runs(data) == 2 && kbass_data_states(data) == 1 && kbass_data_run_start(data, 1) == 3);
    CHECK(kbass_data_run_start(data, 2) == 6 && !kbass_data_run_name(data, 2));
    CHECK_TEXT(kbass_data_run_name(data, 0), "1");
    CHECK_TEXT(kbass_data_run_name(data, 1), "2");
    for (size_t i = 0; i < 6; i++) CHECK(data->times[i] == times[i] && data->values[i] == values[i]);
    kbass_data_describe(data, text, sizeof text);
    CHECK(strstr(text, "6 rows in 2 runs (1, 2), 1 state (x)"));
    kbass_data_destroy(data);
}

/* What is written reads back as the same runs. */
static void runs_are_written_with_their_column(void **state)
{
    (void)state;
    static const char path[] = "test_runs_written.csv";
    kbass_data *data = two_runs(), *again = NULL;
    CHECK_OK(kbass_data_write(data, path, &error));
    CHECK_OK(kbass_data_read(path, NULL, &again, &error));
    CHECK_OK(kbass_data_split(again, "run", &error));
    CHECK(again->n_runs == 2 && !memcmp(again->values, data->values, 6 * sizeof *data->values));
    CHECK(!memcmp(again->times, data->times, 6 * sizeof *data->times) && again->run_start[1] == 3);
    remove(path);
    kbass_data_destroy(again);
    kbass_data_destroy(data);
}

static void tables_are_joined_by_the_names_of_their_states(void **state)
{
    (void)state;
    static const double times[] = {0, 1}, ab[] = {1, 2, 3, 4}, ba[] = {6, 5, 8, 7};
    static const char *const straight[] = {"a", "b"}, *const crossed[] = {"b", "a"},
                             *const names[] = {"first", "second"};
    kbass_data *parts[2] = {NULL}, *joined = NULL, *three = two_runs();
    CHECK_OK(kbass_data_create(2, 2, times, ab, NULL, straight, &parts[0], &error));
    CHECK_OK(kbass_data_create(2, 2, times, ba, NULL, crossed, &parts[1], &error));
    CHECK_OK(kbass_data_join(2, (const kbass_data *const *)parts, names, &joined, &error));
    for (size_t i = 0; i < 8; i++) CHECK(joined->values[i] == (double)i + 1);
    CHECK(joined->n_runs == 2 && joined->run_start[1] == 2 && joined->run_start[2] == 4);
    CHECK_TEXT(kbass_data_run_name(joined, 1), "second");
    kbass_data_destroy(joined);

    const kbass_data *odd[] = {parts[0], three};
    CHECK_FAILS(kbass_data_join(2, odd, names, &joined, &error), KBASS_ERROR_DATA, "second: no state \"a\"");
    const kbass_data *nested[] = {three, three};
    CHECK_OK(kbass_data_join(2, nested, names, &joined, &error));
    CHECK(joined->n_runs == 4 && joined->n_rows == 12 && joined->run_start[3] == 9);
    CHECK_TEXT(kbass_data_run_name(joined, 2), "second:1");
    kbass_data_destroy(joined);
    kbass_data_destroy(three);
    for (size_t i = 0; i < 2; i++) kbass_data_destroy(parts[i]);
}

static void what_is_no_run_is_refused(void **state)
{
    (void)state;
    static const double gap[] = {1, 2, NAN, 3}, once[] = {1, 2, 1, 3, 1, 4, 1, 5, 2, 6};
    static const double times[] = {0, 1, 2, 3, 4};
    kbass_data *data = NULL;
    kbass_discovery *discovery = NULL;
    kbass_settings settings;
    kb_settings_default(&settings);
    CHECK_OK(kbass_data_create(2, 2, times, gap, NULL, row_names, &data, &error));
    CHECK_FAILS(kbass_data_split(data, "run", &error), KBASS_ERROR_ARGUMENT, "no column \"run\"");
    CHECK_FAILS(kbass_data_split(data, "nr", &error), KBASS_ERROR_DATA, "is missing at t = 1");
    kbass_data_destroy(data);
    CHECK_OK(kbass_data_create(5, 2, times, once, NULL, row_names, &data, &error));
    CHECK_OK(kbass_data_split(data, "nr", &error));
    CHECK_FAILS(kbass_discovery_create(data, &settings, &discovery, &error), KBASS_ERROR_DATA, "run \"2\": all 1 rows");
    CHECK_FAILS(kbass_data_split(data, "x", &error), KBASS_ERROR_ARGUMENT, "runs already");
    kbass_data_destroy(data);
    data = two_runs();
    settings.method = 1;
    CHECK_FAILS(kbass_discovery_create(data, &settings, &discovery, &error), KBASS_ERROR_ARGUMENT, "takes one run");
    kbass_data_destroy(data);
}

/* ---------------------------------------------------------------- record and windows */

static void every_run_has_its_own_clock(void **state)
{
    (void)state;
    kbass_data *data = two_runs();
    kb_record *record = NULL, *slice = NULL;
    kb_windows *windows = NULL;
    CHECK_OK(kb_record_create(data, NULL, &record, &error));
    CHECK(record->span == 3 && record->duration[0] == 1 && record->n_runs == 2);
    CHECK_CLOSE(record->duration[1], 2.0 / 3, 1e-15); /* rounding */
    CHECK(record->time[3] == 0 && kb_record_run(record, 2) == 0 && kb_record_run(record, 3) == 1);
    CHECK_OK(kb_record_slice(record, 1, 0, 1, &slice, &error));
    CHECK(slice->n_rows == 3 && slice->time[0] == 0);
    CHECK_CLOSE(slice->time[2], 1, 1e-15);   /* rounding */
    CHECK_CLOSE(slice->stretch, 1.5, 1e-15); /* rounding */
    CHECK_CLOSE(slice->span, 2, 1e-15);      /* rounding */
    CHECK_OK(kb_windows_divide_runs(2, record->run_start, 2, &windows, &error));
    static const size_t first[] = {0, 1, 3, 4}, last[] = {1, 2, 4, 5};
    CHECK(windows->n == 4 && !memcmp(windows->first, first, sizeof first) && !memcmp(windows->last, last, sizeof last));
    kb_windows_destroy(windows);
    kb_record_destroy(slice);
    kb_record_destroy(record);
    kbass_data_destroy(data);
}

/* ---------------------------------------------------------------- discovery */

static kbass_data *joined_of(size_t n, kbass_data *parts[])
{
    static const char *const names[] = {"a", "b", "c"};
    kbass_data *joined = NULL;
    CHECK_OK(kbass_data_join(n, (const kbass_data *const *)parts, names, &joined, &error));
    return joined;
}

/* Van der Pol from three starts, 8 samples each at 15 % noise: none is enough alone. */
static void three_runs_tell_what_one_cannot(void **state)
{
    (void)state;
    static const char *const equations[] = {"x_t = y", "y_t = 2.5*y - 2.5*x^2*y - x"};
    static const char *const support[] = {"x_t: y", "y_t: x", "y_t: y", "y_t: x^2*y"};
    static const double starts[3][2] = {{2, 0}, {-0.5, 1.5}, {0.3, -2}};
    kbass_data *parts[3];
    for (size_t i = 0; i < 3; i++) {
        parts[i] = setup_sample(2, equations, starts[i], 8, 4);
        CHECK_OK(kbass_data_add_noise(parts[i], 15, 21 + i, &error));
        kbass_discovery *alone = discover(parts[i], NULL);
        CHECK(!has_support(kbass_discovery_result(alone), 4, support));
        kbass_discovery_destroy(alone);
    }
    kbass_data *data = joined_of(3, parts);
    kbass_discovery *together = discover(data, NULL);
    const kbass_result *result = kbass_discovery_result(together);
    CHECK(has_support(result, 4, support) && result->n_runs == 3 && result->n_windows == 3);
    for (size_t i = 0; i < 6; i++)
        CHECK_CLOSE(result->initial[i], starts[i / 2][i % 2], 0.6); /* noise has sd 0.2 to 0.3 */
    kbass_discovery_destroy(together);
    kbass_data_destroy(data);
    for (size_t i = 0; i < 3; i++) kbass_data_destroy(parts[i]);
}

/* x_t = sin(t) - x: runs that begin at different times and last differently, exact but for the solver. */
static void time_is_that_of_the_run(void **state)
{
    (void)state;
    static const char *const names[] = {"x"}, *const support[] = {"x_t: x", "x_t: sin(t)"};
    static const double first[] = {0, 5}, last[] = {3, 10}, amplitude[] = {2, -1};
    kbass_data *parts[2];
    double times[12], values[12], mean[12], sd[12], lhs[12], rhs[12];
    for (size_t run = 0; run < 2; run++) {
        for (size_t i = 0; i < 12; i++) {
            double t = times[i] = first[run] + (last[run] - first[run]) * (double)i / 11;
            values[i] = amplitude[run] * exp(-(t - first[run])) + 0.5 * (sin(t) - cos(t));
        }
        CHECK_OK(kbass_data_create(12, 1, times, values, NULL, names, &parts[run], &error));
    }
    kbass_data *data = joined_of(2, parts);
    kbass_discovery *discovery = discover(data, "1, x, x^2, sin(t), cos(t)");
    const kbass_result *result = kbass_discovery_result(discovery);
    CHECK(has_support(result, 2, support));
    for (size_t run = 0; run < 2; run++) {
        const double *t = parts[run]->times;
        CHECK_CLOSE(result->initial[run], parts[run]->values[0], 1e-3); /* the noise's floor, 0.1 % of the sd */
        CHECK_OK(kbass_discovery_solution(discovery, run, 12, t, NULL, mean, sd, &error));
        CHECK_OK(kbass_discovery_law(discovery, run, 12, t, NULL, lhs, rhs, &error));
        for (size_t i = 0; i < 12; i++) {
            CHECK_CLOSE(mean[i], parts[run]->values[i], 2e-3); /* likewise */
            CHECK_CLOSE(lhs[i], rhs[i], 1e-3);                 /* differences of the solution */
        }
    }
    CHECK_FAILS(kbass_discovery_solution(discovery, 2, 12, times, NULL, mean, sd, &error), KBASS_ERROR_ARGUMENT,
                "there are 2");
    CHECK_FAILS(kbass_discovery_solution(discovery, 0, 12, times, NULL, mean, sd, &error), KBASS_ERROR_ARGUMENT,
                "0 to 3");
    kbass_discovery_destroy(discovery);
    kbass_data_destroy(data);
    for (size_t run = 0; run < 2; run++) kbass_data_destroy(parts[run]);
}

/* Decay at 1 and at 2 per unit of time; or at 1 in both. */
static void weights_may_differ_between_runs(void **state)
{
    (void)state;
    static const char *const names[] = {"x"}, *const support[] = {"x_t: x"};
    for (int differs = 0; differs < 2; differs++) {
        kbass_data *parts[2];
        double rate[] = {1, 1 + differs}, times[20], values[20];
        for (size_t run = 0; run < 2; run++) {
            for (size_t i = 0; i < 20; i++) values[i] = 5 * exp(-rate[run] * (times[i] = 0.15 * (double)i));
            CHECK_OK(kbass_data_create(20, 1, times, values, NULL, names, &parts[run], &error));
            CHECK_OK(kbass_data_add_noise(parts[run], 3, 7 + run, &error));
        }
        kbass_data *data = joined_of(2, parts);
        kbass_settings settings;
        kbass_discovery *discovery = NULL;
        kb_settings_default(&settings);
        settings.terms = "1, x";
        settings.vary = "x";
        CHECK_FAILS(kbass_discovery_create(parts[0], &settings, &discovery, &error), KBASS_ERROR_ARGUMENT,
                    "several runs");
        CHECK_OK(kbass_discovery_create(data, &settings, &discovery, &error));
        CHECK_OK(kbass_discovery_run(discovery, NULL, NULL, &error));
        const kbass_result *result = kbass_discovery_result(discovery);
        const kbass_varied *v = result->varied;
        CHECK(has_support(result, 1, support) && result->n_varied == 1 && v->n_runs == 2);
        CHECK_TEXT(v->term, "x");
        CHECK_TEXT(v->lhs, "x_t");
        for (size_t run = 0; run < 2; run++)
            CHECK_CLOSE(v->weights[run], -rate[run], 4 * v->sds[run]);                /* standard deviations */
        CHECK_CLOSE(v->spread, fabs(v->weights[0] - v->weights[1]) / sqrt(2), 1e-12); /* rounding */
        CHECK((v->log_odds > 0) == differs);
        kbass_discovery_destroy(discovery);
        kbass_data_destroy(data);
        for (size_t run = 0; run < 2; run++) kbass_data_destroy(parts[run]);
    }
}

/* An oscillator that is damped in one run and driven as much in the other: the mean weight of y is 0. */
static void weights_may_cancel_over_the_runs(void **state)
{
    (void)state;
    static const char *const names[] = {"x", "y"};
    enum { N = 30 };
    kbass_data *parts[2];
    for (size_t run = 0; run < 2; run++) { /* x = exp(r t) cos t, y = x_t: y_t = -(1 + r^2) x + 2 r y */
        double r = run ? 0.1 : -0.1, times[N], values[2 * N];
        for (size_t i = 0; i < N; i++) {
            double t = times[i] = 0.3 * (double)i, size = exp(r * t);
            values[2 * i] = size * cos(t);
            values[2 * i + 1] = size * (r * cos(t) - sin(t));
        }
        CHECK_OK(kbass_data_create(N, 2, times, values, NULL, names, &parts[run], &error));
        CHECK_OK(kbass_data_add_noise(parts[run], 2, 3 + run, &error));
    }
    kbass_data *data = joined_of(2, parts);
    kbass_settings settings;
    kbass_discovery *discovery = NULL;
    kb_settings_default(&settings);
    settings.degree = 2;
    settings.vary = "y_t: y";
    CHECK_OK(kbass_discovery_create(data, &settings, &discovery, &error));
    CHECK_OK(kbass_discovery_run(discovery, NULL, NULL, &error));
    const kbass_result *result = kbass_discovery_result(discovery);
    CHECK(result->n_varied == 1 && result->varied->log_odds > 5); /* they do differ */
    for (size_t run = 0; run < 2; run++)
        CHECK_CLOSE(result->varied->weights[run], run ? 0.2 : -0.2,
                    4 * result->varied->sds[run]); /* standard deviations */
    kbass_discovery_destroy(discovery);
    kbass_data_destroy(data);
    for (size_t run = 0; run < 2; run++) kbass_data_destroy(parts[run]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_column_says_which_run),
        cmocka_unit_test(runs_are_written_with_their_column),
        cmocka_unit_test(tables_are_joined_by_the_names_of_their_states),
        cmocka_unit_test(what_is_no_run_is_refused),
        cmocka_unit_test(every_run_has_its_own_clock),
        cmocka_unit_test(three_runs_tell_what_one_cannot),
        cmocka_unit_test(time_is_that_of_the_run),
        cmocka_unit_test(weights_may_differ_between_runs),
        cmocka_unit_test(weights_may_cancel_over_the_runs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
