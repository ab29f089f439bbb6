/* Tests of residuals: silent where the noise is as assumed, and not where it is not. */
#include "base/statistics.h"
#include "posterior/residual_tests.h"
#include "ode_setup.h"

/* ---------------------------------------------------------------- chi-square */

/* Against tables, and against the closed forms for 2 degrees of freedom. */
static void chi_square_is_that_of_tables(void **state)
{
    (void)state;
    CHECK_CLOSE(kb_chi2_quantile(0.95, 1), 3.841458820694124, 1e-12); /* rounding */
    CHECK_CLOSE(kb_chi2_quantile(0.025, 10), 3.246972780236842, 1e-12);
    CHECK_CLOSE(kb_chi2_quantile(0.975, 10), 20.48317735080738, 1e-11);
    for (double x = 0.1; x < 60; x *= 1.7) {
        CHECK_CLOSE(kb_chi2_below(x, 2), -expm1(-x / 2), 1e-14);
        CHECK_CLOSE(kb_chi2_below(x, 4), 1 - exp(-x / 2) * (1 + x / 2), 1e-14);
    }
    for (double freedom = 0.5; freedom < 1e5; freedom *= 3.3)
        CHECK_CLOSE(kb_chi2_below(kb_chi2_quantile(0.3, freedom), freedom), 0.3, 1e-10); /* there and back */
}

/* Closed forms for 1, 2 and 4 degrees of freedom, a table, and the normal distribution in the limit. */
static void student_is_that_of_tables(void **state)
{
    (void)state;
    for (double t = -30; t < 31; t += 1.7) {
        double s = t / sqrt(t * t + 4);
        CHECK_CLOSE(kb_student_below(t, 1), 0.5 + atan(t) / M_PI, 1e-14); /* rounding */
        CHECK_CLOSE(kb_student_below(t, 2), 0.5 + t / (2 * sqrt(2 + t * t)), 1e-14);
        CHECK_CLOSE(kb_student_below(t, 4), 0.5 + 0.75 * (s - s * s * s / 3), 1e-14);
        CHECK_CLOSE(kb_student_below(t, 1e6), 0.5 * erfc(-t / sqrt(2)), 1e-6); /* differs by 1 / freedom */
    }
    CHECK_CLOSE(kb_student_below(2.570581835636314, 5), 0.975, 1e-13);
    CHECK_CLOSE(kb_student_below(1.3, INFINITY), 0.5 * erfc(-1.3 / sqrt(2)), 1e-16);
    CHECK_CLOSE(kb_student_width(5), 2.570581835636314 / 1.959963984540054, 1e-11);
    CHECK_CLOSE(kb_student_width(1), 12.70620473617471 / 1.959963984540054, 1e-10); /* which has no sd */
    CHECK(kb_student_width(INFINITY) == 1 && kb_student_width(NAN) == 1);
}

/* ---------------------------------------------------------------- residuals */

typedef enum { NORMAL, MULTIPLICATIVE, OUTLIERS, CORRELATED } disturbance;

static void disturb(kbass_data *data, disturbance kind, uint64_t seed)
{
    kb_random random;
    double last[2] = {0, 0};
    kb_random_seed(&random, seed);
    for (size_t i = 0; i < 2 * data->n_rows; i++) {
        double e = kb_random_normal(&random), *value = &data->values[i];
        if (kind == CORRELATED) last[i % 2] = e = 0.8 * last[i % 2] + 0.6 * e;
        if (kind == MULTIPLICATIVE) e *= 2 * fabs(*value);
        if (kind == OUTLIERS && kb_random_uniform(&random) < 0.1) e *= 6;
        *value += 0.1 * e;
    }
}

/* The true model fitted to its samples, and its residuals examined. The caller frees the tests. */
static kb_residual_tests examine(disturbance kind, uint64_t seed, size_t rows, size_t n_windows)
{
    static const char *const equations[] = {"x_t = y", "y_t = y - x^2*y - x"};
    static const double initial[] = {1, 0.5};
    kbass_settings settings;
    setup s;
    kb_windows *windows = NULL;
    kb_shooter *shooter = NULL;
    kb_fit *fit = NULL;
    kb_residual_tests out;
    kb_settings_default(&settings);
    settings.terms = "x, y, x^2*y";
    kbass_data *data = setup_sample(2, equations, initial, rows, 15);
    disturb(data, kind, seed);
    setup_open(&s, data, &settings, 100);
    CHECK_OK(kb_windows_divide(rows, n_windows, &windows, &error));
    CHECK_OK(kb_shooter_create(s.record, s.dictionary, s.columns, n_windows, s.columns->n, &shooter, &error));
    CHECK_OK(kb_fit_create(s.columns->n, 2, n_windows, s.columns->n, &fit, &error));
    shooter->likelihood.windows = windows;
    setup_include(&s, 0, "y", 1, fit->w);
    setup_include(&s, 1, "y", 1, fit->w);
    setup_include(&s, 1, "x^2*y", -1, fit->w);
    setup_include(&s, 1, "x", -1, fit->w);
    kb_support_copy(&s.support, &fit->support);
    for (size_t i = 0; i < 2; i++) fit->variance[i] = 0.01;
    for (size_t i = 0; i < 2 * n_windows; i++) fit->start[i] = s.record->value[windows->first[i / 2] + i % 2 * rows];
    kb_shooter_fit(shooter, fit, 40, -INFINITY);
    CHECK(fit->valid);
    CHECK_OK(kb_residual_tests_run(shooter, fit, &out, &error));
    CHECK(out.n == 6);
    kb_fit_destroy(fit);
    kb_shooter_destroy(shooter);
    kb_windows_destroy(windows);
    setup_close(&s);
    return out;
}

static double least(const kb_residual_tests *e)
{
    double p = 1;
    for (size_t i = 0; i < e->n; i++) p = fmin(p, e->tests[i].p_value);
    return p;
}

/* Corrected p-values are below 0.1 in a tenth of all cases: of 60, more than 14 are unlikelier than 1 : 2000. Twenty
   rows and fourteen or so parameters, in windows or not: an uncorrected test would fail here. */
static void good_residuals_raise_no_alarm(void **state)
{
    (void)state;
    size_t alarms = 0;
    for (uint64_t seed = 1; seed <= 60; seed++) {
        kb_residual_tests e = examine(NORMAL, seed, 20, 1 + seed % 2 * 2);
        alarms += least(&e) < 0.1;
        kb_free(e.tests);
    }
    CHECK(alarms <= 14);
}

static void expect_alarm(disturbance kind, kb_test_kind expected)
{
    kb_residual_tests e = examine(kind, 7, 80, 1);
    double p = 1, score = 0;
    for (size_t i = 0; i < e.n; i++)
        if (e.tests[i].kind == expected && e.tests[i].p_value < p) p = e.tests[i].p_value, score = e.tests[i].score;
    kb_free(e.tests);
    CHECK(p < 0.01 && score > 0);
}

static void bad_residuals_do(void **state)
{
    (void)state;
    expect_alarm(MULTIPLICATIVE, KB_TEST_SPREAD);
    expect_alarm(OUTLIERS, KB_TEST_NORMALITY);
    expect_alarm(CORRELATED, KB_TEST_WHITENESS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(chi_square_is_that_of_tables),
        cmocka_unit_test(student_is_that_of_tables),
        cmocka_unit_test(good_residuals_raise_no_alarm),
        cmocka_unit_test(bad_residuals_do),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
