/* Second order from positions: the velocity is a hidden state (docs/math.md, section 25). */
#include <jansson.h>

#include "base/memory.h"
#include "base/random.h"
#include "check.h"
#include "data/data.h"
#include "found.h"
#include "problem/ode.h"

static const char pendulum[] = "x_tt = -sin(x) - 0.2*x_t";
static const char candidates[] = "x, sin(x), x_t, x_t^2, x^3, x_t*abs(x_t)";

/* Angles alone, n of them, with noise of 2 % of their sd. */
static kbass_data *film(double angle, size_t n, double until, uint64_t seed)
{
    kbass_error error;
    kbass_model *model = NULL;
    kbass_data *data = NULL;
    double times[100], states[200], angles[100];
    const double start[2] = {angle, 0};
    const char *equation = pendulum, *name = "x";
    CHECK_OK(kbass_model_parse(1, &equation, NULL, &model, &error));
    CHECK(kbass_model_states(model) == 2);
    CHECK_TEXT(kbass_model_state_name(model, 1), "x_t");
    for (size_t i = 0; i < n; i++) times[i] = until * (double)i / (double)(n - 1);
    CHECK_OK(kbass_model_integrate(model, 0, start, n, times, states, &error));
    for (size_t i = 0; i < n; i++) angles[i] = states[2 * i];
    CHECK_OK(kbass_data_create(n, 1, times, angles, NULL, &name, &data, &error));
    CHECK_OK(kbass_data_add_noise(data, 2, seed, &error));
    kbass_model_destroy(model);
    return data;
}

static kbass_discovery *discover_second(const kbass_data *data, const char *lhs, const char *terms)
{
    kbass_error error;
    kbass_settings settings;
    kbass_discovery *discovery = NULL;
    kb_settings_default(&settings);
    settings.threads = 2;
    settings.terms = terms;
    settings.lhs = lhs;
    CHECK_OK(kbass_discovery_create(data, &settings, &discovery, &error));
    CHECK_OK(kbass_discovery_run(discovery, NULL, NULL, &error));
    return discovery;
}

static void a_pendulum_from_angles(void **state)
{
    (void)state;
    static const char *const law[] = {"x_t: x_t", "x_tt: sin(x)", "x_tt: x_t"};
    kbass_data *data = film(1.5, 40, 12, 1);
    kbass_discovery *d = discover_second(data, "x_tt", candidates);
    const kbass_result *result = kbass_discovery_result(d);
    CHECK(has_support(result, 3, law));
    CHECK(result->equations[0].known && !result->equations[1].known);
    for (size_t i = 0; i < 2; i++) {
        const kbass_term *term = &result->equations[1].terms[i];
        double truth = strcmp(term->term, "x_t") ? -1 : -0.2;
        CHECK_CLOSE(term->weight, truth, 5 * term->sd); /* five standard deviations: chance 6e-7 */
        CHECK(term->sd < 0.3); /* over the models compared, some of which have x in place of sin(x) */
    }
    CHECK(isnan(result->noise[1]) && result->noise[0] > 0); /* the velocity has no measurements */
    CHECK_CLOSE(result->initial[1], 0, 0.1);                /* released at rest; its sd is 0.02 */
    kbass_discovery_destroy(d);
    kbass_data_destroy(data);
}

/* What the result says goes on: simulation, posterior, exports. */
static void the_velocity_is_carried(void **state)
{
    (void)state;
    kbass_error error;
    kbass_data *data = film(1.5, 30, 9, 2);
    kbass_discovery *d = discover_second(data, "x_tt", "sin(x), x_t");
    kbass_model *model = NULL;
    kbass_posterior *posterior = NULL;
    char *json = NULL, *text = NULL;
    double times[2] = {9, 12}, states[4], mean[4], sd[4];
    CHECK_OK(kbass_discovery_json(d, &json, &error));
    CHECK_OK(kbass_model_from_result(json, &model, &error));
    CHECK_OK(kbass_model_integrate(model, 0, kbass_model_initial(model), 2, times, states, &error));
    CHECK_OK(kbass_discovery_solution(d, 0, 1, times, NULL, mean, sd, &error));
    CHECK_CLOSE(states[0], mean[0], 1e-5); /* two integrators */
    CHECK_CLOSE(states[1], mean[1], 1e-5);
    CHECK_OK(kbass_posterior_read(json, NULL, &posterior, &error));
    CHECK(kbass_posterior_states(posterior) == 2);
    CHECK_OK(kbass_export(json, "julia", NULL, NULL, &text, &error));
    CHECK(strstr(text, "D(x) ~ x_t_,") && strstr(text, "D(x_t_) ~ "));
    kbass_free(text);
    CHECK_OK(kbass_export(json, "latex", NULL, NULL, &text, &error));
    CHECK(strstr(text, "\\dot{x}"));
    kbass_free(text);
    CHECK_OK(kbass_discovery_text(d, KBASS_TEXT_PROBLEM | KBASS_TEXT_RESULT, &text, &error));
    CHECK(strstr(text, "1 state (x)") && strstr(text, "x_tt =") && !strstr(text, "x_t =  x_t"));
    kbass_free(text);
    kbass_free(json);
    kbass_posterior_destroy(posterior);
    kbass_model_destroy(model);
    kbass_discovery_destroy(d);
    kbass_data_destroy(data);
}

/* The slopes that proposals begin with are those of the clean solution, within their own spread. */
static void velocities_for_proposals(void **state)
{
    (void)state;
    kbass_error error;
    kbass_data *data = film(1.5, 60, 12, 3);
    kbass_settings settings;
    kb_dictionary *dictionary = NULL;
    kb_ode_problem *problem = NULL;
    kb_settings_default(&settings);
    settings.lhs = "x_tt";
    settings.terms = candidates;
    CHECK_OK(kb_data_add_velocities(data, settings.lhs, &error));
    CHECK(data->n_hidden == 1 && data->n_states == 2);
    CHECK_OK(kb_dictionary_create(&settings, 2, (const char *const *)data->state_names, "t", &dictionary, &error));
    CHECK_OK(kb_ode_problem_create(data, &settings, dictionary, &problem, &error));
    const kb_record *record = problem->record, *slice = problem->slices[0];
    CHECK(record->count[1] == 0 && slice->count[1] == slice->n_rows);
    CHECK_CLOSE(record->sd[1], 0.5, 0.15); /* of the velocity of such a swing: amplitude 1.2 falling to 0.35 */
    double spread = sqrt(record->known_variance[1]);
    CHECK(spread > 0.005 && spread < 0.5);
    for (size_t row = 5; row + 5 < slice->n_rows && problem->n_patches == 1; row++) {
        double h = record->time[row + 1] - record->time[row - 1];
        double difference = (slice->value[row + 1] - slice->value[row - 1]) / h * record->sd[0] / record->span;
        double velocity = record->mean[1] + record->sd[1] * slice->value[row + record->n_rows];
        CHECK_CLOSE(velocity, difference, 0.25); /* noise of differences: 0.014 * 0.7 * 1.4 / 0.4 = 0.035, and bends */
    }
    kb_ode_problem_destroy(problem);
    kb_dictionary_destroy(dictionary);
    kbass_data_destroy(data);
}

static void wrong_names_are_refused(void **state)
{
    (void)state;
    kbass_error error;
    kbass_data *data = film(1, 20, 6, 1);
    kbass_discovery *d = NULL;
    kbass_settings settings;
    kb_settings_default(&settings);
    settings.lhs = "z_tt";
    CHECK_FAILS(kbass_discovery_create(data, &settings, &d, &error), KBASS_ERROR_ARGUMENT, "needed x_t or x_tt");
    settings.lhs = "x_tt";
    settings.forbid = "x_t: x";
    CHECK_FAILS(kbass_discovery_create(data, &settings, &d, &error), KBASS_ERROR_ARGUMENT, "its velocity");
    kbass_data_destroy(data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_pendulum_from_angles),
        cmocka_unit_test(the_velocity_is_carried),
        cmocka_unit_test(velocities_for_proposals),
        cmocka_unit_test(wrong_names_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
