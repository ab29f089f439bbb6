/* The noise of a shooter's groups: per state, drawn towards a common share of the states' variances (docs/math.md, eqs
 * 21 and 22). Residuals are those summed last in shooter->squares.
 */
#ifndef KB_SHOOT_NOISE_H
#define KB_SHOOT_NOISE_H

#include "forward/shoot.h"

/* Observations per group that the windows cover, to shooter->counts. */
void kb_shooter_count(kb_shooter *shooter);
/* The variances from the residuals, with `effective` parameters fitted; variance also holds where to begin. */
void kb_shooter_estimate_noise(const kb_shooter *shooter, double effective, double *variance);
double kb_shooter_log_likelihood(const kb_shooter *shooter, const double *variance);
/* What the unknown variances add to the evidence: their prior, and Laplace's factor of each. */
double kb_shooter_noise_evidence(const kb_shooter *shooter, double effective, const double *variance);
/* What a state without terms, of unknown noise, adds to a fit's log evidence, in one window; `counts`: measurements of
   each group. */
double kb_evidence_at_rest(const kb_dynamics *dynamics, const double *counts, const kb_fit *fit, size_t state);

#endif
