#include "base/band.h"

#include <math.h>

#include "base/wide.h"

enum { LANES = KB_BAND_LANES };
typedef double lanes __attribute__((vector_size(8 * LANES), aligned(8), may_alias));

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

/* to <- scale (to - sum over m of factor[m] times the right-hand sides of unknown row[m]) */
static inline void eliminate(size_t count, const double *factor, const size_t *row, size_t P, const double *x,
                             double scale, double *to)
{
    size_t p = 0;
    for (; p + 2 * LANES <= P; p += 2 * LANES) {
        lanes low = *(const lanes *)(to + p), high = *(const lanes *)(to + p + LANES);
        for (size_t m = 0; m < count; m++) {
            const double *from = x + row[m] * P + p;
            low -= factor[m] * *(const lanes *)from;
            high -= factor[m] * *(const lanes *)(from + LANES);
        }
        *(lanes *)(to + p) = scale * low;
        *(lanes *)(to + p + LANES) = scale * high;
    }
    for (; p + LANES <= P; p += LANES) {
        lanes sum = *(const lanes *)(to + p);
        for (size_t m = 0; m < count; m++) sum -= factor[m] * *(const lanes *)(x + row[m] * P + p);
        *(lanes *)(to + p) = scale * sum;
    }
    for (; p < P; p++) {
        double sum = to[p];
        for (size_t m = 0; m < count; m++) sum -= factor[m] * x[row[m] * P + p];
        to[p] = scale * sum;
    }
}

KB_WIDE void kb_band_solve(size_t n, size_t half, const double *matrix, const size_t *row, size_t P, double *x)
{
    size_t width = 2 * half + 1;
    for (size_t k = 1; k < n; k++) {
        size_t before = half < k ? half : k;
        eliminate(before, matrix + k * width + half - before, row + k - before, P, x, 1, x + row[k] * P);
    }
    for (size_t k = n; k-- > 0;) {
        size_t after = half < n - 1 - k ? half : n - 1 - k;
        const double *entry = matrix + k * width + half;
        eliminate(after, entry + 1, row + k + 1, P, x, entry[0], x + row[k] * P);
    }
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
