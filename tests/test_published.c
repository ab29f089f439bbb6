/* The published algorithm: schedules, Adam, and what it finds on clean samples. */
#include <stdlib.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/random.h"
#include "base/settings.h"
#include "check.h"
#include "problem/ode.h"
#include "kbass/kbass.h"
#include "published/adam.h"
#include "published/schedule.h"

static kbass_data *hares(void)
{
    kbass_model *model = NULL;
    kbass_data *data = NULL;
    kbass_error error;
    double times[40], states[80];
    const char *names[] = {"x", "y"};
    for (size_t i = 0; i < 40; i++) times[i] = 20 * (double)i / 39;
    CHECK_OK(kbass_model_named("lotka-volterra", &model, &error));
    CHECK_OK(kbass_model_integrate(model, 0, (double[]){30, 4}, 40, times, states, &error));
    CHECK_OK(kbass_data_create(40, 2, times, states, NULL, names, &data, &error));
    kbass_model_destroy(model);
    return data;
}

static kbass_settings paper_settings(void)
{
    kbass_settings settings;
    kb_settings_default(&settings);
    settings.method = KB_METHOD_PAPER;
    settings.degree = 2;
    settings.mesh = "100";
    settings.paper_limit = 9000;
    return settings;
}

static kbass_discovery *discover(const kbass_data *data, const kbass_settings *settings)
{
    kbass_discovery *discovery = NULL;
    kbass_error error;
    CHECK_OK(kbass_discovery_create(data, settings, &discovery, &error));
    CHECK_OK(kbass_discovery_run(discovery, NULL, NULL, &error));
    return discovery;
}

/* ---------------------------------------------------------------- parts */

static void schedules_change_at_their_steps(void **state)
{
    (void)state;
    kb_schedule s;
    kbass_error error;
    CHECK_OK(kb_schedule_read("rate", "0.1, 6000:0.5/0.25", 0, 1, &s, &error));
    CHECK_CLOSE(kb_schedule_value(&s, 5999, 1), 0.1, 0); /* read, not computed */
    CHECK_CLOSE(kb_schedule_value(&s, 6000, 0), 0.5, 0);
    CHECK_CLOSE(kb_schedule_value(&s, 9999, 7), 0.25, 0); /* the last holds for all that follow */
    CHECK(kb_schedule_last(&s) == 6000);
    CHECK_OK(kb_schedule_read("rate", NULL, 0, 1, &s, &error));
    CHECK(s.n == 0 && isnan(kb_schedule_value(&s, 0, 0)) && kb_schedule_last(&s) == 0);
    const char *wrong[] = {"x", "0.1,0.2", "0.1,5:", "5:0.1,5:0.2", "2", "nan", "0.1,-3:0.2", "0.1/", ",", "1:2:3"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        CHECK_FAILS(kb_schedule_read("rate", wrong[i], 0, 1, &s, &error), KBASS_ERROR_ARGUMENT, "step:value");
}

static void adam_finds_the_bottom_of_a_bowl(void **state)
{
    (void)state;
    kb_adam *adam = NULL;
    kbass_error error;
    double x[] = {3, -2}, gradient[2];
    CHECK_OK(kb_adam_create(2, &adam, &error));
    gradient[0] = 100 * x[0];
    gradient[1] = x[1];
    kb_adam_step(adam, 1e-2, gradient, x);
    CHECK_CLOSE(x[0], 2.99, 1e-9); /* bias correction makes the first step the rate, whatever the gradient's size */
    CHECK_CLOSE(x[1], -1.99, 1e-9);
    for (int step = 0; step < 2000; step++) {
        gradient[0] = 100 * x[0];
        gradient[1] = x[1];
        kb_adam_step(adam, 1e-2, gradient, x);
    }
    CHECK_CLOSE(x[0], 0, 1e-3); /* 2000 steps of 0.01 reach 20 times as far as needed, and the jitter dies out */
    CHECK_CLOSE(x[1], 0, 1e-3);
    kb_adam_destroy(adam);
}

/* ---------------------------------------------------------------- the whole */

static size_t count_selected(const kbass_equation *equation)
{
    size_t n = 0;
    for (size_t q = 0; q < equation->n_terms; q++) n += equation->terms[q].selected != 0;
    return n;
}

static void check_law(const kbass_result *result, double tolerance)
{
    static const char *const terms[2][2] = {{"x", "x*y"}, {"y", "x*y"}};
    double weights[2][2] = {{0.55, -0.028}, {-0.84, 0.026}};
    CHECK(result->n_equations == 2);
    for (size_t i = 0; i < 2; i++) {
        const kbass_equation *equation = &result->equations[i];
        CHECK(count_selected(equation) == 2);
        for (size_t q = 0; q < equation->n_terms; q++)
            for (size_t k = 0; k < 2 && equation->terms[q].selected; k++)
                if (!strcmp(equation->terms[q].term, terms[i][k]))
                    CHECK_CLOSE(equation->terms[q].weight, weights[i][k], tolerance * fabs(weights[i][k]));
    }
}

/* The loop finds the terms; the joint solution keeps them and comes closer; the trace tells of every E step. */
static void it_finds_predator_and_prey(void **state)
{
    (void)state;
    kbass_data *data = hares();
    kbass_settings settings = paper_settings();
    char path[] = "/tmp/kbass_trace_XXXXXX", line[200] = "";
    close(mkstemp(path));
    settings.paper_trace = path;
    kbass_discovery *loop = discover(data, &settings);
    check_law(kbass_discovery_result(loop), 0.1); /* Adam is on its way still at the limit */
    FILE *trace = fopen(path, "r");
    size_t lines = 0;
    CHECK(trace && fgets(line, sizeof line, trace));
    CHECK(!strncmp(line, "step,equation,term,", 19));
    while (fgets(line, sizeof line, trace)) lines++;
    fclose(trace);
    remove(path);
    CHECK(lines >= 4 * 87 && !strncmp(line, "9000,", 5)); /* 87 E steps of four terms or more, the last at the end */
    kbass_discovery_destroy(loop);

    settings.paper_trace = NULL;
    settings.paper_finish = 1;
    kbass_discovery *finished = discover(data, &settings);
    check_law(kbass_discovery_result(finished), 0.02); /* the regulariser's bias at this noise variance */
    kbass_discovery_destroy(finished);
    kbass_data_destroy(data);
}

/* The band is wider where nothing was measured, and the solution passes through clean samples. */
static void the_solution_has_a_band(void **state)
{
    (void)state;
    kbass_data *data = hares();
    kbass_settings settings = paper_settings();
    kbass_error error;
    double times[] = {0, 10 * 20.0 / 39, 10.5 * 20.0 / 39}, mean[6], sd[6];
    settings.paper_limit = 3000;
    kbass_discovery *discovery = discover(data, &settings);
    CHECK_OK(kbass_discovery_solution(discovery, 0, 3, times, NULL, mean, sd, &error));
    CHECK_CLOSE(mean[0], 30, 0.5); /* of 30 to 60: the residuals are within the noise that v allows */
    for (size_t i = 0; i < 6; i++) CHECK(isfinite(mean[i]) && sd[i] > 0 && sd[i] < 10);
    CHECK(sd[4] > sd[2]);
    kbass_discovery_destroy(discovery);
    kbass_data_destroy(data);
}

static void presets_tell_their_exceptions(void **state)
{
    (void)state;
    kbass_data *data = hares();
    kbass_settings settings = paper_settings();
    kbass_error error;
    CHECK_OK(kbass_settings_set(&settings, "paper-preset", "vdp", &error));
    settings.paper_limit = 500;
    kbass_discovery *discovery = discover(data, &settings);
    const kbass_result *result = kbass_discovery_result(discovery);
    CHECK(result->outcome == KBASS_NOT_CONVERGED && result->n_warnings >= 4);
    for (size_t i = 0; i < result->n_warnings; i++) CHECK(!strncmp(result->warnings[i], "preset: ", 8));
    kbass_discovery_destroy(discovery);
    kbass_data_destroy(data);
}

static void wrong_schedules_are_refused_by_name(void **state)
{
    (void)state;
    kbass_data *data = hares();
    kbass_settings settings = paper_settings();
    kbass_discovery *discovery = NULL;
    kbass_error error;
    settings.paper_alpha = "0.1,6000";
    CHECK_FAILS(kbass_discovery_create(data, &settings, &discovery, &error), KBASS_ERROR_ARGUMENT, "paper-alpha");
    settings.paper_alpha = NULL;
    settings.paper_trace = "/nowhere/trace.csv";
    CHECK_OK(kbass_discovery_create(data, &settings, &discovery, &error));
    CHECK_FAILS(kbass_discovery_run(discovery, NULL, NULL, &error), KBASS_ERROR_FILE, "/nowhere/trace.csv");
    kbass_discovery_destroy(discovery);
    kbass_data_destroy(data);
}

/* Allocations fail one after another: an error each time, or a result; nothing leaks or is read after. */
/* A wave of Burgers' shape over 10 x 10 points with 20 % noise, or none. */
static kbass_data *front(double noise)
{
    double times[100], positions[100], values[100];
    static const char *const names[] = {"u"}, *const axes[] = {"t", "x"};
    kbass_data *data = NULL;
    kbass_error error;
    kb_random random;
    kb_random_seed(&random, 5);
    for (size_t i = 0; i < 100; i++) {
        times[i] = 0.8 * (double)(i / 10);
        positions[i] = (double)(i % 10);
        double x = positions[i] - 3 - 0.4 * times[i];
        values[i] = exp(-x * x / 4) + noise * 0.35 * kb_random_normal(&random);
    }
    CHECK_OK(kbass_data_create_axes(100, 2, 1, times, positions, values, axes, names, &data, &error));
    return data;
}

/* The authors have two scripts for Burgers' equation; the noise decides which one's length scales the preset takes. */
static void check_start(double noise, const char *script)
{
    kbass_data *data = front(noise);
    kbass_settings settings = paper_settings();
    kbass_error error;
    CHECK_OK(kbass_settings_set(&settings, "paper-preset", "burgers", &error));
    settings.terms = "u, u*u_x, u_xx";
    settings.mesh = "40";
    settings.paper_limit = 120;
    kbass_discovery *discovery = discover(data, &settings);
    const kbass_result *result = kbass_discovery_result(discovery);
    CHECK(strstr(result->warnings[result->n_warnings - 1], script) != NULL);
    kbass_discovery_destroy(discovery);
    kbass_data_destroy(data);
}

static void the_noise_chooses_between_two_scripts(void **state)
{
    (void)state;
    check_start(0, "file without noise");
    check_start(0.2, "file with noise");
}

static void a_preset_for_other_data_is_refused(void **state)
{
    kbass_data *data = hares();
    kbass_settings settings = paper_settings();
    kbass_discovery *discovery = NULL;
    kbass_error error;
    (void)state;
    CHECK_OK(kbass_settings_set(&settings, "paper-preset", "burgers", &error));
    CHECK_FAILS(kbass_discovery_create(data, &settings, &discovery, &error), KBASS_ERROR_ARGUMENT,
                "these data have 1 axis: take vdp or lorenz96");
    kbass_data_destroy(data);
}

static void lack_of_memory_is_an_error(void **state)
{
    (void)state;
    kbass_data *data = hares();
    kbass_settings settings = paper_settings();
    settings.paper_limit = 500;
    for (long n = 0; n < 400; n += 7) {
        kbass_discovery *discovery = NULL;
        kbass_error error;
        kb_memory_fail_after(n);
        kbass_status status = kbass_discovery_create(data, &settings, &discovery, &error);
        kb_memory_fail_after(-1);
        CHECK(status == KBASS_OK || status == KBASS_ERROR_MEMORY);
        if (status == KBASS_OK) kbass_discovery_destroy(discovery);
    }
    kbass_data_destroy(data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(schedules_change_at_their_steps),
        cmocka_unit_test(adam_finds_the_bottom_of_a_bowl),
        cmocka_unit_test(it_finds_predator_and_prey),
        cmocka_unit_test(the_solution_has_a_band),
        cmocka_unit_test(presets_tell_their_exceptions),
        cmocka_unit_test(wrong_schedules_are_refused_by_name),
        cmocka_unit_test(the_noise_chooses_between_two_scripts),
        cmocka_unit_test(a_preset_for_other_data_is_refused),
        cmocka_unit_test(lack_of_memory_is_an_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
