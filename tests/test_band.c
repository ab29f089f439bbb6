/* Banded LU against the dense solution. */
#include "base/band.h"

#include <math.h>
#include <string.h>

#include "base/linalg.h"
#include "base/random.h"
#include "check.h"

enum { N = 37, MOST = 27 };

/* A band dominated by its diagonal, also as a dense column-major matrix. */
static void make_band(kb_random *random, size_t half, double *band, double *dense)
{
    size_t width = 2 * half + 1;
    memset(dense, 0, N * N * sizeof *dense);
    for (size_t i = 0; i < N; i++)
        for (size_t j = 0; j < N; j++) {
            size_t away = i > j ? i - j : j - i;
            if (away > half) continue;
            dense[i + j * N] = kb_random_normal(random) + (i == j ? 4.0 * (double)width : 0);
            band[i * width + j + half - i] = dense[i + j * N];
        }
}

static double largest_residual(const double *dense, const size_t *row, size_t P, const double *x, const double *b)
{
    double largest = 0;
    for (size_t i = 0; i < N; i++)
        for (size_t p = 0; p < P; p++) {
            double sum = -b[row[i] * P + p];
            for (size_t j = 0; j < N; j++) sum += dense[i + j * N] * x[row[j] * P + p];
            largest = fmax(largest, fabs(sum));
        }
    return largest;
}

static void test_solutions(void **state)
{
    static double band[N * (2 * N + 1)], dense[N * N], x[N * MOST], b[N * MOST];
    size_t row[N], identity[N], counts[] = {1, 7, 8, 16, MOST}, halves[] = {0, 3, 6, 7, 9, 13};
    kb_random random;
    (void)state;
    kb_random_seed(&random, 5);
    for (size_t i = 0; i < N; i++) row[i] = (i * 10 + 3) % N, identity[i] = i;
    for (size_t h = 0; h < sizeof halves / sizeof *halves; h++) {
        size_t half = halves[h];
        make_band(&random, half, band, dense);
        assert_true(kb_band_factorise(N, half, band));
        for (size_t c = 0; c < sizeof counts / sizeof *counts; c++) {
            size_t P = counts[c];
            for (size_t i = 0; i < N * P; i++) x[i] = b[i] = kb_random_normal(&random);
            kb_band_solve(N, half, band, row, P, x);
            assert_true(largest_residual(dense, row, P, x, b) < 1e-12); /* rounding: the matrix is well conditioned */
        }
        for (size_t i = 0; i < N; i++) x[i] = b[i] = kb_random_normal(&random);
        kb_band_solve_one(N, half, band, x);
        assert_true(largest_residual(dense, identity, 1, x, b) < 1e-12); /* as above */
    }
}

static void test_singular(void **state)
{
    double band[] = {0, 1, 1, 1, 1, 0}; /* [1 1; 1 1] */
    double nan_band[] = {0, NAN, 1, 1, 1, 0};
    (void)state;
    assert_false(kb_band_factorise(2, 1, band));
    assert_false(kb_band_factorise(2, 1, nan_band));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_solutions), cmocka_unit_test(test_singular)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
