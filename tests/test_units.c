/* Units: parsing, printing, what they make of weights, and which terms fit. */
#include "base/memory.h"
#include "check.h"
#include "dictionary/dimensions.h"

static kbass_error error;

static void check_print(const char *text, const char *expected)
{
    kb_symbols symbols = {0};
    kb_unit unit, again;
    char printed[200];
    CHECK_OK(kb_unit_parse(&symbols, text, &unit, &error));
    kb_unit_print(&symbols, &unit, printed, sizeof printed);
    CHECK_TEXT(printed, expected);
    CHECK_OK(kb_unit_parse(&symbols, printed, &again, &error));
    CHECK(kb_unit_is_same(&symbols, &unit, &again));
}

static void test_print(void **state)
{
    (void)state;
    check_print("m/s^2", "m/s^2");
    check_print(" kg m^-1 s-2 ", "kg m^-1 s^-2");
    check_print("1/s", "1/s");
    check_print("m/m", "1");
    check_print("1", "1");
    check_print("m2 * s / m", "m s");
    check_print("hare/km^2", "hare/km^2");
    check_print("m^0.5", "m^0.5");
    check_print("\xc2\xb5m/s", "\xc2\xb5m/s");
}

static void check_same(const char *a, const char *b, bool expected)
{
    kb_symbols symbols = {0};
    kb_unit left, right;
    CHECK_OK(kb_unit_parse(&symbols, a, &left, &error));
    CHECK_OK(kb_unit_parse(&symbols, b, &right, &error));
    if (kb_unit_is_same(&symbols, &left, &right) != expected) fail_msg("%s and %s", a, b);
}

static void test_meaning(void **state)
{
    (void)state;
    check_same("N", "kg m/s^2", true);
    check_same("W", "V A", true);
    check_same("F Ohm", "s", true);
    check_same("H/Ohm", "s", true);
    check_same("T m^2", "Wb", true);
    check_same("S", "1/Ohm", true);
    check_same("J", "C V", true);
    check_same("mL", "cm^3", true);
    check_same("mM", "mol m^-3", true);
    check_same("min", "s", false);
}

static void test_refusals(void **state)
{
    (void)state;
    static const char *const texts[] = {"",       "m/",    "m//s", "/s",   "m^",   "m^x",
                                        "m^1000", "(m)",   "2 m",  "m s)", "m^2m", "abcdefghijklmnopqrstuvwxyz",
                                        "m*",     "m^nan", "-1"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        kb_symbols symbols = {0};
        kb_unit unit;
        if (kb_unit_parse(&symbols, texts[i], &unit, &error) != KBASS_ERROR_SYNTAX)
            fail_msg("\"%s\" was taken", texts[i]);
    }
}

static kb_dictionary *make(const kbass_settings *settings, bool is_field)
{
    static const char *const states[] = {"x", "v"}, *const field[] = {"u"}, *const axes[] = {"t", "x"};
    kb_dictionary *d = NULL;
    if (is_field) CHECK_OK(kb_dictionary_create_fields(settings, 1, field, 2, axes, &d, &error));
    else CHECK_OK(kb_dictionary_create(settings, 2, states, "t", &d, &error));
    return d;
}

static void check_weight(const kb_dictionary *d, const char *term, size_t equation, const char *expected)
{
    char text[100];
    size_t j = kb_dictionary_find(d, term);
    if (j == d->n_terms) fail_msg("no term %s", term);
    kb_dictionary_weight_text(d, j, equation, text, sizeof text);
    CHECK_TEXT(text, expected);
}

static void test_weights(void **state)
{
    (void)state;
    kbass_settings settings;
    kb_settings_default(&settings);
    settings.units = "t:s, x:m, v:m/s";
    settings.terms = "1, x, v, x*v^2, sin(x), sin(x/x), sqrt(x), x/(1+v), exp(x/(v*t)), x^2/(x+v*t), abs(x)";
    kb_dictionary *d = make(&settings, false);
    check_weight(d, "1", 0, "m/s");
    check_weight(d, "v", 0, "1");
    check_weight(d, "x", 1, "1/s^2");
    check_weight(d, "x*v^2", 1, "1/m^2");
    check_weight(d, "sin(x)", 1, ""); /* the sine of a length */
    check_weight(d, "sqrt(x)", 0, "m^0.5/s");
    check_weight(d, "x/(1+v)", 0, "");
    check_weight(d, "exp(x/(v*t))", 0, "m/s");
    check_weight(d, "x^2/(x+v*t)", 0, "1/s");
    check_weight(d, "abs(x)", 0, "1/s");
    kb_dictionary_destroy(d);
    settings = (kbass_settings){0};
    kb_settings_default(&settings);
    settings.units = "t:ms, x:mm"; /* of v nothing is known */
    d = make(&settings, false);
    check_weight(d, "x^2", 0, "ms^-1 mm^-1");
    check_weight(d, "v", 0, "");
    kb_dictionary_destroy(d);
}

static size_t count(const kb_dictionary *d, size_t equation)
{
    size_t n = 0;
    for (size_t j = 0; j < d->n_terms; j++) n += d->roles[j + equation * d->n_terms] == KB_CANDIDATE;
    return n;
}

/* Without constants weights are rates: an oscillator's equations are linear. */
static void test_rates(void **state)
{
    (void)state;
    kbass_settings settings;
    kb_settings_default(&settings);
    settings.units = "t:s, x:m, v:m/s";
    settings.dimensional = 1;
    kb_dictionary *d = make(&settings, false);
    CHECK(count(d, 0) == 2 && count(d, 1) == 2);
    CHECK(d->n_terms == 2);
    kb_dictionary_destroy(d);
    settings.constants = "g:m/s^2";
    d = make(&settings, false);
    CHECK(kb_dictionary_find(d, "1") < d->n_terms); /* v_t = g */
    CHECK(kb_dictionary_fits(d, kb_dictionary_find(d, "1"), 1));
    CHECK(!kb_dictionary_fits(d, kb_dictionary_find(d, "1"), 0)); /* m/s is no power of g */
    kb_dictionary_destroy(d);
}

/* Burgers: u_t = -u u_x + nu u_xx; beside these u^3 / nu fits, and nothing else of degree 3 and order 4. */
static void test_viscosity(void **state)
{
    (void)state;
    kbass_settings settings;
    kb_settings_default(&settings);
    settings.units = "t:s, x:m, u:m/s";
    settings.dimensional = 1;
    settings.constants = "nu:cm^2/min"; /* sizes don't count */
    kb_dictionary *d = make(&settings, true);
    CHECK(d->n_terms == 3);
    CHECK(kb_dictionary_find(d, "u*u_x") < 3 && kb_dictionary_find(d, "u_xx") < 3 && kb_dictionary_find(d, "u^3") < 3);
    check_weight(d, "u_xx", 0, "m^2/s");
    kb_dictionary_destroy(d);
    settings.constants = "none";
    d = make(&settings, true);
    CHECK(d->n_terms == 1);
    kb_dictionary_destroy(d);
}

static void check_refused(const char *units, int dimensional, const char *constants, kbass_status status,
                          const char *text)
{
    static const char *const states[] = {"x", "v"};
    kb_dictionary *d = NULL;
    kbass_settings settings;
    kb_settings_default(&settings);
    settings.units = units;
    settings.dimensional = dimensional;
    settings.constants = constants;
    CHECK_FAILS(kb_dictionary_create(&settings, 2, states, "t", &d, &error), status, text);
}

static void test_options(void **state)
{
    (void)state;
    check_refused("t:s, y:m", 0, NULL, KBASS_ERROR_ARGUMENT, "\"y\" is neither an axis nor a state");
    check_refused("t", 0, NULL, KBASS_ERROR_SYNTAX, "NAME:UNIT");
    check_refused("t:s, x:m^", 0, NULL, KBASS_ERROR_SYNTAX, "--units");
    check_refused("t:s, x:m", 1, NULL, KBASS_ERROR_ARGUMENT, "none for \"v\"");
    check_refused(NULL, 1, NULL, KBASS_ERROR_ARGUMENT, "needs --units");
    check_refused("t:s, x:m, v:m", 0, "g:m", KBASS_ERROR_ARGUMENT, "needs --dimensional");
    check_refused("t:s, x:m, v:m", 1, "g", KBASS_ERROR_SYNTAX, "--constants");
    check_refused("t:s, x:m, v:m", 1, "none", KBASS_ERROR_ARGUMENT, "none of the 10 terms fits");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_print),   cmocka_unit_test(test_meaning), cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_weights), cmocka_unit_test(test_rates),   cmocka_unit_test(test_viscosity),
        cmocka_unit_test(test_options),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
