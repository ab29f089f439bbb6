/* The eigenbasis of one axis: Nystroem features of the kernel on the mesh, truncated (docs/math.md, eq. 4).
 * On a large mesh the features are made of its pivots, the few points whose kernels span all others'.
 *
 *     K = V L V'            on the mesh g, cut where lambda < 1e-10 lambda_max
 *     phi(t) = kappa(t, g) V L^{-1/2},   phi^(q)(t) = d^q/dt^q kappa(t, g) V L^{-1/2}
 *
 * so that u = phi(t) z with z ~ N(0, I) is the Gaussian process, and |z|^2 its RKHS norm.
 */
#ifndef KB_BASIS_H
#define KB_BASIS_H

#include "base/status.h"
#include "kernel/kernel.h"

typedef struct {
    kb_kernel kernel;
    size_t n_nodes;
    double *nodes; /* the mesh, or its pivots */
    size_t rank;
    double *whiten; /* V L^{-1/2}, or what makes the same of the pivots: n_nodes x rank, largest eigenvalue first */
} kb_basis;

kbass_status kb_basis_create(const kb_kernel *kernel, size_t n_mesh, const double *mesh, kb_basis **out,
                             kbass_error *error);
void kb_basis_destroy(kb_basis *basis);
/* features: n_points x rank, column-major; work: kb_basis_work(). Ends early when the budget's time has run out. */
size_t kb_basis_work(const kb_basis *basis, size_t n_points);
void kb_basis_features(const kb_basis *basis, size_t n_points, const double *points, int order, double *features,
                       double *work);

#endif
