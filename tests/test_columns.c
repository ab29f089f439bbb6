/* Priors of the columns: as the dictionary says, but never more than two terms expected in an equation. */
#include "check.h"
#include "ode_setup.h"

static double prior_of(const kb_columns *c, size_t column) { return 1 / (1 + exp(-c->log_odds[column])); }

static double expected(const setup *s, size_t equation, double *ratio)
{
    double sum = 0;
    for (size_t j = 0; j < s->columns->n; j++) {
        if (s->columns->equation[j] != equation) continue;
        double share = prior_of(s->columns, j) / kb_dictionary_prior(s->dictionary, s->columns->term[j]);
        if (sum > 0) CHECK_CLOSE(share, *ratio, 1e-12); /* rounding */
        *ratio = share;
        sum += prior_of(s->columns, j);
    }
    return sum;
}

static void large_dictionaries_expect_no_more(void **state)
{
    (void)state;
    static const char *const equations[] = {"x_t = y", "y_t = z", "z_t = -x - y - z"};
    static const double start[] = {1, 0.5, -0.5};
    for (int degree = 2; degree <= 5; degree++) {
        kbass_settings settings;
        setup s;
        double ratio = 0, sum;
        kb_settings_default(&settings);
        settings.degree = degree;
        setup_open(&s, setup_sample(3, equations, start, 20, 4), &settings, 60);
        for (size_t equation = 0; equation < 3; equation++) {
            sum = expected(&s, equation, &ratio);
            if (degree <= 3) CHECK_CLOSE(ratio, 1, 1e-12); /* 0.6 + 6 * 0.1 + 10 * 0.05 = 1.7; rounding */
            else CHECK_CLOSE(sum, 2, 1e-12);               /* 15 * 0.025 more; rounding */
        }
        setup_close(&s);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(large_dictionaries_expect_no_more)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
