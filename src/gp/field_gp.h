/* The bare field: length scale of each axis, amplitude and noise of each field, by marginal likelihood.
 *
 * With the kernel matrix K = V diag(e) V' and s = V'y the profile likelihood is a sum over e and s alone:
 *
 *     -log p = N/2 log a2 + sum_i log(e_i + r)/2,   a2 = sum_i s_i^2 / (e_i + r) / N,   v = r a2
 *
 * On a full grid e and s come from one small eigenproblem per axis (Kronecker); otherwise from a few blocks of
 * neighbouring points, whose likelihoods are multiplied; error bars make y and K there D y and D K D, D = h^{-1/2}.
 */
#ifndef KB_FIELD_GP_H
#define KB_FIELD_GP_H

#include "gp/cloud.h"
#include "kernel/kernel.h"

typedef struct {
    double length[KB_CLOUD_AXES];
    double *amplitude, *variance; /* n_fields: of the kernel and of the noise, scaled */
    double log_likelihood;
} kb_field_gp;

kbass_status kb_field_gp_fit(const kb_cloud *cloud, kb_kernel_kind kind, kb_field_gp **out, kbass_error *error);
void kb_field_gp_destroy(kb_field_gp *gp);

#endif
