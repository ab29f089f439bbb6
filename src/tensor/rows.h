/* Points anywhere in the domain: the rows phi_0[p, :] (x) phi_1[p, :] (x) ... of a matrix that is never formed.
 *
 *     v[p] = sum_{a, b, ..} phi_0[p, a] phi_1[p, b] ... u[a, b, ..]
 *
 * One GEMM with the first axis, then sums over the others, point by point.
 */
#ifndef KB_ROWS_H
#define KB_ROWS_H

#include <stddef.h>

#include "tensor/mode.h"

/* phi: n_axes matrices, each n_points x the axis' columns. u: the columns' shape, first axis fastest. */
void kb_rows_product(size_t n_axes, const kb_mode *phi, const double *u, double *v, double *work);
/* u = rows' v */
void kb_rows_adjoint(size_t n_axes, const kb_mode *phi, const double *v, double *u, double *work);
/* n_points times the columns of all axes but the first. */
size_t kb_rows_work(size_t n_axes, const kb_mode *phi);

#endif
