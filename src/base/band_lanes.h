/* Elimination for many right-hand sides at a time, LANES numbers to a register. band.c includes this once for each
 * width of registers, with LANES, the TARGET that has them, and NAMED(name), which makes names of their own. Vectors
 * wider than a register become single numbers on the stack: eight lanes on a machine with registers of four took seven
 * times as long.
 */
typedef double NAMED(lanes) __attribute__((vector_size(8 * LANES), aligned(8), may_alias));

enum { NAMED(block) = 4 * LANES };

/* to <- scale (to - sum over m of factor[m] times the right-hand sides of unknown row[m]) */
TARGET static inline void NAMED(eliminate)(size_t count, const double *factor, const size_t *row, size_t P,
                                           const double *x, double scale, double *to)
{
    size_t p = 0;
    for (; p + NAMED(block) <= P; p += NAMED(block)) {
        NAMED(lanes) *sums = (NAMED(lanes) *)(to + p), a = sums[0], b = sums[1], c = sums[2], d = sums[3];
        for (size_t m = 0; m < count; m++) {
            const NAMED(lanes) *from = (const NAMED(lanes) *)(x + row[m] * P + p);
            a -= factor[m] * from[0];
            b -= factor[m] * from[1];
            c -= factor[m] * from[2];
            d -= factor[m] * from[3];
        }
        sums[0] = scale * a;
        sums[1] = scale * b;
        sums[2] = scale * c;
        sums[3] = scale * d;
    }
    for (; p + LANES <= P; p += LANES) {
        NAMED(lanes) *to_p = (NAMED(lanes) *)(to + p), sum = *to_p;
        for (size_t m = 0; m < count; m++) sum -= factor[m] * *(const NAMED(lanes) *)(x + row[m] * P + p);
        *to_p = scale * sum;
    }
    for (; p < P; p++) {
        double sum = to[p];
        for (size_t m = 0; m < count; m++) sum -= factor[m] * x[row[m] * P + p];
        to[p] = scale * sum;
    }
}

TARGET static void NAMED(solve)(size_t n, size_t half, const double *matrix, const size_t *row, size_t P, double *x)
{
    size_t width = 2 * half + 1;
    for (size_t k = 1; k < n; k++) {
        size_t before = half < k ? half : k;
        NAMED(eliminate)(before, matrix + k * width + half - before, row + k - before, P, x, 1, x + row[k] * P);
    }
    for (size_t k = n; k-- > 0;) {
        size_t after = half < n - 1 - k ? half : n - 1 - k;
        const double *entry = matrix + k * width + half;
        NAMED(eliminate)(after, entry + 1, row + k + 1, P, x, entry[0], x + row[k] * P);
    }
}

#undef LANES
#undef TARGET
#undef NAMED
