/* Workbooks: the files of tests/data read to the numbers of their plain version, dates, and files that must be refused.
 */
#include "base/memory.h"
#include "data/xlsx.h"
#include "scratch.h"

#define FOLDER KBASS_ROOT "/tests/data/"

static kbass_error error;

static kbass_data *read_data(const char *name)
{
    char full[400];
    kbass_data *data = NULL;
    snprintf(full, sizeof full, FOLDER "%s", name);
    if (kbass_data_read(full, NULL, &data, &error) != KBASS_OK) fail_msg("%s", error.message);
    return data;
}

/* ---------------------------------------------------------------- numbers */

static void check_same(const char *name, const kbass_data *found, const kbass_data *plain)
{
    size_t n = kbass_data_rows(plain), n_states = kbass_data_states(plain);
    if (kbass_data_rows(found) != n || kbass_data_states(found) != n_states) fail_msg("%s: its shape", name);
    for (size_t k = 0; k < n_states; k++) CHECK_TEXT(kbass_data_state_name(found, k), kbass_data_state_name(plain, k));
    for (size_t i = 0; i < n * n_states; i++) {
        double a = kbass_data_values(found)[i], b = kbass_data_values(plain)[i];
        if (kbass_data_times(found)[i / n_states] != kbass_data_times(plain)[i / n_states] ||
            !(a == b || (isnan(a) && isnan(b))))
            fail_msg("%s: row %zu: %g, expected %g", name, i / n_states, a, b);
    }
}

static void test_same_numbers(void **state)
{
    static const char *const names[] = {"ode.xlsx",        "ode.xlsx:Data",     "ode.xlsx:data",
                                        "ode.xlsx:/Data",  "ode_inline.xlsx",   "ode_second.xlsx:My data",
                                        "ode_hidden.xlsx", "ode_formulas.xlsx", "ode_errors.xlsx",
                                        "ode_prefix.xlsx", "ode_aside.xlsx",    "ode_percent.xlsx"};
    kbass_data *plain = read_data("ode.csv");
    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        kbass_data *found = read_data(names[i]);
        check_same(names[i], found, plain);
        kbass_data_destroy(found);
    }
    kbass_data_destroy(plain);
}

static void test_what_was_understood(void **state)
{
    char text[1000];
    kbass_data *data = read_data("ode_errors.xlsx");
    (void)state;
    kbass_data_describe(data, text, sizeof text);
    CHECK(strstr(text, "sheet \"Data\"; 2 cells with errors such as #N/A taken as missing"));
    kbass_data_destroy(data);
    data = read_data("ode.xlsx");
    kbass_data_describe(data, text, sizeof text);
    CHECK(strstr(text, "sheet \"Data\" of Data, Notes"));
    kbass_data_destroy(data);
}

/* ---------------------------------------------------------------- dates */

/* Serial numbers and dates as Excel shows them. */
static void test_dates(void **state)
{
    static const struct {
        double serial;
        kb_look look;
        bool begins_1904;
        const char *text; /* NULL: it stays a number */
    } cases[] = {
        {45321, KB_DATE, false, "2024-01-30T00:00:00"},
        {45321.25, KB_DATE, false, "2024-01-30T06:00:00"},
        {43859, KB_DATE, true, "2024-01-30T00:00:00"},
        {1, KB_DATE, false, "1900-01-01T00:00:00"},
        {59, KB_DATE, false, "1900-02-28T00:00:00"},
        {61, KB_DATE, false, "1900-03-01T00:00:00"},
        {25569, KB_DATE, false, "1970-01-01T00:00:00"},
        {0, KB_DATE, true, "1904-01-01T00:00:00"},
        {2958465, KB_DATE, false, "9999-12-31T00:00:00"},
        {44562.999999994, KB_DATE, false, "2022-01-01T23:59:59.999"},
        {44562.9999999999, KB_DATE, false, "2022-01-02T00:00:00"},
        {0.5, KB_CLOCK, false, "12:00:00"},
        {0.520839120370370, KB_CLOCK, false, "12:30:00.500"},
        {1.25, KB_CLOCK, false, "30:00:00"},
        {45321.25, KB_CLOCK, false, "2024-01-30T06:00:00"},
        {400.5, KB_ELAPSED, false, "9612:00:00"},
        {0.25, KB_DATE, false, "06:00:00"},
        {-1, KB_DATE, false, NULL},
        {2958466, KB_DATE, false, NULL},
        {NAN, KB_DATE, false, NULL},
        {45321, KB_PLAIN_NUMBER, false, NULL},
    };
    char text[KB_DATE_SIZE];
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        bool is_date = kb_serial_print(cases[i].serial, cases[i].look, cases[i].begins_1904, text);
        if (is_date != (cases[i].text != NULL) || (is_date && strcmp(text, cases[i].text) != 0))
            fail_msg("%.17g: %s, expected %s", cases[i].serial, is_date ? text : "a number",
                     cases[i].text ? cases[i].text : "a number");
    }
}

/* ---------------------------------------------------------------- refusals */

static void refuse(const char *name, const char *message)
{
    char full[400];
    kbass_data *data = NULL;
    snprintf(full, sizeof full, FOLDER "%s", name);
    CHECK_FAILS(kbass_data_read(full, NULL, &data, &error), KBASS_ERROR_DATA, message);
    CHECK(data == NULL);
}

static void test_refusals(void **state)
{
    (void)state;
    refuse("ode.xlsx:Sheet9", "no sheet \"Sheet9\"; there are: Data, Notes");
    refuse("ode_second.xlsx", "file:NAME reads another sheet: Notes, My data");
    refuse("formula_without_value.xlsx", ":2: cell B2 has a formula without its value");
    refuse("hostile_entities.xlsx", "declares a document type");
    refuse("hostile_far.xlsx", "1102 cells over 1101 rows and 1100 columns are no table");
    refuse("hint.ods", "a workbook without sheets");
    refuse("hint.xls", "old Excel workbook (.xls)");
}

static unsigned char *load(const char *name, size_t *n)
{
    char full[400];
    snprintf(full, sizeof full, FOLDER "%s", name);
    FILE *file = fopen(full, "rb");
    CHECK(file && fseek(file, 0, SEEK_END) == 0);
    *n = (size_t)ftell(file);
    unsigned char *bytes = malloc(*n + 1);
    rewind(file);
    CHECK(bytes && fread(bytes, 1, *n, file) == *n && fclose(file) == 0);
    return bytes;
}

static void read_damaged(const unsigned char *bytes, size_t n)
{
    kbass_data *data = NULL;
    write_bytes(bytes, n);
    kbass_status status = kbass_data_read(path, NULL, &data, &error);
    if (status != KBASS_OK && strncmp(error.message, path, strlen(path)) != 0)
        fail_msg("\"%s\" does not name the file", error.message);
    kbass_data_destroy(data);
}

/* Every cut, and changed bits all over, are read or refused, never worse; the sanitizers watch. */
static void test_damaged(void **state)
{
    static const char *const names[] = {"ode.xlsx", "ode_inline.xlsx"};
    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        size_t n = 0;
        unsigned char *bytes = load(names[i], &n);
        for (size_t at = 0; at < n; at += 31) read_damaged(bytes, at);
        for (size_t at = 0; at < n; at += 17) {
            unsigned char kept = bytes[at];
            bytes[at] ^= (unsigned char)(1u << at % 8);
            read_damaged(bytes, n);
            bytes[at] = kept;
        }
        free(bytes);
    }
}

static void test_without_memory(void **state)
{
    kbass_status status = KBASS_ERROR_MEMORY;
    (void)state;
    for (long n = 0; status != KBASS_OK; n++) {
        kbass_data *data = NULL;
        kb_memory_fail_after(n);
        status = kbass_data_read(FOLDER "ode.xlsx", NULL, &data, &error);
        kb_memory_fail_after(-1);
        if (status != KBASS_OK && n > 2000) fail_msg("%s", error.message);
        if (status != KBASS_OK) CHECK(status == KBASS_ERROR_MEMORY || strstr(error.message, "memory"));
        kbass_data_destroy(data);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_same_numbers), cmocka_unit_test(test_what_was_understood),
        cmocka_unit_test(test_dates),        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_damaged),      cmocka_unit_test(test_without_memory),
    };
    return cmocka_run_group_tests(tests, make_file, remove_file);
}
