/* The instruments of speed: operations are counted, once each, and the rate of products is that of the count. */
#include "check.h"

#include "base/linalg.h"
#include "kbass/kbass.h"

static kbass_error error;

static double counted(double before) { return kbass_dense_operations() - before; }

static void test_counts(void **state)
{
    enum { N = 12 };
    double a[N * N] = {0}, b[N * N] = {0}, c[N * N] = {0}, before = kbass_dense_operations();
    (void)state;
    for (size_t i = 0; i < N; i++) a[i + i * N] = 4;
    kb_gemm(KB_PLAIN, KB_PLAIN, 5, 7, 11, 1, a, N, b, N, 0, c, N);
    CHECK_CLOSE(counted(before), 2 * 5 * 7 * 11, 0); /* whole numbers */
    before = kbass_dense_operations();
    kb_gram(6, 9, 1, a, N, 0, c, N);
    CHECK_CLOSE(counted(before), 6 * 6 * 9, 0);
    before = kbass_dense_operations();
    CHECK(kb_cholesky(N, a, N));
    CHECK_CLOSE(counted(before), N * N * N / 3, 0);
    before = kbass_dense_operations();
    kb_cholesky_solve(N, 3, a, N, b, N);
    CHECK_CLOSE(counted(before), 2 * N * N * 3, 0);
}

static void test_product_speed(void **state)
{
    enum { N = 60 };
    double gflops = 0, before = kbass_dense_operations(), products = 0;
    (void)state;
    CHECK_OK(kbass_product_speed(N, &gflops, &error));
    products = counted(before) / (2.0 * N * N * N);
    CHECK(gflops > 0);
    CHECK(products >= 4);
    CHECK_CLOSE(products, round(products), 1e-9); /* rounding of the division */
    CHECK_FAILS(kbass_product_speed(0, &gflops, &error), KBASS_ERROR_ARGUMENT, "found 0");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_counts), cmocka_unit_test(test_product_speed)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
