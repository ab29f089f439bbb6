/* Grids that stay in a text: boxes of them against the table of all rows, and texts that only begin like one. */
#include "data/text_grid.h"
#include "data/tiles.h"
#include "scratch.h"

#include <math.h>

static kbass_error error;

/* Any number of digits, and some that are missing. */
static double value_at(size_t i, size_t k) { return (i * 7 + k) % 11 ? sin((double)i * 0.37 + (double)k) : NAN; }

typedef struct {
    const char *header, *end, *between, *missing; /* line ends; a line between rows; what stands for NaN */
    size_t n_axes, n[3], order[3];                /* order: the axis that moves fastest first */
    size_t leaves_out;                            /* a row that is not there; SIZE_MAX: none */
} text;

static double at(size_t axis, size_t index) { return (double)axis + 0.1 * (double)index; }

static void write_text(const text *form)
{
    FILE *file = fopen(path, "wb");
    size_t index[3] = {0}, n = 1;
    CHECK(file != NULL);
    for (size_t a = 0; a < form->n_axes; a++) n *= form->n[a];
    fprintf(file, "%s%s", form->header, form->end);
    for (size_t row = 0; row < n; row++) {
        for (size_t a = 0; row != form->leaves_out && a < form->n_axes; a++) fprintf(file, "%.17g,", at(a, index[a]));
        for (size_t k = 0; row != form->leaves_out && k < 2; k++) {
            double value = value_at(row, k);
            if (isnan(value)) fprintf(file, "%s", form->missing);
            else fprintf(file, "%.17g", value);
            fprintf(file, "%s", k ? form->end : ",");
        }
        if (row % 300 == 150) fprintf(file, "%s", form->between);
        for (size_t k = 0; k < form->n_axes && ++index[form->order[k]] == form->n[form->order[k]]; k++)
            index[form->order[k]] = 0;
    }
    CHECK(fclose(file) == 0);
}

static kbass_data *read_file(const char *axes, size_t most)
{
    kbass_data *data = NULL;
    kbass_read_options options = {.size = sizeof options, .axes = axes, .most_values = most, .few_values = 60};
    if (kbass_data_read(path, &options, &data, &error) != KBASS_OK) fail_msg("%s", error.message);
    return data;
}

/* The row of the file that a point is. */
static size_t row_of(const text *form, const size_t *index)
{
    size_t row = 0;
    for (size_t k = form->n_axes; k-- > 0;) row = row * form->n[form->order[k]] + index[form->order[k]];
    return row;
}

static void check_box(const text *form, kb_tiled *t, const size_t *first, const size_t *n)
{
    size_t points = n[0] * n[1] * (form->n_axes > 2 ? n[2] : 1);
    double *value = calloc(2 * points, sizeof *value);
    CHECK_OK(t->read(t, first, n, value, &error));
    for (size_t i = 0; i < 2 * points; i++) {
        size_t rest = i % points, index[3] = {0};
        for (size_t a = form->n_axes; a-- > 0; rest /= n[a]) index[a] = first[a] + rest % n[a];
        double expected = value_at(row_of(form, index), i / points);
        if (!(value[i] == expected || (isnan(value[i]) && isnan(expected))))
            fail_msg("point %zu is %g, not %g", i, value[i], expected);
    }
    free(value);
}

static void check_text(const text *form, const char *axes)
{
    write_text(form);
    kbass_data *data = read_file(axes, 100), *whole = read_file(axes, 0);
    kb_tiled *t = data->tiles;
    CHECK(t && t->is_for_all && t->slowest == form->order[form->n_axes - 1] && !whole->tiles);
    CHECK(!memcmp(data->sha256, whole->sha256, sizeof data->sha256));
    size_t first[3] = {0}, n[3], middle[3], some[3];
    for (size_t a = 0; a < form->n_axes; a++) {
        CHECK(t->n[a] == form->n[a] && t->at[a][t->n[a] - 1] == at(a, form->n[a] - 1));
        n[a] = form->n[a];
        middle[a] = n[a] / 3;
        some[a] = n[a] / 2;
    }
    check_box(form, t, first, n);
    check_box(form, t, middle, some);
    check_box(form, t, some, (size_t[]){1, 1, 1});
    kbass_data_destroy(data);
    kbass_data_destroy(whole);
}

static void boxes_are_those_of_the_rows(void **state)
{
    static const text forms[] = {{"t,x,u,v", "\n", "", "", 2, {40, 30}, {1, 0}, SIZE_MAX},
                                 {"t,x,u,v", "\r\n", "\r\n# more\r\n", "nan", 2, {40, 30}, {0, 1}, SIZE_MAX},
                                 {"t,x,y,u,v", "\n", "\n\n", "", 3, {12, 9, 17}, {2, 1, 0}, SIZE_MAX},
                                 {"t,x,y,u,v", "\n", "", "NA", 3, {12, 9, 17}, {1, 0, 2}, SIZE_MAX}};
    (void)state;
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++)
        check_text(&forms[i], forms[i].n_axes > 2 ? "t,x,y" : "t,x");
}

/* Of more than one block of 8 MB, so that rows were left in the file before the hole was met. */
static void a_hole_near_the_end_brings_all_rows_back(void **state)
{
    text form = {"t,x,u,v", "\n", "", "", 2, {500, 400}, {1, 0}, 199000};
    (void)state;
    write_text(&form);
    kbass_data *data = read_file("t,x", 1000), *whole = read_file("t,x", 0);
    CHECK(!data->tiles && data->n_rows == whole->n_rows && whole->n_rows > 190000);
    CHECK(!memcmp(data->values, whole->values, data->n_rows * 2 * sizeof(double)));
    CHECK(!memcmp(data->sha256, whole->sha256, sizeof data->sha256));
    kbass_data_destroy(data);
    kbass_data_destroy(whole);
    form.leaves_out = SIZE_MAX;
    check_text(&form, "t,x");
}

/* Rows in another order, a last line that is not full, one axis that stands still. */
static void other_rows_are_no_grid(void **state)
{
    static const double rows[][12] = {{0, 0, 0, 1, 1, 0, 1, 1, 2, 1, 2, 0},
                                      {0, 0, 0, 1, 1, 0, 1, 1, 2, 0, -1, -1},
                                      {0, 0, 0, 1, 0, 2, 0, 3, 0, 4, 0, 5},
                                      {0, 0, 0, 1, 1, 0, 1, 1, 1, 0, 1, 1}};
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        kb_text_grid grid = {.n_axes = 2};
        for (size_t k = 0; k < 12 && rows[i][k] >= 0; k += 2) kb_text_grid_take(&grid, rows[i] + k);
        CHECK(!kb_text_grid_is_full(&grid));
        kb_text_grid_clear(&grid);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(boxes_are_those_of_the_rows),
                                       cmocka_unit_test(a_hole_near_the_end_brings_all_rows_back),
                                       cmocka_unit_test(other_rows_are_no_grid)};
    return cmocka_run_group_tests(tests, make_file, remove_file);
}
