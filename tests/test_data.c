#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/memory.h"
#include "check.h"
#include "data/data.h"
#include "data/sha256.h"

static kbass_error error;
static char path[] = "/tmp/kbass_test_data_XXXXXX";

static int make_file(void **state)
{
    (void)state;
    int descriptor = mkstemp(path);
    return descriptor < 0 ? -1 : close(descriptor);
}

static int remove_file(void **state)
{
    (void)state;
    return unlink(path);
}

static void write_bytes(const char *bytes, size_t n)
{
    FILE *file = fopen(path, "wb");
    CHECK(file && fwrite(bytes, 1, n, file) == n && fclose(file) == 0);
}

static kbass_data *read_text(const char *text, const char *time_column)
{
    kbass_data *data = NULL;
    write_bytes(text, strlen(text));
    CHECK_OK(kbass_data_read(path, time_column, &data, &error));
    return data;
}

/* Refused with the message "path:line: text", or "path: text" for line 0. */
static void refuse_bytes(const char *bytes, size_t n, const char *time_column, int line, const char *text)
{
    char place[80];
    kbass_data *data = NULL;
    write_bytes(bytes, n);
    CHECK_FAILS(kbass_data_read(path, time_column, &data, &error), KBASS_ERROR_DATA, text);
    snprintf(place, sizeof place, line ? "%s:%d: " : "%s: ", path, line);
    if (strncmp(error.message, place, strlen(place)) != 0) fail_msg("\"%s\" is not at %s", error.message, place);
    CHECK(data == NULL);
}

static void refuse(const char *text, int line, const char *message)
{
    refuse_bytes(text, strlen(text), NULL, line, message);
}

/* ---------------------------------------------------------------- reading */

/* One table in many dresses: t = 0, 1; x = 1.5, -2; y = 3, missing. */
static void test_dialects(void **state)
{
    static const char *const dialects[] = {
        "t,x,y\n0,1.5,3\n1,-2,\n",
        "t,x,y\n0,1.5,3\n1,-2,NaN",
        "\xef\xbb\xbft,x,y\r\n0,1.5,3\r\n1,-2,nan\r\n",
        "t,x,y\r0,1.5,3\r1,-2,-NAN\r",
        "# made by hand\n\n  # more\nt,x,y\n \t\n0,1.5,3\n# between\n1,-2,\n\n",
        "\"t\",\"x\",\"y\"\n\"0\", \"1.5\" ,3\n1,\"-2\",\"\"\n",
        " t , x\t, y \n 0 , +1.5 , 3.0 \n 1,-2e0, \n",
        "t;x;y\n0;1.5;3\n1;-2;\n",
        "t\tx\ty\n0\t1.5\t3\n1\t-2\t\n",
        "t x y\n0 1.5 3\n1 -2 NaN\n",
        "  t  x   y  \n 0 \t 1.5  3 \n\t1 -2 nan\n",
        "y,t,x\n3,0,1.5\n,1,-2\n",
        "x,y,t\n-2,,1\n1.5,3,0\n",
        "t,x,y\n0,15E-1,.3e1\n0.5,,\n1,-2,\n",
        "t;x;y\n0;1,5;3\n1;-2,0;\n",
        "t\tx\ty\n0\t1,5\t3,0\n1\t-2\t\n",
        "% t x y\n0 1.5 3\n1 -2 NaN\n",
        "# made by hand\n# t,x,y\r\n0,1.5,3\r\n1,-2,\r\n",
    };
    (void)state;
    for (size_t i = 0; i < sizeof dialects / sizeof *dialects; i++) {
        kbass_data *data = read_text(dialects[i], NULL);
        CHECK(kbass_data_rows(data) == 2 && kbass_data_states(data) == 2);
        const char *first = kbass_data_state_name(data, 0);
        size_t x = strcmp(first, "x") == 0 ? 0 : 1;
        CHECK_TEXT(kbass_data_state_name(data, x), "x");
        CHECK_TEXT(kbass_data_state_name(data, 1 - x), "y");
        CHECK_TEXT(kbass_data_time_name(data), "t");
        const double *times = kbass_data_times(data), *values = kbass_data_values(data);
        CHECK(times[0] == 0 && times[1] == 1);
        CHECK(values[x] == 1.5 && values[1 - x] == 3 && values[2 + x] == -2 && isnan(values[3 - x]));
        CHECK(kbass_data_state_name(data, 2) == NULL);
        kbass_data_destroy(data);
    }
}

static void test_time_column(void **state)
{
    static const char *const cases[][3] = {
        {"time,x\n0,1\n", NULL, "time"},   {"x,Time\n1,0\n", NULL, "Time"},    {"T,time,x\n1,0,1\n", NULL, "time"},
        {"time,t\n1,0\n", NULL, "t"},      {"T,x\n0,1\n", NULL, "T"},          {"year,x\n0,1\n", "year", "year"},
        {"Year,x\n0,1\n", "year", "Year"}, {"\"time, s\",x\n0,1\n", "time, s", "time, s"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        kbass_data *data = read_text(cases[i][0], cases[i][1]);
        CHECK_TEXT(kbass_data_time_name(data), cases[i][2]);
        CHECK(kbass_data_times(data)[0] == 0);
        kbass_data_destroy(data);
    }
    refuse("a,b\n0,1\n", 1, "no time column \"t\" or \"time\" (name it with --time NAME); there are: a, b");
    refuse_bytes("t,b\n0,1\n", 8, "when", 1, "no column \"when\" for time; there are: t, b");
}

static void test_rows_are_sorted_and_stable(void **state)
{
    (void)state;
    kbass_data *data = read_text("t,x\n3,1\n1,2\n3,3\n2,4\n1,5\n", NULL);
    static const double times[] = {1, 1, 2, 3, 3}, values[] = {2, 5, 4, 1, 3};
    for (size_t i = 0; i < 5; i++)
        CHECK(kbass_data_times(data)[i] == times[i] && kbass_data_values(data)[i] == values[i]);
    kbass_data_destroy(data);
}

static void test_many_rows(void **state)
{
    (void)state;
    enum { ROWS = 20000 };
    FILE *file = fopen(path, "w");
    fprintf(file, "t,x\n");
    for (int i = 0; i < ROWS; i++) fprintf(file, "%d,%d.5\n", ROWS - i, i);
    fclose(file);
    kbass_data *data = NULL;
    CHECK_OK(kbass_data_read(path, NULL, &data, &error));
    CHECK(kbass_data_rows(data) == ROWS);
    for (int i = 0; i < ROWS; i++)
        CHECK(kbass_data_times(data)[i] == i + 1 && kbass_data_values(data)[i] == ROWS - i - 0.5);
    kbass_data_destroy(data);
}

static void test_bad_tables(void **state)
{
    (void)state;
    refuse("", 0, "the file is empty");
    refuse("\n# nothing\n", 0, "nothing but blank lines and comments");
    refuse("0,1\n1,2\n", 1, "the first row is all numbers");
    refuse("# c\n\nt,x,x\n0,1,2\n", 3, "columns 2 and 3 have the same name \"x\"");
    refuse("t,,x\n0,1,2\n", 1, "column 2 has no name");
    refuse("t\n0\n", 1, "only one column, \"t\"");
    refuse("t,x\n", 0, "a header but no rows");
    refuse("t,x\n0,\n1,NaN\n", 0, "no measured values");
    refuse("t,u\n0,1\n# c\n1,n/a\n", 4, "column \"u\": \"n/a\" is not a number (use an empty cell or NaN for missing)");
    refuse("t,u\n0,0x1\n", 2, "\"0x1\" is not a number");
    refuse("t;u\n0;1,5\n1.5;1\n", 3, "\"1.5\" is not a number");
    refuse("t,u\n0,\"1,5\"\n", 2, "\"1,5\" is not a number");
    refuse("t,u\n0,1 2\n", 2, "\"1 2\" is not a number");
    refuse("t,u\n0,inf\n", 2, "column \"u\": \"inf\" is infinite");
    refuse("t,u\r\n-1e999,1\r\n", 2, "column \"t\": \"-1e999\" is infinite");
    refuse("t,u\r0,1\r,2\r", 3, "the time is missing");
    refuse("t,u,v\n0,1\n", 2, "found 2 cells, the header has 3");
    refuse("t,u\n0,1,2\n", 2, "found 3 cells, the header has 2");
    refuse("t,u\n0,\"1\n", 2, "cell 2: its quotes do not close");
    refuse("t,u\n0,\"1\"2\n", 2, "cell 2: its quotes do not close");
    refuse("t,u (mm)\n0,1\n", 1, "column \"u (mm)\": a state's name");
    refuse("t,2u\n0,1\n", 1, "column \"2u\": a state's name");
    refuse_bytes("t,x\n0,\0001\n", 10, NULL, 2, "NUL byte");
}

static void test_bad_files(void **state)
{
    kbass_data *data = NULL;
    (void)state;
    CHECK_FAILS(kbass_data_read("/no/such.csv", NULL, &data, &error), KBASS_ERROR_FILE,
                "/no/such.csv: cannot be read: No such file");
    CHECK_FAILS(kbass_data_read("/tmp", NULL, &data, &error), KBASS_ERROR_FILE, "Is a directory");
    CHECK(data == NULL && kbass_data_read("/no/such.csv", NULL, &data, NULL) == KBASS_ERROR_FILE);
}

/* A long list of columns stays within the message. */
static void test_long_header(void **state)
{
    (void)state;
    char header[4000] = "";
    for (size_t i = 0; i < 300; i++) snprintf(header + strlen(header), 20, "%scolumn%zu", i ? "," : "", i);
    refuse(header, 1, "column5, column6");
    CHECK(strcmp(error.message + strlen(error.message) - 3, "...") == 0);
}

/* Every cut and every changed byte of a table is read or refused, never worse; the sanitizers watch. */
static void test_damaged_tables(void **state)
{
    static const char table[] = "# c\n\"t\",x , \"y\"\"\"\r\n0,1,\"2\"\n1, 2,\n3,4,nan\n";
    static const char bytes[] = "\",; \t\n\r#x\xff";
    (void)state;
    char damaged[sizeof table];
    for (size_t i = 0; i < sizeof table - 1; i++) {
        for (size_t k = 0; k < sizeof bytes; k++) {
            kbass_data *data = NULL;
            memcpy(damaged, table, sizeof table);
            damaged[i] = bytes[k];
            write_bytes(damaged, k ? sizeof table - 1 : i);
            kbass_data_read(path, NULL, &data, &error);
            kbass_data_destroy(data);
        }
    }
}

/* ---------------------------------------------------------------- writing */

static void test_write_and_read_back(void **state)
{
    static const double times[] = {0.1, 1.0 / 3, 1e22}, values[] = {1, NAN, -1e-300, 0.1 + 0.2, NAN, 5};
    static const char *const names[] = {"x", "y_2"};
    kbass_data *data = NULL, *back = NULL;
    (void)state;
    CHECK_OK(kbass_data_create(3, 2, times, values, "time, \"s\"", names, &data, &error));
    CHECK_OK(kbass_data_write(data, path, &error));
    CHECK_OK(kbass_data_read(path, "time, \"s\"", &back, &error));
    CHECK(memcmp(kbass_data_times(back), times, sizeof times) == 0);
    for (size_t i = 0; i < 6; i++)
        CHECK(kbass_data_values(back)[i] == values[i] || (isnan(values[i]) && isnan(kbass_data_values(back)[i])));
    CHECK_TEXT(kbass_data_state_name(back, 1), "y_2");
    CHECK_TEXT(kbass_data_sha256(back), kbass_data_sha256(data)); /* the file is the canonical text */
    kbass_data_destroy(data);
    kbass_data_destroy(back);
}

static void test_write_failures(void **state)
{
    kbass_data *data = NULL;
    (void)state;
    CHECK_OK(kbass_data_example("hare-lynx", &data, &error));
    CHECK_FAILS(kbass_data_write(data, "/no/such/dir.csv", &error), KBASS_ERROR_FILE,
                "/no/such/dir.csv: cannot be written");
    CHECK_FAILS(kbass_data_write(data, "/tmp", &error), KBASS_ERROR_FILE, "Is a directory");
    CHECK_FAILS(kbass_data_write(data, "/dev/full", &error), KBASS_ERROR_FILE, "No space left");
    CHECK_OK(kbass_data_write(data, "/dev/null", &error));
    struct stat status;
    CHECK(stat("/dev/null", &status) == 0 && S_ISCHR(status.st_mode)); /* not replaced by a file */
    kbass_data_destroy(data);
}

static void test_write_keeps_the_mode(void **state)
{
    kbass_data *data = NULL;
    struct stat status;
    (void)state;
    CHECK_OK(kbass_data_example("hare-lynx", &data, &error));
    CHECK(chmod(path, 0600) == 0);
    CHECK_OK(kbass_data_write(data, path, &error));
    CHECK(stat(path, &status) == 0 && (status.st_mode & 0777) == 0600);
    kbass_data_destroy(data);
}

/* ---------------------------------------------------------------- sha-256 */

static const char *sha_of(const char *bytes, size_t n, size_t piece)
{
    static char hex[65];
    char plain[65]; /* without the processor's instructions, where it has them */
    for (int k = 0; k < 2; k++) {
        kb_sha256 sha;
        kb_sha256_begin(&sha);
        if (k) sha.is_wired = false;
        for (size_t i = 0; i < n; i += piece) kb_sha256_add(&sha, bytes + i, n - i < piece ? n - i : piece);
        kb_sha256_finish(&sha, k ? plain : hex);
    }
    CHECK_TEXT(plain, hex);
    return hex;
}

/* The vectors of FIPS 180-4's examples. */
static void test_sha256(void **state)
{
    static const char two[] = "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq";
    static char million[1000000];
    (void)state;
    CHECK_TEXT(sha_of("", 0, 1), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    CHECK_TEXT(sha_of("abc", 3, 3), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    CHECK_TEXT(sha_of(two, 56, 7), "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
    memset(million, 'a', sizeof million);
    CHECK_TEXT(sha_of(million, sizeof million, 777),
               "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

static void test_sha256_of_a_file(void **state)
{
    (void)state;
    static const char text[] = "t,x\n1,2\n";
    kbass_data *data = read_text(text, NULL);
    CHECK_TEXT(kbass_data_sha256(data), sha_of(text, strlen(text), 1));
    kbass_data_destroy(data);
}

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
    check_description("t,x\n0,1\n0,2\n1,3\n2,3\n2,4\n",
                      "5 rows, 1 state (x), t from 0 to 2, spacing 1 (even), 2 rows repeat a time: separate measurements, nothing missing");
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
    CHECK_OK(kbass_data_read_axes(path, axes, &data, &error));
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
    CHECK_TEXT(kbass_data_time_name(data), "t");
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
    CHECK_OK(kbass_data_read_axes(path, "t,x,y", &again, &error));
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
    CHECK_FAILS(kbass_data_read_axes(path, axes, &data, &error), status, message);
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
    refuse_axes("t,x y,u\n0,0,0\n", "t,x y", KBASS_ERROR_ARGUMENT, "\"x y\" cannot stand in equations");
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
    describe_fields("t,x,u\n0,0,1\n0,0,2\n0,1,3\n1,0,1\n1,1,2\n", "t,x",
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
    refuse_fields("t,x,u\n5,1,1\n5,2,2\n5,3,3\n5,4,4\n",
                  "field \"u\": all 4 measured values are at one time (t = 5)");
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
        CHECK_CLOSE(mean / n, 0, 5 * expected / sqrt(n));                            /* five standard errors */
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
    kbass_status status = kbass_data_read_axes(path, "t,x", &data, &error);
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
        cmocka_unit_test(test_dialects),
        cmocka_unit_test(test_time_column),
        cmocka_unit_test(test_rows_are_sorted_and_stable),
        cmocka_unit_test(test_many_rows),
        cmocka_unit_test(test_bad_tables),
        cmocka_unit_test(test_bad_files),
        cmocka_unit_test(test_long_header),
        cmocka_unit_test(test_damaged_tables),
        cmocka_unit_test(test_write_and_read_back),
        cmocka_unit_test(test_write_failures),
        cmocka_unit_test(test_write_keeps_the_mode),
        cmocka_unit_test(test_sha256),
        cmocka_unit_test(test_sha256_of_a_file),
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
        cmocka_unit_test(test_noise), cmocka_unit_test(test_disturb),
        cmocka_unit_test(test_no_noise),
        cmocka_unit_test(test_without_memory),
        cmocka_unit_test(test_axes_without_memory),
    };
    return cmocka_run_group_tests(tests, make_file, remove_file);
}
