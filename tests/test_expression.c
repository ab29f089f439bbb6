/* The language of terms: names, errors, values and slopes. */
#include "base/name.h"
#include "check.h"

#include <stdlib.h>

#include "base/memory.h"
#include "base/random.h"
#include "dictionary/dictionary.h"

static const char *const names[] = {"x", "y", "t"};
static const kb_variables variables = {3, names};
static kbass_error error;

/* ---------------------------------------------------------------- names */

static void check_name(const char *text, const char *expected)
{
    kb_expression *e = NULL, *again = NULL;
    CHECK_OK(kb_expression_parse(text, variables, &e, &error));
    CHECK_TEXT(kb_expression_name(e), expected);
    CHECK_OK(kb_expression_parse(kb_expression_name(e), variables, &again, &error));
    CHECK_TEXT(kb_expression_name(again), expected);
    kb_expression_destroy(again);
    kb_expression_destroy(e);
}

static void canonical_names(void **state)
{
    (void)state;
    static const char *const pairs[][2] = {
        {"y*x*x", "x^2*y"},
        {"x^2/x", "x"},
        {"x/x", "1"},
        {"sin(y)*x", "x*sin(y)"},
        {" 1 ", "1"},
        {"2*3*x", "6*x"},
        {"x-x", "0"},
        {"1/y", "1/y"},
        {"x*y^-1", "x/y"},
        {"x/y/t", "x/(y*t)"},
        {"x/(y*t)", "x/(y*t)"},
        {"x/y*t", "x*t/y"},
        {"sqrt(x)", "sqrt(x)"},
        {"x^0.5", "x^0.5"},
        {"1/x^0.5", "1/x^0.5"},
        {"-x^2", "-x^2"},
        {"(-x)^2", "x^2"},
        {"2^-1", "0.5"},
        {"-2^2", "-4"},
        {"2^3^2", "512"},
        {"x^y^t", "x^y^t"},
        {"(x^y)^t", "(x^y)^t"},
        {"2^x", "2^x"},
        {"(-2)^x", "(-2)^x"},
        {"x^(-y)", "x^(-y)"},
        {"x^(1+y)", "x^(1+y)"},
        {"(x^y)*(x^y)", "(x^y)^2"},
        {"x/(1+y)", "x/(1+y)"},
        {"x*(y+1)", "x*(1+y)"},
        {"(x+y)^2", "(x+y)^2"},
        {"(y-x)^2", "(x-y)^2"},
        {"x*(y-t)", "x*(y-t)"},
        {"(t-y)*x", "-x*(y-t)"},
        {"x*(2+2*y)", "2*x*(1+y)"},
        {"2.5*(1-2*x)", "2.5*(1-2*x)"},
        {"t + 2.5*(1-2*x)", "2.5-5*x+t"},
        {"-(x+1)", "-1-x"},
        {"1-(x+1)", "-x"},
        {"(x^2)^0.5", "(x^2)^0.5"},
        {"(x*y)^0.5*(x*y)^0.5", "x*y"},
        {"(1+x)*(1+x)/(1+x)", "1+x"},
        {"(2+2*x)^0.5*(2+2*x)^0.5*y", "2*y*(1+x)"},
        {"sin(x+y*0)", "sin(x)"},
        {"exp(-(x))", "exp(-x)"},
        {"0.1*x+0.2*x-0.3*x", "0"},
        {"1e-3*x", "0.001*x"},
        {".5*x + 1.", "1+0.5*x"},
        {"1e20*x", "1e+20*x"},
        {"+x", "x"},
        {"--x", "x"},
        {"2*-x", "-2*x"},
        {"y^2+x*y+x^2+y+x+1", "1+x+y+x^2+x*y+y^2"},
        {"tanh(abs(tan(cos(log(x)))))", "tanh(abs(tan(cos(log(x)))))"},
        {"sinh(x)*cosh(y)", "sinh(x)*cosh(y)"},
        {"max(0, x)^2", "max(0,x)^2"},
        {"max(x, 0)", "max(0,x)"},
        {"min(y+x, x*y)", "min(x+y,x*y)"},
        {"min(3, 2)*x", "2*x"},
        {"max(x, x)", "x"},
        {"2^max(x,y)", "2^max(x,y)"},
        {"step(-1)+sign(-3)+floor(2.5)", "1"},
        {"monod(x, 2)", "x/(2+x)"},
        {"hill(x, 2, 4)", "x^4/(16+x^4)"},
        {"hill(x, y, t)", "x^t/(x^t+y^t)"},
        {"monod(x+y, t)", "(x+y)/(x+y+t)"},
    };
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) check_name(pairs[i][0], pairs[i][1]);
}

static void terms_drop_their_factor(void **state)
{
    (void)state;
    static const char *const pairs[][2] = {{"2*x", "x"},
                                           {"-x", "x"},
                                           {"7", "1"},
                                           {"-0.5", "1"},
                                           {"2+2*y", "1+y"},
                                           {"y-x", "x-y"},
                                           {"3*(0.5+x)", "0.5+x"},
                                           {"x/(2+2*y)", "x/(1+y)"}};
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        kb_expression *e = NULL;
        CHECK_OK(kb_expression_term(pairs[i][0], variables, &e, &error));
        CHECK_TEXT(kb_expression_name(e), pairs[i][1]);
        kb_expression_destroy(e);
    }
    kb_expression *e = NULL;
    CHECK_FAILS(kb_expression_term("x-x", variables, &e, &error), KBASS_ERROR_SYNTAX, "\"x-x\" is zero");
}

static void degrees(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int degree;
    } cases[] = {{"1", 0},   {"x", 1},       {"x^2*y", 3}, {"sin(x)", 2},     {"sin(x*y)", 3}, {"x/y", 3},
                 {"1/y", 2}, {"x/(1+y)", 3}, {"x^0.5", 1}, {"x^1e300", 1000}, {"1+x^2", 2},    {"2^x", 2}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        kb_expression *e = NULL;
        CHECK_OK(kb_expression_parse(cases[i].text, variables, &e, &error));
        assert_int_equal(kb_expression_degree(e), cases[i].degree);
        kb_expression_destroy(e);
    }
}

/* ---------------------------------------------------------------- errors of the language */

static void check_refused(const char *text, int column, const char *message)
{
    kb_expression *e = NULL;
    memset(&error, 0, sizeof error);
    CHECK_FAILS(kb_expression_parse(text, variables, &e, &error), KBASS_ERROR_SYNTAX, message);
    assert_int_equal(error.column, column);
    char shown[sizeof error.source];
    snprintf(shown, sizeof shown, "%s", text);
    kb_text_disarm(shown, true); /* what a terminal would obey is not quoted as it is */
    CHECK_TEXT(error.source, shown);
}

static void syntax_errors(void **state)
{
    (void)state;
    check_refused("x*z", 3, "unknown name \"z\" in \"x*z\" (known: x, y, t)");
    check_refused("X", 1, "did you mean \"x\"?");
    check_refused("y+sine(x)", 3, "unknown function \"sine\" in \"y+sine(x)\"; did you mean \"sin\"? (known: sin, cos");
    check_refused("", 1, "found the end, needed a number, a name or \"(\"");
    check_refused("x+", 3, "found the end");
    check_refused("(x", 3, "found the end, needed an operator or \")\"");
    check_refused("x)", 2, "found \")\", needed an operator or the end");
    check_refused("2x", 2, "found \"x\", needed an operator");
    check_refused("x(y)", 2, "products are written with *");
    check_refused("x**2", 3, "powers are written with ^");
    check_refused("sin x", 5, "needed \"(\" after the name of a function");
    check_refused("sin(x", 6, "needed \")\"");
    check_refused("x\xc2\xb7y", 2, "found \"\xc2\xb7\"");
    check_refused("x\x01", 2, "the byte 0x01");
    check_refused("\xff", 1, "the byte 0xff");
    check_refused("1/0", 2, "not finite");
    check_refused("x/(y-y)", 2, "not finite");
    check_refused("log(0)*x", 4, "not finite");
    check_refused("1e999", 1, "too large");
    check_refused("1e200*x*1e200", 8, "not finite");
    check_refused(".", 1, "needed a number");
    check_refused("0x10", 2, "found \"x\"");
}

static void hostile_texts(void **state)
{
    (void)state;
    enum { N = 100000 };
    static const char *const repeated[] = {"(", "-", "sin(", "x^", "((x)", "x+", "1-(", "2^-"};
    static char text[5 * N + 10];
    kb_expression *e = NULL;
    for (size_t i = 0; i < sizeof repeated / sizeof *repeated; i++) {
        for (size_t copies = 150; copies <= N; copies *= 5) {
            text[0] = '\0';
            size_t length = strlen(repeated[i]);
            for (size_t k = 0; k < copies; k++) memcpy(text + k * length, repeated[i], length + 1);
            assert_int_equal(kb_expression_parse(text, variables, &e, &error), KBASS_ERROR_SYNTAX);
            CHECK(error.column >= 1 && (size_t)error.column <= strlen(error.source) + 1);
        }
    }
    memset(text, 'z', 400);
    text[400] = '\0';
    CHECK_FAILS(kb_expression_parse(text, variables, &e, &error), KBASS_ERROR_SYNTAX, "unknown name");
}

/* Random bytes out of the language's own letters: any status, no crash, no leak. */
static void fuzzed_texts(void **state)
{
    (void)state;
    static const char letters[] = "xyt012.5e+-*/^()() sincosexplogz,";
    kb_random random;
    kb_random_seed(&random, 7);
    for (int round = 0; round < 20000; round++) {
        char text[24] = "";
        size_t n = (size_t)(kb_random_uniform(&random) * 22);
        for (size_t i = 0; i < n; i++) text[i] = letters[(size_t)(kb_random_uniform(&random) * (sizeof letters - 1))];
        kb_expression *e = NULL;
        kb_sum sum = {0};
        if (kb_expression_parse(text, variables, &e, &error) == KBASS_OK) check_name(text, kb_expression_name(e));
        kb_expression_destroy(e);
        if (kb_sum_parse(text, variables, &sum, &error) == KBASS_OK) kb_sum_clear(&sum);
    }
}

/* ---------------------------------------------------------------- random expressions, against direct evaluation */

typedef struct {
    kb_random random;
    char text[4000];
    size_t length;
    double x[3];
    bool is_tame; /* no value on the way is large, or small where that matters */
} generator;

static void put(generator *g, const char *text)
{
    g->length += (size_t)snprintf(g->text + g->length, sizeof g->text - g->length, "%s", text);
}

static size_t pick(generator *g, size_t n) { return (size_t)(kb_random_uniform(&g->random) * (double)n); }

static double tame(generator *g, double value, double low)
{
    if (!(fabs(value) <= 1e3 && fabs(value) >= low)) g->is_tame = false;
    return value;
}

static double generate(generator *g, int depth);

static double generate_leaf(generator *g)
{
    static const char *const numbers[] = {"2", "0.5", "3", "1.25"};
    static const double values[] = {2, 0.5, 3, 1.25};
    size_t which = pick(g, 7);
    put(g, which < 3 ? names[which] : numbers[which - 3]);
    return which < 3 ? g->x[which] : values[which - 3];
}

static double generate_function(generator *g, int depth)
{
    static const char *const functions[] = {"sin(",  "cos(",  "exp(",  "log(", "sqrt(", "abs(",  "tanh(",  "tan(",
                                            "sinh(", "cosh(", "atan(", "erf(", "sign(", "step(", "max(1,", "min(2,"};
    size_t which = pick(g, 16);
    put(g, functions[which]);
    double v = tame(g, generate(g, depth - 1), 1e-2);
    put(g, ")");
    switch (which) {
    case 0: return sin(v);
    case 1: return cos(v);
    case 2: return exp(v);
    case 3: return log(v);
    case 4: return sqrt(v);
    case 5: return fabs(v);
    case 6: return tanh(v);
    case 7: return tan(v);
    case 8: return sinh(v);
    case 9: return cosh(v);
    case 10: return atan(v);
    case 11: return erf(v);
    case 12: return (v > 0) - (v < 0);
    case 13: return v >= 0;
    case 14: return fmax(1, v);
    default: return fmin(2, v);
    }
}

static double generate_power(generator *g, int depth)
{
    static const char *const exponents[] = {")^2", ")^3", ")^(-1)", ")^0.5", ")^-2"};
    static const double values[] = {2, 3, -1, 0.5, -2};
    put(g, "(");
    double base = tame(g, generate(g, depth - 1), 1e-2);
    if (pick(g, 6) == 0) {
        put(g, ")^(");
        double exponent = generate(g, depth - 1);
        put(g, ")");
        return pow(base, exponent);
    }
    size_t which = pick(g, 5);
    put(g, exponents[which]);
    return pow(base, values[which]);
}

static double generate_binary(generator *g, int depth)
{
    static const char *const operators[] = {")+(", ")-(", ")*(", ")/("};
    size_t which = pick(g, 4);
    put(g, "((");
    double a = generate(g, depth - 1);
    put(g, operators[which]);
    double b = tame(g, generate(g, depth - 1), which == 3 ? 1e-2 : 0);
    put(g, "))");
    return which == 0 ? a + b : which == 1 ? a - b : which == 2 ? a * b : a / b;
}

static double generate(generator *g, int depth)
{
    size_t kind = depth ? pick(g, 8) : 0;
    double value = kind == 0   ? generate_leaf(g)
                   : kind < 6  ? generate_binary(g, depth)
                   : kind == 6 ? generate_power(g, depth)
                               : generate_function(g, depth);
    return tame(g, value, 0);
}

static double value_at(const kb_expression *e, const double *x)
{
    double value = NAN, work[2000];
    CHECK(kb_expression_work(e, 1) <= 2000);
    kb_expression_values(e, 1, x, 1, &value, work);
    return value;
}

static double sum_at(const kb_sum *sum, const double *x)
{
    double value = 0;
    for (size_t i = 0; i < sum->n; i++) value += sum->coefficients[i] * value_at(sum->terms[i], x);
    return value;
}

static double sum_size_at(const kb_sum *sum, const double *x)
{
    double size = 1;
    for (size_t i = 0; i < sum->n; i++) size += fabs(sum->coefficients[i] * value_at(sum->terms[i], x));
    return size;
}

static void check_slopes(const kb_expression *e, const double *x)
{
    double work[2000];
    for (size_t v = 0; v < 3; v++) {
        double up[3], down[3], slope = NAN, h = 1e-5;
        memcpy(up, x, sizeof up);
        memcpy(down, x, sizeof down);
        up[v] += h;
        down[v] -= h;
        double difference = (value_at(e, up) - value_at(e, down)) / (2 * h);
        kb_expression_slopes(e, v, 1, x, 1, &slope, work);
        if (!kb_expression_depends(e, v)) CHECK_CLOSE(slope, 0, 0); /* independent */
        h = 1e-4;
        up[v] = x[v] + h;
        down[v] = x[v] - h;
        double coarse = (value_at(e, up) - value_at(e, down)) / (2 * h);
        /* 2: the difference's own error, seen by comparing two steps; 1e-6: rounding 1e-16 * 1e3 / 1e-5 and relative */
        if (isfinite(difference) && isfinite(coarse))
            CHECK_CLOSE(slope, difference, 2 * fabs(coarse - difference) + 1e-6 * (1 + fabs(difference)));
    }
}

static void check_generated(generator *g, double expected)
{
    kb_expression *e = NULL;
    kbass_status status = kb_expression_parse(g->text, variables, &e, &error);
    if (status == KBASS_ERROR_SYNTAX && strstr(error.message, "not finite")) return; /* 1/(x-x) */
    CHECK_OK(status);
    check_name(g->text, kb_expression_name(e));
    if (isfinite(expected) && g->is_tame) {
        CHECK_CLOSE(value_at(e, g->x), expected, 1e-6 * (1 + fabs(expected))); /* rounding, small divisors */
        check_slopes(e, g->x);
    }
    kb_sum sum = {0};
    if (kb_sum_parse(g->text, variables, &sum, &error) == KBASS_OK && isfinite(expected) && g->is_tame) {
        double size = sum_size_at(&sum, g->x);
        CHECK_CLOSE(sum_at(&sum, g->x), expected, 1e-6 * size); /* as above, with cancellation between the terms */
    }
    for (size_t i = 0; i < sum.n; i++) check_name(kb_expression_name(sum.terms[i]), kb_expression_name(sum.terms[i]));
    kb_sum_clear(&sum);
    kb_expression_destroy(e);
}

static void random_expressions(void **state)
{
    (void)state;
    static generator g;
    size_t n_compared = 0;
    kb_random_seed(&g.random, 1);
    for (int round = 0; round < 4000; round++) {
        g.length = 0;
        g.is_tame = true;
        for (size_t i = 0; i < 3; i++) g.x[i] = 0.4 + 1.6 * kb_random_uniform(&g.random);
        double expected = generate(&g, 1 + round % 4);
        check_generated(&g, expected);
        n_compared += isfinite(expected) && g.is_tame;
    }
    CHECK(n_compared > 2000);
}

/* ---------------------------------------------------------------- sums */

static void check_sum(const char *text, size_t n, const char *const *terms, const double *coefficients)
{
    kb_sum sum = {0};
    CHECK_OK(kb_sum_parse(text, variables, &sum, &error));
    assert_int_equal(sum.n, n);
    for (size_t i = 0; i < n; i++) {
        CHECK_TEXT(kb_expression_name(sum.terms[i]), terms[i]);
        CHECK_CLOSE(sum.coefficients[i], coefficients[i], 1e-15 * fabs(coefficients[i])); /* a few roundings */
    }
    kb_sum_clear(&sum);
}

static void sums_are_multiplied_out(void **state)
{
    (void)state;
    check_sum("2.5*(1-x^2)*y - x", 3, (const char *[]){"x", "y", "x^2*y"}, (double[]){-1, 2.5, -2.5});
    check_sum("(x+y)^2", 3, (const char *[]){"x^2", "x*y", "y^2"}, (double[]){1, 2, 1});
    check_sum("sin(x+y) + x/(1+y)", 2, (const char *[]){"sin(x+y)", "x/(1+y)"}, (double[]){1, 1});
    check_sum("(x+y)*(x-y) - x^2", 1, (const char *[]){"y^2"}, (double[]){-1});
    check_sum("x*(1+y)/(2+2*t)", 2, (const char *[]){"x/(1+t)", "x*y/(1+t)"}, (double[]){0.5, 0.5});
    check_sum("(1+x*(1+x)^0.5)^2", 4, (const char *[]){"1", "x^2", "x*(1+x)^0.5", "x^3"}, (double[]){1, 1, 2, 1});
    check_sum("3", 1, (const char *[]){"1"}, (double[]){3});
    check_sum("x - x", 0, NULL, NULL);
    kb_sum sum = {0};
    CHECK_FAILS(kb_sum_parse("(1+x+y+t)^40", variables, &sum, &error), KBASS_ERROR_SYNTAX, "more than 4096 terms");
    CHECK_FAILS(kb_sum_parse("(1+x)^1e9", variables, &sum, &error), KBASS_ERROR_SYNTAX, "powers above 64");
    CHECK_FAILS(kb_sum_parse("(x+", variables, &sum, &error), KBASS_ERROR_SYNTAX, "found the end");
}

/* ---------------------------------------------------------------- slopes and monomials */

static void slopes_against_differences(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "x^3*y^2*t",     "x^2",         "1",          "x/(1+y^2)",    "x^y",        "2^x*t",          "tan(x*y)",
        "log(x)/t",      "sqrt(x+y)",   "abs(x-y)*t", "tanh(x)^3",    "x^-2.5",     "cos(x)*exp(-t)", "x^20/y^17",
        "sinh(x*y)",     "cosh(x-t)",   "asin(y*t)",  "acos(y*t)",    "atan(x/y)",  "erf(x*t)",       "floor(3*x)*y",
        "sign(y-t)*x^2", "step(x-y)*t", "min(x*y,t)", "max(x^2,y)*t", "monod(x,y)", "hill(x,y,2.5)"};
    const double x[3] = {1.1, 0.7, 0.9};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        kb_expression *e = NULL;
        CHECK_OK(kb_expression_parse(texts[i], variables, &e, &error));
        check_slopes(e, x);
        kb_expression_destroy(e);
    }
}

/* What does not depend on the variable has slope 0 even where its own slope is infinite. */
static void slopes_at_the_edge(void **state)
{
    (void)state;
    kb_expression *e = NULL;
    const double x[3] = {0, 2, 3};
    double slope = NAN, work[100];
    CHECK_OK(kb_expression_parse("sqrt(x)*y + t*y", variables, &e, &error));
    kb_expression_slopes(e, 1, 1, x, 1, &slope, work);
    CHECK_CLOSE(slope, 3, 0); /* exact */
    kb_expression_slopes(e, 0, 1, x, 1, &slope, work);
    CHECK(isinf(slope));
    kb_expression_destroy(e);
    CHECK_OK(kb_expression_parse("log(x-y)", variables, &e, &error));
    CHECK(isnan(value_at(e, x)));
    kb_expression_destroy(e);
}

/* Where a fit would stand on a jump: only what the states pass through. */
static void jumps(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        bool jumps;
    } cases[] = {{"sign(x)*y", true},        {"step(t-3)*x", false}, {"exp(floor(2*y+t))", true}, {"abs(x)", false},
                 {"max(x, step(t))", false}, {"step(x^2-t)", true},  {"x*floor(t)", false}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        kb_expression *e = NULL;
        CHECK_OK(kb_expression_parse(cases[i].text, variables, &e, &error));
        assert_int_equal(kb_expression_jumps(e, 2), cases[i].jumps); /* x and y are states */
        kb_expression_destroy(e);
    }
}

/* min, step and the other newer functions may be states: the bracket makes the function. */
static void names_of_functions(void **state)
{
    (void)state;
    static const char *const own[] = {"step", "min"};
    kb_expression *e = NULL;
    CHECK_OK(kb_expression_parse("step*min(step, min)", (kb_variables){2, own}, &e, &error));
    CHECK_TEXT(kb_expression_name(e), "step*min(step,min)");
    kb_expression_destroy(e);
}

static void monomials(void **state)
{
    (void)state;
    kb_expression *e = NULL;
    CHECK_OK(kb_expression_monomial((int[]){2, 0, 1}, variables, &e, &error));
    CHECK_TEXT(kb_expression_name(e), "x^2*t");
    size_t n = 0;
    const kb_power *powers = NULL;
    CHECK(kb_expression_powers(e, &n, &powers) && n == 2 && powers[1].variable == 2 && powers[1].power == 1);
    kb_expression_destroy(e);
    CHECK_OK(kb_expression_monomial((int[]){0, 0, 0}, variables, &e, &error));
    CHECK_TEXT(kb_expression_name(e), "1");
    kb_expression_destroy(e);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(canonical_names),
        cmocka_unit_test(terms_drop_their_factor),
        cmocka_unit_test(degrees),
        cmocka_unit_test(syntax_errors),
        cmocka_unit_test(hostile_texts),
        cmocka_unit_test(fuzzed_texts),
        cmocka_unit_test(random_expressions),
        cmocka_unit_test(sums_are_multiplied_out),
        cmocka_unit_test(slopes_against_differences),
        cmocka_unit_test(slopes_at_the_edge),
        cmocka_unit_test(jumps),
        cmocka_unit_test(names_of_functions),
        cmocka_unit_test(monomials),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
