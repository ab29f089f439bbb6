/* The public instruments of speed. */
#include <time.h>

#include "base/linalg.h"
#include "base/memory.h"
#include "base/status.h"

double kbass_dense_operations(void) { return kb_dense_operations(); }

/* Of this thread alone: on a busy machine the wall clock counts others' work too. */
static double cpu_clock(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* The best of several: what the machine can do, not what it was doing just then. */
kbass_status kbass_product_speed(size_t n, double *gflops, kbass_error *error)
{
    enum { FEWEST = 4 };
    static const double long_enough = 0.2; /* seconds */
    if (n < 1 || n > 20000)
        return kb_fail(error, KBASS_ERROR_ARGUMENT, "size of the matrices: found %zu, needed 1 to 20000", n);
    double *a = KB_NEW(double, n *n), *b = KB_NEW(double, n *n), *c = KB_NEW(double, n *n), best = 0;
    kbass_status status = a && b && c ? KBASS_OK : kb_out_of_memory(error, "the products");
    if (status == KBASS_OK) {
        for (size_t i = 0; i < n * n; i++) a[i] = b[i] = 1.0 / (double)(i % n + 1);
        double begin = cpu_clock(), start = begin;
        for (int k = 0; k < FEWEST || start - begin < long_enough; k++) {
            kb_gemm(KB_PLAIN, KB_PLAIN, n, n, n, 1, a, n, b, n, 0, c, n);
            double end = cpu_clock(), rate = 2e-9 * (double)n * (double)n * (double)n / (end - start);
            if (rate > best) best = rate;
            start = end;
        }
        *gflops = best;
    }
    kb_free(a);
    kb_free(b);
    kb_free(c);
    return status;
}
