/* Data however they came: created, described, checked, disturbed. */
#include <stdlib.h>

#include "base/memory.h"
#include "data/data.h"
#include "scratch.h"

static kbass_error error;

/* ---------------------------------------------------------------- create, describe, check */

static void test_create_refuses(void **state)
{
    static const double times[] = {0, 1, NAN}, values[] = {1, INFINITY, 3};
    static const char *const x[] = {"x"}, *const twice[] = {"x", "x"}, *const bad[] = {"x y"}, *const none[] = {NULL};
    kbass_data *data = NULL;
    (void)state;
    CHECK_FAILS(kbass_data_create(0, 1, times, values, NULL, x, &data, &error), KBASS_ERROR_DATA, "0 rows of 1 states");
    CHECK_FAILS(kbass_data_create(3, 1, times, values, NULL, x, &data, &error), KBASS_ERROR_DATA,
                "row 2: \"x\" is infinite");
    CHECK_FAILS(kbass_data_create(1, 1, times + 2, values, NULL, x, &data, &error), KBASS_ERROR_DATA,
                "row 1: the time is");
    CHECK_FAILS(kbass_data_create(1, 2, times, values, NULL, twice, &data, &error), KBASS_ERROR_ARGUMENT,
                "two columns");
    CHECK_FAILS(kbass_data_create(1, 1, times, values, "x", x, &data, &error), KBASS_ERROR_ARGUMENT, "two columns");
    CHECK_FAILS(kbass_data_create(1, 1, times, values, "", x, &data, &error), KBASS_ERROR_ARGUMENT, "name of time");
    CHECK_FAILS(kbass_data_create(1, 1, times, values, NULL, bad, &data, &error), KBASS_ERROR_ARGUMENT, "\"x y\"");
    CHECK_FAILS(kbass_data_create(1, 1, times, values, NULL, none, &data, &error), KBASS_ERROR_ARGUMENT, "state 1");
    CHECK(data == NULL);
}

static void check_description(const char *text, const char *expected)
{
    char found[200];
    kbass_data *data = read_text(text, NULL);
    size_t length = kbass_data_describe(data, found, sizeof found);
    CHECK_TEXT(found, expected);
    CHECK(length == strlen(expected));
    char cut[8];
    CHECK(kbass_data_describe(data, cut, sizeof cut) == length && strncmp(cut, expected, 7) == 0 && !cut[7]);
    CHECK(kbass_data_describe(data, NULL, 0) == length);
    kbass_data_destroy(data);
}

static void test_describe(void **state)
{
    char found[200];
    kbass_data *data = NULL;
    (void)state;
    CHECK_OK(kbass_data_example("hare-lynx", &data, &error));
    kbass_data_describe(data, found, sizeof found);
    CHECK_TEXT(found, "21 rows, 2 states (x, y), t from 1900 to 1920, spacing 1 (even), nothing missing");
    kbass_data_destroy(data);
    check_description("t,x,y\n0,1,1\n0.1,,1\n0.4,1,\n1.1,1,\n",
                      "4 rows, 2 states (x, y), t from 0 to 1.1, spacing 0.1 to 0.7 "
                      "(uneven, median 0.3), 3 of 8 values missing (x 1, y 2)");
    check_description("t,x\n0,1\n0,2\n1,3\n2,3\n2,4\n", "5 rows, 1 state (x), t from 0 to 2, spacing 1 (even), 2 rows "
                                                        "repeat a time: separate measurements, nothing missing");
    check_description("time,x\n3,1\n", "1 row, 1 state (x), all at time = 3, nothing missing");
    check_description("t,a,b,c,d,e,f,g,h,i,j,k,l,m\n0,1,1,1,1,1,1,1,1,1,1,1,1,1\n",
                      "1 row, 13 states (a, b, c, ..., m), all at t = 0, nothing missing");
}

static void refuse_for_discovery(const char *text, const char *message)
{
    kbass_data *data = read_text(text, NULL);
    CHECK_FAILS(kb_data_check(data, &error), KBASS_ERROR_DATA, message);
    CHECK(strncmp(error.message, path, strlen(path)) == 0);
    kbass_data_destroy(data);
}

static void test_check(void **state)
{
    kbass_data *data = NULL;
    (void)state;
    refuse_for_discovery("t,x,y\n0,1,2\n1,2,\n2,3,3\n3,1,\n4,1,5\n",
                         "state \"y\" has 3 measured values, at least 4 are needed");
    refuse_for_discovery("t,x\n2,1\n2,2\n2,3\n2,1\n", "state \"x\": all 4 measured values are at one time (t = 2)");
    refuse_for_discovery("t,x\n0,5\n1,5\n2,5\n3,5\n4,\n", "state \"x\" is constant: all 4 measured values are 5");
    CHECK_OK(kbass_data_example("hare-lynx", &data, &error));
    CHECK_OK(kb_data_check(data, &error));
    CHECK(kbass_data_values(data)[0] == 30.0 && kbass_data_values(data)[41] == 8.6 &&
          kbass_data_times(data)[20] == 1920);
    kbass_data_destroy(data);
}

/* ---------------------------------------------------------------- fields over space */

/* A 2 x 3 grid, columns and rows in disorder, one value missing. */
static const char grid_text[] = "u,x,t,v\n5,1,1,50\n1,1,0,10\n4,0,1,40\n6,2,1,60\n3,2,0,30\n0,0,0,\n";

static kbass_data *read_fields(const char *text, const char *axes)
{
    kbass_data *data = NULL;
    write_bytes(text, strlen(text));
    CHECK_OK(kbass_data_read(path, &(kbass_read_options){.axes = axes}, &data, &error));
    return data;
}

static void test_axes(void **state)
{
    static const double times[] = {0, 0, 0, 1, 1, 1}, positions[] = {0, 1, 2, 0, 1, 2}, u[] = {0, 1, 3, 4, 5, 6};
    kbass_data *data = read_fields(grid_text, " t , x "), *copy = NULL;
    (void)state;
    CHECK(kbass_data_axes(data) == 2 && kbass_data_rows(data) == 6 && kbass_data_states(data) == 2);
    CHECK_TEXT(kbass_data_axis_name(data, 0), "t");
    CHECK_TEXT(kbass_data_axis_name(data, 1), "x");
    CHECK(!kbass_data_axis_name(data, 2));
    CHECK_TEXT(kbass_data_axis_name(data, 0), "t");
    CHECK_TEXT(kbass_data_state_name(data, 1), "v");
    CHECK_OK(kb_data_copy(data, &copy, &error));
    for (size_t i = 0; i < 6; i++) {
        CHECK(kbass_data_times(copy)[i] == times[i] && kbass_data_positions(copy)[i] == positions[i]);
        CHECK(kbass_data_values(copy)[2 * i] == u[i]);
        CHECK(i == 0 ? isnan(kbass_data_values(copy)[1]) : kbass_data_values(copy)[2 * i + 1] == 10 * u[i]);
    }
    CHECK_TEXT(kbass_data_sha256(copy), kbass_data_sha256(data));
    kbass_data_destroy(copy);
    kbass_data_destroy(data);
    data = read_text("t,x\n0,1\n1,2\n", NULL);
    CHECK(kbass_data_axes(data) == 1 && !kbass_data_positions(data));
    kbass_data_destroy(data);
}

/* The table made from numbers is the table written, read, and written again. */
static void test_axes_come_back(void **state)
{
    static const double times[] = {1, 0, 1, 0}, positions[] = {0.1, 7, 2, 3, 0.1, 5, 1, 9}, values[] = {1, 2, 3, NAN};
    static const char *const axes[] = {"t", "x", "y"}, *const fields[] = {"u"};
    kbass_data *data = NULL, *again = NULL;
    char before[65];
    (void)state;
    CHECK_OK(kbass_data_create_axes(4, 3, 1, times, positions, values, axes, fields, &data, &error));
    CHECK(kbass_data_rows(data) == 3 && kbass_data_axes(data) == 3); /* the row without a value is gone */
    CHECK(kbass_data_values(data)[0] == 2 && kbass_data_values(data)[1] == 3 && kbass_data_values(data)[2] == 1);
    CHECK(kbass_data_positions(data)[2] == 0.1 && kbass_data_positions(data)[3] == 5);
    CHECK_OK(kbass_data_write(data, path, &error));
    CHECK_OK(kbass_data_read(path, &(kbass_read_options){.axes = "t,x,y"}, &again, &error));
    CHECK_TEXT(kbass_data_sha256(again), kbass_data_sha256(data)); /* of the file, and of the canonical table */
    snprintf(before, sizeof before, "%s", kbass_data_sha256(data));
    CHECK_OK(kbass_data_add_noise(data, 10, 1, &error));
    CHECK(strcmp(before, kbass_data_sha256(data)) && kbass_data_positions(data)[3] == 5);
    kbass_data_destroy(again);
    kbass_data_destroy(data);
}

/* Rows at one place are one row where they agree. */
static void test_rows_at_one_place(void **state)
{
    const char *axes[] = {"t", "x"}, *fields[] = {"u", "v"};
    double times[] = {1, 0, 1, 0, 1}, positions[] = {2, 2, 2, 3, 2};
    double values[] = {5, NAN, 1, 2, NAN, 6, 3, 4, 5, 6};
    kbass_data *data = NULL;
    (void)state;
    CHECK_OK(kbass_data_create_axes(5, 2, 2, times, positions, values, axes, fields, &data, &error));
    CHECK(kbass_data_rows(data) == 3 && kbass_data_times(data)[2] == 1 && kbass_data_positions(data)[2] == 2);
    CHECK(kbass_data_values(data)[4] == 5 && kbass_data_values(data)[5] == 6);
    kbass_data_destroy(data);
}

static void refuse_axes(const char *text, const char *axes, kbass_status status, const char *message)
{
    kbass_data *data = NULL;
    write_bytes(text, strlen(text));
    CHECK_FAILS(kbass_data_read(path, &(kbass_read_options){.axes = axes}, &data, &error), status, message);
    CHECK(data == NULL);
}

static void test_bad_axes(void **state)
{
    static const double numbers[] = {0, NAN}, infinite[] = {0, INFINITY};
    static const char *const twice[] = {"t", "t"}, *const axes[] = {"t", "x y"}, *const good[] = {"t", "x"};
    static const char *const many[] = {"t", "x", "y", "z", "s"}, *const clash[] = {"x"}, *const fields[] = {"u"};
    kbass_data *data = NULL;
    (void)state;
    refuse_axes(grid_text, "t,y", KBASS_ERROR_DATA, "no column \"y\" for an axis; there are: u, x, t, v");
    refuse_axes(grid_text, "t,x,t", KBASS_ERROR_ARGUMENT, "axes: \"t\" is named twice");
    refuse_axes(grid_text, "t,", KBASS_ERROR_ARGUMENT, "a name missing in \"t,\"");
    refuse_axes(grid_text, "", KBASS_ERROR_ARGUMENT, "a name missing in \"\"");
    refuse_axes(grid_text, "t,x,u,v", KBASS_ERROR_DATA, "all 4 columns are axes: at least one field is needed");
    refuse_axes("t,a,b,c,d,u\n0,0,0,0,0,0\n", "t,a,b,c,d", KBASS_ERROR_ARGUMENT, "more than 4");
    refuse_axes("t,x,u\n0,,1\n", "t,x", KBASS_ERROR_DATA, ":2: column \"x\": the position is missing");
    refuse_axes("t,x,u\n0,inf,1\n", "t,x", KBASS_ERROR_DATA, ":2: column \"x\": \"inf\" is infinite");
    CHECK_FAILS(kbass_data_create_axes(2, 2, 1, numbers, numbers, numbers, twice, fields, &data, &error),
                KBASS_ERROR_ARGUMENT, "two axes have the name \"t\"");
    CHECK_FAILS(kbass_data_create_axes(2, 2, 1, numbers, numbers, numbers, axes, fields, &data, &error),
                KBASS_ERROR_ARGUMENT, "axis 2: \"x y\" cannot stand in equations");
    CHECK_FAILS(kbass_data_create_axes(2, 5, 1, numbers, numbers, numbers, many, fields, &data, &error),
                KBASS_ERROR_ARGUMENT, "5 axes");
    CHECK_FAILS(kbass_data_create_axes(2, 2, 1, numbers, numbers, numbers, good, clash, &data, &error),
                KBASS_ERROR_ARGUMENT, "two columns have the name \"x\"");
    CHECK_FAILS(kbass_data_create_axes(1, 2, 1, numbers, infinite + 1, numbers, good, fields, &data, &error),
                KBASS_ERROR_DATA, "row 1: the x is inf");
    CHECK(data == NULL);
}

static void describe_fields(const char *text, const char *axes, const char *expected)
{
    char found[400];
    kbass_data *data = read_fields(text, axes);
    kbass_data_describe(data, found, sizeof found);
    CHECK_TEXT(found, expected);
    kbass_data_destroy(data);
}

static void test_describe_fields(void **state)
{
    (void)state;
    describe_fields(grid_text, "t,x",
                    "6 rows on a 2 x 3 grid (t, x), 2 fields (u, v), t from 0 to 1, spacing 1 (even), x from 0 to 2, "
                    "spacing 1 (even), 1 of 12 values missing (v 1)");
    describe_fields("t,x,u\n0,0,1\n0,1,2\n0,3,3\n0.30000000000000004,0,1\n0.3,3,2\n", "t,x",
                    "5 rows on a 2 x 3 grid (t, x) with 1 left out, 1 field (u), t from 0 to 0.3, spacing 0.3 "
                    "(even), x from 0 to 3, spacing 1 to 2 (uneven, median 1.5), nothing missing");
    describe_fields("t,x,y,u\n0,0,5,1\n1,1,6,2\n2,3,7,3\n", "t,x,y",
                    "3 scattered points in (t, x, y), 1 field (u), t from 0 to 2, x from 0 to 3, y from 5 to 7, "
                    "nothing missing");
    describe_fields(
        "t,x,u\n0,0,1\n0,0,2\n0,1,3\n1,0,1\n1,1,2\n", "t,x",
        "5 rows on a 2 x 2 grid (t, x), 1 field (u), t from 0 to 1, spacing 1 (even), x from 0 to 1, spacing 1 (even), "
        "1 row repeats a place: separate measurements, nothing missing");
}

static void refuse_fields(const char *text, const char *message)
{
    kbass_data *data = read_fields(text, "t,x");
    CHECK_FAILS(kb_data_check(data, &error), KBASS_ERROR_DATA, message);
    CHECK(strncmp(error.message, path, strlen(path)) == 0);
    kbass_data_destroy(data);
}

static void test_check_fields(void **state)
{
    (void)state;
    refuse_fields("t,x,u\n0,1,1\n1,1,2\n2,1,3\n3,1,4\n",
                  "field \"u\": all 4 measured values are at a single point of the axis \"x\" (1), at least 2");
    refuse_fields("t,x,u\n5,1,1\n5,2,2\n5,3,3\n5,4,4\n", "field \"u\": all 4 measured values are at one time (t = 5)");
    refuse_fields("t,x,u\n0,0,7\n0,1,7\n1,0,7\n1,1,7\n", "field \"u\" is constant: all 4 measured values are 7");
    refuse_fields("t,x,u,v\n0,0,7,1\n0,1,6,\n1,0,5,2\n1,1,4,1\n", "field \"v\" has 3 measured values");
    refuse_fields("t,x,u,v\n0,0,7,1\n0,1,6,\n1,0,5,2\n1,1,4,\n2,0,1,3\n3,0,1,2\n",
                  "field \"v\": all 4 measured values are at a single point of the axis \"x\" (0)");
}

static void test_example_names(void **state)
{
    kbass_data *data = NULL;
    (void)state;
    for (size_t i = 0; kbass_data_example_name(i); i++) {
        CHECK(kbass_data_example_summary(i));
        CHECK_OK(kbass_data_example(kbass_data_example_name(i), &data, &error));
        kbass_data_destroy(data);
    }
    CHECK(kbass_data_example_name(0) && !kbass_data_example_summary(1000));
    CHECK_FAILS(kbass_data_example("hare_lynx", &data, &error), KBASS_ERROR_ARGUMENT, "did you mean \"hare-lynx\"?");
    CHECK_FAILS(kbass_data_example("iris", &data, &error), KBASS_ERROR_ARGUMENT, "(try \"hare-lynx\")");
}

/* ---------------------------------------------------------------- noise */

enum { SAMPLES = 20000 };

/* x alternates between -3 and 3: standard deviation 3; y is missing at every third row. */
static kbass_data *square_wave(void)
{
    static double times[SAMPLES], values[2 * SAMPLES];
    static const char *const names[] = {"x", "y"};
    kbass_data *data = NULL;
    for (int i = 0; i < SAMPLES; i++) {
        times[i] = i;
        values[2 * i] = i % 2 ? 3 : -3;
        values[2 * i + 1] = i % 3 ? 1e3 + i % 2 : NAN;
    }
    CHECK_OK(kbass_data_create(SAMPLES, 2, times, values, NULL, names, &data, &error));
    return data;
}

static void test_noise(void **state)
{
    (void)state;
    kbass_data *clean = square_wave(), *data = square_wave(), *again = square_wave(), *other = square_wave();
    CHECK_OK(kbass_data_add_noise(data, 20, 7, &error));
    CHECK_OK(kbass_data_add_noise(again, 20, 7, &error));
    CHECK_OK(kbass_data_add_noise(other, 20, 8, &error));
    CHECK_TEXT(kbass_data_sha256(data), kbass_data_sha256(again));
    CHECK(strcmp(kbass_data_sha256(data), kbass_data_sha256(other)) != 0);
    CHECK(strcmp(kbass_data_sha256(data), kbass_data_sha256(clean)) != 0);
    for (size_t s = 0; s < 2; s++) {
        double mean = 0, squares = 0, n = 0, expected = s ? 0.2 * 0.5 : 0.2 * 3;
        for (size_t k = s; k < 2 * SAMPLES; k += 2) {
            double noise = kbass_data_values(data)[k] - kbass_data_values(clean)[k];
            if (isnan(kbass_data_values(clean)[k])) continue;
            mean += noise;
            squares += noise * noise;
            n++;
        }
        CHECK_CLOSE(mean / n, 0, 5 * expected / sqrt(n));                             /* five standard errors */
        CHECK_CLOSE(sqrt(squares / n), expected, 5 * expected / sqrt(2 * n) + 1e-12); /* five standard errors */
    }
    CHECK(isnan(kbass_data_values(data)[1]));
    kbass_data_destroy(clean);
    kbass_data_destroy(data);
    kbass_data_destroy(again);
    kbass_data_destroy(other);
}

/* The same draws as by percent, where the standard deviations are the same. */
static void test_disturb(void **state)
{
    static const double sd[] = {0.6, 0.1}, wrong[] = {0.6, NAN};
    (void)state;
    kbass_data *clean = square_wave(), *percent = square_wave(), *data = square_wave();
    CHECK_OK(kbass_data_add_noise(percent, 20, 7, &error));
    CHECK_OK(kbass_data_disturb(data, sd, 7, &error));
    for (size_t k = 0; k < 2 * SAMPLES; k += 2) { /* +-3 has a standard deviation of 3 */
        double noise = kbass_data_values(percent)[k] - kbass_data_values(clean)[k];
        CHECK_CLOSE(kbass_data_values(data)[k] - kbass_data_values(clean)[k], noise, 1e-12); /* rounding */
    }
    CHECK_FAILS(kbass_data_disturb(data, wrong, 7, &error), KBASS_ERROR_ARGUMENT, "found nan");
    kbass_data_destroy(clean);
    kbass_data_destroy(percent);
    kbass_data_destroy(data);
}

static void test_no_noise(void **state)
{
    kbass_data *data = NULL;
    char before[65];
    (void)state;
    CHECK_OK(kbass_data_example("hare-lynx", &data, &error));
    memcpy(before, kbass_data_sha256(data), sizeof before);
    CHECK_OK(kbass_data_add_noise(data, 0, 1, &error));
    CHECK_TEXT(kbass_data_sha256(data), before);
    CHECK_FAILS(kbass_data_add_noise(data, -1, 1, &error), KBASS_ERROR_ARGUMENT, "-1 percent");
    CHECK_FAILS(kbass_data_add_noise(data, NAN, 1, &error), KBASS_ERROR_ARGUMENT, "percent");
    CHECK_FAILS(kbass_data_add_noise(data, 1e9, 1, &error), KBASS_ERROR_ARGUMENT, "from 0 to 1000");
    kbass_data_destroy(data);
}

/* ---------------------------------------------------------------- no memory */

static kbass_status whole_life(void)
{
    kbass_data *data = NULL;
    kbass_status status = kbass_data_read(path, NULL, &data, &error);
    if (status == KBASS_OK) status = kbass_data_add_noise(data, 1, 1, &error);
    if (status == KBASS_OK) status = kbass_data_write(data, "/dev/null", &error);
    kbass_data_destroy(data);
    data = NULL;
    if (status == KBASS_OK) status = kbass_data_example("hare-lynx", &data, &error);
    kbass_data_destroy(data);
    return status;
}

/* Each allocation in turn fails; the leak checker of the sanitizers watches. */
static void test_without_memory(void **state)
{
    long n = 0;
    (void)state;
    write_bytes("t,x,y\n1,2,3\n0,2,3\n2,4,5\n", 24);
    for (kbass_status status = KBASS_ERROR_MEMORY; status != KBASS_OK; n++) {
        kb_memory_fail_after(n);
        status = whole_life();
        kb_memory_fail_after(-1);
        CHECK(status == KBASS_OK || status == KBASS_ERROR_MEMORY);
    }
    CHECK(n > 15);
}

static kbass_status life_with_axes(void)
{
    kbass_data *data = NULL, *copy = NULL;
    char text[200];
    kbass_status status = kbass_data_read(path, &(kbass_read_options){.axes = "t,x"}, &data, &error);
    if (status == KBASS_OK) status = kb_data_copy(data, &copy, &error);
    if (status == KBASS_OK) kbass_data_describe(copy, text, sizeof text);
    kbass_data_destroy(copy);
    kbass_data_destroy(data);
    return status;
}

static void test_axes_without_memory(void **state)
{
    long n = 0;
    (void)state;
    write_bytes(grid_text, strlen(grid_text));
    for (kbass_status status = KBASS_ERROR_MEMORY; status != KBASS_OK; n++) {
        kb_memory_fail_after(n);
        status = life_with_axes();
        kb_memory_fail_after(-1);
        CHECK(status == KBASS_OK || status == KBASS_ERROR_MEMORY);
    }
    CHECK(n > 15);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_create_refuses),
        cmocka_unit_test(test_describe),
        cmocka_unit_test(test_check),
        cmocka_unit_test(test_axes),
        cmocka_unit_test(test_axes_come_back),
        cmocka_unit_test(test_rows_at_one_place),
        cmocka_unit_test(test_bad_axes),
        cmocka_unit_test(test_describe_fields),
        cmocka_unit_test(test_check_fields),
        cmocka_unit_test(test_example_names),
        cmocka_unit_test(test_noise),
        cmocka_unit_test(test_disturb),
        cmocka_unit_test(test_no_noise),
        cmocka_unit_test(test_without_memory),
        cmocka_unit_test(test_axes_without_memory),
    };
    return cmocka_run_group_tests(tests, make_file, remove_file);
}
