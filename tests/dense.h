/* The second road of linear algebra: Gaussian elimination on plain column-major arrays, nothing shared with base. */
#ifndef KB_DENSE_H
#define KB_DENSE_H

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* B (n x m) <- A^{-1} B; A is left alone. Returns log|det A|, NaN for a singular one. */
static inline double dense_solve(size_t n, const double *A, size_t m, double *B)
{
    double *U = malloc((n * n + 1) * sizeof *U), logdet = 0;
    memcpy(U, A, n * n * sizeof *U);
    for (size_t k = 0; k < n; k++) {
        size_t pivot = k;
        for (size_t i = k + 1; i < n; i++)
            if (fabs(U[i + k * n]) > fabs(U[pivot + k * n])) pivot = i;
        for (size_t j = 0; j < n + m; j++) {
            double *column = j < n ? U + j * n : B + (j - n) * n, swap = column[k];
            column[k] = column[pivot];
            column[pivot] = swap;
        }
        logdet += log(fabs(U[k + k * n]));
        for (size_t i = k + 1; i < n; i++) {
            double factor = U[i + k * n] / U[k + k * n];
            for (size_t j = k; j < n; j++) U[i + j * n] -= factor * U[k + j * n];
            for (size_t j = 0; j < m; j++) B[i + j * n] -= factor * B[k + j * n];
        }
    }
    for (size_t j = 0; j < m; j++)
        for (size_t k = n; k-- > 0;) {
            for (size_t i = k + 1; i < n; i++) B[k + j * n] -= U[k + i * n] * B[i + j * n];
            B[k + j * n] /= U[k + k * n];
        }
    free(U);
    return logdet;
}

static inline double dense_logdet(size_t n, const double *A) { return dense_solve(n, A, 0, NULL); }

/* out <- A^{-1} */
static inline double dense_inverse(size_t n, const double *A, double *out)
{
    memset(out, 0, n * n * sizeof *out);
    for (size_t i = 0; i < n; i++) out[i + i * n] = 1;
    return dense_solve(n, A, n, out);
}

/* Fills the upper triangle from the lower. */
static inline void dense_mirror(size_t n, double *A)
{
    for (size_t j = 0; j < n; j++)
        for (size_t i = j + 1; i < n; i++) A[j + i * n] = A[i + j * n];
}

#endif
