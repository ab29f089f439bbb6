/* Reading piece by piece: text in blocks of any size and from pipes, arrays in parts, coordinates as they pass by. */
#include <dirent.h>
#include <pthread.h>

#include "base/memory.h"
#include "base/random.h"
#include "data/arrange.h"
#include "data/grid.h"
#include "scratch.h"

#define FOLDER KBASS_ROOT "/tests/data/"

static kbass_error error;

static void compare_numbers(size_t n, const double *found, const double *expected)
{
    for (size_t i = 0; i < n; i++) CHECK(found[i] == expected[i] || (isnan(found[i]) && isnan(expected[i])));
}

static void compare(const kbass_data *found, const kbass_data *expected)
{
    CHECK(found->n_rows == expected->n_rows && found->n_states == expected->n_states);
    compare_numbers(found->n_rows, found->times, expected->times);
    compare_numbers(found->n_rows * found->n_states, found->values, expected->values);
}

/* ---------------------------------------------------------------- text */

/* As kbass_data_read does, with blocks of our choice. */
static kbass_status read_blocks(const char *file, size_t block, kbass_data **out)
{
    kb_reading r = {.block = block, .error = &error};
    kbass_data *data = *out = KB_NEW(kbass_data, 1);
    data->source = kb_strdup(file);
    CHECK_OK(kb_file_open(file, &r.file, &error));
    kb_sha256_begin(&r.sha);
    kbass_status status = kb_read_text(&r, data);
    if (status == KBASS_OK) status = kb_data_settle(data, &error);
    kb_file_close(&r.file);
    return status;
}

/* Whatever the blocks cut, numbers, quoted cells, line ends: the same numbers, or the same refusal. */
static void compare_blocks(const char *file)
{
    kbass_data *whole = NULL;
    kbass_status expected = kbass_data_read(file, NULL, &whole, &error);
    char message[sizeof error.message] = "";
    if (expected != KBASS_OK) memcpy(message, error.message, sizeof message);
    for (size_t block = 1; block < 60; block += block < 20 ? 1 : 7) {
        kbass_data *data = NULL;
        CHECK(read_blocks(file, block, &data) == expected);
        if (expected == KBASS_OK) compare(data, whole);
        else CHECK_TEXT(error.message, message);
        kbass_data_destroy(data);
    }
    kbass_data_destroy(whole);
}

static void test_blocks(void **state)
{
    static const char *const texts[] = {
        "\xef\xbb\xbft,x,y\r\n0,1.5,3\r\n1,-2,nan\r\n",
        "t,x,y\r0,1.5,3\r1,-2,4\r\r",
        "t;x\n0;1\n1;2\n2;3,5\n3;4\n",
        "\n\n# t,x\n0,1\n\n1,2",
        "\"t\",\"x\"\n\"0\",\"1.5\"\n1,\"\"\n2,\"-1e-3\"\n",
        "t,x\n0,1\n1,2x\n",
        "t,x\n0,1\n1,\"2\n",
        "# c\n",
        "t,x\n0,1\n2\n",
        "t,x\n",
    };
    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        write_bytes(texts[i], strlen(texts[i]));
        compare_blocks(path);
    }
}

static bool is_text(const char *name)
{
    static const char *const endings[] = {".csv", ".tsv", ".txt", ".dat", ".csv.gz"};
    size_t length = strlen(name);
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++) {
        size_t n = strlen(endings[i]);
        if (length > n && strcmp(name + length - n, endings[i]) == 0) return true;
    }
    return false;
}

static void test_blocks_of_files(void **state)
{
    size_t n = 0;
    DIR *folder = opendir(FOLDER);
    CHECK(folder != NULL);
    (void)state;
    for (struct dirent *entry; (entry = readdir(folder));) {
        char file[600];
        if (!is_text(entry->d_name)) continue;
        snprintf(file, sizeof file, FOLDER "%s", entry->d_name);
        compare_blocks(file);
        n++;
    }
    closedir(folder);
    CHECK(n >= 20);
}

/* ---------------------------------------------------------------- pipes */

typedef struct {
    int descriptor;
    const unsigned char *bytes;
    size_t size;
} writer;

static void *write_pipe(void *user)
{
    writer *w = user;
    for (size_t n = 0; n < w->size;) {
        ssize_t more = write(w->descriptor, w->bytes + n, w->size - n);
        if (more <= 0) break;
        n += (size_t)more;
    }
    close(w->descriptor);
    return NULL;
}

/* The file at `path`, once as it is and once through a pipe, whose size nobody knows. */
static void compare_pipe(void)
{
    int ends[2];
    char name[40];
    kbass_data *whole = NULL, *streamed = NULL;
    pthread_t thread;
    kb_file file;
    CHECK_OK(kb_file_open(path, &file, &error));
    CHECK(pipe(ends) == 0);
    writer w = {ends[1], file.bytes, file.size};
    CHECK(pthread_create(&thread, NULL, write_pipe, &w) == 0);
    snprintf(name, sizeof name, "/dev/fd/%d", ends[0]);
    CHECK_OK(kbass_data_read(name, NULL, &streamed, &error));
    CHECK(pthread_join(thread, NULL) == 0);
    close(ends[0]);
    CHECK_OK(kbass_data_read(path, NULL, &whole, &error));
    compare(streamed, whole);
    CHECK_TEXT(kbass_data_sha256(streamed), kbass_data_sha256(whole));
    kb_file_close(&file);
    kbass_data_destroy(whole);
    kbass_data_destroy(streamed);
}

static void test_pipe_with_text(void **state)
{
    (void)state;
    for (int rows = 1; rows < 1000000; rows *= 40) { /* up to 2 MB, far beyond the first 64 kB */
        FILE *file = fopen(path, "w");
        fprintf(file, "t,x,y\r\n");
        for (int i = 0; i < rows; i++) fprintf(file, "%d,%.15g,%s\r\n", i, sin(i), i % 3 ? "" : "1.5");
        fclose(file);
        compare_pipe();
    }
}

/* ---------------------------------------------------------------- arrays */

enum { ROWS = 20000, COLUMNS = 3 };

static double number_at(size_t row, size_t column) { return column ? sin((double)(row + ROWS * column)) : (double)row; }

/* An NPY of doubles or, all whole numbers, 16-bit integers. */
static void write_npy(bool is_fortran, bool is_short, size_t n_rows)
{
    FILE *file = fopen(path, "wb");
    char text[119];
    snprintf(text, sizeof text, "{'descr': '%s', 'fortran_order': %s, 'shape': (%zu, %d), }", is_short ? "<i2" : "<f8",
             is_fortran ? "True" : "False", n_rows, COLUMNS);
    fprintf(file, "\x93NUMPY%c%c%c%c%-117s\n", 1, 0, 118, 0, text);
    for (size_t i = 0; i < n_rows * COLUMNS; i++) {
        double number = is_fortran ? number_at(i % n_rows, i / n_rows) : number_at(i / COLUMNS, i % COLUMNS);
        int16_t whole = (int16_t)number;
        fwrite(is_short ? (void *)&whole : (void *)&number, is_short ? sizeof whole : sizeof number, 1, file);
    }
    fclose(file);
}

static void test_npy(void **state)
{
    static const size_t lengths[] = {2, 1023, 1024, 1025, ROWS};
    (void)state;
    for (size_t k = 0; k < 4 * sizeof lengths / sizeof *lengths; k++) {
        kbass_data *data = NULL;
        size_t n = lengths[k / 4];
        bool is_short = k & 2;
        write_npy(k & 1, is_short, n);
        CHECK_OK(kbass_data_read(path, NULL, &data, &error));
        CHECK(data->n_rows == n && data->n_states == COLUMNS - 1);
        for (size_t row = 0; row < n; row++) {
            CHECK(data->times[row] == number_at(row, 0));
            for (size_t i = 1; i < COLUMNS; i++)
                CHECK(data->values[row * (COLUMNS - 1) + i - 1] ==
                      (is_short ? trunc(number_at(row, i)) : number_at(row, i)));
        }
        kbass_data_destroy(data);
        if (n == ROWS) compare_pipe();
    }
}

/* The first one in the file is named, whichever thread meets one first. */
static void test_infinite_number(void **state)
{
    static const long rows[] = {19000, 5000, 11000};
    const double infinite = INFINITY;
    kbass_data *data = NULL;
    (void)state;
    write_npy(false, false, ROWS);
    for (size_t i = 0; i < 3; i++) {
        FILE *file = fopen(path, "r+b");
        fseek(file, 128 + 8 * (rows[i] * COLUMNS + 2), SEEK_SET);
        fwrite(&infinite, sizeof infinite, 1, file);
        fclose(file);
    }
    CHECK_FAILS(kbass_data_read(path, NULL, &data, &error), KBASS_ERROR_DATA, "row 5001: \"x2\" is infinite");
}

/* Against the index of each number, one by one; dimensions may run in any order, or repeat their numbers. */
static void test_view(void **state)
{
    enum { A = 3, B = 4, C = 5, N = A * B * C };
    double numbers[N], found[N];
    kb_array array = {.element = {KB_REAL, 8, false}, .bytes = (const unsigned char *)numbers};
    kb_view view = {.array = &array, .n_dims = 3, .dims = {A, B, C}, .strides = {8, 8 * A, 8 * A * B}};
    (void)state;
    for (size_t i = 0; i < N; i++) numbers[i] = (double)i;
    for (int k = 0; k < 2; k++) {
        if (k) view.strides[1] = 0;
        for (size_t first = 0; first < N; first++)
            for (size_t n = 0; first + n <= N; n++) {
                kb_view_read(&view, first, n, found);
                for (size_t i = 0; i < n; i++) {
                    size_t at = first + i, a = at / (B * C), b = at / C % B, c = at % C;
                    CHECK(found[i] == (double)(a + A * (k ? 0 : b) + A * B * c));
                }
            }
    }
}

/* ---------------------------------------------------------------- parts */

/* By the definition: times within the range, of them every so many, counted anew where time goes back. */
static size_t take_rows(size_t n, const double *times, double low, double high, size_t every, size_t *rows)
{
    size_t kept = 0, count = 0;
    double last = INFINITY;
    for (size_t i = 0; i < n; i++) {
        if (times[i] < low || times[i] > high) continue;
        count = times[i] < last ? 0 : count + (times[i] > last);
        last = times[i];
        if (count % every == 0) rows[kept++] = i;
    }
    return kept;
}

static void test_parts(void **state)
{
    static const struct {
        const char *within;
        double low, high;
        size_t every;
    } parts[] = {{NULL, -INFINITY, INFINITY, 7},           {"t=100:1500", 100, 1500, 0},
                 {" t = 1023 : 2047.5 ", 1023, 2047.5, 3}, {"t=:3000", -INFINITY, 3000, 1024},
                 {"t=19000:", 19000, INFINITY, 5},         {"t=7:7", 7, 7, 2}};
    static size_t rows[ROWS];
    (void)state;
    for (size_t k = 0; k < 2 * sizeof parts / sizeof *parts; k++) {
        kbass_data *whole = NULL, *data = NULL;
        size_t i = k / 2, every = parts[i].every;
        kbass_read_options options = {.within = parts[i].within, .every = every};
        write_npy(k & 1, false, ROWS);
        CHECK_OK(kbass_data_read(path, NULL, &whole, &error));
        size_t n = take_rows(ROWS, whole->times, parts[i].low, parts[i].high, every ? every : 1, rows);
        for (int is_text = 0; is_text < 2; is_text++) {
            if (is_text) CHECK_OK(kbass_data_write(whole, path, &error));
            CHECK_OK(kbass_data_read(path, &options, &data, &error));
            CHECK(data->n_rows == n && data->part);
            for (size_t row = 0; row < n; row++) {
                CHECK(data->times[row] == whole->times[rows[row]]);
                compare_numbers(COLUMNS - 1, data->values + row * (COLUMNS - 1),
                                whole->values + rows[row] * (COLUMNS - 1));
            }
            kbass_data_destroy(data);
        }
        kbass_data_destroy(whole);
    }
}

/* Fields on a grid, as arrays and as text whose time runs fastest: every third time, a range of x. */
static void test_part_of_a_field(void **state)
{
    static const char *const files[] = {FOLDER "grid_tx.npz", FOLDER "grid_xt.npz", FOLDER "grid.csv"};
    (void)state;
    for (size_t i = 0; i < 3; i++) {
        kbass_data *whole = NULL, *data = NULL;
        size_t kept = 0, count = 0;
        CHECK_OK(kbass_data_read(files[i], &(kbass_read_options){.axes = "t,x"}, &whole, &error));
        double low = whole->positions[1];
        char within[60];
        snprintf(within, sizeof within, "x=%.17g:", low);
        kbass_read_options options = {.axes = "t,x", .within = within, .every = 3};
        CHECK_OK(kbass_data_read(files[i], &options, &data, &error));
        for (size_t row = 0; row < whole->n_rows; row++) {
            count += row && whole->times[row] > whole->times[row - 1];
            if (count % 3 || whole->positions[row] < low) continue;
            CHECK(kept < data->n_rows && data->times[kept] == whole->times[row]);
            CHECK(data->positions[kept] == whole->positions[row]);
            compare_numbers(whole->n_states, data->values + kept * whole->n_states,
                            whole->values + row * whole->n_states);
            kept++;
        }
        CHECK(kept == data->n_rows && kept < whole->n_rows);
        kbass_data_destroy(whole);
        kbass_data_destroy(data);
    }
}

static void test_bad_parts(void **state)
{
    static const char *const cases[][2] = {{"x=0:1", "no axis \"x\"; there are: t"},
                                           {"t", "\"t\" is not a range"},
                                           {"t=5:1", "5 to 1, it must ascend"},
                                           {"t=a:1", "needs numbers"},
                                           {"t=0:nan", "needs numbers"},
                                           {"", "\"\" is not a range"},
                                           {"t=0:1, ", "\"\" is not a range"},
                                           {"t=0.2:0.3", "no row is within t=0.2:0.3"}};
    (void)state;
    for (int is_text = 0; is_text < 2; is_text++) {
        if (is_text) write_bytes("t,x\n0,1\n1,2\n", 12);
        else write_npy(false, false, 10);
        for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
            kbass_data *data = NULL;
            kbass_status status = kbass_data_read(path, &(kbass_read_options){.within = cases[i][0]}, &data, &error);
            CHECK(status == (strstr(cases[i][1], "row") ? KBASS_ERROR_DATA : KBASS_ERROR_ARGUMENT) && !data);
            CHECK(strstr(error.message, cases[i][1]) != NULL);
        }
    }
}

/* ---------------------------------------------------------------- coordinates */

static int ascending(const void *left, const void *right)
{
    double a = *(const double *)left, b = *(const double *)right;
    return (a > b) - (a < b);
}

/* Points over t and x, some on a grid, some anywhere: distinct coordinates and their median distance by sorting all. */
static void test_coordinates(void **state)
{
    enum { POINTS = 6000 };
    static double times[POINTS], positions[POINTS], values[POINTS], sorted[POINTS], gaps[POINTS];
    static const char *const axes[] = {"t", "x"}, *const name = "u";
    kb_random random;
    (void)state;
    kb_random_seed(&random, 3);
    for (int share = 0; share <= 4; share++) {
        kbass_data *data = NULL;
        kb_grid grid;
        size_t n = 0;
        for (size_t i = 0; i < POINTS; i++) {
            bool is_placed = (int)(4 * kb_random_uniform(&random)) < share;
            times[i] = (double)(i / 100);
            positions[i] = is_placed ? (double)(i % 100) : 100 * kb_random_uniform(&random);
            values[i] = (double)i;
            sorted[i] = positions[i];
        }
        CHECK_OK(kbass_data_create_axes(POINTS, 2, 1, times, positions, values, axes, &name, &data, &error));
        CHECK_OK(kb_grid_create(data, &grid, &error));
        qsort(sorted, POINTS, sizeof *sorted, ascending);
        for (size_t i = 0; i < POINTS; i++)
            if (!n || sorted[i] - sorted[n - 1] > 1e-9 * (sorted[POINTS - 1] - sorted[0])) sorted[n++] = sorted[i];
        CHECK(grid.n[0] == POINTS / 100 && grid.n[1] == n);
        compare_numbers(n, grid.at[1], sorted);
        for (size_t i = 0; i + 1 < n; i++) gaps[i] = sorted[i + 1] - sorted[i];
        qsort(gaps, n - 1, sizeof *gaps, ascending);
        CHECK(grid.spacing[1] == 0.5 * (gaps[(n - 2) / 2] + gaps[(n - 1) / 2]) && grid.spacing[0] == 1);
        CHECK(grid.nearest[1] == gaps[0] && grid.farthest[1] == gaps[n - 2]);
        for (size_t row = 0; row < data->n_rows; row++) {
            size_t cell = kb_grid_cell(&grid, data, row) % n;
            CHECK(sorted[cell] <= data->positions[row] && (cell + 1 == n || data->positions[row] < sorted[cell + 1]));
        }
        kb_grid_clear(&grid);
        kbass_data_destroy(data);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_blocks),          cmocka_unit_test(test_blocks_of_files),
        cmocka_unit_test(test_pipe_with_text),  cmocka_unit_test(test_npy),
        cmocka_unit_test(test_infinite_number), cmocka_unit_test(test_view),
        cmocka_unit_test(test_parts),           cmocka_unit_test(test_part_of_a_field),
        cmocka_unit_test(test_bad_parts),       cmocka_unit_test(test_coordinates),
    };
    return cmocka_run_group_tests(tests, make_file, remove_file);
}
