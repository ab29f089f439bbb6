/* Weighted Gram matrices of features that are products over axes, summed axis after axis.
 *
 *     G[(b, c, ..), (b', c', ..)] = sum_{x, y, ..} s[x, y, ..] A_0[x, b] B_0[x, b'] A_1[y, c] B_1[y, c'] ...
 *
 * is the tensor s with the modes P_a[x, (b, b')] = A_a[x, b] B_a[x, b'] applied: instead of points * rank^2 operations,
 * about rank^2 * the last axis' points.
 */
#ifndef KB_PAIR_H
#define KB_PAIR_H

#include "tensor/mode.h"

/* paired[(b, b'), (c, c'), ..]; features of one axis have the same shape in A and B. work: kb_pair_work */
void kb_pair_product(size_t n_axes, const kb_mode *A, const kb_mode *B, const double *s, double *paired, double *work);
/* G (n x n) from the paired order, rank[a] columns along axis a, of the n products at `place`, axis 0 fastest.
   rows: workspace, n */
void kb_pair_open(size_t n_axes, const size_t *rank, size_t n, const size_t *place, const double *paired, size_t *rows,
                  double *G);
/* Enough for features of at most `rows[a]` rows and no more columns than rows, whose product is at most `rank`. */
size_t kb_pair_work(size_t n_axes, const size_t *rows, size_t rank);

#endif
