/* The Gauss-Newton system of one patch, assembled by structure, and what the weights hear of it.
 *
 * With time slices t, J_t = b1(t)' (x) X - b0(t)' (x) E_t, where X holds the features of space and
 * E_t = sum_v diag(slope_v(t)) X_v, the matrix sum_t J_t' W_t J_t is one GEMM between the outer products of the time
 * features and the small Gram matrices of X and E_t (docs/math.md). No Jacobian of points x unknowns is formed.
 */
#ifndef KB_COLLOCATION_NORMAL_EQUATIONS_H
#define KB_COLLOCATION_NORMAL_EQUATIONS_H

#include "collocation/collocation.h"

/* What one patch says about the support's weights, the field integrated out; messages of patches add. */
typedef struct {
    double *G, *b;               /* k x k, k: precision, and minus the gradient at the present weights */
    double *response;            /* nz x (k + 1): Hzz^{-1} [Hzw, gz], by which the field follows the weights */
    double logdet, logdet_prior; /* of Hzz with and without data */
    double *effective;           /* n_fields: number of effective parameters the data see */
} kb_patch_message;

kbass_status kb_patch_message_create(const kb_columns *columns, const kb_patch *patch, kb_patch_message **out,
                                     kbass_error *error);
void kb_patch_message_destroy(kb_patch_message *message);

/* Hzz (lower), Hzw, Hww, gz, gw of prior and equation into the workspace, at (z, w); then those of the data. */
void kb_normal_assemble(kb_patch_workspace *workspace, const kb_patch *patch, const kb_hyper *hyper,
                        const kb_support *support, const double *z, const double *w);
void kb_normal_add_data(kb_patch_workspace *workspace, const kb_patch *patch, const kb_hyper *hyper, const double *z);
/* Linearises at (z, w) and integrates the field out; `evidence` asks for logdet_prior, `noise` for `effective`. False
   when the system cannot be factorised. */
bool kb_normal_marginalise(kb_patch_workspace *workspace, const kb_patch *patch, const kb_hyper *hyper,
                           const kb_support *support, const double *z, const double *w, bool evidence, bool noise,
                           kb_patch_message *out);
/* step = -(response of the weights' step dw (k), and of the field alone): nz */
void kb_normal_step(const kb_patch *patch, const kb_patch_message *message, size_t k, const double *dw, double *step);
/* z by regression on the data alone. */
bool kb_normal_regress(kb_patch_workspace *workspace, const kb_patch *patch, const kb_hyper *hyper, double *z);

#endif
