/* Kernel regression of a patch's fields on the data alone, no equation: z = (R'R/v + I)^{-1} R'y/v.
 *
 * On a full grid R'R is the Kronecker product of the axes' Gram matrices and everything is mode products with their
 * eigenvectors. Scattered data are solved in their own space, (R R' + v I) of points x points. No matrix of unknowns x
 * unknowns is formed.
 */
#ifndef KB_COLLOCATION_SMOOTHER_H
#define KB_COLLOCATION_SMOOTHER_H

#include "collocation/patch.h"

typedef struct {
    const kb_patch *patch;
    double *variance;                /* n_fields: of the noise */
    double *vectors[KB_SAMPLE_AXES]; /* of a grid: eigenvectors of the axes' Gram matrices, rank x rank */
    double *values[KB_SAMPLE_AXES];  /* and their eigenvalues */
    double **factors;                /* of scattered data, per field: Cholesky factor of R R' + v I */
    double *tensor, *work;
} kb_smoother;

/* At the patch's present level. */
kbass_status kb_smoother_create(const kb_patch *patch, const double *variance, kb_smoother **out, kbass_error *error);
void kb_smoother_destroy(kb_smoother *smoother);
/* z: patch->n */
void kb_smoother_regress(kb_smoother *smoother, size_t field, double *z);

#endif
