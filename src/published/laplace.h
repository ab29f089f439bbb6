/* Laplace's approximation about the published method's solution: the inverse of the Gauss-Newton Hessian by z, the
 * weights at their mean.
 *
 *     H = 1 + F'F / v + (d e/dz)'(d e/dz) / tau
 *
 * whole for ODE systems; for fields over space block-diagonal, as the paper has it: a block for each field and each
 * whitened coefficient of all axes but the last, for one space axis each coefficient of time.
 */
#ifndef KB_PUBLISHED_LAPLACE_H
#define KB_PUBLISHED_LAPLACE_H

#include "published/model.h"

typedef struct {
    size_t n_blocks;
    size_t *first, *size; /* by block: where its factor begins, how many coefficients it has */
    double *factor;       /* Cholesky factors */
} kb_published_laplace;

kbass_status kb_published_laplace_create(kb_published_model *model, kb_published_laplace **out, kbass_error *error);
void kb_published_laplace_destroy(kb_published_laplace *laplace);
/* x <- H^{-1} x, x like z. work: as many doubles as the largest block. */
void kb_published_laplace_solve(const kb_published_laplace *laplace, const kb_published_field *field, double *x,
                                double *work);
/* Variance of a field (its units) at a point with these features along each axis, whitened: L^{-1} K(P, x). */
double kb_published_laplace_variance(const kb_published_laplace *laplace, const kb_published_field *field, size_t which,
                                     const double *const *features, double *work);

#endif
