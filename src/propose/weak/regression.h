/* Right-hand sides by the weak form's message: supports of one equation, by evidence (docs/math.md, eq. 77).
 *
 * With integrals scaled to unit length, R their products, r those with the left-hand side, and s = 1 - r_S' R_SS^{-1}
 * r_S the share that a support leaves unexplained,
 *
 *     log E(S) = -m/2 log s - log|I + 25 m/s R_SS| / 2 + sum_S prior log-odds,      m: bumps, overlapping ones once
 *
 * Evidences of one message only: other widths have other errors.
 */
#ifndef KB_PROPOSE_WEAK_REGRESSION_H
#define KB_PROPOSE_WEAK_REGRESSION_H

#include "propose/weak/tile.h"
#include "weights/columns.h"

enum { KB_WEAK_MOST_TERMS = 8 }; /* room: terms of a structure */

typedef struct {
    size_t n, column[KB_WEAK_MOST_TERMS]; /* ascending */
    double w[KB_WEAK_MOST_TERMS];         /* scaled, as the columns' weights */
    double evidence, left;                /* left: share of the left-hand side that is not explained */
} kb_weak_support;

/* The best supports of an equation, best first, then the best of each size up to 4 that is not among them; at most
   most + 4, `found` of them. Of terms that are not pure derivatives none unless `with_impure`. */
kbass_status kb_weak_regress(const kb_weak_form *form, const kb_weak_message *message, const kb_columns *columns,
                             size_t equation, bool with_impure, size_t most, kb_weak_support *supports, size_t *found,
                             kbass_error *error);

#endif
