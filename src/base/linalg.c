#include "base/linalg.h"

#include <cblas.h>
#include <lapacke.h>
#include <math.h>
#include <stdatomic.h>

#include "base/memory.h"

static atomic_ullong operations;

/* Relaxed: nobody waits for it. */
static void count(double flops)
{
    atomic_fetch_add_explicit(&operations, (unsigned long long)flops, memory_order_relaxed);
}

double kb_dense_operations(void) { return (double)atomic_load(&operations); }

static double cube(size_t n) { return (double)n * (double)n * (double)n; }

static CBLAS_TRANSPOSE flip(int transposed) { return transposed ? CblasTrans : CblasNoTrans; }

/* BLAS requires a leading dimension of at least 1, even of an empty matrix. */
static int leading(size_t ld) { return ld ? (int)ld : 1; }

void kb_gemm(int transpose_a, int transpose_b, size_t m, size_t n, size_t k, double alpha, const double *a, size_t lda,
             const double *b, size_t ldb, double beta, double *c, size_t ldc)
{
    if (!m || !n) return;
    count(2 * (double)m * (double)n * (double)k);
    cblas_dgemm(CblasColMajor, flip(transpose_a), flip(transpose_b), (int)m, (int)n, (int)k, alpha, a, leading(lda), b,
                leading(ldb), beta, c, leading(ldc));
}

void kb_gram(size_t n, size_t k, double alpha, const double *a, size_t lda, double beta, double *c, size_t ldc)
{
    if (!n) return;
    count((double)n * (double)n * (double)k);
    cblas_dsyrk(CblasColMajor, CblasLower, CblasTrans, (int)n, (int)k, alpha, a, leading(lda), beta, c, leading(ldc));
}

void kb_outer(size_t n, size_t k, const double *a, size_t lda, double *c, size_t ldc)
{
    if (!n) return;
    count((double)n * (double)n * (double)k);
    cblas_dsyrk(CblasColMajor, CblasLower, CblasNoTrans, (int)n, (int)k, 1, a, leading(lda), 0, c, leading(ldc));
    kb_symmetrise(n, c, ldc);
}

void kb_gemv(int transpose, size_t m, size_t n, double alpha, const double *a, size_t lda, const double *x, double beta,
             double *y)
{
    if (!m && !n) return;
    cblas_dgemv(CblasColMajor, flip(transpose), (int)m, (int)n, alpha, a, leading(lda), x, 1, beta, y, 1);
}

double kb_dot(size_t n, const double *x, const double *y) { return cblas_ddot((int)n, x, 1, y, 1); }

void kb_axpy(size_t n, double alpha, const double *x, double *y) { cblas_daxpy((int)n, alpha, x, 1, y, 1); }

void kb_symmetrise(size_t n, double *a, size_t lda)
{
    for (size_t j = 0; j < n; j++)
        for (size_t i = j + 1; i < n; i++) a[j + i * lda] = a[i + j * lda];
}

bool kb_cholesky(size_t n, double *a, size_t lda)
{
    if (!n) return true;
    count(cube(n) / 3);
    if (LAPACKE_dpotrf_work(LAPACK_COL_MAJOR, 'L', (int)n, a, leading(lda)) != 0) return false;
    for (size_t i = 0; i < n; i++)
        if (!(a[i + i * lda] > 0) || !isfinite(a[i + i * lda])) return false;
    return true;
}

void kb_cholesky_solve(size_t n, size_t n_right, const double *l, size_t lda, double *b, size_t ldb)
{
    kb_lower_solve(n, n_right, l, lda, b, ldb);
    kb_lower_transposed_solve(n, n_right, l, lda, b, ldb);
}

static void triangular(int transposed, size_t n, size_t n_right, const double *l, size_t lda, double *b, size_t ldb)
{
    if (!n || !n_right) return;
    count((double)n * (double)n * (double)n_right);
    cblas_dtrsm(CblasColMajor, CblasLeft, CblasLower, flip(transposed), CblasNonUnit, (int)n, (int)n_right, 1.0, l,
                leading(lda), b, leading(ldb));
}

void kb_lower_solve(size_t n, size_t n_right, const double *l, size_t lda, double *b, size_t ldb)
{
    triangular(KB_PLAIN, n, n_right, l, lda, b, ldb);
}

void kb_lower_transposed_solve(size_t n, size_t n_right, const double *l, size_t lda, double *b, size_t ldb)
{
    triangular(KB_TRANSPOSED, n, n_right, l, lda, b, ldb);
}

double kb_cholesky_logdet(size_t n, const double *l, size_t lda)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++) sum += log(l[i + i * lda]);
    return 2 * sum;
}

bool kb_cholesky_inverse(size_t n, double *l, size_t lda)
{
    if (!n) return true;
    count(2 * cube(n) / 3);
    if (LAPACKE_dpotri_work(LAPACK_COL_MAJOR, 'L', (int)n, l, leading(lda)) != 0) return false;
    kb_symmetrise(n, l, lda);
    return true;
}

/* (L L')^{-1}_jj = sum_{i >= j} (L^{-1})_ij^2 */
bool kb_cholesky_variances(size_t n, double *l, size_t lda, double *variances)
{
    if (!n) return true;
    count(cube(n) / 3);
    if (LAPACKE_dtrtri_work(LAPACK_COL_MAJOR, 'L', 'N', (int)n, l, leading(lda)) != 0) return false;
    for (size_t j = 0; j < n; j++) variances[j] = kb_dot(n - j, l + j + j * lda, l + j + j * lda);
    return true;
}

size_t kb_eigen_work(size_t n)
{
    double size = 0, none = 0;
    int order = (int)n;
    LAPACKE_dsyev_work(LAPACK_COL_MAJOR, 'V', 'L', order, &none, leading(n), &none, &size, -1);
    return (size_t)size;
}

bool kb_eigen_symmetric_with(size_t n, double *a, size_t lda, double *eigenvalues, double *work)
{
    return LAPACKE_dsyev_work(LAPACK_COL_MAJOR, 'V', 'L', (int)n, a, leading(lda), eigenvalues, work,
                              (int)kb_eigen_work(n)) == 0;
}

bool kb_eigen_symmetric(size_t n, double *a, size_t lda, double *eigenvalues)
{
    double *work = KB_NEW(double, kb_eigen_work(n));
    bool done = work && kb_eigen_symmetric_with(n, a, lda, eigenvalues, work);
    kb_free(work);
    return done;
}
