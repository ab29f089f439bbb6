/* Dictionaries: families, listed terms, roles, evaluation. */
#include "check.h"

#include <stdlib.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/random.h"
#include "dictionary/dictionary.h"

static kbass_error error;

/* ---------------------------------------------------------------- families */

static kbass_settings none(void) { return (kbass_settings){0}; }

static kb_dictionary *created(kbass_settings settings, size_t n_states)
{
    static const char *const states[] = {"x", "y", "z", "u", "v", "w", "q"};
    kb_dictionary *d = NULL;
    CHECK_OK(kb_dictionary_create(&settings, n_states, states, "t", &d, &error));
    return d;
}

static void check_terms(kbass_settings settings, size_t n_states, size_t n, const char *const *terms)
{
    kb_dictionary *d = created(settings, n_states);
    assert_int_equal(d->n_terms, n);
    for (size_t j = 0; terms && j < n; j++) CHECK_TEXT(kb_dictionary_name(d, j), terms[j]);
    for (size_t j = 0; j < n; j++) assert_int_equal(kb_dictionary_find(d, kb_dictionary_name(d, j)), j);
    kb_dictionary_destroy(d);
}

#define TERMS(...)                                                                                                     \
    sizeof((const char *[]){__VA_ARGS__}) / sizeof(char *), (const char *[]) { __VA_ARGS__ }

static void families(void **state)
{
    (void)state;
    check_terms(none(), 2, TERMS("1", "x", "y", "x^2", "x*y", "y^2", "x^3", "x^2*y", "x*y^2", "y^3"));
    check_terms(none(), 6, 84, NULL);
    check_terms(none(), 7, 36, NULL);
    check_terms((kbass_settings){.degree = 3, .constant = 1}, 6, 84, NULL);
    check_terms((kbass_settings){.degree = 2}, 2, TERMS("x", "y", "x^2", "x*y", "y^2"));
    check_terms((kbass_settings){.degree = 1, .constant = 1}, 1, TERMS("1", "x"));
    check_terms((kbass_settings){.box_degree = 4}, 2, 24, NULL);
    check_terms((kbass_settings){.box_degree = 4, .constant = 1}, 2, 25, NULL);
    check_terms((kbass_settings){.box_degree = 2}, 2,
                TERMS("x", "y", "x^2", "x*y", "y^2", "x^2*y", "x*y^2", "x^2*y^2"));
    check_terms((kbass_settings){.box_degree = 1}, 3, TERMS("x", "y", "z", "x*y", "x*z", "y*z", "x*y*z"));
    check_terms((kbass_settings){.degree = 12}, 6, 18563, NULL);
}

static void listed_terms(void **state)
{
    (void)state;
    check_terms((kbass_settings){.terms = "y*x, 2*sin(x), x*y, x/(1+y), t"}, 2, TERMS("x*y", "sin(x)", "x/(1+y)", "t"));
    check_terms((kbass_settings){.terms = "x", .constant = 1}, 2, TERMS("1", "x"));
    check_terms((kbass_settings){.terms = "5, x", .constant = 1}, 2, TERMS("1", "x"));
    check_terms((kbass_settings){.degree = 1, .terms = "y, cos(x)"}, 2, TERMS("x", "y", "cos(x)"));
}

static void write_file(const char *path, const char *text, size_t size)
{
    FILE *file = fopen(path, "w");
    CHECK(file && fwrite(text, 1, size, file) == size && !fclose(file));
}

static void check_not_created(kbass_settings settings, kbass_status status, const char *message)
{
    static const char *const states[] = {"x", "y"};
    kb_dictionary *d = NULL;
    memset(&error, 0, sizeof error);
    CHECK_FAILS(kb_dictionary_create(&settings, 2, states, "t", &d, &error), status, message);
    CHECK(!d);
}

static void terms_from_a_file(void **state)
{
    (void)state;
    static const char good[] = "\xef\xbb\xbf# terms\r\nx*y  # a product\r\n\nsin(x), y";
    char path[] = "/tmp/kbass_terms_XXXXXX", long_line[10000], where[64];
    int handle = mkstemp(path);
    CHECK(handle >= 0 && !close(handle));
    kbass_settings settings = {.terms_file = path};
    write_file(path, good, strlen(good));
    check_terms(settings, 2, TERMS("x*y", "sin(x)", "y"));

    write_file(path, "x\n\nx*zz\n", 8);
    snprintf(where, sizeof where, "%s:3: unknown name \"zz\"", path);
    check_not_created(settings, KBASS_ERROR_SYNTAX, where);
    CHECK_TEXT(error.source, "x*zz");
    assert_int_equal(error.column, 3);

    memset(long_line, ' ', sizeof long_line);
    write_file(path, long_line, sizeof long_line);
    check_not_created(settings, KBASS_ERROR_FILE, ":1: found a line over 8192 characters");
    write_file(path, "x\0y\n", 4);
    check_not_created(settings, KBASS_ERROR_FILE, "not text");
    write_file(path, "# nothing\n", 10);
    check_not_created(settings, KBASS_ERROR_FILE, "found no terms");
    remove(path);
    check_not_created(settings, KBASS_ERROR_FILE, "cannot be opened: No such file");
    settings.terms_file = "/tmp";
    check_not_created(settings, KBASS_ERROR_FILE, "/tmp: cannot be read");
}

static void families_refused(void **state)
{
    (void)state;
    check_not_created((kbass_settings){.degree = 2, .box_degree = 2}, KBASS_ERROR_ARGUMENT, "needed one of them");
    check_not_created((kbass_settings){.terms = "x*y, x*foo"}, KBASS_ERROR_SYNTAX, "--terms: unknown name \"foo\"");
    CHECK_TEXT(error.source, "x*foo");
    assert_int_equal(error.column, 3);
    check_not_created((kbass_settings){.terms = "x,,y"}, KBASS_ERROR_ARGUMENT, "--terms: found an empty term");
    check_not_created((kbass_settings){.terms = "x, 0*y"}, KBASS_ERROR_SYNTAX, "\"0*y\" is zero");

    static const char *const six[] = {"a", "b", "c", "d", "e", "f"};
    kb_dictionary *d = NULL;
    kbass_settings box = {.box_degree = 5};
    CHECK_FAILS(kb_dictionary_create(&box, 6, six, "t", &d, &error), KBASS_ERROR_ARGUMENT,
                "--box-degree 5 with 6 states makes 46656 terms, needed at most 20000");
}

static void check_state_names(const char *first, const char *second, const char *time, const char *message)
{
    kb_dictionary *d = NULL;
    kbass_settings settings = none();
    CHECK_FAILS(kb_dictionary_create(&settings, 2, (const char *[]){first, second}, time, &d, &error),
                KBASS_ERROR_ARGUMENT, message);
}

static void state_names_refused(void **state)
{
    (void)state;
    check_state_names("x", "sin", "t", "\"sin\" is the name of a function");
    check_state_names("x", "t", "t", "\"t\" is also the name of time");
    check_state_names("x", "Temp (C)", "t", "\"Temp (C)\" cannot stand in equations");
    check_state_names("1x", "y", "t", "\"1x\" cannot");
    check_state_names("", "y", "t", "\"\" cannot");
    check_state_names("x", "x", "t", "two states have the name \"x\"");
    kb_dictionary *d = NULL;
    kbass_settings settings = none();
    CHECK_FAILS(kb_dictionary_create(&settings, 0, NULL, "t", &d, &error), KBASS_ERROR_ARGUMENT, "found no states");
}

static void priors(void **state)
{
    (void)state;
    kb_dictionary *d = created(none(), 2);
    CHECK_CLOSE(kb_dictionary_prior(d, kb_dictionary_find(d, "1")), 0.2, 0);      /* exact: a power of two times 0.2 */
    CHECK_CLOSE(kb_dictionary_prior(d, kb_dictionary_find(d, "y")), 0.2, 0);      /* likewise */
    CHECK_CLOSE(kb_dictionary_prior(d, kb_dictionary_find(d, "x*y")), 0.1, 0);    /* likewise */
    CHECK_CLOSE(kb_dictionary_prior(d, kb_dictionary_find(d, "x^2*y")), 0.05, 0); /* likewise */
    kb_dictionary_destroy(d);
}

/* ---------------------------------------------------------------- roles */

static kb_role role_of(const kb_dictionary *d, const char *term, size_t state)
{
    size_t j = kb_dictionary_find(d, term);
    CHECK(j < d->n_terms);
    return d->roles[j + state * d->n_terms];
}

static double weight_of(const kb_dictionary *d, const char *term, size_t state)
{
    return d->fixed_weights[kb_dictionary_find(d, term) + state * d->n_terms];
}

static void plain_roles(void **state)
{
    (void)state;
    kb_dictionary *d = created(none(), 2);
    for (size_t i = 0; i < 2 * d->n_terms; i++) CHECK(d->roles[i] == KB_CANDIDATE);
    CHECK(d->has_equation[0] && d->has_equation[1] && !d->is_known[0] && !d->is_known[1]);
    kb_dictionary_destroy(d);
}

static void forbidden_and_required(void **state)
{
    (void)state;
    kbass_settings settings = {.degree = 2, .forbid = "x*x; y_t: y*x, y;"};
    settings.require = "x_t: y, sin(x)*2; x";
    kb_dictionary *d = created(settings, 2);
    assert_int_equal(d->n_terms, 6);
    CHECK(role_of(d, "x^2", 0) == KB_ABSENT && role_of(d, "x^2", 1) == KB_ABSENT);
    CHECK(role_of(d, "x*y", 0) == KB_CANDIDATE && role_of(d, "x*y", 1) == KB_ABSENT);
    CHECK(role_of(d, "y", 0) == KB_REQUIRED && role_of(d, "y", 1) == KB_ABSENT);
    CHECK(role_of(d, "sin(x)", 0) == KB_REQUIRED && role_of(d, "sin(x)", 1) == KB_ABSENT);
    CHECK(role_of(d, "x", 0) == KB_REQUIRED && role_of(d, "x", 1) == KB_REQUIRED);
    kb_dictionary_destroy(d);
}

static void fixed_equations(void **state)
{
    (void)state;
    kb_dictionary *d = created((kbass_settings){.degree = 1, .fix = "x_t = 2*y - 3*sin(x); z_t = 0"}, 3);
    CHECK(d->is_known[0] && !d->is_known[1] && d->is_known[2]);
    CHECK(role_of(d, "y", 0) == KB_FIXED && role_of(d, "sin(x)", 0) == KB_FIXED && role_of(d, "x", 0) == KB_ABSENT);
    CHECK_CLOSE(weight_of(d, "y", 0), 2, 0);       /* as typed */
    CHECK_CLOSE(weight_of(d, "sin(x)", 0), -3, 0); /* as typed */
    CHECK(role_of(d, "y", 1) == KB_CANDIDATE && role_of(d, "sin(x)", 1) == KB_ABSENT);
    CHECK(role_of(d, "y", 2) == KB_ABSENT);
    kb_dictionary_destroy(d);
}

static void chosen_equations(void **state)
{
    (void)state;
    kb_dictionary *d = created((kbass_settings){.degree = 1, .equation_for = " x, z ", .require = "y"}, 3);
    CHECK(d->has_equation[0] && !d->has_equation[1] && d->has_equation[2]);
    CHECK(role_of(d, "x", 0) == KB_CANDIDATE && role_of(d, "x", 1) == KB_ABSENT && role_of(d, "y", 1) == KB_ABSENT);
    CHECK(role_of(d, "y", 2) == KB_REQUIRED);
    kb_dictionary_destroy(d);
}

static void roles_refused(void **state)
{
    (void)state;
    kbass_status argument = KBASS_ERROR_ARGUMENT, syntax = KBASS_ERROR_SYNTAX;
    check_not_created((kbass_settings){.forbid = "x^9"}, argument, "--forbid: \"x^9\" is not in the dictionary");
    check_not_created((kbass_settings){.explain = "x^9"}, argument, "--explain: \"x^9\" is not in the dictionary");
    check_not_created((kbass_settings){.explain = "x^9"}, argument, "did you mean \"x^2\"?");
    check_not_created((kbass_settings){.explain = "x_t: y", .forbid = "x_t: y"}, argument, "no candidate there");
    check_not_created((kbass_settings){.explain = "y", .require = "y"}, argument, "in by --require");
    check_not_created((kbass_settings){.forbid = "x, y*q"}, syntax, "--forbid: unknown name \"q\"");
    check_not_created((kbass_settings){.forbid = "z_t: x"}, syntax, "--forbid: unknown state \"z\" (known: x, y)");
    check_not_created((kbass_settings){.forbid = "X_t: x"}, syntax, "did you mean \"x\"?");
    check_not_created((kbass_settings){.forbid = "x: y"}, syntax, "needed an equation's name like \"x_t\"");
    check_not_created((kbass_settings){.require = "x,"}, argument, "--require: found an empty term");
    check_not_created((kbass_settings){.forbid = "x_t:"}, syntax, "--forbid: found the end");
    check_not_created((kbass_settings){.require = "x*y", .forbid = "y_t: y*x"}, argument,
                      "\"x*y\" is both required and forbidden in y_t");
    check_not_created((kbass_settings){.fix = "x_t : y"}, syntax, "--fix: found no \"=\" in \"x_t : y\"");
    check_not_created((kbass_settings){.fix = "x_t = y +"}, syntax, "--fix: found the end");
    check_not_created((kbass_settings){.fix = "x_t = y; x_t = x"}, argument, "x_t is already given by --fix");
    check_not_created((kbass_settings){.fix = "y_t = y", .equation_for = "x"}, argument, "left out by --equation-for");
    check_not_created((kbass_settings){.fix = "y_t = y", .require = "y_t: x"}, argument, "already given by --fix");
    check_not_created((kbass_settings){.equation_for = "x, z"}, syntax, "--equation-for: unknown state \"z\"");
    check_not_created((kbass_settings){.equation_for = ";"}, argument, "--equation-for: found no state");
    check_not_created((kbass_settings){.terms = "x", .forbid = "y_t: x"}, argument, "y_t has no candidate terms left");
}

/* ---------------------------------------------------------------- evaluation */

enum { N_POINTS = 300, LD = 307 };

static void fill_points(double *points, size_t n_variables)
{
    kb_random random;
    kb_random_seed(&random, 3);
    for (size_t i = 0; i < LD * n_variables; i++) points[i] = 0.3 + 1.5 * kb_random_uniform(&random);
}

static void check_point(const kb_dictionary *d, const double *points, size_t p, const double *values, const size_t *all)
{
    size_t n = d->n_terms;
    double x[4], work[400], one[200], slopes[600] = {0}, slope = NAN;
    CHECK(n <= 200 && kb_dictionary_work(d, 1) <= 400);
    for (size_t v = 0; v < d->n_variables; v++) x[v] = points[p + v * LD];
    kb_dictionary_at_point(d, n, all, x, one, slopes, work);
    for (size_t j = 0; j < n; j++) {
        CHECK_CLOSE(one[j], values[p + j * N_POINTS], 1e-13 * (1 + fabs(one[j]))); /* order of a few multiplications */
        for (size_t v = 0; v < d->n_states; v++) {
            kb_dictionary_slopes(d, j, v, 1, points + p, LD, &slope, work);
            CHECK_CLOSE(slopes[j * d->n_states + v], slope, 1e-13 * (1 + fabs(slope))); /* likewise */
        }
    }
    kb_dictionary_at_point(d, n, all, x, slopes, NULL, work);
    assert_memory_equal(one, slopes, n * sizeof *one);
}

static void points_and_tables_agree(void **state)
{
    (void)state;
    kbass_settings settings = {.box_degree = 3,
                               .constant = 1,
                               .terms = "t, x*t, sin(x*y), x/(1+y), x^20, exp(-z)*x^2, x^y, 1+x, abs(x-y), 1/z^2"};
    kb_dictionary *d = created(settings, 3);
    static double points[LD * 4], values[N_POINTS * 200], slopes[N_POINTS];
    size_t all[200];
    double *work = KB_NEW(double, kb_dictionary_work(d, N_POINTS));
    for (size_t j = 0; j < d->n_terms; j++) all[j] = j;
    fill_points(points, 4);
    kb_dictionary_values(d, d->n_terms, all, N_POINTS, points, LD, values, work);
    for (size_t p = 0; p < N_POINTS; p += 13) check_point(d, points, p, values, all);

    size_t product = kb_dictionary_find(d, "x/(1+y)");
    kb_dictionary_slopes(d, product, 1, N_POINTS, points, LD, slopes, work);
    for (size_t p = 0; p < N_POINTS; p++) {
        double x = points[p], y = points[p + LD];
        CHECK_CLOSE(values[p + product * N_POINTS], x / (1 + y), 1e-15 * x); /* one division */
        CHECK_CLOSE(slopes[p], -x / ((1 + y) * (1 + y)), 1e-14);             /* a few roundings of numbers below 2 */
    }
    CHECK(kb_dictionary_depends(d, product, 1) && !kb_dictionary_depends(d, product, 2));
    kb_free(work);
    kb_dictionary_destroy(d);
}

/* ---------------------------------------------------------------- memory */

static void memory_runs_out(void **state)
{
    (void)state;
    static const char *const states[] = {"x", "y"};
    kbass_settings settings = {.degree = 2,
                               .constant = 1,
                               .terms = "sin(x)*(1+y)^2, x^y, x/(y*(2+2*x)), 1.5*(1-x)",
                               .forbid = "x^2; y_t: x",
                               .require = "y_t: cos(y)",
                               .fix = "x_t = (1+x)^3*y - exp(-x)"};
    kb_dictionary *d = NULL;
    kbass_status status = KBASS_ERROR_MEMORY;
    long n = 0;
    for (; status != KBASS_OK && n < 10000; n++) {
        kb_memory_fail_after(n);
        status = kb_dictionary_create(&settings, 2, states, "t", &d, &error);
        kb_memory_fail_after(-1);
        if (status != KBASS_OK) CHECK_FAILS(status, KBASS_ERROR_MEMORY, "out of memory");
    }
    CHECK(status == KBASS_OK && n > 50);
    kb_dictionary_destroy(d);
    kb_dictionary_destroy(NULL);
    kb_expression_destroy(NULL);
    kb_sum_clear(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(families),
        cmocka_unit_test(listed_terms),
        cmocka_unit_test(terms_from_a_file),
        cmocka_unit_test(families_refused),
        cmocka_unit_test(state_names_refused),
        cmocka_unit_test(priors),
        cmocka_unit_test(plain_roles),
        cmocka_unit_test(forbidden_and_required),
        cmocka_unit_test(fixed_equations),
        cmocka_unit_test(chosen_equations),
        cmocka_unit_test(roles_refused),
        cmocka_unit_test(points_and_tables_agree),
        cmocka_unit_test(memory_runs_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
