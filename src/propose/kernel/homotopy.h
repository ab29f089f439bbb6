/* The kernel engine's search for PDEs (docs/math.md): proposals for the forward engine, or answers by themselves.
 *
 *     screening    all small structures on the quadratic about the bare field, the most frequent solved
 *     homotopy     tau falls and the length scales shrink over nine stages, all candidates in play until the sixth
 *     ascent       hyperparameters and structure by the normalised evidence, residuals of the equation as Student's t
 */
#ifndef KB_PROPOSE_KERNEL_HOMOTOPY_H
#define KB_PROPOSE_KERNEL_HOMOTOPY_H

#include "base/run.h"
#include "collocation/domain.h"
#include "collocation/kernel_fit.h"

extern const kb_scope kb_kernel_scope; /* for its domain */

/* At most `most` proposals, best evidence first, with distinct supports; clear each. *n = 0 is an outcome. A run that
   is stopped leaves the proposals formed so far. */
kbass_status kb_kernel_propose(const kb_patched_domain *domain, const kb_columns *columns, kb_run *run, size_t most,
                               kb_kernel_fit *proposals, size_t *n, kbass_error *error);

#endif
