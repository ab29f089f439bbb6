/* Noise that is a share of the value: how it is compared, and what a discovery makes of it. */
#include "base/random.h"
#include "check.h"
#include "forward/comparison.h"

/* ---------------------------------------------------------------- comparing */

enum { VALUES = 4 };

/* One group: u = 10 + 4 q is 6, 10, 14 and 2. */
static double observed[VALUES] = {-1, 0, 1, -2}, mean = 10, sd = 4;
static size_t group[VALUES] = {0}, starts[] = {0, VALUES};

static kb_comparison measure_of(kb_noise_model model, kb_dynamics *dynamics)
{
    kb_comparison measure;
    kbass_error error;
    *dynamics = (kb_dynamics){.n_rows = 1,
                              .observation_start = starts,
                              .observed = observed,
                              .group = group,
                              .n_groups = 1,
                              .mean = &mean,
                              .sd = &sd,
                              .noise_model = model};
    CHECK_OK(kb_comparison_create(dynamics, &measure, &error));
    return measure;
}

static void additive_noise_is_compared_as_it_is(void **state)
{
    (void)state;
    kb_dynamics dynamics;
    double predicted[VALUES] = {5, 6, 7, 8};
    kb_comparison m = measure_of(KB_NOISE_ADDITIVE, &dynamics);
    kb_comparison_apply(&m, 0, VALUES, predicted, 0, NULL);
    kb_comparison_weigh(&m, 0, VALUES, predicted);
    for (size_t i = 0; i < VALUES; i++)
        CHECK(predicted[i] == 5 + (double)i && m.target[i] == observed[i] && m.relative[i] == 1);
    CHECK(kb_comparison_unit(&m, 0) == sd && kb_comparison_variance(&m, 0, 0.3) == 0.3);
    kb_comparison_clear(&m);
}

/* Differences of the targets are those of the logarithms, in units that make a change by a factor e one of 1/unit. */
static void logarithms_are_compared(void **state)
{
    (void)state;
    kb_dynamics dynamics;
    kb_comparison m = measure_of(KB_NOISE_LOG, &dynamics);
    double unit = kb_comparison_unit(&m, 0), sum = 0, squares = 0;
    CHECK_CLOSE(unit * (m.target[2] - m.target[0]), log(14.0 / 6), 1e-14); /* rounding */
    for (size_t i = 0; i < VALUES; i++) sum += m.target[i], squares += m.target[i] * m.target[i];
    CHECK_CLOSE(sum, 0, 1e-14);          /* rounding */
    CHECK_CLOSE(squares, VALUES, 1e-13); /* rounding */
    kb_comparison_clear(&m);
}

/* Also below zero, where the logarithm is continued. */
static void tangents_follow_the_logarithm(void **state)
{
    (void)state;
    static const double h = 1e-6;
    kb_dynamics dynamics;
    kb_comparison m = measure_of(KB_NOISE_LOG, &dynamics);
    double at[VALUES] = {-3, -2.4, 0, 2}, above[VALUES], below[VALUES], tangents[2 * VALUES];
    for (size_t i = 0; i < VALUES; i++) {
        above[i] = at[i] + h;
        below[i] = at[i] - h;
        tangents[2 * i] = 1;
        tangents[2 * i + 1] = -3;
    }
    kb_comparison_apply(&m, 0, VALUES, at, 2, tangents);
    kb_comparison_apply(&m, 0, VALUES, above, 0, NULL);
    kb_comparison_apply(&m, 0, VALUES, below, 0, NULL);
    for (size_t i = 0; i < VALUES; i++) {
        double slope = (above[i] - below[i]) / (2 * h);
        CHECK_CLOSE(tangents[2 * i], slope, 1e-7 * fabs(slope)); /* rounding of the difference */
        CHECK_CLOSE(tangents[2 * i + 1], -3 * slope, 3e-7 * fabs(slope));
    }
    kb_comparison_clear(&m);
}

static void multiplicative_noise_grows_with_the_prediction(void **state)
{
    (void)state;
    kb_dynamics dynamics;
    double predicted[VALUES] = {-1, 0, 1, -2.5}; /* u = 6, 10, 14, 0 */
    double squares = (36 + 100 + 196 + 4) / 4.0;
    kb_comparison m = measure_of(KB_NOISE_MULTIPLICATIVE, &dynamics);
    kb_comparison_weigh(&m, 0, VALUES, predicted);
    CHECK_CLOSE(m.relative[0], 36 / squares, 1e-14); /* rounding */
    CHECK_CLOSE(m.relative[2], 196 / squares, 1e-14);
    CHECK_CLOSE(m.relative[3], 0.0025, 1e-14); /* it never vanishes */
    CHECK_CLOSE(kb_comparison_unit(&m, 0), 4 / sqrt(squares), 1e-14);
    kb_comparison_clear(&m);
}

/* ---------------------------------------------------------------- discovering */

/* Lotka and Volterra's equations with noise of 15 % of each value. */
static kbass_data *populations(void)
{
    enum { ROWS = 40 };
    static const char *const equations[] = {"x_t = x - 0.5*x*y", "y_t = -1.2*y + 0.4*x*y"}, *const names[] = {"x", "y"};
    static const double start[] = {8, 1};
    double times[ROWS], values[2 * ROWS];
    kbass_model *model = NULL;
    kbass_data *data = NULL;
    kbass_error error;
    kb_random random;
    for (size_t i = 0; i < ROWS; i++) times[i] = 12 * (double)i / (ROWS - 1);
    CHECK_OK(kbass_model_parse(2, equations, NULL, &model, &error));
    CHECK_OK(kbass_model_integrate(model, 0, start, ROWS, times, values, &error));
    kb_random_seed(&random, 5);
    for (size_t i = 0; i < 2 * ROWS; i++) values[i] *= exp(0.15 * kb_random_normal(&random));
    CHECK_OK(kbass_data_create(ROWS, 2, times, values, NULL, names, &data, &error));
    kbass_model_destroy(model);
    return data;
}

/* Two weights in each equation, within 4 sd of the truth; the noise within a quarter: 3 sd for 40 values. */
static void check_populations(const kbass_result *result)
{
    static const double truth[2][2] = {{1, -0.5}, {-1.2, 0.4}};
    CHECK(result->n_equations == 2 && result->noise_is_relative);
    for (size_t e = 0; e < 2; e++) {
        const kbass_term *terms = result->equations[e].terms;
        CHECK(terms[0].selected && terms[1].selected && !terms[2].selected);
        CHECK_TEXT(terms[0].term, e ? "y" : "x");
        CHECK_TEXT(terms[1].term, "x*y");
        for (size_t j = 0; j < 2; j++) CHECK_CLOSE(terms[j].weight, truth[e][j], 4 * terms[j].sd);
        CHECK_CLOSE(result->noise[e], 0.15, 0.15 / 4);
    }
}

static void populations_are_found(void **state)
{
    (void)state;
    kbass_data *data = populations();
    for (int model = KB_NOISE_MULTIPLICATIVE; model <= KB_NOISE_LOG; model++) {
        kbass_settings settings;
        kbass_discovery *discovery = NULL;
        kbass_error error;
        kb_settings_default(&settings);
        settings.noise_model = model;
        CHECK_OK(kbass_discovery_create(data, &settings, &discovery, &error));
        CHECK_OK(kbass_discovery_run(discovery, NULL, NULL, &error));
        check_populations(kbass_discovery_result(discovery));
        kbass_discovery_destroy(discovery);
    }
    kbass_data_destroy(data);
}

static void what_does_not_fit_is_refused(void **state)
{
    (void)state;
    static const double times[] = {0, 1, 2, 3, 4, 5, 6, 7}, values[] = {1, 2, 3, 4, 0, 4, 3, 2};
    static const char *const names[] = {"x"};
    kbass_data *data = NULL;
    kbass_discovery *discovery = NULL;
    kbass_settings settings;
    kbass_error error;
    CHECK_OK(kbass_data_create(8, 1, times, values, NULL, names, &data, &error));
    kb_settings_default(&settings);
    settings.noise_model = KB_NOISE_LOG;
    CHECK_FAILS(kbass_discovery_create(data, &settings, &discovery, &error), KBASS_ERROR_DATA, "found x = 0 at t = 4");
    CHECK_OK(kbass_settings_set(&settings, "noise-model", "multiplicative", &error));
    CHECK_OK(kbass_settings_set(&settings, "method", "paper", &error));
    CHECK_FAILS(kbass_discovery_create(data, &settings, &discovery, &error), KBASS_ERROR_ARGUMENT,
                "only additive noise");
    kbass_data_destroy(data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(additive_noise_is_compared_as_it_is),
        cmocka_unit_test(logarithms_are_compared),
        cmocka_unit_test(tangents_follow_the_logarithm),
        cmocka_unit_test(multiplicative_noise_grows_with_the_prediction),
        cmocka_unit_test(populations_are_found),
        cmocka_unit_test(what_does_not_fit_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
