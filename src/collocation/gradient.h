/* The equation's pull on field and weights at a patch's points: first derivatives of J, no Hessian of the field.
 *
 *     J_i' r = sum of the adjoint mode products of r with d^p/ds^p, and of -slope_iv r with D_v
 *
 * After kb_collocation_residuals and _slopes. The normal equations are built on these.
 */
#ifndef KB_COLLOCATION_GRADIENT_H
#define KB_COLLOCATION_GRADIENT_H

#include "collocation/collocation.h"

/* out (nz) += J_i' r; r (n_mesh) may be the first half of workspace->column. */
void kb_equation_pull(kb_patch_workspace *workspace, const kb_patch *patch, size_t equation, const double *r,
                      double *out);
/* Adds an equation's gradient to workspace->gz. */
void kb_equation_gradient(kb_patch_workspace *workspace, const kb_patch *patch, const kb_hyper *hyper, size_t equation);
/* Hww and gw of the support's q-th column with those before it; -d e/d w, weighted, stays in workspace->column. */
void kb_equation_column(kb_patch_workspace *workspace, const kb_patch *patch, const kb_hyper *hyper,
                        const kb_support *support, size_t q);

#endif
