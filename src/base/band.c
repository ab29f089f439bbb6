#include "base/band.h"

#include <math.h>

#include "base/wide.h"

#define LANES 2 /* what every machine of 64 bits has */
#define TARGET
#define NAMED(name) name##_2
#include "base/band_lanes.h"

#ifdef KB_HAS_WIDE
#define LANES       4
#define TARGET      __attribute__((target("arch=x86-64-v3")))
#define NAMED(name) name##_4
#include "base/band_lanes.h"

#define LANES       8
#define TARGET      __attribute__((target("arch=x86-64-v4")))
#define NAMED(name) name##_8
#include "base/band_lanes.h"
#endif

KB_WIDE bool kb_band_factorise(size_t n, size_t half, double *matrix)
{
    size_t width = 2 * half + 1;
    for (size_t k = 0; k < n; k++) {
        double *restrict pivot = matrix + k * width + half;
        if (!(fabs(pivot[0]) > 1e-12)) return false;
        pivot[0] = 1 / pivot[0];
        size_t rows = half < n - 1 - k ? half : n - 1 - k;
        for (size_t m = 1; m <= rows; m++) {
            double *restrict row = matrix + (k + m) * width + half - m;
            if (row[0] == 0) continue;
            double factor = row[0] *= pivot[0];
            for (size_t j = 1; j <= half; j++) row[j] -= factor * pivot[j];
        }
    }
    return true;
}

void kb_band_solve(size_t n, size_t half, const double *matrix, const size_t *row, size_t P, double *x)
{
#ifdef KB_HAS_WIDE
    if (__builtin_cpu_supports("x86-64-v4")) solve_8(n, half, matrix, row, P, x);
    else if (__builtin_cpu_supports("x86-64-v3")) solve_4(n, half, matrix, row, P, x);
    else
#endif
        solve_2(n, half, matrix, row, P, x);
}

/* Each sum takes the newest unknown last: only that product waits for the row before. */
static inline __attribute__((always_inline)) void solve_one(size_t n, size_t half, const double *matrix, double *x)
{
    size_t width = 2 * half + 1, inner = n > half ? half : n, k = 1;
    for (; k < inner; k++) {
        const double *factor = matrix + k * width + half - k;
        for (size_t m = 0; m < k; m++) x[k] -= factor[m] * x[m];
    }
    for (; k < n; k++) { /* rows with all their neighbours: the same number everywhere */
        const double *factor = matrix + k * width, *from = x + k - half;
        double sum = x[k];
        for (size_t m = 0; m < half; m++) sum -= factor[m] * from[m];
        x[k] = sum;
    }
    for (k = n; k-- > n - inner;) {
        const double *entry = matrix + k * width + half;
        for (size_t m = n - 1 - k; m >= 1; m--) x[k] -= entry[m] * x[k + m];
        x[k] *= entry[0];
    }
    for (k = n - inner; k-- > 0;) {
        const double *entry = matrix + k * width + half;
        double sum = x[k];
        for (size_t m = half; m >= 1; m--) sum -= entry[m] * x[k + m];
        x[k] = sum * entry[0];
    }
}

/* The half widths of lines of one and of two fields, open and closed, are known to the compiler. */
KB_WIDE void kb_band_solve_one(size_t n, size_t half, const double *matrix, double *x)
{
    if (half == 3) solve_one(n, 3, matrix, x);
    else if (half == 6) solve_one(n, 6, matrix, x);
    else if (half == 7) solve_one(n, 7, matrix, x);
    else if (half == 13) solve_one(n, 13, matrix, x);
    else solve_one(n, half, matrix, x);
}
