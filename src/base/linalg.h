/* Dense linear algebra: the only caller of BLAS and LAPACK. Matrices are column-major: a[i + j * lda].
 * Routines that can meet a singular or indefinite matrix return false and leave the numbers unusable; NaN counts as
 * such.
 */
#ifndef KB_LINALG_H
#define KB_LINALG_H

#include <stdbool.h>
#include <stddef.h>

enum { KB_PLAIN = 0, KB_TRANSPOSED = 1 };

/* C = alpha op(A) op(B) + beta C, C m x n, inner dimension k */
void kb_gemm(int transpose_a, int transpose_b, size_t m, size_t n, size_t k, double alpha, const double *a, size_t lda,
             const double *b, size_t ldb, double beta, double *c, size_t ldc);
/* Lower triangle of C = alpha A' A + beta C, A k x n */
void kb_gram(size_t n, size_t k, double alpha, const double *a, size_t lda, double beta, double *c, size_t ldc);
/* C = A A', A n x k, both triangles */
void kb_outer(size_t n, size_t k, const double *a, size_t lda, double *c, size_t ldc);
/* y = alpha op(A) x + beta y, A m x n */
void kb_gemv(int transpose, size_t m, size_t n, double alpha, const double *a, size_t lda, const double *x, double beta,
             double *y);
double kb_dot(size_t n, const double *x, const double *y);
void kb_axpy(size_t n, double alpha, const double *x, double *y);

/* Copies the lower triangle onto the upper one. */
void kb_symmetrise(size_t n, double *a, size_t lda);
/* Lower Cholesky factor in place; only the lower triangle is read or written. */
bool kb_cholesky(size_t n, double *a, size_t lda);
void kb_cholesky_solve(size_t n, size_t n_right, const double *l, size_t lda, double *b, size_t ldb);
/* B <- L^{-1} B */
void kb_lower_solve(size_t n, size_t n_right, const double *l, size_t lda, double *b, size_t ldb);
/* B <- L^{-T} B */
void kb_lower_transposed_solve(size_t n, size_t n_right, const double *l, size_t lda, double *b, size_t ldb);
double kb_cholesky_logdet(size_t n, const double *l, size_t lda);
/* Full inverse from the Cholesky factor, in place of it. */
bool kb_cholesky_inverse(size_t n, double *l, size_t lda);
/* Diagonal of the inverse from the Cholesky factor, which is overwritten: half the work of the whole inverse. */
bool kb_cholesky_variances(size_t n, double *l, size_t lda, double *variances);
/* Eigenvalues ascending, vectors in place of A. work: kb_eigen_work(n); without it a workspace is allocated, and false
   may mean that there was no memory. */
size_t kb_eigen_work(size_t n);
bool kb_eigen_symmetric_with(size_t n, double *a, size_t lda, double *eigenvalues, double *work);
bool kb_eigen_symmetric(size_t n, double *a, size_t lda, double *eigenvalues);

/* Floating-point operations of products, factorisations and triangular solves so far, in all threads of the process. */
double kb_dense_operations(void);

#endif
