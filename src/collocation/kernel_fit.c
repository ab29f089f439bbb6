#include "collocation/kernel_fit.h"

#include <string.h>

#include "base/memory.h"
#include "base/status.h"

void kb_kernel_fit_clear(kb_kernel_fit *fit)
{
    kb_support_clear(&fit->support);
    kb_free(fit->w);
    kb_free(fit->variance);
    kb_free(fit->z);
    *fit = (kb_kernel_fit){0};
}

kbass_status kb_kernel_fit_create(const kb_patch_solver *solver, const kb_kernel_state *state, kb_kernel_fit *out,
                                  kbass_error *error)
{
    size_t n = solver->columns->n, fields = solver->n_fields;
    *out = (kb_kernel_fit){.log_evidence = state->log_evidence,
                           .steps = state->steps,
                           .tau = state->tau,
                           .freedom = state->freedom,
                           .w = KB_NEW(double, n),
                           .variance = KB_NEW(double, fields)};
    kbass_status status = kb_support_create(n, &out->support, error);
    if (!out->w || !out->variance) status = kb_out_of_memory(error, "a model of the kernel engine");
    if (status == KBASS_OK) {
        kb_support_copy(&state->support, &out->support);
        memcpy(out->w, state->w, n * sizeof *out->w);
        memcpy(out->variance, state->variance, fields * sizeof *out->variance);
    } else {
        kb_kernel_fit_clear(out);
    }
    return status;
}

void kb_kernel_fit_keep_field(const kb_patch_solver *solver, const kb_kernel_state *state, kb_kernel_fit *fit)
{
    fit->z = KB_NEW(double, solver->n_z);
    fit->n_z = fit->z ? solver->n_z : 0;
    if (fit->z) memcpy(fit->z, state->z, solver->n_z * sizeof *fit->z);
}

bool kb_kernel_fit_has_field(const kb_patch_solver *solver, const kb_kernel_fit *fit)
{
    return fit->z && fit->n_z == solver->n_z;
}
