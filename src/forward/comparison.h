/* How predictions are compared with measurements, by the noise model; u = mean + sd q in the data's units, s the
 * standard deviation of log u over the measured values, rms the root mean square of u (docs/math.md, eq. 44).
 *
 *     additive          q - y                               variance v
 *     multiplicative    q - y                               variance v h,   h = max(u^2, (rms/20)^2) / rms^2
 *     log               (log u - log u_measured) / s        variance v
 *
 * Error bars sigma are additive noise with h = sigma^2 / reference (kb_noise_reference), v then being known
 * (docs/math.md, eq. 57). h is that of the predictions last weighed: fits are reweighted as they proceed.
 */
#ifndef KB_FORWARD_COMPARISON_H
#define KB_FORWARD_COMPARISON_H

#include "forward/dynamics.h"

typedef struct {
    const kb_dynamics *dynamics;
    double *target;                        /* measured values, as compared; by observation */
    double *relative;                      /* h by observation: of multiplicative noise, or of error bars; else 1 */
    double *rms, *log_mean, *log_sd, *low; /* by group; low: u below which log u is continued by its tangent */
} kb_comparison;

kbass_status kb_comparison_create(const kb_dynamics *dynamics, kb_comparison *out, kbass_error *error);
void kb_comparison_clear(kb_comparison *comparison);
/* Turns predictions of n observations, from the first on, into what is compared; their tangents (n x P) too, unless
   NULL. */
void kb_comparison_apply(const kb_comparison *comparison, size_t first, size_t n, double *predicted, size_t P,
                         double *tangents);
/* Sets h from predictions. */
void kb_comparison_weigh(kb_comparison *comparison, size_t first, size_t n, const double *predicted);
/* The value in the data's units that is compared as `compared`. */
double kb_comparison_value(const kb_comparison *comparison, size_t group, double compared);
/* A variance of q as one of what is compared, for values of ordinary size. */
double kb_comparison_variance(const kb_comparison *comparison, size_t group, double variance);
/* Standard deviation of the noise for variance 1: in the data's units, or as a share of the value. */
double kb_comparison_unit(const kb_comparison *comparison, size_t group);

#endif
