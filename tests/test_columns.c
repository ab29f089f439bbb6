/* Priors of the columns: as the dictionary says, but never more than two terms expected in an equation. */
#include "check.h"
#include "ode_setup.h"
#include "weights/columns_screen.h"

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

static bool has_column(const kb_columns *c, const kb_dictionary *d, size_t equation, const char *term)
{
    for (size_t j = 0; j < c->n; j++)
        if (c->equation[j] == equation && !strcmp(kb_dictionary_name(d, c->term[j]), term)) return true;
    return false;
}

/* 3 x 286 candidates become 3 x 60: the true ones and a required one are among them. */
static void wide_dictionaries_are_screened(void **state)
{
    (void)state;
    static const char *const equations[] = {"x_t = 2*y - x*z", "y_t = x*z - y", "z_t = 1 - x*y"};
    static const double start[] = {1, 0.5, -0.5};
    kbass_settings settings;
    setup s;
    kb_settings_default(&settings);
    settings.degree = 10;
    settings.constant = 1;
    settings.require = "z_t: x^10";
    setup_open(&s, setup_sample(3, equations, start, 60, 6), &settings, 200);
    size_t before = s.columns->n;
    CHECK_OK(kb_columns_screen(s.columns, s.dictionary, s.n_mesh, s.reference, s.follow_slope, 180, &error));
    CHECK(before == 3 * 286 && s.columns->n <= 181 && s.columns->n + s.columns->n_screened == before);
    CHECK(has_column(s.columns, s.dictionary, 0, "y") && has_column(s.columns, s.dictionary, 0, "x*z"));
    CHECK(has_column(s.columns, s.dictionary, 1, "x*z") && has_column(s.columns, s.dictionary, 1, "y"));
    CHECK(has_column(s.columns, s.dictionary, 2, "1") && has_column(s.columns, s.dictionary, 2, "x*y"));
    CHECK(has_column(s.columns, s.dictionary, 2, "x^10"));
    static const char *const simple[] = {"1", "x", "y", "z"};
    for (size_t i = 0; i < 12; i++) CHECK(has_column(s.columns, s.dictionary, i / 4, simple[i % 4]));
    for (size_t j = 1; j < s.columns->n; j++) CHECK(s.columns->equation[j] >= s.columns->equation[j - 1]);
    CHECK_OK(kb_columns_screen(s.columns, s.dictionary, s.n_mesh, s.reference, s.follow_slope, 200, &error));
    CHECK(s.columns->n + s.columns->n_screened == before); /* few enough: as they were */
    setup_close(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(large_dictionaries_expect_no_more),
                                       cmocka_unit_test(wide_dictionaries_are_screened)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
