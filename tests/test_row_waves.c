/* Rows of dense grids projected onto their waves: against the field itself, against white noise, against axes that do
   not close; and laws of planes too dense to be fitted point by point. */
#include <stdlib.h>

#include "base/memory.h"
#include "base/random.h"
#include "base/settings.h"
#include "data/row_waves.h"
#include "found.h"
#include "gp/noise.h"

static kbass_error error;
static const double two_pi = 6.283185307179586;

enum { ROWS = 9, ALONG_X = 40, ALONG_Y = 48, VALUES = ROWS * ALONG_X * ALONG_Y };

static double field(double t, double x, double y)
{
    return 1 + cos(two_pi * x - t) * sin(2 * two_pi * y) + 0.5 * sin(3 * two_pi * (x + y) + t);
}

static double ramp(double t, double x, double y) { return t + x + 0.1 * sin(two_pi * y); }

static kbass_status read_box(kb_tiled *t, const size_t *first, const size_t *n, double *value, kbass_error *failure)
{
    const double *all = t->state;
    (void)failure;
    for (size_t i = 0; i < n[0] * n[1] * n[2]; i++) {
        size_t a = first[0] + i / (n[1] * n[2]), b = first[1] + i / n[2] % n[1], c = first[2] + i % n[2];
        value[i] = all[(a * t->n[1] + b) * t->n[2] + c];
    }
    return KBASS_OK;
}

/* The unit square; along x the last point is the first again where it is said so. */
static kb_tiled *tiles_of(double (*u)(double, double, double), bool repeats, double noise, double *values)
{
    kb_tiled *t = NULL;
    kb_random random;
    kb_random_seed(&random, 5);
    CHECK_OK(kb_tiles_create(3, (size_t[]){ROWS, ALONG_X, ALONG_Y}, 1, &t, &error));
    for (size_t i = 0; i < ROWS; i++) t->at[0][i] = 0.1 * (double)i;
    for (size_t i = 0; i < ALONG_X; i++) t->at[1][i] = (double)i / (ALONG_X - repeats);
    for (size_t i = 0; i < ALONG_Y; i++) t->at[2][i] = (double)i / ALONG_Y;
    for (size_t i = 0; i < VALUES; i++)
        values[i] = u(t->at[0][i / (ALONG_X * ALONG_Y)], t->at[1][i / ALONG_Y % ALONG_X], t->at[2][i % ALONG_Y]) +
                    noise * kb_random_normal(&random);
    t->state = values;
    t->read = read_box;
    return t;
}

/* Mean square of what projections of all rows differ from the field by. */
static double mean_square(kb_tiled *t, const kb_row_waves *w)
{
    size_t few = w->m[1] * w->m[2];
    double *value = KB_NEW(double, ROWS *few), sum = 0;
    bool done = false;
    CHECK_OK(kb_row_waves_project(t, w, 0, ROWS, 1, value, &done, &error));
    CHECK(done);
    for (size_t i = 0; i < ROWS * few; i++) {
        double x = kb_row_waves_place(t, w, 1, i / w->m[2] % w->m[1]), y = kb_row_waves_place(t, w, 2, i % w->m[2]),
               r = value[i] - field(t->at[0][i / few], x, y);
        sum += r * r / (double)(ROWS * few);
    }
    kb_free(value);
    return sum;
}

static void projections_are_the_field(void **state)
{
    double *values = KB_NEW(double, VALUES);
    (void)state;
    for (int repeats = 0; repeats <= 1; repeats++) {
        kb_row_waves w = {0};
        bool found = false;
        kb_tiled *t = tiles_of(field, repeats, 0, values);
        CHECK_OK(kb_row_waves_find(t, &w, &found, &error));
        CHECK(found && w.n[1] == (size_t)(ALONG_X - repeats) && w.n[2] == ALONG_Y);
        CHECK(w.m[1] >= 7 && w.m[1] < ALONG_X / 2 && w.m[2] >= 7 && w.m[2] < ALONG_Y / 2);
        CHECK(mean_square(t, &w) < 1e-20);
        kb_tiles_release(t);
    }
    kb_free(values);
}

static void their_noise_is_the_share_that_is_told(void **state)
{
    double *values = KB_NEW(double, VALUES);
    kb_row_waves w = {0};
    bool found = false;
    (void)state;
    kb_tiled *t = tiles_of(field, false, 0.1, values);
    CHECK_OK(kb_row_waves_find(t, &w, &found, &error));
    CHECK(found);
    CHECK_CLOSE(mean_square(t, &w) / (0.01 * w.share), 1, 0.15); /* 1500 values: 0.04 */
    kb_row_waves_limit(t, 121, &w);
    CHECK(w.m[1] * w.m[2] <= 169);
    kb_tiles_release(t);
    kb_free(values);
}

static void an_axis_that_does_not_close_is_seen(void **state)
{
    double *values = KB_NEW(double, VALUES);
    kb_row_waves w = {0};
    bool found = true;
    (void)state;
    kb_tiled *t = tiles_of(ramp, false, 0.02, values);
    CHECK_OK(kb_row_waves_find(t, &w, &found, &error));
    CHECK(!found);
    kb_tiles_release(t);
    t = tiles_of(field, false, 0, values);
    values[VALUES / 2] = NAN;
    found = true;
    CHECK_OK(kb_row_waves_find(t, &w, &found, &error));
    CHECK(!found);
    kb_tiles_release(t);
    kb_free(values);
}

/* Of a plane with 46,080 values a few projected rows decide, and what is told is the noise of a measurement. */
static void a_dense_plane_is_decided_by_its_waves(void **state)
{
    static const char *const equation[] = {"u_t = 0.1*u_xx + 0.05*u_yy - u_x"};
    static const char *const law[] = {"u_t: u_xx", "u_t: u_yy", "u_t: u_x"};
    static const size_t counts[] = {20, 48, 48};
    kbass_model *pde = NULL;
    kbass_data *data = NULL;
    (void)state;
    CHECK_OK(kbass_model_parse(1, equation,
                               &(kbass_model_options){.domain = "x=0:6, y=0:6, t=0:2",
                                                      .initial = "exp(2*cos(pi*x/3) + 2*cos(pi*(x + y)/3) - 4)"},
                               &pde, &error));
    CHECK_OK(kbass_model_grid(pde, counts, &data, &error));
    CHECK_OK(kbass_data_add_noise(data, 5, 1, &error));
    CHECK_OK(kb_tiles_of_table(data, kb_tiles_most(data, 1000000, 65536), &error));
    CHECK(data->tiles);
    CHECK_OK(kb_tiles_take_part(data, 65536, &error));
    CHECK(data->noise_share > 0 && data->noise_share < 0.25 && data->n_rows < 3000);
    kbass_discovery *discovery = discover(data, NULL);
    const kbass_result *result = kbass_discovery_result(discovery);
    CHECK(has_support(result, 3, law));
    double sum = 0, squares = 0, n = (double)data->n_rows; /* noise: 5 % of the field's sd */
    for (size_t i = 0; i < data->n_rows; i++) sum += data->values[i] / n, squares += pow(data->values[i], 2) / n;
    CHECK_CLOSE(result->noise[0] / (0.05 * sqrt(squares - sum * sum)), 1, 0.2);
    kbass_discovery_destroy(discovery);
    kbass_settings settings;
    kb_settings_default(&settings);
    settings.noise_model = KB_NOISE_MULTIPLICATIVE; /* of a wave there is no such noise */
    CHECK_FAILS(kbass_discovery_create(data, &settings, &discovery, &error), KBASS_ERROR_ARGUMENT, "--part 0");
    kbass_data_destroy(data);
    kbass_model_destroy(pde);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(projections_are_the_field), cmocka_unit_test(their_noise_is_the_share_that_is_told),
        cmocka_unit_test(an_axis_that_does_not_close_is_seen), cmocka_unit_test(a_dense_plane_is_decided_by_its_waves)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
