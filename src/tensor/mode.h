/* Mode products: matrices applied along the axes of a tensor, each a GEMM.
 *
 * A tensor of shape n_0 x n_1 x ... is stored with its first axis fastest. Matrices are column-major.
 */
#ifndef KB_MODE_H
#define KB_MODE_H

#include <stddef.h>

/* The matrix of one axis: rows x columns. */
typedef struct {
    size_t rows, columns, ld;
    const double *entries;
} kb_mode;

/* v[a,j,c] = sum_b M[j,b] u[a,b,c],  a < left, c < right */
void kb_mode_product(const kb_mode *M, size_t left, size_t right, const double *u, double *v);
/* u[a,b,c] = sum_j M[j,b] v[a,j,c] */
void kb_mode_adjoint(const kb_mode *M, size_t left, size_t right, const double *v, double *u);

/* v = u x_0 M_0 x_1 M_1 ...; u: the columns' shape, v: the rows'. work: kb_modes_work */
void kb_modes_product(size_t n_axes, const kb_mode *M, const double *u, double *v, double *work);
/* The transpose of the above as a linear map. */
void kb_modes_adjoint(size_t n_axes, const kb_mode *M, const double *v, double *u, double *work);
size_t kb_modes_work(size_t n_axes, const kb_mode *M);
/* The same along the leading n_axes of a tensor that has `behind` entries along the axes after them. work: `behind`
   times as much */
void kb_modes_leading_product(size_t n_axes, const kb_mode *M, size_t behind, const double *u, double *v, double *work);
void kb_modes_leading_adjoint(size_t n_axes, const kb_mode *M, size_t behind, const double *v, double *u, double *work);

#endif
