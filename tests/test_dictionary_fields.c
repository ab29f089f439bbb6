/* Dictionaries of fields over space: families, names, derivatives, left-hand sides, refusals. */
#include <stdlib.h>

#include "base/memory.h"
#include "base/random.h"
#include "check.h"
#include "dictionary/dictionary.h"

static const char *const one[] = {"u"}, *const two[] = {"u", "v"};
static const char *const line[] = {"t", "x"}, *const plane[] = {"t", "x", "y"}, *const room[] = {"t", "x", "y", "z"};
static kbass_settings settings;
static kbass_error error;

static int defaults(void **state)
{
    (void)state;
    kb_settings_default(&settings);
    return 0;
}

static kb_dictionary *make(size_t n_fields, size_t n_axes)
{
    kb_dictionary *d = NULL;
    const char *const *axes = n_axes == 2 ? line : n_axes == 3 ? plane : room;
    CHECK_OK(kb_dictionary_create_fields(&settings, n_fields, two, n_axes, axes, &d, &error));
    return d;
}

static void refuse(size_t n_fields, size_t n_axes, kbass_status status, const char *message)
{
    kb_dictionary *d = NULL;
    const char *const *axes = n_axes == 2 ? line : n_axes == 3 ? plane : room;
    CHECK_FAILS(kb_dictionary_create_fields(&settings, n_fields, two, n_axes, axes, &d, &error), status, message);
    CHECK(d == NULL);
    kb_settings_default(&settings);
}

static bool has(const kb_dictionary *d, const char *name) { return kb_dictionary_find(d, name) < d->n_terms; }

static void check_terms(const kb_dictionary *d, size_t n, const char *const *expected)
{
    assert_int_equal(d->n_terms, n);
    for (size_t j = 0; j < n; j++) CHECK_TEXT(kb_dictionary_name(d, j), expected[j]);
}

static void check_variables(const kb_dictionary *d, size_t n, const char *const *expected)
{
    assert_int_equal(d->n_variables, n);
    for (size_t v = 0; v < n; v++) CHECK_TEXT(d->variable_names[v], expected[v]);
}

/* ---------------------------------------------------------------- families */

static void powers_times_derivatives(void **state)
{
    static const char *const expected[] = {
        "u",         "u^2",       "u^3",       "u^4",      "u_x",      "u*u_x",      "u^2*u_x",    "u^3*u_x",
        "u^4*u_x",   "u_xx",      "u*u_xx",    "u^2*u_xx", "u^3*u_xx", "u^4*u_xx",   "u_xxx",      "u*u_xxx",
        "u^2*u_xxx", "u^3*u_xxx", "u^4*u_xxx", "u_xxxx",   "u*u_xxxx", "u^2*u_xxxx", "u^3*u_xxxx", "u^4*u_xxxx"};
    static const char *const variables[] = {"u", "u_x", "u_xx", "u_xxx", "u_xxxx", "t", "x"};
    (void)state;
    settings.degree = settings.derivatives = 4;
    kb_dictionary *d = make(1, 2);
    check_terms(d, 24, expected);
    check_variables(d, 7, variables);
    CHECK(d->n_axes == 2 && d->time_order == 1 && d->variables[3].order[1] == 3 && d->variables[3].axis == -1);
    CHECK(d->variables[5].axis == 0 && d->variables[6].axis == 1);
    CHECK_TEXT(d->time_name, "t");
    kb_dictionary_destroy(d);
    settings.constant = 1;
    d = make(1, 2);
    CHECK(d->n_terms == 25 && has(d, "1"));
    kb_dictionary_destroy(d);
}

static void counts(void **state)
{
    static const struct {
        size_t n_fields, n_axes;
        int degree, box, derivatives, products;
        size_t n_terms;
    } cases[] = {
        {1, 2, 3, 0, 3, 0, 15},          {1, 2, 2, 0, 3, 1, 11 + 3},
        {1, 2, 0, 0, 0, 0, 19},          /* degree 3, order 4 */
        {1, 3, 0, 0, 0, 0, 4 * 6 - 1},   /* degree 3, order 2: u_x u_y u_xx u_xy u_yy */
        {2, 3, 0, 0, 0, 0, 10 * 11 - 1}, /* ten monomials in u, v; ten derivatives */
        {1, 4, 1, 0, 2, 0, 2 * 10 - 1},  {2, 2, 0, 2, 1, 0, 9 * 3 - 1},
        {1, 2, 12, 0, 6, 0, 13 * 7 - 1}, {2, 2, 1, 0, 2, 1, 3 * 5 - 1 + 6},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        settings.degree = cases[i].degree;
        settings.box_degree = cases[i].box;
        settings.derivatives = cases[i].derivatives;
        settings.products = cases[i].products;
        kb_dictionary *d = make(cases[i].n_fields, cases[i].n_axes);
        if (d->n_terms != cases[i].n_terms) fail_msg("case %zu: %zu terms, not %zu", i, d->n_terms, cases[i].n_terms);
        for (size_t j = 0; j < d->n_terms; j++) CHECK(kb_dictionary_find(d, kb_dictionary_name(d, j)) == j);
        kb_dictionary_destroy(d);
    }
}

static void several_fields_and_axes(void **state)
{
    static const char *const variables[] = {"u",    "v",    "u_x",  "u_y",  "v_x", "v_y", "u_xx", "u_xy",
                                            "u_yy", "v_xx", "v_xy", "v_yy", "t",   "x",   "y"};
    (void)state;
    settings.degree = settings.derivatives = 2;
    settings.products = 1;
    kb_dictionary *d = make(2, 3);
    check_variables(d, 15, variables);
    CHECK(has(d, "u*v*v_xy") && has(d, "u^2*u_y") && has(d, "u*v") && has(d, "u_x*v_y") && has(d, "u_x*u_xx"));
    CHECK(!has(d, "u_x^2") && !has(d, "1") && !has(d, "u*u_x*u_xx"));
    CHECK(d->variables[10].field == 1 && d->variables[10].order[1] == 1 && d->variables[10].order[2] == 1);
    kb_dictionary_destroy(d);
}

/* ---------------------------------------------------------------- terms as text */

static void names_are_canonical(void **state)
{
    static const char *const expected[] = {"u*u_x", "u_xx",         "u^2*u_xxx", "u*sin(x)", "u_x^2",
                                           "u*t*x", "u_xx/(1+u^2)", "exp(-x)",   "1+u_x^2"};
    static const char *const variables[] = {"u", "u_x", "u_xx", "u_xxx", "t", "x"};
    (void)state;
    settings.terms = "u_x*u, 2*u_xx, u*u_xxx*u, sin(x)*u, u_x*u_x, x*u*t, u_xx/(1+u^2), exp(-x), -1 - u_x^2";
    kb_dictionary *d = make(1, 2);
    check_terms(d, 9, expected);
    check_variables(d, 6, variables);

    char list[400] = "";
    for (size_t j = 0; j < d->n_terms; j++) {
        strcat(list, j ? ", " : "");
        strcat(list, kb_dictionary_name(d, j));
    }
    settings.terms = list;
    kb_dictionary *again = make(1, 2);
    check_terms(again, 9, expected);
    kb_dictionary_destroy(again);
    kb_dictionary_destroy(d);
}

static void only_orders_in_use_are_kept(void **state)
{
    (void)state;
    settings.terms = "u, sin(x)";
    kb_dictionary *d = make(1, 3);
    CHECK(d->n_variables == 4);
    kb_dictionary_destroy(d);
    settings.require = "u_xxxxyy";
    d = make(1, 3);
    CHECK(d->n_variables == 1 + 27 + 3); /* two letters in 1 to 6 places: 2 + 3 + ... + 7 */
    CHECK_TEXT(d->variable_names[30], "y");
    kb_dictionary_destroy(d);
}

/* ---------------------------------------------------------------- numbers */

enum { POINTS = 200 };

static double by_hand(size_t term, const double *v) /* v: u, u_x, u_xx, u_xxx, t, x */
{
    switch (term) {
    case 0: return v[0] * v[1];
    case 1: return v[0] * v[0] * v[3];
    case 2: return sin(v[5]) * v[0] + v[4];
    case 3: return v[2] / (1 + v[1] * v[1]);
    default: return v[1] * v[2] * exp(-v[4] * v[5]);
    }
}

/* Values against the formula, slopes against differences: variables have the right columns after trimming. */
static void values_and_slopes(void **state)
{
    static const size_t terms[] = {0, 1, 2, 3, 4};
    double points[6 * POINTS], values[5 * POINTS], slope[POINTS], x[6];
    kb_random random;
    (void)state;
    settings.terms = "u*u_x, u^2*u_xxx, sin(x)*u + t, u_xx/(1+u_x^2), u_x*u_xx*exp(-t*x)";
    kb_dictionary *d = make(1, 2);
    double *work = KB_NEW(double, kb_dictionary_work(d, POINTS));
    CHECK(d->n_variables == 6);
    kb_random_seed(&random, 5);
    for (size_t i = 0; i < 6 * POINTS; i++) points[i] = kb_random_normal(&random);
    kb_dictionary_values(d, 5, terms, POINTS, points, POINTS, values, work);
    for (size_t q = 0; q < 5; q++)
        for (size_t v = 0; v < 6; v++) {
            kb_dictionary_slopes(d, q, v, POINTS, points, POINTS, slope, work);
            for (size_t p = 0; p < POINTS; p++) {
                for (size_t k = 0; k < 6; k++) x[k] = points[p + k * POINTS];
                double value = by_hand(q, x), scale = 1 + fabs(value), h = 1e-5;
                CHECK_CLOSE(values[p + q * POINTS], value, 1e-12 * scale); /* rounding */
                x[v] += h;
                double above = by_hand(q, x);
                x[v] -= 2 * h;
                double expected = (above - by_hand(q, x)) / (2 * h);
                CHECK_CLOSE(slope[p], expected, 1e-5 * (scale + fabs(expected))); /* h^2 times curvatures up to e^9 */
                CHECK(kb_dictionary_depends(d, q, v) || slope[p] == 0);
            }
        }
    kb_free(work);
    kb_dictionary_destroy(d);
}

static void priors(void **state)
{
    static const struct {
        const char *term;
        double degree;
    } cases[] = {{"u", 1},         {"u_x", 1},    {"u_xx", 1.5}, {"u*u_x", 2},    {"u_xxxx", 2.5},
                 {"u^2*u_xxx", 4}, {"u_xx^2", 3}, {"1", 0},      {"u*sin(x)", 3}, {"sin(u_xx)", 2.5}};
    (void)state;
    settings.terms = "u, u_x, u_xx, u*u_x, u_xxxx, u^2*u_xxx, u_xx^2, 1, sin(x)*u, sin(u_xx)";
    kb_dictionary *d = make(1, 2);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        size_t term = kb_dictionary_find(d, cases[i].term);
        CHECK(term < d->n_terms && kb_dictionary_degree(d, term) == cases[i].degree);
        double expected = 0.2 * pow(0.5, fmax(cases[i].degree, 1) - 1);
        CHECK_CLOSE(kb_dictionary_prior(d, term), expected, 1e-16); /* rounding */
    }
    kb_dictionary_destroy(d);
}

/* ---------------------------------------------------------------- roles and left-hand sides */

static void roles(void **state)
{
    (void)state;
    settings.degree = 1;
    settings.derivatives = 2;
    settings.fix = "v_t = 0.5*u_xx - u*(v - 1)";
    settings.require = "u_t: u_xx";
    settings.forbid = "u_t: v*v_x; v_xx";
    kb_dictionary *d = make(2, 2);
    size_t n = d->n_terms, u_xx = kb_dictionary_find(d, "u_xx"), uv = kb_dictionary_find(d, "u*v");
    CHECK(d->is_known[1] && !d->is_known[0] && uv < n);
    CHECK(d->roles[u_xx] == KB_REQUIRED && d->roles[u_xx + n] == KB_FIXED && d->fixed_weights[u_xx + n] == 0.5);
    CHECK(d->roles[uv] == KB_ABSENT && d->fixed_weights[uv + n] == -1);
    CHECK(d->roles[kb_dictionary_find(d, "v*v_x")] == KB_ABSENT);
    CHECK(d->roles[kb_dictionary_find(d, "v_xx")] == KB_ABSENT);
    CHECK(d->roles[kb_dictionary_find(d, "v_x")] == KB_CANDIDATE);
    kb_dictionary_destroy(d);
    kb_settings_default(&settings);
    settings.equation_for = "v";
    d = make(2, 2);
    CHECK(!d->has_equation[0] && d->has_equation[1]);
    kb_dictionary_destroy(d);
}

static void second_order_in_time(void **state)
{
    (void)state;
    settings.lhs = "u_tt";
    settings.require = "u_tt: u_xx";
    kb_dictionary *d = make(2, 2);
    CHECK(d->time_order == 2 && d->roles[kb_dictionary_find(d, "u_xx")] == KB_REQUIRED);
    CHECK_TEXT(kb_dictionary_suffix(d), "_tt");
    kb_dictionary_destroy(d);
    settings.require = "u_t: u_xx";
    refuse(2, 2, KBASS_ERROR_SYNTAX, "needed an equation's name like \"u_tt\"");
    settings.lhs = "u_t, v_t";
    d = make(2, 2);
    CHECK(d->time_order == 1);
    CHECK_TEXT(kb_dictionary_suffix(d), "_t");
    kb_dictionary_destroy(d);
    settings.lhs = "u_t, v_tt";
    refuse(2, 2, KBASS_ERROR_ARGUMENT, "--lhs: found both first and second order");
    settings.lhs = "u_ttt";
    refuse(2, 2, KBASS_ERROR_ARGUMENT, "--lhs: found \"u_ttt\", needed u_t or u_tt");
    settings.lhs = "w_t";
    refuse(2, 2, KBASS_ERROR_ARGUMENT, "--lhs: found \"w_t\"");
}

/* ---------------------------------------------------------------- refusals */

static void unknown_names(void **state)
{
    (void)state;
    settings.terms = "u, u*u_y";
    refuse(1, 2, KBASS_ERROR_SYNTAX, "unknown name \"u_y\" in \"u*u_y\"; did you mean \"u_x\"?");
    CHECK(error.column == 3);
    settings.terms = "u_yx";
    refuse(1, 3, KBASS_ERROR_SYNTAX, "unknown name \"u_yx\" in \"u_yx\"; did you mean \"u_xy\"?");
    settings.terms = "u_xxxxxxx";
    refuse(1, 2, KBASS_ERROR_SYNTAX, "unknown name \"u_xxxxxxx\"");
    settings.terms = "u_t";
    refuse(1, 2, KBASS_ERROR_SYNTAX, "unknown name \"u_t\"");
    settings.terms = "v_x";
    refuse(1, 2, KBASS_ERROR_SYNTAX, "unknown name \"v_x\"");
    settings.degree = 2;
    settings.box_degree = 2;
    refuse(1, 2, KBASS_ERROR_ARGUMENT, "both --degree 2 and --box-degree 2");
    settings.box_degree = 12;
    settings.derivatives = 6;
    refuse(2, 4, KBASS_ERROR_ARGUMENT, "make 28223 terms, needed at most 20000"); /* 169 x (1 + 2 x 83) */
}

static void refuse_names(size_t n_fields, const char *const *fields, size_t n_axes, const char *const *axes,
                         const char *message)
{
    kb_dictionary *d = NULL;
    CHECK_FAILS(kb_dictionary_create_fields(&settings, n_fields, fields, n_axes, axes, &d, &error),
                KBASS_ERROR_ARGUMENT, message);
    CHECK(d == NULL);
}

static void clashing_names(void **state)
{
    static const char *const derived[] = {"u", "u_x"}, *const axis[] = {"x"}, *const time[] = {"t"};
    static const char *const same[] = {"u", "u"}, *const function[] = {"sin"};
    static const char *const late[] = {"time", "t"}, *const twice[] = {"t", "x", "x"}, *const wrong[] = {"t", "x y"};
    static const char *const nested[] = {"t", "x", "xx"}, *const many[] = {"t", "x", "y", "z", "s"};
    (void)state;
    refuse_names(2, derived, 2, line, "\"u_x\" is the name of a field and of a derivative: rename one");
    refuse_names(1, axis, 2, line, "\"x\" is the name of a field and of an axis: rename one");
    refuse_names(1, time, 2, line, "field name \"t\" is also the name of time");
    refuse_names(2, same, 2, line, "two fields have the name \"u\"");
    refuse_names(1, function, 2, line, "field name \"sin\" is the name of a function");
    refuse_names(1, one, 2, late, "the space axis \"t\" has the name of time");
    refuse_names(1, one, 3, twice, "\"u_x\" is the name of a derivative and of a derivative");
    refuse_names(1, one, 3, nested, "\"u_xx\" is the name of a derivative and of a derivative");
    refuse_names(1, one, 2, wrong, "axis name \"x y\" cannot stand in equations");
    refuse_names(1, one, 5, many, "found 5 axes");
    refuse_names(0, one, 2, line, "found no fields");
}

static void too_few_points(void **state)
{
    size_t points[] = {2, 6, 3};
    (void)state;
    settings.derivatives = 4;
    kb_dictionary *d = make(1, 2);
    CHECK_OK(kb_dictionary_check_points(d, points, &error));
    points[1] = 5;
    CHECK_FAILS(kb_dictionary_check_points(d, points, &error), KBASS_ERROR_DATA,
                "the axis \"x\" has 5 distinct points, the derivative u_xxxx needs at least 6: lower --derivatives");
    kb_dictionary_destroy(d);
    settings.lhs = "u_tt";
    d = make(1, 2);
    CHECK_FAILS(kb_dictionary_check_points(d, points, &error), KBASS_ERROR_DATA,
                "the axis \"t\" has 2 distinct points, u_tt needs at least 3");
    kb_dictionary_destroy(d);
    kb_settings_default(&settings);
    settings.terms = "u_xxx, u_y"; /* u_yy and u_yyy are listed, but no term uses them */
    d = make(1, 3);
    CHECK_OK(kb_dictionary_check_points(d, points, &error));
    points[2] = 2;
    CHECK_FAILS(kb_dictionary_check_points(d, points, &error), KBASS_ERROR_DATA,
                "the axis \"y\" has 2 distinct points, the derivative u_y needs at least 3");
    kb_dictionary_destroy(d);
}

/* ---------------------------------------------------------------- ODEs, memory */

static void states_have_no_space(void **state)
{
    static const char *const flags[][2] = {{"derivatives", "2"}, {"products", ""}, {"periodic", "x"}};
    kb_dictionary *d = NULL;
    (void)state;
    CHECK_OK(kb_dictionary_create(&settings, 2, two, "time of day", &d, &error));
    CHECK(d->n_axes == 1 && d->n_variables == 3 && d->time_order == 1);
    CHECK(d->variables[1].axis == -1 && d->variables[1].field == 1 && d->variables[2].axis == 0);
    kb_dictionary_destroy(d);
    for (size_t i = 0; i < sizeof flags / sizeof *flags; i++) {
        kb_settings_default(&settings);
        CHECK_OK(kbass_settings_set(&settings, flags[i][0], flags[i][1], &error));
        CHECK_FAILS(kb_dictionary_create(&settings, 2, two, "t", &d, &error), KBASS_ERROR_ARGUMENT,
                    "is for fields over space: name their axes with --axes t,x");
        CHECK(strstr(error.message, flags[i][0]));
        kb_settings_clear(&settings);
    }
    kb_settings_default(&settings);
}

static void without_memory(void **state)
{
    long n = 0;
    (void)state;
    settings.degree = settings.derivatives = 1;
    settings.terms = "u*sin(x)";
    settings.lhs = "u_tt";
    for (kbass_status status = KBASS_ERROR_MEMORY; status != KBASS_OK; n++) {
        kb_dictionary *d = NULL;
        kb_memory_fail_after(n);
        status = kb_dictionary_create_fields(&settings, 1, one, 2, line, &d, &error);
        kb_memory_fail_after(-1);
        CHECK(status == KBASS_OK || status == KBASS_ERROR_MEMORY);
        kb_dictionary_destroy(d);
    }
    CHECK(n > 30);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(powers_times_derivatives, defaults),
        cmocka_unit_test_setup(counts, defaults),
        cmocka_unit_test_setup(several_fields_and_axes, defaults),
        cmocka_unit_test_setup(names_are_canonical, defaults),
        cmocka_unit_test_setup(only_orders_in_use_are_kept, defaults),
        cmocka_unit_test_setup(values_and_slopes, defaults),
        cmocka_unit_test_setup(priors, defaults),
        cmocka_unit_test_setup(roles, defaults),
        cmocka_unit_test_setup(second_order_in_time, defaults),
        cmocka_unit_test_setup(unknown_names, defaults),
        cmocka_unit_test_setup(clashing_names, defaults),
        cmocka_unit_test_setup(too_few_points, defaults),
        cmocka_unit_test_setup(states_have_no_space, defaults),
        cmocka_unit_test_setup(without_memory, defaults),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
