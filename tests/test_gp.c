#include "base/linalg.h"
#include "base/memory.h"
#include "check.h"
#include "dense.h"
#include "gp/level.h"

static kbass_error error;

/* Nine rows, two of them replicates in time; z is measured at other times than x. */
enum { ROWS = 9 };
static const double times[ROWS] = {10, 11, 12.5, 12.5, 14, 15, 17, 18, 20};
static const double values[2 * ROWS] = {1.0, NAN, 1.5, 30,  1.1, NAN, 1.2, 32,  NAN,
                                        35,  0.4, 37,  NAN, 30,  0.2, 28,  0.9, 22};
static const char *const names[] = {"x", "z"};

static kbass_data *make_data(void)
{
    kbass_data *data = NULL;
    CHECK_OK(kbass_data_create(ROWS, 2, times, values, NULL, names, &data, &error));
    return data;
}

static kb_record *make_record(const char *noise)
{
    kb_record *record = NULL;
    kbass_data *data = make_data();
    CHECK_OK(kb_record_create(data, noise, &record, &error));
    kbass_data_destroy(data);
    return record;
}

/* ---------------------------------------------------------------- record */

static void test_scaling(void **state)
{
    kb_record *r = make_record(NULL);
    (void)state;
    CHECK(r->n_rows == ROWS && r->n_states == 2 && r->n_values == 14 && r->count[0] == 7 && r->count[1] == 7);
    CHECK(r->first == 10 && r->span == 10);
    for (size_t i = 0; i < 2; i++) {
        double sum = 0, squares = 0;
        for (size_t row = 0; row < ROWS; row++) {
            double q = r->value[row + i * ROWS], u = values[2 * row + i];
            CHECK(r->measured[row + i * ROWS] == (isnan(u) ? 0 : 1));
            if (isnan(u)) CHECK(q == 0);
            else CHECK_CLOSE(r->mean[i] + r->sd[i] * q, u, 1e-14 * fabs(u)); /* a rounded product and sum */
            sum += q;
            squares += q * q;
        }
        CHECK_CLOSE(sum, 0, 1e-13);     /* the mean is out; rounding of 7 numbers */
        CHECK_CLOSE(squares, 7, 1e-13); /* variance 1 over the measured values; likewise */
        CHECK(r->known_variance[i] == 0);
    }
    for (size_t row = 0; row < ROWS; row++) CHECK_CLOSE(r->time[row], (times[row] - 10) / 10, 1e-15); /* rounding */
    kb_record_destroy(r);
}

/* Gaps of x: 1 1.5 0 2.5 3 2 (the replicate's 0 is no gap), of z: 1.5 1.5 1 2 1 2; the median of the eleven is 1.5. */
static void test_spacing(void **state)
{
    kb_record *r = make_record(NULL);
    (void)state;
    CHECK_CLOSE(r->spacing, 0.15, 1e-15); /* rounding of a difference */
    kb_record_destroy(r);
}

static void test_noise_option(void **state)
{
    static const struct {
        const char *text;
        double x, z; /* standard deviations, negative: as a share of the state's */
    } good[] = {{"0.1", 0.1, 0.1},      {"5%", -0.05, -0.05}, {"x=0.1, z=2%", 0.1, -0.02}, {"z = 3", 0, 3},
                {" x =1e-2 ", 0.01, 0}, {"", 0, 0},           {"x=10%,z=0.5", -0.1, 0.5}};
    (void)state;
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        kb_record *r = make_record(good[i].text);
        double x = good[i].x < 0 ? -good[i].x : good[i].x / r->sd[0],
               z = good[i].z < 0 ? -good[i].z : good[i].z / r->sd[1];
        CHECK_CLOSE(r->known_variance[0], x * x, 1e-15); /* rounding of a square below 1 */
        CHECK_CLOSE(r->known_variance[1], z * z, 1e-15); /* likewise */
        kb_record_destroy(r);
    }
}

static void test_bad_noise(void **state)
{
    static const char *const bad[] = {"abc", "0", "-1", "nan", "inf", "0.1 m", "x=", "x=0.1;z=2", "5%%", "%", "x"};
    kbass_data *data = make_data();
    kb_record *r = NULL;
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        CHECK_FAILS(kb_record_create(data, bad[i], &r, &error), KBASS_ERROR_ARGUMENT, "noise: ");
    CHECK_FAILS(kb_record_create(data, "y=0.1", &r, &error), KBASS_ERROR_ARGUMENT, "no state \"y\"");
    CHECK(r == NULL);
    kb_record_destroy(NULL);
    kbass_data_destroy(data);
}

/* Parts of the record keep its scaling; a row on a border belongs to both. Times 10, 11, 12.5, 12.5, 14, 15 | 15, 17,
 * 18, 20. */
static void test_slices(void **state)
{
    kb_record *r = make_record("x=3%");
    size_t first = 0;
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        kb_record *slice = NULL;
        CHECK_OK(kb_record_slice(r, 0, i, 2, &slice, &error));
        CHECK(slice->n_rows == (i ? 4 : 6) && slice->stretch == 2 && slice->span == 5 && slice->first == (i ? 15 : 10));
        CHECK(slice->count[0] + slice->count[1] == slice->n_values && slice->known_variance[0] == r->known_variance[0]);
        CHECK_CLOSE(slice->spacing, 2 * r->spacing, 1e-15); /* rounding */
        for (size_t row = 0; row < slice->n_rows; row++) {
            CHECK_CLOSE(slice->first + slice->span * slice->time[row], times[first + row], 1e-13); /* rounding of 20 */
            for (size_t k = 0; k < 2; k++) {
                CHECK(slice->value[row + k * slice->n_rows] == r->value[first + row + k * ROWS]);
                CHECK(slice->measured[row + k * slice->n_rows] == r->measured[first + row + k * ROWS]);
                CHECK(slice->mean[k] == r->mean[k] && slice->sd[k] == r->sd[k]);
            }
        }
        first += slice->n_rows - 1;
        kb_record_destroy(slice);
    }
    kb_record_destroy(r);
}

static void test_record_without_memory(void **state)
{
    kbass_data *data = make_data();
    kb_record *r = NULL;
    kbass_status status = KBASS_ERROR_MEMORY;
    long n = 0;
    (void)state;
    for (; status != KBASS_OK; n++) {
        kb_memory_fail_after(n);
        status = kb_record_create(data, "x=0.1", &r, &error);
        kb_memory_fail_after(-1);
        CHECK(status == KBASS_OK || status == KBASS_ERROR_MEMORY);
    }
    CHECK(n > 5);
    kb_record_destroy(r);
    kbass_data_destroy(data);
}

/* ---------------------------------------------------------------- regression and evidence */

enum { MESH = 80 };

static kb_level *make_level(const kb_record *record, double length)
{
    kb_level *level = NULL;
    CHECK_OK(kb_level_create(record, KB_KERNEL_SE, length, MESH, &level, &error));
    return level;
}

/* K + v I over the measured rows of a state; returns how many there are. */
static size_t dense_covariance(const kb_record *r, size_t state, double length, double v, double *C, double *y,
                               double *t)
{
    size_t n = 0;
    for (size_t row = 0; row < r->n_rows; row++)
        if (r->measured[row + state * r->n_rows] > 0) y[n] = r->value[row + state * r->n_rows], t[n++] = r->time[row];
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++) C[i + j * n] = exp(-0.5 * pow((t[i] - t[j]) / length, 2)) + (i == j ? v : 0);
    return n;
}

static void test_regression(void **state)
{
    const double length = 0.2, v = 0.01;
    kb_record *r = make_record(NULL);
    kb_level *level = make_level(r, length);
    double *z = KB_NEW(double, level->rank), *work = KB_NEW(double, level->rank * level->rank);
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        double C[ROWS * ROWS], y[ROWS], t[ROWS];
        size_t n = dense_covariance(r, i, length, v, C, y, t);
        CHECK(kb_level_regress(level, r, i, v, z, work));
        dense_solve(n, C, 1, y);
        for (size_t k = 0; k < MESH; k++) {
            double found = 0, slope = 0, expected = 0, expected_slope = 0, g = (double)k / (MESH - 1);
            for (size_t q = 0; q < level->rank; q++) {
                found += level->mesh[k + q * MESH] * z[q];
                slope += level->slope[k + q * MESH] * z[q];
            }
            for (size_t j = 0; j < n; j++) {
                double d = (g - t[j]) / length, kappa = exp(-0.5 * d * d);
                expected += kappa * y[j];
                expected_slope -= d / length * kappa * y[j];
            }
            CHECK_CLOSE(found, expected, 1e-5);       /* the basis misses 1e-10 MESH of K; y'K^-1 of 100 magnifies it */
            CHECK_CLOSE(slope, expected_slope, 1e-3); /* likewise, times the highest wave number, about 100 */
        }
    }
    kb_free(z);
    kb_free(work);
    kb_level_destroy(level);
    kb_record_destroy(r);
}

static void check_evidence(const char *noise, double v)
{
    const double length = 0.2;
    kb_record *r = make_record(noise);
    kb_level *level = make_level(r, length);
    double *work = KB_NEW(double, 2 * level->rank * level->rank + 2 * level->rank), expected = 0;
    for (size_t i = 0; i < 2; i++) {
        double C[ROWS * ROWS], y[ROWS], x[ROWS], t[ROWS], own = r->known_variance[i] > 0 ? r->known_variance[i] : v;
        size_t n = dense_covariance(r, i, length, own, C, y, t);
        memcpy(x, y, sizeof x);
        expected -= 0.5 * dense_solve(n, C, 1, x);
        for (size_t j = 0; j < n; j++) expected -= 0.5 * y[j] * x[j];
    }
    CHECK_CLOSE(kb_level_evidence(level, r, v, NULL, work), expected,
                1e-5); /* as the regression; log 2 pi is left out */
    kb_free(work);
    kb_level_destroy(level);
    kb_record_destroy(r);
}

static void test_evidence(void **state)
{
    (void)state;
    check_evidence(NULL, 0.01);
    check_evidence(NULL, 0.3);
    check_evidence("x=5%", 0.3); /* known for one state only */
}

/* All rows measured takes another way through the code than gaps do: split each state off and add. */
static void test_complete_rows(void **state)
{
    static const double full[] = {1, 2, 4, 3, 5, 2};
    static const double t6[] = {0, 1, 2, 3, 4, 5};
    double C[36], y[6], t[6];
    kbass_data *data = NULL;
    kb_record *r = NULL;
    (void)state;
    CHECK_OK(kbass_data_create(6, 1, t6, full, NULL, names, &data, &error));
    CHECK_OK(kb_record_create(data, NULL, &r, &error));
    kb_level *level = make_level(r, 0.25);
    double *work = KB_NEW(double, 2 * level->rank * level->rank + 2 * level->rank), expected;
    size_t n = dense_covariance(r, 0, 0.25, 0.02, C, y, t);
    CHECK(n == 6);
    expected = -0.5 * dense_solve(n, C, 1, y);
    for (size_t j = 0; j < n; j++) expected -= 0.5 * y[j] * r->value[j];
    CHECK_CLOSE(kb_level_evidence(level, r, 0.02, NULL, work), expected, 1e-5); /* as above */
    kb_free(work);
    kb_level_destroy(level);
    kb_record_destroy(r);
    kbass_data_destroy(data);
}

/* A field of the long scale is a field of the short one, to what the projection's ridge leaves. */
static void test_projection(void **state)
{
    kb_record *r = make_record(NULL);
    kb_level *from = make_level(r, 0.3), *to = make_level(r, 0.15);
    double *z = KB_NEW(double, from->rank), *projected = KB_NEW(double, to->rank), field[MESH] = {0};
    (void)state;
    for (size_t q = 0; q < 6; q++) z[q] = cos(1.7 * (double)q); /* the smooth part */
    kb_gemv(KB_PLAIN, MESH, from->rank, 1, from->mesh, MESH, z, 0, field);
    kb_level_project(to, field, projected);
    for (size_t k = 0; k < MESH; k++) {
        double found = 0, slope = 0, expected = 0;
        for (size_t q = 0; q < to->rank; q++) {
            found += to->mesh[k + q * MESH] * projected[q];
            slope += to->slope[k + q * MESH] * projected[q];
        }
        for (size_t q = 0; q < from->rank; q++) expected += from->slope[k + q * MESH] * z[q];
        CHECK_CLOSE(found, field[k], 1e-4); /* ridge 1e-6 against eigenvalues that matter, 1e-2 and up */
        CHECK_CLOSE(slope, expected, 1e-2); /* likewise, times wave numbers up to 100 */
    }
    kb_free(z);
    kb_free(projected);
    kb_level_destroy(from);
    kb_level_destroy(to);
    kb_level_destroy(NULL);
    kb_record_destroy(r);
}

/* A shared level is the one that would have been made for the slice itself. */
static void test_shared_level(void **state)
{
    kb_record *r = make_record(NULL), *slice = NULL;
    kb_level *level = make_level(r, 0.2), *shared = NULL;
    (void)state;
    CHECK_OK(kb_record_slice(r, 0, 1, 2, &slice, &error));
    CHECK_OK(kb_level_share(level, slice, &shared, &error));
    kb_level *own = make_level(slice, 0.2);
    CHECK(shared->n_rows == slice->n_rows && shared->rank == own->rank && shared->mesh == level->mesh);
    for (size_t i = 0; i < slice->n_rows * own->rank; i++) CHECK(shared->rows[i] == own->rows[i]);
    kb_level_destroy(shared);
    kb_level_destroy(own);
    kb_level_destroy(level);
    kb_record_destroy(slice);
    kb_record_destroy(r);
}

static void test_level_without_memory(void **state)
{
    kb_record *r = make_record(NULL);
    kb_level *level = NULL;
    kbass_status status = KBASS_ERROR_MEMORY;
    long n = 0;
    (void)state;
    for (; status != KBASS_OK; n++) {
        kb_memory_fail_after(n);
        status = kb_level_create(r, KB_KERNEL_SE, 0.2, 30, &level, &error);
        kb_memory_fail_after(-1);
        CHECK(status == KBASS_OK || level == NULL);
    }
    CHECK(n > 8);
    kb_level_destroy(level);
    kb_record_destroy(r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_scaling),       cmocka_unit_test(test_spacing),
        cmocka_unit_test(test_noise_option),  cmocka_unit_test(test_bad_noise),
        cmocka_unit_test(test_slices),        cmocka_unit_test(test_record_without_memory),
        cmocka_unit_test(test_regression),    cmocka_unit_test(test_evidence),
        cmocka_unit_test(test_complete_rows), cmocka_unit_test(test_projection),
        cmocka_unit_test(test_shared_level),  cmocka_unit_test(test_level_without_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
