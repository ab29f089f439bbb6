/* What models that were not fitted together leave to each equation: two equations with five right-hand sides each are
 * 25 laws, of which a search fits those that differ from the best in one equation, and few others. The evidence of the
 * rest is the sum of what their right-hand sides lose one by one (docs/math.md, eq. 24).
 */
#ifndef KB_EVIDENCE_MARGINALS_H
#define KB_EVIDENCE_MARGINALS_H

#include <stdint.h>

#include "kbass/kbass.h"

/* Models, the first of them the chosen one; arrays are the caller's. */
typedef struct {
    size_t n, equations;
    const double *odds;   /* n: against the first, whose are 1 */
    const uint64_t *side; /* n x equations: of the right-hand side, equal where it is the same */
    double *share;        /* n: of each model, among all laws that the right-hand sides make */
    double *marginal;     /* n x equations: of an equation's right-hand side as this model has it; each equation's sum
                             to 1 */
} kb_marginals;

kbass_status kb_marginals_fill(const kb_marginals *models, kbass_error *error);

#endif
