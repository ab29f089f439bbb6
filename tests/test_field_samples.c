/* Measurements over time and space in scaled variables: what was measured comes back, on grids and scattered. */
#include <stdlib.h>

#include "base/memory.h"
#include "base/random.h"
#include "check.h"
#include "data/grid.h"
#include "gp/field_samples.h"

enum { NT = 4, NX = 5, NY = 3, MOST = NT * NX * NY };

static const char *const axes[] = {"t", "x", "y"}, *const fields[] = {"u", "v"};
static kbass_error error;

static double u_of(double t, double x, double y) { return 3 + sin(t) * x - 0.3 * y * y; }
static double v_of(double t, double x, double y) { return 100 * cos(t + x) + y; }

typedef struct {
    size_t n;
    double times[MOST], positions[2 * MOST], values[2 * MOST];
} table;

static void add_row(table *a, double t, double x, double y)
{
    size_t n = a->n++;
    a->times[n] = t;
    a->positions[2 * n] = x;
    a->positions[2 * n + 1] = y;
    a->values[2 * n] = u_of(t, x, y);
    a->values[2 * n + 1] = v_of(t, x, y);
}

/* A grid whose spacing in x is uneven; time runs fastest, which is not the order kept. */
static void fill_grid(table *a)
{
    static const double x[NX] = {-1, 0, 0.5, 2, 4};
    a->n = 0;
    for (int k = 0; k < NY; k++)
        for (int j = 0; j < NX; j++)
            for (int i = 0; i < NT; i++) add_row(a, 10 + 0.1 * i, x[j], 7.0 * k);
}

static kb_field_samples *make_samples(const table *a, const char *noise)
{
    kbass_data *data = NULL;
    kb_field_samples *samples = NULL;
    CHECK_OK(kbass_data_create_axes(a->n, 3, 2, a->times, a->positions, a->values, axes, fields, &data, &error));
    CHECK_OK(kb_field_samples_create(data, noise, &samples, &error));
    kbass_data_destroy(data);
    return samples;
}

/* The points in the data's units give the values in the data's units. Returns the number of measured values. */
static size_t check_values(const kb_field_samples *c)
{
    size_t n = c->n_points, n_measured = 0;
    for (size_t i = 0; i < n; i++) {
        double at[3];
        for (size_t axis = 0; axis < 3; axis++) {
            CHECK(c->point[i + axis * n] >= 0 && c->point[i + axis * n] <= 1);
            at[axis] = c->first[axis] + c->span[axis] * c->point[i + axis * n];
        }
        double expected[2] = {u_of(at[0], at[1], at[2]), v_of(at[0], at[1], at[2])};
        for (size_t f = 0; f < 2; f++) {
            n_measured += c->measured[i + f * n] > 0;
            if (c->measured[i + f * n] > 0)
                CHECK_CLOSE(c->mean[f] + c->sd[f] * c->value[i + f * n], expected[f], 1e-10); /* rounding of 100 */
            else CHECK(c->value[i + f * n] == 0);
        }
    }
    return n_measured;
}

static void check_moments(const kb_field_samples *c, size_t field)
{
    double sum = 0, squares = 0, n = (double)c->count[field];
    for (size_t i = 0; i < c->n_points; i++) {
        sum += c->value[i + field * c->n_points];
        squares += c->value[i + field * c->n_points] * c->value[i + field * c->n_points];
    }
    CHECK_CLOSE(sum / n, 0, 1e-12);     /* rounding */
    CHECK_CLOSE(squares / n, 1, 1e-12); /* rounding */
}

static bool is_sorted(const kb_field_samples *c)
{
    for (size_t i = 1; i < c->n_points; i++) {
        size_t axis = 0;
        while (axis < 2 && c->point[i - 1 + axis * c->n_points] == c->point[i + axis * c->n_points]) axis++;
        if (c->point[i - 1 + axis * c->n_points] > c->point[i + axis * c->n_points]) return false;
    }
    return true;
}

static void grid_is_recognised(void **state)
{
    table a;
    (void)state;
    fill_grid(&a);
    kb_field_samples *c = make_samples(&a, NULL);
    CHECK(c->gridded && c->n_points == MOST && c->n_axes == 3 && c->n_fields == 2 && c->n_values == 2 * MOST);
    CHECK(c->n_grid[0] == NT && c->n_grid[1] == NX && c->n_grid[2] == NY);
    CHECK(check_values(c) == c->n_values && is_sorted(c));
    check_moments(c, 0);
    check_moments(c, 1);
    CHECK_CLOSE(c->spacing[0], 1.0 / 3, 1e-12);             /* rounding of 10 + 0.1 i */
    CHECK_CLOSE(c->spacing[1], 0.5 * (1 + 1.5) / 5, 1e-15); /* the gaps are 0.5, 1, 1.5, 2 of 5; rounding */
    CHECK(c->spacing[2] == 0.5 && c->grid[2][0] == 0 && c->grid[2][1] == 0.5 && c->grid[2][2] == 1);
    CHECK(c->known_variance[0] == 0 && !c->periodic[1]);
    kb_field_samples_destroy(c);
}

/* Rows left out and values missing leave a grid with gaps; coordinates that differ by rounding are one. */
static void gaps_in_a_grid(void **state)
{
    table a;
    (void)state;
    fill_grid(&a);
    a.values[2 * 7] = NAN;
    a.values[2 * 9] = a.values[2 * 9 + 1] = NAN;
    a.times[11] += 1e-13;
    a.positions[2 * 5] -= 1e-14;
    a.n -= 2;
    kb_field_samples *c = make_samples(&a, NULL);
    CHECK(c->gridded && c->n_points == MOST && c->n_grid[0] == NT && c->n_grid[1] == NX);
    CHECK(c->count[0] == MOST - 4 && c->count[1] == MOST - 3 && c->n_values == c->count[0] + c->count[1]);
    CHECK(check_values(c) == c->n_values && is_sorted(c));
    check_moments(c, 0);
    kb_field_samples_destroy(c);
}

static void scattered_points(void **state)
{
    table a = {0};
    kb_random random;
    (void)state;
    kb_random_seed(&random, 3);
    while (a.n < MOST)
        add_row(&a, kb_random_uniform(&random), 5 * kb_random_uniform(&random), kb_random_uniform(&random) - 2);
    kb_field_samples *c = make_samples(&a, NULL);
    CHECK(!c->gridded && c->n_points == MOST && c->n_grid[1] == MOST);
    CHECK(check_values(c) == c->n_values && is_sorted(c));
    for (size_t axis = 0; axis < 3; axis++)
        CHECK_CLOSE(c->spacing[axis], pow(MOST, -1.0 / 3), 1e-12); /* a cube of as many points; rounding */
    kb_field_samples_destroy(c);
}

/* Sensors at 5 x 3 places, each at times of its own: space has a spacing, time is shared out. */
static void sensors(void **state)
{
    table a = {0};
    kb_random random;
    (void)state;
    kb_random_seed(&random, 4);
    for (int j = 0; j < 5; j++)
        for (int k = 0; k < 3; k++)
            for (int i = 0; i < 4; i++) add_row(&a, kb_random_uniform(&random), j, k);
    kb_field_samples *c = make_samples(&a, NULL);
    CHECK(!c->gridded && c->n_grid[0] == 60 && c->n_grid[1] == 5 && c->n_grid[2] == 3);
    CHECK(c->spacing[1] == 0.25 && c->spacing[2] == 0.5);
    CHECK_CLOSE(c->spacing[0], 0.25, 1e-12); /* four times a place; rounding */
    CHECK(check_values(c) == c->n_values && is_sorted(c));
    kb_field_samples_destroy(c);
}

static void a_repeated_point_counts_once(void **state)
{
    table a;
    (void)state;
    fill_grid(&a);
    a.times[MOST - 1] = a.times[0];
    a.positions[2 * MOST - 2] = a.positions[0];
    a.positions[2 * MOST - 1] = a.positions[1];
    a.values[2 * MOST - 2] = a.values[0];
    a.values[2 * MOST - 1] = a.values[1];
    kb_field_samples *c = make_samples(&a, NULL);
    CHECK(c->gridded && c->n_points == MOST && check_values(c) == 2 * (MOST - 1)); /* it left a gap behind */
    kb_field_samples_destroy(c);
}

/* Values at one place that differ are separate measurements: their mean, with half the variance. */
static void replicates_are_weighed(void **state)
{
    table a;
    (void)state;
    fill_grid(&a);
    a.times[MOST - 1] = a.times[0];
    a.positions[2 * MOST - 2] = a.positions[0];
    a.positions[2 * MOST - 1] = a.positions[1];
    a.values[2 * MOST - 2] = a.values[0] + 2;
    a.values[2 * MOST - 1] = NAN;
    kb_field_samples *c = make_samples(&a, NULL);
    CHECK(c->gridded && c->n_points == MOST && c->count[0] == MOST - 1 && c->count[1] == MOST - 1);
    CHECK(c->relative && c->relative[0] == 0.5 && c->relative[1] == 1 && c->relative[MOST] == 1);
    CHECK_CLOSE(c->mean[0] + c->sd[0] * c->value[0], a.values[0] + 1, 1e-14); /* rounding */
    kb_field_samples_destroy(c);
}

static void known_noise(void **state)
{
    table a;
    kbass_data *data = NULL;
    kb_field_samples *c = NULL;
    (void)state;
    fill_grid(&a);
    c = make_samples(&a, "v = 5%, u=0.1");
    CHECK_CLOSE(c->known_variance[0], pow(0.1 / c->sd[0], 2), 1e-15); /* rounding */
    CHECK_CLOSE(c->known_variance[1], 0.0025, 1e-15);                 /* rounding */
    kb_field_samples_destroy(c);
    c = NULL;
    CHECK_OK(kbass_data_create_axes(a.n, 3, 2, a.times, a.positions, a.values, axes, fields, &data, &error));
    CHECK_FAILS(kb_field_samples_create(data, "w=1", &c, &error), KBASS_ERROR_ARGUMENT,
                "noise: there is no field \"w\"");
    CHECK_FAILS(kb_field_samples_create(data, "-1", &c, &error), KBASS_ERROR_ARGUMENT,
                "not a standard deviation above 0");
    CHECK(c == NULL);
    kbass_data_destroy(data);
}

static void periodic_axes(void **state)
{
    table a;
    kbass_data *data = NULL;
    kb_field_samples *c = NULL;
    (void)state;
    fill_grid(&a);
    CHECK_OK(kbass_data_create_axes(a.n, 3, 2, a.times, a.positions, a.values, axes, fields, &data, &error));
    CHECK_OK(kb_field_samples_create(data, NULL, &c, &error));
    CHECK_OK(kb_field_samples_read_periodic(c, data, "y", &error));
    CHECK(!c->periodic[0] && !c->periodic[1] && c->periodic[2]);
    CHECK_OK(kb_field_samples_read_periodic(c, data, NULL, &error));
    CHECK(c->periodic[2]);
    CHECK_OK(kb_field_samples_read_periodic(c, data, " x , y", &error));
    CHECK(c->periodic[1] && c->periodic[2]);
    CHECK_OK(kb_field_samples_read_periodic(c, data, "none", &error));
    CHECK(!c->periodic[1] && !c->periodic[2]);
    CHECK_FAILS(kb_field_samples_read_periodic(c, data, "t", &error), KBASS_ERROR_ARGUMENT, "\"t\" is time");
    CHECK_FAILS(kb_field_samples_read_periodic(c, data, "x, z", &error), KBASS_ERROR_ARGUMENT,
                "there is no axis \"z\"");
    kb_field_samples_destroy(c);
    kbass_data_destroy(data);
}

static void without_memory(void **state)
{
    table a;
    kbass_data *data = NULL;
    long n = 0;
    (void)state;
    fill_grid(&a);
    CHECK_OK(kbass_data_create_axes(a.n, 3, 2, a.times, a.positions, a.values, axes, fields, &data, &error));
    for (kbass_status status = KBASS_ERROR_MEMORY; status != KBASS_OK; n++) {
        kb_field_samples *c = NULL;
        kb_memory_fail_after(n);
        status = kb_field_samples_create(data, NULL, &c, &error);
        kb_memory_fail_after(-1);
        CHECK(status == KBASS_OK || status == KBASS_ERROR_MEMORY);
        kb_field_samples_destroy(c);
    }
    CHECK(n > 10);
    kbass_data_destroy(data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(grid_is_recognised),
        cmocka_unit_test(gaps_in_a_grid),
        cmocka_unit_test(scattered_points),
        cmocka_unit_test(sensors),
        cmocka_unit_test(a_repeated_point_counts_once),
        cmocka_unit_test(replicates_are_weighed),
        cmocka_unit_test(known_noise),
        cmocka_unit_test(periodic_axes),
        cmocka_unit_test(without_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
