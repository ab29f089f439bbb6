/* Banded LU without pivoting, for matrices dominated by their diagonal, with many right-hand sides.
 *
 * matrix: n rows of 2 half + 1 entries; entry (i, j) at i * (2 half + 1) + j - i + half; entries outside are 0.
 */
#ifndef KB_BAND_H
#define KB_BAND_H

#include <stdbool.h>
#include <stddef.h>

enum { KB_BAND_LANES = 8 }; /* right-hand sides in multiples of this are fastest */

/* False when a pivot vanishes. */
bool kb_band_factorise(size_t n, size_t half, double *matrix);
/* x <- matrix^{-1} x after factorisation. Unknown k of the P right-hand sides stands in x + row[k] * P. */
void kb_band_solve(size_t n, size_t half, const double *matrix, const size_t *row, size_t P, double *x);
/* The same for one right-hand side in the matrix's own order. */
void kb_band_solve_one(size_t n, size_t half, const double *matrix, double *x);

#endif
