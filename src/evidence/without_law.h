/* Data without a law: what a constant, a drift and a bare Gaussian process make of the same measurements, with the same
 * noise model and noise floor, in the units of kb_fit.log_evidence (docs/math.md, section 10). These compete with
 * the laws of a dictionary.
 */
#ifndef KB_EVIDENCE_WITHOUT_LAW_H
#define KB_EVIDENCE_WITHOUT_LAW_H

#include "forward/comparison.h"
#include "kernel/kernel.h"

typedef struct {
    double constant, drift; /* log evidence of u_t = 0 and of u_t = c; -INFINITY where the model makes no sense */
    double field;           /* and of the bare field */
    double noise;           /* of curves: of noise about each run's mean, at what the field pays; fields: -INFINITY */
    double occam;    /* of fields: what the bare field pays for its freedom, -N/2 (log v + 1) less its evidence */
    double monotone; /* of curves over time: no more than this has any that only rises or only falls in each run;
                        fields: INFINITY */
    double rest;     /* share of the variance that is left when nothing changes: 1 for curves; of fields on a grid
                        that about the means at each place */
    bool is_still;   /* fields: a profile at rest, or noise about one mean, is no worse than a field that moves */
    size_t n_groups;
    double *field_variance; /* n_groups: of the noise beside the bare field, as kb_fit.variance; NaN: not measured */
    double *counts;         /* n_groups: measurements */
    double *constants;      /* n_groups: each one's share of `constant`; of states alone */
    double *freedom;        /* n_groups: degrees of freedom behind field_variance; INFINITY: known */
} kb_without_law;

/* Curves over time. `time`: scaled, of each row of the dynamics. */
kbass_status kb_without_law_of_states(const kb_dynamics *dynamics, const double *time, kb_kernel_kind kind, int threads,
                                      kb_without_law *out, kbass_error *error);
/* Empty, for those who fill it. */
kbass_status kb_without_law_create(size_t n_groups, kb_without_law *out, kbass_error *error);
void kb_without_law_clear(kb_without_law *without);

#endif
