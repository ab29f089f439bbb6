/* A run that is stopped, wherever it is: an outcome with what there is by then. */
#include <string.h>

#include "answer/judge.h"
#include "check.h"
#include "discovery/discovery.h"
#include "kbass/kbass.h"

typedef struct {
    const char *stage; /* to stop in, at the first call */
    int calls;
} stopper;

static int stop_in(const kbass_progress *progress, void *user)
{
    stopper *s = user;
    s->calls++;
    return !strcmp(progress->stage, s->stage);
}

static kbass_data *hares(void)
{
    kbass_data *data = NULL;
    kbass_error error;
    CHECK_OK(kbass_data_example("hare-lynx", &data, &error));
    return data;
}

static kbass_discovery *run_until(const kbass_data *data, const char *stage, double time_limit)
{
    stopper s = {stage, 0};
    kbass_settings settings;
    kbass_discovery *discovery = NULL;
    kbass_error error;
    kb_settings_default(&settings);
    settings.degree = 2;
    settings.time_limit = time_limit;
    CHECK_OK(kbass_discovery_create(data, &settings, &discovery, &error));
    CHECK_OK(kbass_discovery_run(discovery, stop_in, &s, &error));
    CHECK(s.calls > 0);
    return discovery;
}

static void check_nothing(kbass_discovery *discovery, kbass_outcome outcome)
{
    const kbass_result *result = kbass_discovery_result(discovery);
    kbass_error error;
    char *json = NULL;
    double time = 1900, mean[2], sd[2];
    CHECK(result->outcome == outcome && result->n_equations == 0 && result->n_starts_lost == 0);
    CHECK_FAILS(kbass_discovery_solution(discovery, 0, 1, &time, NULL, mean, sd, &error), KBASS_ERROR_ARGUMENT,
                "no solution");
    CHECK_OK(kbass_discovery_json(discovery, &json, &error));
    CHECK(strstr(json, "\"equations\": []"));
    kbass_free(json);
    kbass_discovery_destroy(discovery);
}

static void before_there_is_a_model(void **state)
{
    (void)state;
    kbass_data *data = hares();
    check_nothing(run_until(data, "search", 0), KBASS_CANCELLED);
    check_nothing(run_until(data, "none", 1e-9), KBASS_TIME_LIMIT);
    kbass_data_destroy(data);
}

/* The candidates are known but none is fitted yet: a few quick fits make an answer. */
static void before_the_first_fit(void **state)
{
    (void)state;
    kbass_data *data = hares();
    kbass_discovery *discovery = run_until(data, "arbitrate", 0);
    const kbass_result *result = kbass_discovery_result(discovery);
    kbass_error error;
    double times[] = {1900, 1910, 1920}, mean[6], sd[6];
    CHECK(result->outcome == KBASS_CANCELLED && result->n_equations == 2);
    CHECK(result->equations[0].n_terms > 0 && result->equations[1].n_terms > 0);
    CHECK(result->probability > 0 && result->noise[0] > 0);
    CHECK_OK(kbass_discovery_solution(discovery, 0, 3, times, NULL, mean, sd, &error));
    for (size_t i = 0; i < 6; i++) CHECK(isfinite(mean[i]) && sd[i] > 0);
    kbass_discovery_destroy(discovery);
    kbass_data_destroy(data);
}

/* A handle that was stopped runs again to the end. */
static void it_can_run_again(void **state)
{
    (void)state;
    kbass_data *data = hares();
    kbass_discovery *discovery = run_until(data, "search", 0);
    kbass_error error;
    CHECK_OK(kbass_discovery_run(discovery, NULL, NULL, &error));
    CHECK(kbass_discovery_result(discovery)->outcome <= KBASS_NOT_CONVERGED);
    CHECK(kbass_discovery_result(discovery)->n_equations == 2);
    kbass_discovery_destroy(discovery);
    kbass_data_destroy(data);
}

/* ---------------------------------------------------------------- fields */

enum { LINES = 24, PLACES = 16, POINTS = LINES * PLACES };

/* u_t = 0.1 u_xx - u_x on a ring, 2 % noise */
static kbass_data *drifting_heat(double *times, double *positions)
{
    static const char *const axes[] = {"t", "x"}, *const names[] = {"u"};
    double values[POINTS];
    kbass_data *data = NULL;
    kbass_error error;
    for (size_t i = 0; i < POINTS; i++) {
        double t = times[i] = 2 * (double)(i / PLACES) / (LINES - 1);
        double x = (positions[i] = 2 * M_PI * (double)(i % PLACES) / PLACES) - t;
        values[i] = exp(-0.1 * t) * sin(x) + exp(-0.4 * t) * cos(2 * x) / 2 + exp(-0.9 * t) * sin(3 * x) / 3;
    }
    CHECK_OK(kbass_data_create_axes(POINTS, 2, 1, times, positions, values, axes, names, &data, &error));
    CHECK_OK(kbass_data_add_noise(data, 2, 1, &error));
    return data;
}

typedef struct {
    int calls_left;
} counter;

static int stop_after(const kbass_progress *progress, void *user)
{
    counter *c = user;
    (void)progress;
    return --c->calls_left < 0;
}

/* Nothing is found while the search goes on: said with its number of models; no term is in while far more noise is left
   than beside the bare field. */
static void check_words(const kbass_discovery *discovery, const kbass_result *result)
{
    char *text = NULL;
    kbass_error error;
    if (result->outcome != KBASS_CANCELLED) return;
    CHECK(result->law.verdict == KBASS_LAW_UNDECIDED && strstr(result->law.reason, "the search was stopped"));
    CHECK(result->engine && strstr(result->engine, "the integrated equation"));
    for (size_t i = 0; result->law.noise_ratio >= 2 && i < result->equations[0].n_terms; i++)
        CHECK(result->equations[0].terms[i].verdict != KBASS_IN);
    CHECK_OK(kbass_discovery_text(discovery, KBASS_TEXT_RESULT, &text, &error));
    if (result->n_models) CHECK(strstr(text, "out so far"));
    kbass_free(text);
}

/* Wherever a search over growing horizons is stopped, what it says of the noise is what its solution leaves of the
   whole record, and all probabilities are numbers. */
static void answers_are_about_the_whole_record(void **state)
{
    (void)state;
    static double times[POINTS], positions[POINTS], mean[POINTS];
    kbass_data *data = drifting_heat(times, positions);
    kbass_settings settings;
    kbass_error error;
    kb_settings_default(&settings);
    settings.threads = 1;
    int answers = 0;
    for (int calls = 1; calls < 120; calls = calls * 5 / 3 + 1) {
        counter c = {calls};
        kbass_discovery *discovery = NULL;
        CHECK_OK(kbass_discovery_create(data, &settings, &discovery, &error));
        CHECK_OK(kbass_discovery_run(discovery, stop_after, &c, &error));
        const kbass_result *result = kbass_discovery_result(discovery);
        for (size_t i = 0; result->n_equations && i < result->equations[0].n_terms; i++)
            CHECK(result->equations[0].terms[i].probability >= 0 && result->equations[0].terms[i].probability <= 1);
        if (result->n_equations) {
            double squares = 0;
            CHECK_OK(kbass_discovery_solution(discovery, 0, POINTS, times, positions, mean, NULL, &error));
            for (size_t i = 0; i < POINTS; i++) squares += pow(kbass_data_values(data)[i] - mean[i], 2);
            /* degrees of freedom: at most 40 of 384; a quick fit's noise lags one step behind its residuals */
            CHECK_CLOSE(log(sqrt(squares / POINTS) / result->noise[0]), 0, 0.15);
            check_words(discovery, result);
            answers++;
        }
        kbass_discovery_destroy(discovery);
    }
    CHECK(answers > 3);
    kbass_data_destroy(data);
}

/* The kernel engine, stopped on its way: no term is in. A field over 8 x 10 points by u_tt. */
static void the_kernel_engine_is_not_sure_on_its_way(void **state)
{
    (void)state;
    enum { T = 8, X = 10, N = T * X };
    static const char *const axes[] = {"t", "x"}, *const names[] = {"u"};
    double times[N], positions[N], values[N];
    kbass_data *data = NULL;
    kbass_settings settings;
    kbass_error error;
    int answers = 0;
    for (size_t i = 0; i < N; i++) {
        times[i] = 0.3 * (double)(i / X);
        positions[i] = 0.5 * (double)(i % X);
        values[i] = sin(positions[i] - times[i]) + 0.5 * cos(2 * (positions[i] + times[i]));
    }
    CHECK_OK(kbass_data_create_axes(N, 2, 1, times, positions, values, axes, names, &data, &error));
    CHECK_OK(kbass_data_add_noise(data, 2, 1, &error));
    kb_settings_default(&settings);
    settings.threads = 1;
    settings.lhs = "u_tt";
    settings.terms = "u, u_x, u_xx, u^2";
    for (int calls = 20; calls < 200; calls *= 2) {
        counter c = {calls};
        kbass_discovery *discovery = NULL;
        CHECK_OK(kbass_discovery_create(data, &settings, &discovery, &error));
        CHECK_OK(kbass_discovery_run(discovery, stop_after, &c, &error));
        const kbass_result *result = kbass_discovery_result(discovery);
        bool is_stopped = result->outcome == KBASS_CANCELLED && result->n_equations;
        for (size_t i = 0; is_stopped && i < result->equations[0].n_terms; i++)
            CHECK(result->equations[0].terms[i].verdict != KBASS_IN);
        answers += is_stopped;
        kbass_discovery_destroy(discovery);
    }
    CHECK(answers > 0);
    kbass_data_destroy(data);
}

/* Wherever a dense field's proposals are stopped, that is the end: no other search begins, whose first model would be
   u_t = 0 after seconds. */
static void a_dense_field_ends_with_its_proposals(void **state)
{
    (void)state;
    enum { T = 80, X = 64, N = T * X };
    static const char *const axes[] = {"t", "x"}, *const names[] = {"u"};
    static double times[N], positions[N], values[N];
    kbass_data *data = NULL;
    kbass_settings settings;
    kbass_error error;
    for (size_t i = 0; i < N; i++) {
        times[i] = 0.05 * (double)(i / X);
        positions[i] = 0.1 * (double)(i % X);
        values[i] = exp(-0.1 * times[i]) * sin(positions[i] - times[i]);
    }
    CHECK_OK(kbass_data_create_axes(N, 2, 1, times, positions, values, axes, names, &data, &error));
    CHECK_OK(kbass_data_add_noise(data, 5, 1, &error));
    kb_settings_default(&settings);
    settings.threads = 1;
    for (int calls = 1; calls < 9; calls *= 2) {
        counter c = {calls};
        kbass_discovery *discovery = NULL;
        CHECK_OK(kbass_discovery_create(data, &settings, &discovery, &error));
        CHECK_OK(kbass_discovery_run(discovery, stop_after, &c, &error));
        check_nothing(discovery, KBASS_CANCELLED);
    }
    kbass_data_destroy(data);
}

/* The clock runs from the beginning: what making the problem took counts. */
static void making_the_problem_counts(void **state)
{
    (void)state;
    static double times[POINTS], positions[POINTS];
    kbass_data *data = drifting_heat(times, positions);
    kbass_settings settings;
    kbass_discovery *discovery = NULL;
    kbass_error error;
    counter c = {1000000};
    kb_settings_default(&settings);
    settings.time_limit = 1e-9;
    CHECK_OK(kbass_discovery_create(data, &settings, &discovery, &error));
    CHECK_OK(kbass_discovery_run(discovery, stop_after, &c, &error));
    const kbass_result *result = kbass_discovery_result(discovery);
    CHECK(result->outcome == KBASS_TIME_LIMIT && result->seconds_total >= result->seconds[KBASS_STAGE_FIELD]);
    kbass_discovery_destroy(discovery);
    kbass_data_destroy(data);
}

typedef struct {
    kbass_discovery *discovery;
    int n_without;
    char *json, *text;
} asker;

/* After the first model the answer that stands is asked for, from the thread that calls back. */
static int ask(const kbass_progress *progress, void *user)
{
    asker *a = user;
    kbass_error error;
    (void)progress;
    if (a->json) return 0;
    kbass_status status = kbass_discovery_so_far(a->discovery, KBASS_TEXT_RESULT, &a->json, &a->text, &error);
    if (status != KBASS_OK) CHECK(status == KBASS_ERROR_TIME && !a->json && !a->text);
    a->n_without += status != KBASS_OK;
    return 0;
}

static void an_answer_stands_while_it_runs(void **state)
{
    (void)state;
    kbass_data *data = hares();
    kbass_settings settings;
    asker a = {0};
    kbass_error error;
    char *json = NULL, *text = NULL;
    kb_settings_default(&settings);
    settings.degree = 2;
    CHECK_OK(kbass_discovery_create(data, &settings, &a.discovery, &error));
    CHECK_FAILS(kbass_discovery_so_far(a.discovery, 0, &json, &text, &error), KBASS_ERROR_ARGUMENT, "keeps");
    kbass_discovery_keep(a.discovery, KBASS_KEEP_BEST);
    CHECK_OK(kbass_discovery_run(a.discovery, ask, &a, &error));
    CHECK(a.n_without > 0 && a.json && strstr(a.json, "\"outcome\": \"cancelled\"") && strstr(a.json, "\"term\":"));
    CHECK(strstr(a.text, "_t =") && strstr(a.text, "undecided"));
    CHECK_OK(kbass_discovery_so_far(a.discovery, KBASS_TEXT_RESULT, &json, &text, &error)); /* of the last model */
    CHECK(kbass_discovery_result(a.discovery)->outcome != KBASS_CANCELLED);
    kbass_free(a.json);
    kbass_free(a.text);
    kbass_free(json);
    kbass_free(text);
    kbass_discovery_destroy(a.discovery);
    kbass_data_destroy(data);
}

/* The published method has no models to compare: without time for a judgement nothing of its law is sure. */
static void a_law_that_was_not_judged_is_undecided(void **state)
{
    (void)state;
    kbass_data *data = hares();
    kbass_discovery *discovery = run_until(data, "none", 0);
    kb_search_result none = {0};
    kbass_error error;
    char *text = NULL;
    CHECK_OK(kb_judge_unfinished(&none, discovery->answer, &error));
    const kbass_result *result = kbass_discovery_result(discovery);
    CHECK(result->law.verdict == KBASS_LAW_UNDECIDED);
    for (size_t e = 0; e < result->n_equations; e++)
        for (size_t i = 0; i < result->equations[e].n_terms; i++)
            CHECK(result->equations[e].terms[i].verdict != KBASS_IN);
    CHECK_OK(kbass_discovery_text(discovery, KBASS_TEXT_RESULT, &text, &error));
    CHECK(strstr(text, "undecided") && strstr(text, "no time to compare") && !strstr(text, "nan"));
    kbass_free(text);
    kbass_discovery_destroy(discovery);
    kbass_data_destroy(data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(before_there_is_a_model),
        cmocka_unit_test(before_the_first_fit),
        cmocka_unit_test(it_can_run_again),
        cmocka_unit_test(answers_are_about_the_whole_record),
        cmocka_unit_test(the_kernel_engine_is_not_sure_on_its_way),
        cmocka_unit_test(a_dense_field_ends_with_its_proposals),
        cmocka_unit_test(making_the_problem_counts),
        cmocka_unit_test(an_answer_stands_while_it_runs),
        cmocka_unit_test(a_law_that_was_not_judged_is_undecided),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
