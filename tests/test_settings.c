#include <locale.h>

#include "base/memory.h"
#include "base/number.h"
#include "base/settings.h"
#include "base/suggest.h"
#include "check.h"

static kbass_settings settings;
static kbass_error error;

static const char *get(const char *name)
{
    static char text[64];
    CHECK(kbass_settings_get(&settings, name, text, sizeof text) == strlen(text));
    return text;
}

static int reset(void **state)
{
    (void)state;
    kb_settings_clear(&settings);
    return 0;
}

static void test_defaults(void **state)
{
    (void)state;
    CHECK(settings.degree == 0 && settings.seed == 1 && settings.terms == NULL);
    CHECK(settings.paper_steps == 100 && settings.paper_inclusion == 0.5);
    CHECK_OK(kb_settings_check(&settings, &error));
    for (size_t i = 0; i < kbass_settings_count(); i++) {
        const kbass_setting_info *info = kbass_settings_info(i);
        CHECK(!strchr(info->name, '_') && info->help && info->group);
        CHECK((info->kind == KBASS_CHOICE) == (info->choices != NULL));
        CHECK((info->kind == KBASS_FLAG) == (info->value_name == NULL));
    }
    CHECK(kbass_settings_info(kbass_settings_count()) == NULL);
}

static void test_text_returns(void **state)
{
    static const char *const pairs[][2] = {{"degree", "4"},        {"box-degree", "12"},   {"constant", "yes"},
                                           {"kernel", "matern72"}, {"time-limit", "0.1"},  {"terms", "x, sin(x)"},
                                           {"method", "paper"},    {"seed", "2147483647"}, {"mesh", "4000"}};
    (void)state;
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        CHECK_OK(kbass_settings_set(&settings, pairs[i][0], pairs[i][1], &error));
        CHECK_TEXT(get(pairs[i][0]), pairs[i][1]);
    }
    CHECK(settings.degree == 4 && settings.constant == 1 && settings.kernel == 2 && settings.method == 1);
    CHECK_OK(kbass_settings_set(&settings, "box_degree", "3", &error));
    CHECK(settings.box_degree == 3);
    CHECK_TEXT(get("forbid"), "");
    char cut[3];
    CHECK(kbass_settings_get(&settings, "terms", cut, sizeof cut) == 9);
    CHECK_TEXT(cut, "x,");
}

static void test_flags(void **state)
{
    static const char *const on[] = {NULL, "", "yes", "1"}, *const off[] = {"no", "0"};
    (void)state;
    for (size_t i = 0; i < 4; i++) {
        settings.constant = 0;
        CHECK_OK(kbass_settings_set(&settings, "constant", on[i], &error));
        CHECK(settings.constant == 1);
    }
    for (size_t i = 0; i < 2; i++) {
        settings.constant = 1;
        CHECK_OK(kbass_settings_set(&settings, "constant", off[i], &error));
        CHECK(settings.constant == 0);
    }
    CHECK_FAILS(kbass_settings_set(&settings, "constant", "maybe", &error), KBASS_ERROR_ARGUMENT, "neither yes nor no");
}

static void test_refusals(void **state)
{
    static const char *const numbers[] = {"13", "0", "-1", "2.5", "", "x", "nan", "inf", "0x3", " 3", "3 "};
    (void)state;
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        CHECK_FAILS(kbass_settings_set(&settings, "degree", numbers[i], &error), KBASS_ERROR_ARGUMENT,
                    "is not a whole number from 1 to 12");
    CHECK(settings.degree == 0);
    CHECK_FAILS(kbass_settings_set(&settings, "paper-steps", "0", &error), KBASS_ERROR_ARGUMENT, "from 1 to 100000");
    CHECK_FAILS(kbass_settings_set(&settings, "time-limit", "nan", &error), KBASS_ERROR_ARGUMENT, "from 0 to");
    CHECK_FAILS(kbass_settings_set(&settings, "paper-inclusion", "0", &error), KBASS_ERROR_ARGUMENT, "1e-06");
    CHECK_FAILS(kbass_settings_set(&settings, "kernel", "matern", &error), KBASS_ERROR_ARGUMENT, "matern52|matern72");
    CHECK_FAILS(kbass_settings_set(&settings, "degree", NULL, &error), KBASS_ERROR_ARGUMENT, "degree needs a value: P");
    CHECK_FAILS(kbass_settings_set(&settings, "degre", "3", &error), KBASS_ERROR_ARGUMENT,
                "unknown setting \"degre\" (did you mean \"degree\"?)");
    CHECK_FAILS(kbass_settings_set(&settings, "wombat", "3", &error), KBASS_ERROR_ARGUMENT,
                "unknown setting \"wombat\"");
    CHECK(!strstr(error.message, "did you mean"));
}

static void test_mesh(void **state)
{
    static const char *const bad[] = {"3",
                                      " ",
                                      "19",
                                      "4001",
                                      "160,",
                                      ",160",
                                      "160,,160",
                                      "1e9",
                                      "nan",
                                      "20.5",
                                      "20 30",
                                      "20,20,20,20,20",
                                      "000000000000000000000000000000000020"};
    size_t points[4] = {9, 9, 9, 9};
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        CHECK_FAILS(kbass_settings_set(&settings, "mesh", bad[i], &error), KBASS_ERROR_ARGUMENT,
                    "is not a whole number from 20 to 4000");
    CHECK(!settings.mesh);
    CHECK_OK(kb_mesh_parse(NULL, 2, points, &error));
    CHECK(points[0] == 0 && points[1] == 0 && points[2] == 9);
    CHECK_OK(kb_mesh_parse("200", 3, points, &error));
    CHECK(points[0] == 200 && points[1] == 200 && points[2] == 200 && points[3] == 9);
    CHECK_OK(kb_mesh_parse("auto", 2, points, &error));
    CHECK(points[0] == 0 && points[1] == 0 && kb_mesh_is_auto("auto") && !kb_mesh_is_auto("160") &&
          !kb_mesh_is_auto(NULL));
    CHECK_OK(kb_mesh_parse(" 26 , 101", 2, points, &error));
    CHECK(points[0] == 26 && points[1] == 101 && points[2] == 200);
    CHECK_FAILS(kb_mesh_parse("160,160", 1, points, &error), KBASS_ERROR_ARGUMENT,
                "has 2 numbers, the data have 1 axis");
    CHECK_FAILS(kb_mesh_parse("160,160", 3, points, &error), KBASS_ERROR_ARGUMENT,
                "has 2 numbers, the data have 3 axes");
}

static void test_check_of_a_struct(void **state)
{
    (void)state;
    settings.mesh = "7";
    CHECK_FAILS(kb_settings_check(&settings, &error), KBASS_ERROR_ARGUMENT, "mesh: \"7\"");
    settings.mesh = NULL;
    settings.kernel = 5;
    CHECK_FAILS(kb_settings_check(&settings, &error), KBASS_ERROR_ARGUMENT, "kernel");
    settings.kernel = 0;
    settings.time_limit = NAN;
    CHECK_FAILS(kb_settings_check(&settings, &error), KBASS_ERROR_ARGUMENT, "time-limit");
}

/* Not set and set to the default are different things. */
static void test_given(void **state)
{
    (void)state;
    char text[8];
    CHECK(!kbass_settings_is_given(&settings, "seed") && !kbass_settings_is_given(NULL, "seed"));
    CHECK_OK(kbass_settings_set(&settings, "seed", "1", &error));
    CHECK(kbass_settings_is_given(&settings, "seed") && !kbass_settings_is_given(&settings, "degree"));
    CHECK_FAILS(kbass_settings_set(&settings, "degree", "0", &error), KBASS_ERROR_ARGUMENT, "from 1 to 12");
    CHECK(!kbass_settings_is_given(&settings, "degree") && !kbass_settings_is_given(&settings, "wombat"));
    CHECK_OK(kbass_settings_set(&settings, "paper_steps", "7", &error));
    CHECK_OK(kbass_settings_set(&settings, "terms", "x", &error));
    CHECK_OK(kbass_settings_unset(&settings, "paper-steps", &error));
    CHECK_OK(kbass_settings_unset(&settings, "terms", &error));
    CHECK(settings.paper_steps == 100 && !settings.terms && !kbass_settings_is_given(&settings, "terms"));
    CHECK_FAILS(kbass_settings_unset(&settings, "degre", &error), KBASS_ERROR_ARGUMENT, "did you mean");
    CHECK(kbass_settings_get(NULL, "paper-steps", text, sizeof text) == 3 && !strcmp(text, "100"));
    CHECK(kbass_settings_get(NULL, "wombat", text, sizeof text) == 0 && !*text);
}

/* As a program has it: a handle, whose texts are its own. */
static void test_handle(void **state)
{
    (void)state;
    kbass_settings *handle = NULL, *copy = NULL;
    char terms[] = "x, y", text[8];
    CHECK_OK(kbass_settings_create(&handle, &error));
    for (int i = 0; i < 2; i++) CHECK_OK(kbass_settings_set(handle, "terms", terms, &error));
    terms[0] = 'z';
    CHECK_OK(kbass_settings_copy(handle, &copy, &error));
    kbass_settings_destroy(handle);
    CHECK(kbass_settings_get(copy, "terms", text, sizeof text) == 4 && !strcmp(text, "x, y"));
    CHECK(kbass_settings_is_given(copy, "terms"));
    kbass_settings_destroy(copy);
    kbass_settings_destroy(NULL);
    for (long n = 0; n < 2; n++) {
        kb_memory_fail_after(n);
        copy = NULL;
        kbass_status status = kbass_settings_create(&copy, &error);
        if (status == KBASS_OK) status = kbass_settings_set(copy, "terms", "x", &error);
        kb_memory_fail_after(-1);
        CHECK_FAILS(status, KBASS_ERROR_MEMORY, "out of memory");
        kbass_settings_destroy(copy);
    }
}

static void test_copy_owns_its_text(void **state)
{
    (void)state;
    char terms[] = "x, y";
    kbass_settings copy;
    settings.terms = terms;
    settings.degree = 5;
    settings.time_limit = 2.5;
    CHECK_OK(kb_settings_copy(&settings, &copy, &error));
    terms[0] = 'z';
    CHECK_TEXT(copy.terms, "x, y");
    CHECK(copy.degree == 5 && copy.time_limit == 2.5 && copy.forbid == NULL);
    kb_settings_clear(&copy);
    CHECK(copy.terms == NULL && copy.degree == 0);
    CHECK_OK(kb_settings_copy(NULL, &copy, &error));
    CHECK(copy.seed == 1);
    settings.terms = NULL;
}

static void test_copy_without_memory(void **state)
{
    (void)state;
    kbass_settings copy;
    settings.terms = "x";
    settings.fix = "x_t = y";
    for (long n = 0; n < 2; n++) {
        kb_memory_fail_after(n);
        CHECK_FAILS(kb_settings_copy(&settings, &copy, &error), KBASS_ERROR_MEMORY, "out of memory");
        kb_memory_fail_after(-1);
        CHECK(copy.terms == NULL && copy.fix == NULL);
    }
}

static void test_nearest(void **state)
{
    static const char *const names[] = {"vdp", "lorenz63", "lorenz96", "lotka-volterra", "x"};
    (void)state;
    CHECK_TEXT(kb_nearest("vpd", 5, names), "vdp");
    CHECK_TEXT(kb_nearest("VDP", 5, names), "vdp");
    CHECK_TEXT(kb_nearest("lorentz96", 5, names), "lorenz96");
    CHECK_TEXT(kb_nearest("lotka", 5, names), "lotka-volterra");
    CHECK(kb_nearest("y", 5, names) == NULL);
    CHECK(kb_nearest("", 5, names) == NULL);
    CHECK(kb_nearest("pendulum", 5, names) == NULL);
    CHECK(kb_nearest("0123456789012345678901234567890123456789012345678901234567890123456789", 5, names) == NULL);
}

static void test_numbers_return(void **state)
{
    static const double numbers[] = {0.1, 1.0 / 3, 1e22, -1.4000000000000001, 5e-324, 1.7976931348623157e308, 1900, 0};
    (void)state;
    char text[KB_NUMBER_SIZE];
    double back = NAN;
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        CHECK(kb_number_print(numbers[i], text) == strlen(text));
        CHECK(kb_number_parse(text, &back) && back == numbers[i]);
    }
    kb_number_print(0.1, text);
    CHECK_TEXT(text, "0.1");
    CHECK(kb_number_parse("inf", &back) && kb_number_parse("NaN", &back) && kb_number_parse("-1.5E+3", &back));
    CHECK(!kb_number_parse("1,5", &back) && !kb_number_parse("1.5m", &back) && !kb_number_parse("nan(1)", &back));
}

/* tests/CMakeLists.txt makes the locale where the system has none. */
static void test_numbers_in_a_comma_locale(void **state)
{
    (void)state;
    if (!setlocale(LC_NUMERIC, "de_DE.UTF-8")) SKIP("no locale de_DE.UTF-8, and no package locales to make it of");
    test_numbers_return(state);
    setlocale(LC_NUMERIC, "C");
}

static void test_version(void **state)
{
    (void)state;
    int major, minor, patch;
    CHECK(sscanf(kbass_version(), "%d.%d.%d", &major, &minor, &patch) == 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_defaults, reset),
        cmocka_unit_test_setup(test_text_returns, reset),
        cmocka_unit_test_setup(test_flags, reset),
        cmocka_unit_test_setup(test_refusals, reset),
        cmocka_unit_test_setup(test_mesh, reset),
        cmocka_unit_test_setup(test_check_of_a_struct, reset),
        cmocka_unit_test_setup(test_given, reset),
        cmocka_unit_test(test_handle),
        cmocka_unit_test_setup(test_copy_owns_its_text, reset),
        cmocka_unit_test_setup(test_copy_without_memory, reset),
        cmocka_unit_test_setup(test_nearest, reset),
        cmocka_unit_test(test_numbers_return),
        cmocka_unit_test(test_numbers_in_a_comma_locale),
        cmocka_unit_test(test_version),
    };
    return RUN_TESTS(tests, NULL, NULL);
}
