/* The kernel engine as a likelihood (weights/likelihood.h): models at the hyperparameters of one that was found, their
 * fields integrated out (docs/math.md, eq. 15). There are no windows and so no starts; a fit begins at that model's
 * field.
 */
#ifndef KB_COLLOCATION_KERNEL_LIKELIHOOD_H
#define KB_COLLOCATION_KERNEL_LIKELIHOOD_H

#include "collocation/domain.h"
#include "collocation/kernel_fit.h"
#include "weights/likelihood.h"

typedef struct {
    kb_likelihood likelihood;
    kb_patch_solver *solver;
    bool owns_solver;
    kb_kernel_state *begin; /* the model found, */
    kb_kernel_state *state; /* and the one fitted last */
} kb_kernel_likelihood;

/* Of the patches that the search saw. Columns may be other than those of `found`, which gives noise, scales and field.
 */
kbass_status kb_kernel_likelihood_create(const kb_patched_domain *domain, const kb_dictionary *dictionary,
                                         const kb_columns *columns, const kb_kernel_fit *found,
                                         kb_kernel_likelihood **out, kbass_error *error);
/* The same on a solver, from a state of it; both are the caller's. */
kbass_status kb_kernel_likelihood_create_on(kb_patch_solver *solver, const kb_kernel_state *begin,
                                            kb_kernel_likelihood **out, kbass_error *error);
static inline kb_kernel_likelihood *kb_kernel_likelihood_of(kb_likelihood *l) { return (kb_kernel_likelihood *)l; }
/* A better model may bear a stiffer equation: smaller tau while the evidence of a valid fit rises. */
void kb_kernel_likelihood_stiffen(kb_kernel_likelihood *likelihood, kb_fit *fit, kb_fit *spare, int max_iterations);
/* The field of a valid fit to `state`; false in numerical trouble. */
bool kb_kernel_likelihood_restore(kb_kernel_likelihood *likelihood, const kb_fit *fit);

#endif
