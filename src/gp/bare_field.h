/* The bare field: length scale of each axis, amplitude and noise of each field, by marginal likelihood.
 *
 * With the kernel matrix K = V diag(e) V' and s = V'y the profile likelihood is a sum over e and s alone:
 *
 *     -log p = N/2 log a2 + sum_i log(e_i + r)/2,   a2 = sum_i s_i^2 / (e_i + r) / N,   v = r a2
 *
 * On a full grid e and s come from one small eigenproblem per axis (Kronecker); otherwise from a few blocks of
 * neighbouring points, whose likelihoods are multiplied; error bars make y and K there D y and D K D, D = h^{-1/2}.
 */
#ifndef KB_GP_BARE_FIELD_H
#define KB_GP_BARE_FIELD_H

#include "gp/field_samples.h"
#include "kernel/kernel.h"

typedef struct {
    double length[KB_SAMPLE_AXES];
    double *amplitude, *variance; /* n_fields: of the kernel and of the noise, scaled */
    double log_likelihood;
} kb_bare_field;

kbass_status kb_bare_field_fit(const kb_field_samples *samples, kb_kernel_kind kind, kb_bare_field **out,
                               kbass_error *error);
void kb_bare_field_destroy(kb_bare_field *gp);

#endif
