/* A model that the kernel engine weighed: its structure, its weights, and the hyperparameters at which its evidence was
 * found. From these its field can be made again.
 */
#ifndef KB_COLLOCATION_KERNEL_FIT_H
#define KB_COLLOCATION_KERNEL_FIT_H

#include "collocation/patch_solver.h"

typedef struct {
    kb_support support;
    double *w;           /* by column, scaled */
    double log_evidence; /* comparable among the proposals of one search */
    double *variance;    /* per field: of the noise, scaled */
    kb_steps steps;      /* where the evidence was found: length scales, tau, freedom of Student's t */
    double tau, freedom;
    size_t n_z;
    double *z; /* the field itself on the patches of the search, n_z numbers; NULL: it was not kept */
} kb_kernel_fit;

/* A copy of a state without its field; nothing to clear when it fails. */
kbass_status kb_kernel_fit_create(const kb_patch_solver *solver, const kb_kernel_state *state, kb_kernel_fit *out,
                                  kbass_error *error);
/* Keeps the state's field, too; where memory is short it is made again later. */
void kb_kernel_fit_keep_field(const kb_patch_solver *solver, const kb_kernel_state *state, kb_kernel_fit *fit);
/* Is the field that was kept that of a solver's patches? It has to be made again else. */
bool kb_kernel_fit_has_field(const kb_patch_solver *solver, const kb_kernel_fit *fit);
void kb_kernel_fit_clear(kb_kernel_fit *fit);

#endif
