/* The files of tests/data, each read to the numbers of its plain version, and files that must be refused. */
#include <stdlib.h>

#include <zlib.h>

#include "base/memory.h"
#include "base/number.h"
#include "data/source.h"
#include "scratch.h"

#define FOLDER KBASS_ROOT "/tests/data/"

static kbass_error error;

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

static kbass_data *read_named(const char *name, const char *time, const char *axes)
{
    char full[400];
    kbass_data *data = NULL;
    snprintf(full, sizeof full, FOLDER "%s", name);
    kbass_read_options options = {.time_column = time, .axes = axes};
    if (kbass_data_read(full, &options, &data, &error) != KBASS_OK) fail_msg("%s", error.message);
    return data;
}

static kbass_data *read_data(const char *name, const char *axes) { return read_named(name, NULL, axes); }

/* ---------------------------------------------------------------- the same numbers */

static void check_same(const char *name, const kbass_data *found, const kbass_data *plain, bool has_names)
{
    size_t n = kbass_data_rows(plain), n_states = kbass_data_states(plain), n_axes = kbass_data_axes(plain);
    if (kbass_data_rows(found) != n || kbass_data_states(found) != n_states || kbass_data_axes(found) != n_axes)
        fail_msg("%s: %zu rows, %zu states, %zu axes", name, kbass_data_rows(found), kbass_data_states(found),
                 kbass_data_axes(found));
    for (size_t i = 0; i < n_axes; i++) CHECK_TEXT(kbass_data_axis_name(found, i), kbass_data_axis_name(plain, i));
    for (size_t i = 0; i < n; i++) {
        if (kbass_data_times(found)[i] != kbass_data_times(plain)[i]) fail_msg("%s: time of row %zu", name, i);
        for (size_t k = 0; k + 1 < n_axes; k++)
            if (kbass_data_positions(found)[i * (n_axes - 1) + k] != kbass_data_positions(plain)[i * (n_axes - 1) + k])
                fail_msg("%s: position of row %zu", name, i);
    }
    for (size_t k = 0; k < n_states; k++) {
        size_t other = 0; /* the plain one's place of the state */
        while (has_names && other < n_states &&
               strcmp(kbass_data_state_name(found, k), kbass_data_state_name(plain, other)) != 0)
            other++;
        if (!has_names) other = k;
        if (other == n_states) fail_msg("%s: state %s", name, kbass_data_state_name(found, k));
        for (size_t i = 0; i < n; i++) {
            double a = kbass_data_values(found)[i * n_states + k], b = kbass_data_values(plain)[i * n_states + other];
            if (!(a == b || (isnan(a) && isnan(b)))) fail_msg("%s: row %zu: %g, expected %g", name, i, a, b);
        }
    }
}

/* Plain version, its axes, then the others with theirs. */
static void test_same_numbers(void **state)
{
    static const struct {
        const char *plain, *plain_axes, *name, *axes;
    } cases[] = {
        {"ode.csv", NULL, "ode_crlf.csv", NULL},
        {"ode.csv", NULL, "ode_cr.csv", NULL},
        {"ode.csv", NULL, "ode_bom.csv", NULL},
        {"ode.csv", NULL, "ode_tabs.tsv", NULL},
        {"ode.csv", NULL, "ode_semicolons.csv", NULL},
        {"ode.csv", NULL, "ode_decimal_commas.csv", NULL},
        {"ode.csv", NULL, "ode_decimal_commas.tsv", NULL},
        {"ode.csv", NULL, "ode_blanks.dat", NULL},
        {"ode.csv", NULL, "ode_savetxt.txt", NULL},
        {"ode.csv", NULL, "ode_percent.txt", NULL},
        {"ode.csv", NULL, "ode_quotes.csv", NULL},
        {"ode.csv", NULL, "ode_comments.csv", NULL},
        {"ode.csv", NULL, "ode_no_last_newline.csv", NULL},
        {"ode.csv", NULL, "ode_words.csv", NULL},
        {"ode.csv", NULL, "ode_exponents.csv", NULL},
        {"ode.csv", NULL, "ode_shuffled.csv", NULL},
        {"ode.csv", NULL, "ode_gzip.csv.gz", NULL},
        {"ode.csv", NULL, "ode_gzip_twice.csv.gz", NULL},
        {"ode.csv", NULL, "ode_wrong_ending.npy", NULL},
        {"ode.csv", NULL, "ode_records.npy", NULL},
        {"ode.csv", NULL, "ode_padded.npy", NULL},
        {"ode.csv", NULL, "ode_columns.npz", NULL},
        {"ode.csv", NULL, "ode_half.npz", NULL},
        {"ode.csv", NULL, "ode_big_endian.npz", NULL},
        {"ode.csv", NULL, "ode_columns.mat", NULL},
        {"ode.csv", NULL, "ode_struct.mat", NULL},
        {"ode.csv", NULL, "ode_struct.mat:run", NULL},
        {"ode.csv", NULL, "ode_groups.h5:/run2", NULL},
        {"ode.csv", NULL, "ode_records.h5", NULL},
        {"ode.csv", NULL, "ode_cycle.h5", NULL},
        {"count.csv", NULL, "count.npy", NULL},
        {"count.csv", NULL, "count_i1.npy", NULL},
        {"count.csv", NULL, "count_i2.npy", NULL},
        {"count.csv", NULL, "count_i4.npy", NULL},
        {"count.csv", NULL, "count_i8.npy", NULL},
        {"count.csv", NULL, "count_float16.npy", NULL},
        {"count.csv", NULL, "count_fortran.npy", NULL},
        {"count.csv", NULL, "count_matrix.npz", NULL},
        {"positive.csv", NULL, "positive_u1.npz", NULL},
        {"positive.csv", NULL, "positive_u2.npz", NULL},
        {"positive.csv", NULL, "positive_u4.npz", NULL},
        {"positive.csv", NULL, "positive_u8.npz", NULL},
        {"grid.csv", "t,x", "grid.csv", "x,t"},
        {"grid.csv", "t,x", "grid_tx.npz", NULL},
        {"grid.csv", "t,x", "grid_tx.npz", "t,x"},
        {"grid.csv", "t,x", "grid_xt.npz", NULL},
        {"grid.csv", "t,x", "grid_long.npz", "t,x"},
        {"grid.csv", "t,x", "grid_mesh.npz", NULL},
        {"grid.csv", "t,x", "grid_components.npz", NULL},
        {"grid.csv", "t,x", "grid_v6.mat", NULL},
        {"grid.csv", "t,x", "grid_v7.mat", NULL},
        {"grid.csv", "t,x", "grid_v73.mat", NULL},
        {"grid.csv", "t,x", "grid_chunks.h5", NULL},
        {"grid.csv", "t,x", "grid_latest.h5", NULL},
        {"grid.csv", "t,x", "grid_packed.nc", NULL},
        {"grid.csv", "t,x", "grid_bounds.nc", NULL},
        {"grid.csv", "t,x", "grid_nested.h5:/run3", NULL},
        {"space.csv", "t,x,y", "space_yxt.npz", NULL},
        {"space.csv", "t,x,y", "space.mat", NULL},
        {"grid.csv", "t,x", "grid_complex.mat", NULL},
        {"grid.csv", "t,x", "grid_complex_v7.mat", NULL},
        {"grid.csv", "t,x", "grid_cell.mat", NULL},
        {"grid.csv", "t,x", "grid_cell_v73.mat", NULL},
        {"grid.csv", "t,x", "grid_steps.npz", NULL},
        {"points.csv", "t,x,y", "points.mat", NULL},
        {"square.csv", "t,x", "square_tx.npz", "t,x"},
        {"square.csv", "t,x", "square_xt.npz", "x,t"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        kbass_data *plain = read_data(cases[i].plain, cases[i].plain_axes);
        kbass_data *found = read_data(cases[i].name, cases[i].axes);
        check_same(cases[i].name, found, plain, !strstr(cases[i].name, "components"));
        kbass_data_destroy(found);
        kbass_data_destroy(plain);
    }
}

/* The same numbers under other names, by what the caller says of time and axes. */
static void test_other_names(void **state)
{
    static const struct {
        const char *name, *time, *axes, *axis_names[2], *fields[2]; /* fields: those of u and v */
    } cases[] = {
        {"grid_parts.mat", NULL, NULL, {"t", "x"}, {"w_re", "w_im"}},
        {"grid_parts.mat:w", NULL, NULL, {"t", "x"}, {"w_re", "w_im"}},
        {"grid_parts.mat:w_im", NULL, NULL, {"t", "x"}, {NULL, "w_im"}},
        {"grid_parts.npz", NULL, NULL, {"t", "x"}, {"w_re", "w_im"}},
        {"grid_parts_c8.npz", NULL, "x,t", {"t", "x"}, {"w_re", "w_im"}},
        {"grid_parts.h5", NULL, NULL, {"t", "x"}, {"w_re", "w_im"}},
        {"grid_cells.mat", "xs_2", NULL, {"xs_2", "xs_1"}, {"U_1", "U_2"}},
        {"grid_cells.mat", "xs_2", "xs_1,xs_2", {"xs_2", "xs_1"}, {"U_1", "U_2"}},
        {"grid_structs.mat:run_2", NULL, NULL, {"t", "x"}, {NULL, "u"}},
        {"grid_structs_v73.mat:run_2", NULL, NULL, {"t", "x"}, {NULL, "u"}},
        {"grid_tt.npz", NULL, NULL, {"tt", "x"}, {"u", "v"}},
        {"grid_tt.npz", NULL, "x,tt", {"tt", "x"}, {"u", "v"}},
        {"grid_tt.npz", "tt", "x,tt", {"tt", "x"}, {"u", "v"}},
        {"grid_mesh_x.npz", NULL, NULL, {"t", "X"}, {"u", "v"}},
        {"grid_mesh_t.npz", NULL, NULL, {"t", "x"}, {"u", "v"}},
        {"grid_apart.h5", NULL, NULL, {"t", "x"}, {"u", "v"}},
        {"grid_steps.npz", NULL, "t,x", {"t", "x"}, {"u", "v"}},
        {"grid_no_time.npz", "0.25", NULL, {"t", "x"}, {"u", "v"}},
        {"grid_no_time.npz", "0.25", "s,x", {"s", "x"}, {"u", "v"}},
        {"grid.csv", "t", "x,t", {"t", "x"}, {"u", "v"}},
    };
    kbass_data *plain = read_data("grid.csv", "t,x");
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        kbass_data *found = read_named(cases[i].name, cases[i].time, cases[i].axes);
        size_t n = kbass_data_rows(plain), n_states = kbass_data_states(found);
        if (kbass_data_rows(found) != n || kbass_data_axes(found) != 2) fail_msg("%s: its shape", cases[i].name);
        for (size_t k = 0; k < 2; k++) CHECK_TEXT(kbass_data_axis_name(found, k), cases[i].axis_names[k]);
        for (size_t row = 0; row < n; row++) {
            CHECK(kbass_data_times(found)[row] == kbass_data_times(plain)[row]);
            CHECK(kbass_data_positions(found)[row] == kbass_data_positions(plain)[row]);
        }
        for (size_t k = 0; k < 2; k++) {
            size_t at = 0;
            if (!cases[i].fields[k]) continue;
            while (at < n_states && strcmp(kbass_data_state_name(found, at), cases[i].fields[k]) != 0) at++;
            if (at == n_states) fail_msg("%s: no field %s", cases[i].name, cases[i].fields[k]);
            for (size_t row = 0; row < n; row++) {
                double a = kbass_data_values(found)[row * n_states + at], b = kbass_data_values(plain)[row * 2 + k];
                if (!(a == b || (isnan(a) && isnan(b)))) fail_msg("%s: row %zu: %g, not %g", cases[i].name, row, a, b);
            }
        }
        kbass_data_destroy(found);
    }
    kbass_data_destroy(plain);
}

/* What is used, left out and renamed; a name means all components of an array. */
static void test_wishes(void **state)
{
    static const struct {
        const char *name, *use, *ignore, *rename, *states;
    } cases[] = {
        {"grid_tx.npz", "v", NULL, NULL, "v"},
        {"grid_tx.npz", NULL, "v", NULL, "u"},
        {"grid_tx.npz", NULL, NULL, "u=temp", "temp,v"},
        {"grid_components.npz", "w2", NULL, NULL, "w2"},
        {"grid_components.npz", NULL, NULL, "w=q", "q1,q2"},
        {"ode_columns.npz", NULL, "x", "y=z", "z"},
        {"grid_parts.mat", "w_im", NULL, NULL, "w_im"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char full[400], states[100] = "";
        kbass_data *data = NULL;
        kbass_read_options options = {.use = cases[i].use, .ignore = cases[i].ignore, .rename = cases[i].rename};
        snprintf(full, sizeof full, FOLDER "%s", cases[i].name);
        CHECK_OK(kbass_data_read(full, &options, &data, &error));
        for (size_t k = 0; k < kbass_data_states(data); k++) {
            if (k) strcat(states, ",");
            strcat(states, kbass_data_state_name(data, k));
        }
        CHECK_TEXT(states, cases[i].states);
        kbass_data_destroy(data);
    }
    kbass_data *data = NULL;
    CHECK_FAILS(kbass_data_read(FOLDER "grid_tx.npz", &(kbass_read_options){.use = "q"}, &data, &error),
                KBASS_ERROR_DATA, "no column \"q\" for --use");
}

/* Of an array without names and without time, every column is a state. */
static void test_steps(void **state)
{
    kbass_data *data = read_named("count_backwards.npy", "0.5", NULL);
    (void)state;
    CHECK(kbass_data_rows(data) == 6 && kbass_data_states(data) == 2);
    CHECK_TEXT(kbass_data_state_name(data, 0), "x1");
    CHECK(kbass_data_times(data)[5] == 2.5 && kbass_data_values(data)[0] == -3 && kbass_data_values(data)[1] == 13);
    kbass_data_destroy(data);
}

static void check_description(const char *name, const char *axes, const char *part)
{
    char text[1000];
    kbass_data *data = read_data(name, axes);
    kbass_data_describe(data, text, sizeof text);
    if (!strstr(text, part)) fail_msg("%s: \"%s\" does not say \"%s\"", name, text, part);
    kbass_data_destroy(data);
}

static void test_what_was_understood(void **state)
{
    (void)state;
    check_description("grid_v7.mat", NULL, "; u (4 x 5) runs over x, t; v (4 x 5) runs over x, t");
    check_description("grid_xt.npz", NULL, "left out: nu (1 number)");
    check_description("grid_components.npz", NULL, "2 fields (w1, w2)");
    check_description("grid_components.npz", NULL, "w (2 x 5 x 4) runs over components, t, x");
    check_description("grid_v73.mat", NULL, "left out: label (text)");
    check_description("count.npy", NULL, "columns taken for t, x1, x2");
    check_description("count.npy", "t,x", "columns taken for t, x, u");
    check_description("space.mat", NULL, "w (3 x 4 x 2) runs over x, y, t; not used: T (1 x 2)");
    check_description("grid_nested.h5:/run3/u", NULL, "1 field (u)");
    check_description("grid_complex.mat", NULL, "u is complex with a nil imaginary part: taken as real; v is complex");
    check_description("grid_complex_v7.mat", NULL, "an imaginary part of at most 1e-17, rounding: taken as real");
    check_description("grid_parts.mat", NULL, "w is complex: w_re, w_im");
    check_description("grid_tt.npz", NULL, "tt is taken for time");
    check_description("grid_mesh_x.npz", NULL, "X (4 x 5) is a mesh: taken as an axis of 4");
    check_description("count_complex.npy", NULL, "columns taken for t, x_re, x_im");
    check_description("points.mat", NULL, "X_star are 3 points in space: x,y");
    check_description("grid_other_group.h5", NULL, "not read: the group /old (file:/GROUP reads one)");
    check_description("grid_other_group.h5", NULL, "1 field (U_exact), t_coordinate from 0 to 1");
    check_description("grid_steps.npz", NULL, "time is not there: t counts 5 steps of 0.25");
}

static void refuse(const char *name, const char *axes, kbass_status status, const char *message)
{
    char full[400];
    kbass_data *data = NULL;
    kbass_read_options options = {.axes = axes};
    snprintf(full, sizeof full, FOLDER "%s", name);
    CHECK_FAILS(kbass_data_read(full, &options, &data, &error), status, message);
    CHECK(data == NULL);
}

static void test_asks_back(void **state)
{
    (void)state;
    refuse("square_tx.npz", NULL, KBASS_ERROR_DATA, "name the axes in their order, as in --axes t,x or --axes x,t");
    refuse("ode_groups.h5", NULL, KBASS_ERROR_DATA, "arrays in several groups");
    refuse("ode_groups.h5:/run3", NULL, KBASS_ERROR_DATA,
           "no array or group \"/run3\" inside; there are arrays in: /run1");
    refuse("grid_tx.npz", "t,y", KBASS_ERROR_DATA, "no array for the axis \"y\"; there are: t (5), x (4), u (5 x 4)");
    refuse("grid_tx.npz", "s,x", KBASS_ERROR_DATA, "no array \"s\" for time");
    refuse("grid_cells.mat", "xs_1,xs_2", KBASS_ERROR_DATA, "which one is it? Say --time xs_2");
    refuse("grid_structs.mat", NULL, KBASS_ERROR_DATA, "name one as in file:/group; there are: /run_1, /run_2");
    refuse("grid_structs_v73.mat", NULL, KBASS_ERROR_DATA, "name one as in file:/group; there are: /run_1, /run_2");
    refuse("grid_sparse.mat", NULL, KBASS_ERROR_DATA, "\"u\" (4 x 4) runs along \"t\" and cannot be read: a sparse");
    refuse("ode_objects.npz", NULL, KBASS_ERROR_DATA, "\"x\" (8) runs along \"t\" and cannot be read: Python objects");
    refuse("ode_objects.npy", NULL, KBASS_ERROR_DATA, "Python objects, pickled, which only Python reads");
    refuse("count_backwards.npy", NULL, KBASS_ERROR_DATA, "should be time and goes back: say --time 0.1");
    refuse("grid_no_time.npz", NULL, KBASS_ERROR_DATA, "or where there is none its step, as in --time 0.1");
    refuse("ode.csv:x", NULL, KBASS_ERROR_ARGUMENT, "text has nothing inside");
    refuse("nowhere.h5:/u", NULL, KBASS_ERROR_FILE, "nowhere.h5:/u: cannot be read");
}

/* ---------------------------------------------------------------- numbers */

/* The quick way is the careful one, bit by bit, wherever it goes. */
static void test_numbers(void **state)
{
    uint64_t seed = 88172645463325252u;
    size_t n_quick = 0;
    (void)state;
    for (int i = 0; i < 200000; i++) {
        char text[64];
        double quick = 0, careful = 0, any;
        seed ^= seed << 13, seed ^= seed >> 7, seed ^= seed << 17;
        memcpy(&any, &seed, sizeof any);
        uint64_t digits = seed >> (seed % 60);
        if (i % 3 == 0) snprintf(text, sizeof text, "%.17g", any);
        else if (i % 3 == 1)
            snprintf(text, sizeof text, "-%llu.%03llue%d", (unsigned long long)(digits / 1000),
                     (unsigned long long)(digits % 1000), (int)(seed % 50) - 25);
        else snprintf(text, sizeof text, "%.15f", (double)(int64_t)seed * 1e-17);
        const char *end = kb_number_scan(text, text + strlen(text), '.', &quick);
        if (!end) continue;
        n_quick++;
        CHECK(kb_number_parse(text, &careful) && !*end);
        if (memcmp(&quick, &careful, sizeof quick) != 0) fail_msg("%s: %.17g, expected %.17g", text, quick, careful);
    }
    CHECK(n_quick > 100000);
}

static void test_number_ends(void **state)
{
    static const struct {
        const char *text;
        long length; /* -1: refused */
        double value;
    } cases[] = {{"1.5,2", 3, 1.5},
                 {"-.5e1x", 5, -5},
                 {"+7", 2, 7},
                 {"1.", 2, 1},
                 {".", -1, 0},
                 {"e5", -1, 0},
                 {"1e", -1, 0},
                 {"1e+", -1, 0},
                 {"nan", -1, 0},
                 {"", -1, 0},
                 {"-", -1, 0},
                 {"0e99999", 7, 0},
                 {"1e999", -1, 0},
                 {"0x10", 1, 0},
                 {"1,5", 1, 1},
                 {"9007199254740993", 16, 9007199254740992.0},
                 {"12345678901234567890", -1, 0},
                 {"0.0000000000000000000000000000001", -1, 0}};
    double value = 0;
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *end = kb_number_scan(cases[i].text, cases[i].text + strlen(cases[i].text), '.', &value);
        if ((end ? end - cases[i].text : -1) != cases[i].length) fail_msg("\"%s\"", cases[i].text);
        if (end) CHECK(value == cases[i].value);
    }
    const char *comma = "1,5";
    CHECK(kb_number_scan(comma, comma + 3, ',', &value) && value == 1.5);
}

static void test_elements(void **state)
{
    static const struct {
        kb_element element;
        const char *bytes; /* as a machine with little ends has them */
        double value;
    } cases[] = {{{KB_REAL, 2, 0}, "\x00\x3c", 1},
                 {{KB_REAL, 2, 0}, "\x01\x00", 0x1p-24},
                 {{KB_REAL, 2, 0}, "\xff\x7b", 65504},
                 {{KB_REAL, 2, 0}, "\x00\xfc", -INFINITY},
                 {{KB_REAL, 4, 0}, "\x00\x00\x80\xbf", -1},
                 {{KB_SIGNED, 1, 0}, "\x80", -128},
                 {{KB_UNSIGNED, 1, 0}, "\x80", 128},
                 {{KB_SIGNED, 4, 1}, "\xff\xff\xff\xfe", -2},
                 {{KB_UNSIGNED, 8, 0}, "\xff\xff\xff\xff\xff\xff\xff\xff", 0x1p64}};
    double number = 0;
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        kb_element element = cases[i].element;
        element.is_swapped ^= !kb_machine_is_little();
        kb_elements_read(element, (const unsigned char *)cases[i].bytes, 0, 1, &number);
        CHECK(number == cases[i].value);
    }
    kb_elements_read((kb_element){KB_REAL, 2, !kb_machine_is_little()}, (const unsigned char *)"\x01\x7c", 0, 1,
                     &number);
    CHECK(isnan(number));
}

/* ---------------------------------------------------------------- large tables */

static int count_calls(const kbass_progress *progress, void *user)
{
    CHECK(progress->fraction >= 0 && progress->fraction <= 1);
    return ++*(int *)user > 3;
}

/* More than a block, so that lines, comments and line ends fall on its edges; line numbers go on. */
static void test_many_blocks(void **state)
{
    enum { ROWS = 700000 };
    kbass_data *data = NULL;
    (void)state;
    FILE *file = fopen(path, "w");
    fprintf(file, "t,x\r\n");
    for (int i = 0; i < ROWS; i++)
        fprintf(file, i % 1000 ? "%d,%d.25%s\r\n" : "%d,\"%d.25\"\r\n# %s\r\n", i, -i, "0000");
    fclose(file);
    CHECK_OK(kbass_data_read(path, NULL, &data, &error));
    CHECK(kbass_data_rows(data) == ROWS);
    for (int i = 0; i < ROWS; i++)
        CHECK(kbass_data_times(data)[i] == i && kbass_data_values(data)[i] == (i ? -i - 0.25 : 0.25));
    kbass_data_destroy(data);
    data = NULL;

    int calls = 0;
    kbass_read_options options = {.progress = count_calls, .user = &calls};
    kbass_status status = kbass_data_read(path, &options, &data, &error);
    CHECK(calls >= 3 && (status == KBASS_OK || strstr(error.message, "reading was stopped")));
    kbass_data_destroy(data);
    data = NULL;

    file = fopen(path, "a");
    fprintf(file, "1,2,3\n");
    fclose(file);
    char place[80];
    snprintf(place, sizeof place, "%s:%d: found 3 cells", path, ROWS + ROWS / 1000 + 2);
    CHECK_FAILS(kbass_data_read(path, NULL, &data, &error), KBASS_ERROR_DATA, place);
}

/* ---------------------------------------------------------------- damage */

static void read_damaged(const unsigned char *bytes, size_t n)
{
    kbass_data *data = NULL;
    write_bytes(bytes, n);
    error.message[0] = '\0';
    kbass_status status = kbass_data_read(path, NULL, &data, &error);
    if (status != KBASS_OK && strncmp(error.message, path, strlen(path)) != 0)
        fail_msg("\"%s\" does not name the file", error.message);
    kbass_data_destroy(data);
}

/* Every cut and some changed bits of a file are read or refused, never worse; the sanitizers watch. HDF5 takes a
   process for each, so fewer. */
static void test_damaged_files(void **state)
{
    static const char *const names[] = {"ode_records.npy",  "grid_tx.npz",    "grid_xt.npz",      "ode_columns.mat",
                                        "ode_struct.mat",   "grid_v7.mat",    "ode_quotes.csv",   "ode_gzip.csv.gz",
                                        "grid_cell.mat",    "grid_parts.mat", "grid_structs.mat", "grid_chunks.h5",
                                        "grid_cell_v73.mat"};
    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        size_t n = 0;
        unsigned char *bytes = load(names[i], &n);
        size_t step = i < 11 ? n / 100 + 1 : n / 30 + 1;
        for (size_t at = 0; at < n; at += step) read_damaged(bytes, at);
        for (size_t at = 0; at < n; at += step) {
            unsigned char kept = bytes[at];
            bytes[at] ^= (unsigned char)(1u << at % 8);
            read_damaged(bytes, n);
            bytes[at] = kept;
        }
        free(bytes);
    }
}

static void refuse_bytes(const void *bytes, size_t n, const char *message)
{
    kbass_data *data = NULL;
    write_bytes(bytes, n);
    CHECK_FAILS(kbass_data_read(path, NULL, &data, &error), KBASS_ERROR_DATA, message);
    CHECK(data == NULL);
}

static void refuse_npy(const char *header, const char *message)
{
    unsigned char bytes[400] = "\x93NUMPY\1";
    size_t length = strlen(header);
    bytes[8] = (unsigned char)length;
    memcpy(bytes + 10, header, length);
    refuse_bytes(bytes, 10 + length + 48, message);
}

static void test_hostile_arrays(void **state)
{
    (void)state;
    refuse_npy("{'descr': '<f8', 'fortran_order': False, 'shape': (1000000000, 1000000000), }",
               "1000000000 x 1000000000");
    refuse_npy("{'descr': '<f8', 'fortran_order': False, 'shape': (9999999999, 9999999999, 9999999999), }", "48 bytes");
    refuse_npy("{'descr': '<f8', 'fortran_order': False, 'shape': (99999999999999999999999,), }",
               "cannot be understood");
    refuse_npy("{'descr': '<f8', 'fortran_order': False, 'shape': (1,1,1,1,1,1,1,1,1), }", "more than 8 dimensions");
    refuse_npy("{'descr': '<f8', 'shape': (2, 3), }", "cannot be understood");
    refuse_npy("{'descr': '<c16', 'fortran_order': False, 'shape': (3, 1), }", "without times");
    refuse_npy("{'descr': '|O', 'fortran_order': False, 'shape': (3, 1), }", "Python objects, pickled");
    refuse_npy("{'descr': '<f8', 'fortran_order': False, 'shape': (6,), }", "without times");
    refuse_npy("", "cannot be understood");
    refuse("hostile_huge.h5", NULL, KBASS_ERROR_DATA, "u (more than its bytes in the file can hold)");
    refuse("hostile_external.h5", NULL, KBASS_ERROR_DATA, "cannot be read: numbers that lie in other files");
    refuse("hostile_virtual.h5", NULL, KBASS_ERROR_DATA, "cannot be read: numbers that lie in other files");
    refuse_bytes("\x93NUMPY", 6, "breaks off");
    refuse_bytes("PK\3\4", 4, "its directory");
    refuse_bytes("\211HDF\r\n\032\n", 8, "the HDF5 library cannot read it");
}

/* A table of 10^6 columns, one very long line, and gzip that unfolds to nothing but that. */
static void test_hostile_text(void **state)
{
    enum { SIZE = 4 << 20 };
    static char text[SIZE];
    (void)state;
    for (size_t i = 0; i < SIZE; i++) text[i] = i % 2 ? ',' : 'a';
    refuse_bytes(text, SIZE, "columns, at most 65536 are read");
    memset(text, ' ', SIZE);
    refuse_bytes(text, SIZE, "nothing but blank lines");
    refuse_bytes("t,x\n0,1\n\0\0", 10, ":3: a NUL byte");
    refuse_bytes("\xff\xfet\0,\0x\0", 8, "a header but no rows");

    memset(text, '\n', SIZE);
    gzFile bomb = gzopen(path, "wb1");
    for (int i = 0; i < 270; i++) CHECK(gzwrite(bomb, text, 1 << 20) == 1 << 20);
    gzclose(bomb);
    kbass_data *data = NULL;
    CHECK_FAILS(kbass_data_read(path, NULL, &data, &error), KBASS_ERROR_DATA, "more than 200 times its size");
}

/* ---------------------------------------------------------------- no memory */

static void test_without_memory(void **state)
{
    static const char *const names[] = {
        "ode_records.npy",  "grid_tx.npz",       "ode_struct.mat",         "grid_v7.mat",
        "grid_latest.h5",   "count.npy",         "ode_gzip.csv.gz",        "grid_mesh.npz",
        "wild/classic.nc",  "wild/calc.ods",     "wild/octave_struct.oct", "wild/field.json",
        "wild/archive.zip", "wild/version4.mat", "wild/nested.json"};
    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char full[400];
        snprintf(full, sizeof full, FOLDER "%s", names[i]);
        kbass_status status = KBASS_ERROR_MEMORY;
        for (long n = 0; status != KBASS_OK; n++) {
            kbass_data *data = NULL;
            kb_memory_fail_after(n);
            status = kbass_data_read(full, NULL, &data, &error);
            kb_memory_fail_after(-1);
            if (status != KBASS_OK && !data && n > 1000) fail_msg("%s: %s", names[i], error.message);
            kbass_data_destroy(data);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_same_numbers),
        cmocka_unit_test(test_other_names),
        cmocka_unit_test(test_steps),
        cmocka_unit_test(test_wishes),
        cmocka_unit_test(test_what_was_understood),
        cmocka_unit_test(test_asks_back),
        cmocka_unit_test(test_numbers),
        cmocka_unit_test(test_number_ends),
        cmocka_unit_test(test_elements),
        cmocka_unit_test(test_many_blocks),
        cmocka_unit_test(test_damaged_files),
        cmocka_unit_test(test_hostile_arrays),
        cmocka_unit_test(test_hostile_text),
        cmocka_unit_test(test_without_memory),
    };
    return cmocka_run_group_tests(tests, make_file, remove_file);
}
