/* What tables have in their cells and above their columns: dates, numbers, names, encodings. */
#define _GNU_SOURCE
#include <time.h>

#include "base/calendar.h"
#include "base/memory.h"
#include "base/name.h"
#include "base/random.h"
#include "check.h"
#include "data/cell.h"
#include "data/roles.h"
#include "data/utf16.h"
#include "scratch.h"

/* ---------------------------------------------------------------- dates */

static bool parse(const char *text, kb_date_order order, kb_moment *m)
{
    return kb_moment_parse(text, text + strlen(text), order, m);
}

/* The C library's calendar says the same, a century to each side and far from it. */
static void test_calendar(void **state)
{
    kb_random random;
    (void)state;
    kb_random_seed(&random, 1);
    for (int i = 0; i < 2000; i++) {
        struct tm broken;
        char text[64], printed[KB_MOMENT_SIZE];
        kb_moment m;
        time_t at = (time_t)((kb_random_uniform(&random) - 0.2) * 6e10);
        gmtime_r(&at, &broken);
        strftime(text, sizeof text, i % 2 ? "%Y-%m-%dT%H:%M:%SZ" : "%d %b %Y %H:%M:%S", &broken);
        CHECK(parse(text, KB_MONTH_FIRST, &m) && m.seconds == at && m.has_date && m.has_clock);
        kb_moment_print(at, printed);
        CHECK(parse(printed, KB_DAY_FIRST, &m) && m.seconds == at);
    }
}

static void test_dates(void **state)
{
    static const struct {
        const char *text;
        kb_date_order order;
        const char *expected; /* NULL: no date */
    } cases[] = {{"3/4/2021", KB_DAY_FIRST, "2021-04-03"},
                 {"3/4/2021", KB_MONTH_FIRST, "2021-03-04"},
                 {"21/3/4", KB_YEAR_FIRST, "2021-03-04"},
                 {"3/14/21", KB_DAY_FIRST, NULL},
                 {"3.4.2021", KB_MONTH_FIRST, "2021-04-03"},
                 {"31.12.99 23:59", KB_DAY_FIRST, "1999-12-31 23:59"},
                 {"29-Feb-2024", KB_DAY_FIRST, "2024-02-29"},
                 {"29-Feb-2023", KB_DAY_FIRST, NULL},
                 {"2021-03-04T05:06:07+01:00", KB_DAY_FIRST, "2021-03-04 04:06:07"},
                 {"2021-03-04T05:06:07-0130", KB_DAY_FIRST, "2021-03-04 06:36:07"},
                 {"20210304T050607", KB_DAY_FIRST, "2021-03-04 05:06:07"},
                 {"2021-03", KB_DAY_FIRST, "2021-03-01"},
                 {"Mar 4, 2021", KB_DAY_FIRST, "2021-03-04"},
                 {"4. März 2021", KB_DAY_FIRST, "2021-03-04"},
                 {"4 août 2021", KB_DAY_FIRST, "2021-08-04"},
                 {"Jan 2021", KB_DAY_FIRST, "2021-01-01"},
                 {"Jan-21", KB_DAY_FIRST, "2021-01-01"},
                 {"Jan 21", KB_DAY_FIRST, NULL},
                 {"2021-063", KB_DAY_FIRST, "2021-03-04"},
                 {"2021-366", KB_DAY_FIRST, NULL},
                 {"2021-W01", KB_DAY_FIRST, "2021-01-04"},
                 {"2020-W53-7", KB_DAY_FIRST, "2021-01-03"},
                 {"2015-W01", KB_DAY_FIRST, "2014-12-29"},
                 {"2021W54", KB_DAY_FIRST, NULL},
                 {"2021Q3", KB_DAY_FIRST, "2021-07-01"},
                 {"2021-Q5", KB_DAY_FIRST, NULL},
                 {"2021M07", KB_DAY_FIRST, "2021-07-01"},
                 {"2021-03-04 05:06 CET", KB_DAY_FIRST, "2021-03-04 04:06"},
                 {"2021-03-04T05:06+01:00[Europe/Berlin]", KB_DAY_FIRST, "2021-03-04 04:06"},
                 {"2021-03-04T05:06[Europe", KB_DAY_FIRST, NULL},
                 {"2021-03-04 05:06 XYZ", KB_DAY_FIRST, NULL},
                 {"4 Mrz 2021", KB_DAY_FIRST, "2021-03-04"},
                 {"3/14/2021 12:30 AM", KB_MONTH_FIRST, "2021-03-14 00:30"},
                 {"3/14/2021 12:30 PM", KB_MONTH_FIRST, "2021-03-14 12:30"},
                 {"2021-13-01", KB_DAY_FIRST, NULL},
                 {"2021-03-04 25:00", KB_DAY_FIRST, NULL},
                 {"2021-03-04x", KB_DAY_FIRST, NULL},
                 {"12.03", KB_DAY_FIRST, NULL},
                 {"", KB_DAY_FIRST, NULL}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        kb_moment m;
        char printed[KB_MOMENT_SIZE];
        bool is_date = parse(cases[i].text, cases[i].order, &m);
        if (is_date != (cases[i].expected != NULL)) fail_msg("\"%s\" is %sread", cases[i].text, is_date ? "" : "not ");
        if (!is_date) continue;
        kb_moment_print(m.seconds, printed);
        CHECK_TEXT(printed, cases[i].expected);
    }
}

static void test_clocks(void **state)
{
    kb_moment m;
    (void)state;
    CHECK(parse("05:06:07.25", KB_DAY_FIRST, &m) && !m.has_date && m.seconds == 18367 && m.fraction == 0.25);
    CHECK(parse("100:00", KB_DAY_FIRST, &m) && m.seconds == 360000);
    CHECK(parse("12:34.5", KB_DAY_FIRST, &m) && m.seconds == 754 && m.fraction == 0.5);
    CHECK(parse("05:06:07:250", KB_DAY_FIRST, &m) && m.seconds == 18367 && m.fraction == 0.25);
    CHECK(parse("1 day, 2:00:03", KB_DAY_FIRST, &m) && !m.has_date && m.seconds == 93603);
    CHECK(parse("0 days 02:00:03.5", KB_DAY_FIRST, &m) && m.seconds == 7203 && m.fraction == 0.5);
    CHECK(parse("1h30", KB_DAY_FIRST, &m) && m.seconds == 5400);
    CHECK(parse("1 d 2 h 5 min", KB_DAY_FIRST, &m) && m.seconds == 93900);
    CHECK(!parse("5 s", KB_DAY_FIRST, &m) && !parse("1h2h", KB_DAY_FIRST, &m) && !parse("1h90", KB_DAY_FIRST, &m));
    CHECK(!parse("12:60", KB_DAY_FIRST, &m) && !parse("12:3:", KB_DAY_FIRST, &m));
}

/* ---------------------------------------------------------------- cells */

static void test_numbers(void **state)
{
    static const struct {
        const char *cell;
        char point, grouping;
        double expected; /* NaN: no number */
    } cases[] = {{"1,234.5", '.', ',', 1234.5},
                 {"1.234,5", ',', '.', 1234.5},
                 {"1 234,5", ',', 0, 1234.5},
                 {"1\xc2\xa0"
                  "234",
                  '.', 0, 1234},
                 {"1'234.5", '.', 0, 1234.5},
                 {"12,34", '.', ',', NAN},
                 {"1,2345", '.', ',', NAN},
                 {"1.5D+03", '.', 0, 1500},
                 {"\xe2\x88\x92"
                  "2",
                  '.', 0, -2},
                 {"1.5", ',', 0, NAN},
                 {"1 2", '.', 0, NAN},
                 {"0x10", '.', 0, NAN},
                 {".5", '.', 0, 0.5},
                 {"5.", '.', 0, 5},
                 {".", '.', 0, NAN},
                 {"+1e5", '.', 0, 1e5},
                 {"1e", '.', 0, NAN},
                 {"--1", '.', 0, NAN}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        double value = NAN;
        bool is_number = kb_cell_number(cases[i].cell, cases[i].point, cases[i].grouping, &value);
        if (is_number == isnan(cases[i].expected)) fail_msg("\"%s\" is %sread", cases[i].cell, is_number ? "" : "not ");
        if (is_number) CHECK(value == cases[i].expected);
    }
    CHECK(kb_cell_type_of("#N/A", NULL) == KB_CELL_MISSING && kb_cell_type_of("-", NULL) == KB_CELL_MISSING);
    CHECK(kb_cell_type_of("-999", "x, -999") == KB_CELL_MISSING && kb_cell_type_of("-999", NULL) == KB_CELL_NUMBER);
    CHECK(kb_cell_type_of("3/4/21", NULL) == KB_CELL_DATE && kb_cell_type_of("ok", NULL) == KB_CELL_TEXT);
}

/* ---------------------------------------------------------------- names */

static void test_names(void **state)
{
    static const char *const cases[][3] = {{"Biomass [g/L]", "Biomass", "g/L"},
                                           {"Time (s)", "Time", "s"},
                                           {"T / K", "T", "K"},
                                           {"x (inlet)", "x_inlet", ""},
                                           {"Größe", "Groesse", ""},
                                           {"CO₂ [%]", "CO2", "%"},
                                           {"ρ", "rho", ""},
                                           {"2-butanol", "_2_butanol", ""},
                                           {"温度", "", ""},
                                           {"a  b", "a_b", ""},
                                           {"dX/dt", "dX_dt", ""},
                                           {"[g]", "g", ""}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char id[KB_IDENTIFIER_SIZE], unit[32];
        const char *begin;
        size_t unit_length, length = kb_face_length(cases[i][0], &begin, &unit_length);
        kb_identifier_of(cases[i][0], length, id);
        snprintf(unit, sizeof unit, "%.*s", (int)unit_length, begin);
        CHECK_TEXT(id, cases[i][1]);
        CHECK_TEXT(unit, cases[i][2]);
    }
    CHECK(kb_face_is("Biomass [g/L]", "biomass") && kb_face_is("Biomass [g/L]", "Biomass [g/L]"));
    CHECK(!kb_face_is("Biomass [g/L]", "Bio"));
    char text[] = "a\x1b[31mb\xc2\x9b\xff\n";
    kb_text_disarm(text, false);
    CHECK_TEXT(text, "a?[31mb???");
}

static void test_names_of_time(void **state)
{
    static const char *const falling[] = {"t",    "time", "Time (s)",    "Timestamp", "date",
                                          "Zeit", "year", "Sample time", "T"};
    (void)state;
    for (size_t i = 1; i < sizeof falling / sizeof *falling; i++)
        CHECK(kb_time_likeness(falling[i - 1]) > kb_time_likeness(falling[i]));
    CHECK(kb_time_likeness("T") > 0 && kb_time_likeness("x") == 0 && kb_time_likeness("timer_setting") == 0);
}

/* ---------------------------------------------------------------- reserved names from programs */

static void test_reserved(void **state)
{
    static const double times[] = {0, 1}, values[] = {1, 2};
    static const char *const bad[] = {"nan"};
    kbass_data *data = NULL;
    kbass_error error;
    (void)state;
    CHECK_FAILS(kbass_data_create(2, 1, times, values, "t", bad, &data, &error), KBASS_ERROR_ARGUMENT,
                "equations understand \"nan\" otherwise");
}

/* ---------------------------------------------------------------- UTF-16 */

static void test_utf16(void **state)
{
    static const unsigned char wide[] = "\xff\xfe"
                                        "a\0\xdf\0\x3d\xd8\x00\xde\x3d\xd8";
    char text[40];
    size_t used = 0;
    (void)state;
    CHECK(kb_encoding_of(wide, 12) == KB_UTF16_LITTLE);
    CHECK(kb_encoding_of((const unsigned char *)"\0t\0,\0x", 6) == KB_UTF16_BIG);
    CHECK(kb_encoding_of((const unsigned char *)"t,x\n0,1\n", 8) == KB_UTF8);
    size_t n = kb_utf16_read(KB_UTF16_LITTLE, wide, 12, false, text, &used);
    text[n] = '\0';
    CHECK_TEXT(text, "a\xc3\x9f\xf0\x9f\x98\x80"); /* the last character is half there, and waits */
    CHECK(used == 10);
    n = kb_utf16_read(KB_UTF16_LITTLE, wide + 10, 2, true, text, &used);
    CHECK(n == 1 && text[0] == '?');
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_calendar), cmocka_unit_test(test_dates),
                                       cmocka_unit_test(test_clocks),   cmocka_unit_test(test_numbers),
                                       cmocka_unit_test(test_names),    cmocka_unit_test(test_names_of_time),
                                       cmocka_unit_test(test_reserved), cmocka_unit_test(test_utf16)};
    return cmocka_run_group_tests(tests, make_file, remove_file);
}
