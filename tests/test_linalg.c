/* Several threads multiply at once. Debian's serial OpenBLAS 0.3.21 gives wrong products then, some in a thousand. */
#include <omp.h>

#include "base/linalg.h"
#include "check.h"

enum { LARGEST = 40 };

static double a[LARGEST * LARGEST], b[LARGEST * LARGEST];

static void fill(void)
{
    for (int i = 0; i < LARGEST * LARGEST; i++) {
        a[i] = (double)(i * 7919 % 1000) / 1000;
        b[i] = (double)(i * 7907 % 1000) / 1000 - 0.5;
    }
}

/* How many of the products differ from the first, made by one thread alone. */
static int count_others(size_t n, size_t k, int transpose_a, int transpose_b)
{
    enum { TIMES = 50000 };
    double alone[LARGEST * LARGEST];
    int others = 0;
    kb_gemm(transpose_a, transpose_b, n, n, k, 1, a, transpose_a ? k : n, b, transpose_b ? n : k, 0, alone, n);
#pragma omp parallel for num_threads(2) reduction(+ : others)
    for (int i = 0; i < TIMES; i++) {
        double c[LARGEST * LARGEST];
        kb_gemm(transpose_a, transpose_b, n, n, k, 1, a, transpose_a ? k : n, b, transpose_b ? n : k, 0, c, n);
        others += memcmp(c, alone, n * n * sizeof *c) != 0;
    }
    return others;
}

static void test_products_by_two_threads(void **state)
{
    static const size_t sizes[] = {3, 9, 16, 31};
    (void)state;
    fill();
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        for (int t = 0; t < 4; t++) CHECK(count_others(sizes[i], 30, t % 2, t / 2) == 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_products_by_two_threads)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
