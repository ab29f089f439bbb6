/* Data as people have them: the same law from a table, a grid, scattered points and several files; channels at
   different times; holes. */
#include <stdlib.h>

#include <zlib.h>

#include "check.h"
#include "found.h"
#include "ode_setup.h"

static const char *const burgers[] = {"u_t: u*u_x", "u_t: u_xx"}, field_terms[] = "u, u^2, u_x, u*u_x, u_xx, u_xxx";

/* Takes the data over. */
static void check_law(kbass_data *data, const char *terms, size_t n, const char *const *support)
{
    kbass_discovery *discovery = discover(data, terms);
    CHECK(has_support(kbass_discovery_result(discovery), n, support));
    kbass_discovery_destroy(discovery);
    kbass_data_destroy(data);
}

/* The rows of a table, kept where `keep` says so. */
static kbass_data *rows_where(const kbass_data *data, bool (*keep)(size_t row, kb_random *random))
{
    kbass_data *part = NULL;
    size_t n = 0, states = data->n_states, space = data->n_axes - 1;
    double *times = KB_NEW(double, data->n_rows), *positions = KB_NEW(double, data->n_rows *space + 1);
    double *values = KB_NEW(double, data->n_rows *states);
    kb_random random;
    kb_random_seed(&random, 1);
    for (size_t row = 0; row < data->n_rows; row++) {
        if (!keep(row, &random)) continue;
        times[n] = data->times[row];
        for (size_t a = 0; a < space; a++) positions[n * space + a] = data->positions[row * space + a];
        memcpy(values + n++ * states, data->values + row * states, states * sizeof *values);
    }
    CHECK_OK(kbass_data_create_axes(n, data->n_axes, states, times, space ? positions : NULL, values,
                                    (const char *const *)data->axis_names, (const char *const *)data->state_names,
                                    &part, &error));
    kb_free(times), kb_free(positions), kb_free(values);
    return part;
}

static bool in_first_half(size_t row, kb_random *random) { return (void)random, row < 20; }
static bool in_second_half(size_t row, kb_random *random) { return (void)random, row >= 19; }
static bool seven_of_ten(size_t row, kb_random *random) { return (void)row, kb_random_uniform(random) < 0.7; }

/* ---------------------------------------------------------------- files */

static void write_text(const char *path, const char *text)
{
    FILE *file = fopen(path, "w");
    CHECK(file && fputs(text, file) >= 0 && fclose(file) == 0);
}

/* The file's lines, the first excepted, in another order. */
static void shuffle_lines(const char *path)
{
    char *text = calloc(1, 1 << 20), *lines[1000], *shuffled = calloc(1, 1 << 20);
    size_t n = 0;
    kb_random random;
    kb_random_seed(&random, 5);
    FILE *file = fopen(path, "r");
    CHECK(text && shuffled && file && fread(text, 1, (1 << 20) - 1, file) > 0 && fclose(file) == 0);
    for (char *line = strtok(text, "\n"); line && n < 1000; line = strtok(NULL, "\n")) lines[n++] = line;
    for (size_t i = n - 1; i > 1; i--) {
        size_t j = 1 + (size_t)(kb_random_uniform(&random) * (double)i);
        char *swap = lines[i];
        lines[i] = lines[j];
        lines[j] = swap;
    }
    for (size_t i = 0; i < n; i++) strcat(strcat(shuffled, lines[i]), "\n");
    write_text(path, shuffled);
    free(text), free(shuffled);
}

typedef struct {
    const char *name, *shape; /* "u.npy", "(20, 20)" */
    size_t n;
    const double *values;
    unsigned long offset, crc, size;
} member;

static void put(FILE *file, unsigned long value, int bytes)
{
    for (int i = 0; i < bytes; i++) fputc((int)(value >> 8 * i & 255), file);
}

/* version needed to the length of the extra field: what a member's two headers share */
static void put_header(FILE *file, const member *m)
{
    put(file, 20, 2), put(file, 0, 4), put(file, 0, 4);
    put(file, m->crc, 4), put(file, m->size, 4), put(file, m->size, 4);
    put(file, strlen(m->name), 2), put(file, 0, 2);
}

static void put_member(FILE *file, member *m)
{
    unsigned char head[128] = "\x93NUMPY\1\0\x76\0";
    int length = snprintf((char *)head + 10, 118, "{'descr': '<f8', 'fortran_order': False, 'shape': %s, }", m->shape);
    memset(head + 10 + length, ' ', (size_t)(117 - length));
    head[127] = '\n';
    m->offset = (unsigned long)ftell(file);
    m->size = sizeof head + m->n * sizeof *m->values;
    m->crc = crc32(crc32(0, head, sizeof head), (const unsigned char *)m->values, (unsigned)(m->n * sizeof *m->values));
    put(file, 0x04034b50, 4), put_header(file, m), fputs(m->name, file);
    CHECK(fwrite(head, 1, sizeof head, file) == sizeof head &&
          fwrite(m->values, sizeof *m->values, m->n, file) == m->n);
}

/* Arrays as NumPy's savez writes them. */
static void write_npz(const char *path, size_t n, member *members)
{
    FILE *file = fopen(path, "wb");
    CHECK(file);
    for (size_t i = 0; i < n; i++) put_member(file, &members[i]);
    unsigned long directory = (unsigned long)ftell(file);
    for (size_t i = 0; i < n; i++) {
        put(file, 0x02014b50, 4), put(file, 20, 2), put_header(file, &members[i]);
        put(file, 0, 2), put(file, 0, 2), put(file, 0, 2), put(file, 0, 4), put(file, members[i].offset, 4);
        fputs(members[i].name, file);
    }
    unsigned long end = (unsigned long)ftell(file);
    put(file, 0x06054b50, 4), put(file, 0, 4), put(file, n, 2), put(file, n, 2), put(file, end - directory, 4);
    put(file, directory, 4), put(file, 0, 2);
    CHECK(fclose(file) == 0);
}

/* ---------------------------------------------------------------- one data set, many forms */

static const char *const vdp[] = {"x_t: y", "y_t: x", "y_t: y", "y_t: x^2*y"};

static void states_as_table_shuffled_split_and_numbered(void **state)
{
    (void)state;
    static const char *const equations[] = {"x_t = y", "y_t = 2.5*y - 2.5*x^2*y - x"}, *const names[] = {"a", "b"};
    static const double start[] = {1, 1};
    static const char path[] = "test_irregular.csv";
    kbass_data *data = setup_sample(2, equations, start, 40, 12), *read = NULL, *halves[2], *joined = NULL;
    CHECK_OK(kbass_data_add_noise(data, 5, 2, &error));
    CHECK_OK(kbass_data_write(data, path, &error));
    shuffle_lines(path);
    CHECK_OK(kbass_data_read(path, NULL, &read, &error));
    CHECK(read->n_rows == 40 && !memcmp(read->values, data->values, 80 * sizeof(double)));
    check_law(read, NULL, 4, vdp);
    halves[0] = rows_where(data, in_first_half);
    halves[1] = rows_where(data, in_second_half);
    CHECK_OK(kbass_data_join(2, (const kbass_data *const *)halves, names, &joined, &error));
    CHECK_OK(kbass_data_write(joined, path, &error)); /* with a column that numbers the runs */
    check_law(joined, NULL, 4, vdp);
    CHECK_OK(kbass_data_read(path, NULL, &read, &error));
    CHECK_OK(kbass_data_split(read, "run", &error));
    CHECK(read->n_runs == 2 && read->n_rows == 41);
    check_law(read, NULL, 4, vdp);
    remove(path);
    for (size_t i = 0; i < 2; i++) kbass_data_destroy(halves[i]);
    kbass_data_destroy(data);
}

static void fields_as_grid_and_as_shuffled_rows(void **state)
{
    (void)state;
    enum { N = 10 };
    static const size_t counts[] = {N, N};
    static const char table[] = "test_irregular_field.csv", grid[] = "test_irregular_field.npz";
    double t[N], x[N];
    kbass_model *pde = NULL;
    kbass_data *data = NULL, *rows = NULL, *arrays = NULL;
    CHECK_OK(kbass_model_named("burgers", &pde, &error));
    CHECK_OK(kbass_model_grid(pde, counts, &data, &error));
    CHECK_OK(kbass_data_add_noise(data, 10, 1, &error));
    for (size_t i = 0; i < N; i++) t[i] = data->times[i * N], x[i] = data->positions[i];
    member members[] = {{"u.npy", "(10, 10)", N * N, data->values, 0, 0, 0},
                        {"t.npy", "(10,)", N, t, 0, 0, 0},
                        {"x.npy", "(10,)", N, x, 0, 0, 0}};
    write_npz(grid, 3, members);
    CHECK_OK(kbass_data_write(data, table, &error));
    shuffle_lines(table);
    CHECK_OK(kbass_data_read(table, &(kbass_read_options){.axes = "t,x"}, &rows, &error));
    CHECK_OK(kbass_data_read(grid, &(kbass_read_options){.axes = "t,x"}, &arrays, &error));
    CHECK(rows->n_rows == N * N && !memcmp(rows->values, data->values, N * N * sizeof(double)));
    CHECK(arrays->n_rows == N * N && !memcmp(arrays->values, data->values, N * N * sizeof(double)));
    CHECK(!memcmp(arrays->positions, rows->positions, N * N * sizeof(double)));
    check_law(arrays, field_terms, 2, burgers); /* the rows are the same numbers */
    remove(table), remove(grid);
    kbass_data_destroy(rows);
    kbass_data_destroy(data);
    kbass_model_destroy(pde);
}

/* ---------------------------------------------------------------- what is not there */

/* Hares at even, lynxes at odd rows: 20 each, 10 % noise. */
static void species_are_counted_at_different_times(void **state)
{
    (void)state;
    static const char *const equations[] = {"x_t = 0.55*x - 0.028*x*y", "y_t = -0.84*y + 0.026*x*y"};
    static const char *const support[] = {"x_t: x", "x_t: x*y", "y_t: y", "y_t: x*y"};
    static const double start[] = {30, 4};
    kbass_data *data = setup_sample(2, equations, start, 40, 20);
    CHECK_OK(kbass_data_add_noise(data, 10, 1, &error));
    for (size_t row = 0; row < 40; row++) data->values[2 * row + (row % 2 == 0)] = NAN;
    check_law(data, NULL, 4, support);
}

static void a_grid_with_holes(void **state)
{
    (void)state;
    static const size_t counts[] = {20, 20};
    kbass_model *pde = NULL;
    kbass_data *data = NULL;
    char text[400];
    CHECK_OK(kbass_model_named("burgers", &pde, &error));
    CHECK_OK(kbass_model_grid(pde, counts, &data, &error));
    CHECK_OK(kbass_data_add_noise(data, 10, 1, &error));
    kbass_data *holes = rows_where(data, seven_of_ten);
    kbass_data_describe(holes, text, sizeof text);
    CHECK(holes->n_rows < 300 && strstr(text, "20 x 20 grid (t, x) with 1")); /* 100 or more left out */
    check_law(holes, field_terms, 2, burgers);
    kbass_data_destroy(data);
    kbass_model_destroy(pde);
}

static void scattered_points(void **state)
{
    (void)state;
    kbass_model *pde = NULL;
    kbass_data *data = NULL;
    CHECK_OK(kbass_model_named("burgers", &pde, &error));
    CHECK_OK(kbass_model_scattered(pde, 150, 1, &data, &error));
    CHECK_OK(kbass_data_add_noise(data, 10, 1, &error));
    check_law(data, "u, u*u_x, u_xx", 2, burgers);
    kbass_model_destroy(pde);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(states_as_table_shuffled_split_and_numbered),
        cmocka_unit_test(fields_as_grid_and_as_shuffled_rows),
        cmocka_unit_test(species_are_counted_at_different_times),
        cmocka_unit_test(a_grid_with_holes),
        cmocka_unit_test(scattered_points),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
