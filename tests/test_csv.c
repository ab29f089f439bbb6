/* Text and files: read, refused, written, hashed. */
#include <stdlib.h>
#include <sys/stat.h>

#include "base/memory.h"
#include "data/data.h"
#include "data/sha256.h"
#include "scratch.h"

static kbass_error error;

/* Refused with the message "path:line: text", or "path: text" for line 0. */
static void refuse_bytes(const char *bytes, size_t n, const char *time_column, int line, const char *text)
{
    char place[80];
    kbass_data *data = NULL;
    write_bytes(bytes, n);
    CHECK_FAILS(kbass_data_read(path, &(kbass_read_options){.time_column = time_column}, &data, &error),
                KBASS_ERROR_DATA, text);
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
        CHECK_TEXT(kbass_data_axis_name(data, 0), "t");
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
        {"time,x\n0,1\n", NULL, "time"},     {"x,Time\n1,0\n", NULL, "Time"},
        {"T,time,x\n1,0,1\n", NULL, "time"}, {"time,t\n1,0\n", NULL, "t"},
        {"T,x\n0,1\n", NULL, "T"},           {"year,x\n0,1\n", "year", "year"},
        {"Year,x\n0,1\n", "year", "Year"},   {"\"time, s\",x\n0,1\n", "time, s", "time_s"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        kbass_data *data = read_text(cases[i][0], cases[i][1]);
        CHECK_TEXT(kbass_data_axis_name(data, 0), cases[i][2]);
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
    refuse("t\n0\n", 1, "only one column, \"t\"");
    refuse("t,x\n", 0, "a header but no rows");
    refuse("t,x\n0,\n1,NaN\n", 0, "no measured values");
    refuse("t,u\n0,1\n# c\n1,n/x\n", 4, "column \"u\": \"n/x\" is not a number (leave the cell empty");
    refuse("t,u\n0,0x1\n", 2, "\"0x1\" is not a number");
    refuse("t;u\n0;1,5\n1.5;1\n", 3, "\"1.5\" is not a number");
    refuse("t,u\n0,\"1,5\"\n0,\"1,6\"\n1,1.5\n", 4, "\"1.5\" is not a number");
    refuse("t,u\n0,\"1,53,5\"\n", 2, "\"1,53,5\" is not a number");
    refuse("t,u\n0,1 2\n", 2, "\"1 2\" is not a number");
    refuse("t,u\n0,inf\n", 2, "column \"u\": \"inf\" is infinite");
    refuse("t,u\r\n-1e999,1\r\n", 2, "column \"t\": \"-1e999\" is infinite");
    refuse("t,u\r0,1\r,2\r", 3, "the time is missing");
    refuse("t,u,v\n0,1\n", 2, "found 2 cells, the header has 3");
    refuse("t,u\n0,1,2\n", 2, "found 3 cells, the header has 2");
    refuse("t,u\n0,\"1\n", 2, "cell 2: its quotes do not close");
    refuse("t,u\n0,\"1\"2\n", 2, "cell 2: its quotes do not close");
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
    CHECK_OK(kbass_data_read(path, &(kbass_read_options){.time_column = "time, \"s\""}, &back, &error));
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
    };
    return cmocka_run_group_tests(tests, make_file, remove_file);
}
