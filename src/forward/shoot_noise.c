#include "forward/shoot_noise.h"

#include <math.h>
#include <string.h>

static const double noise_shrinkage = 4; /* the states' common noise level counts as this many samples of each */

/* Observations per group that the windows cover. */
void kb_shooter_count(kb_shooter *s)
{
    const kb_dynamics *d = s->dynamics;
    memset(s->counts, 0, s->likelihood.n_groups * sizeof *s->counts);
    for (size_t window = 0, row = 0; window < s->likelihood.windows->n; window++) {
        if (row < s->likelihood.windows->first[window])
            row = s->likelihood.windows->first[window]; /* border rows once */
        for (; row <= s->likelihood.windows->last[window]; row++)
            for (size_t o = d->observation_start[row]; o < d->observation_start[row + 1]; o++) s->counts[d->group[o]]++;
    }
}

/* v_i = (SSE_i + nu v) / (N_i - gamma_i + nu), v the harmonic mean of the v_i; gamma parameters shared by N_i */
void kb_shooter_estimate_noise(const kb_shooter *s, double effective, double *variance)
{
    double total = 0;
    for (size_t i = 0; i < s->likelihood.n_groups; i++) total += s->counts[i];
    for (int sweep = 0; sweep < 30; sweep++) {
        double inverse = 0, states = 0;
        for (size_t i = 0; i < s->likelihood.n_groups; i++)
            if (s->counts[i] > 0) inverse += 1 / variance[i], states++;
        double common = states / inverse;
        for (size_t i = 0; i < s->likelihood.n_groups; i++) {
            if (!(s->counts[i] > 0)) continue;
            double freedom = fmax(s->counts[i] - effective * s->counts[i] / total, 0.2 * s->counts[i]);
            variance[i] = (s->squares[i] + noise_shrinkage * common) / (freedom + noise_shrinkage);
            variance[i] = fmax(variance[i], kb_comparison_variance(&s->comparison, i, s->dynamics->noise_floor));
            if (s->dynamics->known_variance[i] > 0)
                variance[i] = kb_comparison_variance(&s->comparison, i, s->dynamics->known_variance[i]);
        }
    }
}

double kb_shooter_log_likelihood(const kb_shooter *s, const double *variance)
{
    double sum = -0.5 * s->log_relative;
    for (size_t i = 0; i < s->likelihood.n_groups; i++)
        if (s->counts[i] > 0) sum -= 0.5 * s->counts[i] * log(variance[i]) + 0.5 * s->squares[i] / variance[i];
    return sum;
}

/* The harmonic mean of the measured groups' variances; *total: their measurements. */
static double common_noise(size_t n_groups, const double *counts, const double *variance, double *total)
{
    double inverse = 0, states = 0;
    *total = 0;
    for (size_t i = 0; i < n_groups; i++)
        if (counts[i] > 0) inverse += 1 / variance[i], states++, *total += counts[i];
    return states / inverse;
}

static double freedom_of(double count, double effective, double total)
{
    return fmax(count * (1 - effective / total), 0.2 * count);
}

/* log p(v | common) in log v, and the Laplace factor of log v */
static double variance_evidence(double v, double common, double freedom)
{
    double nu = noise_shrinkage;
    return 0.5 * nu * log(common / v) - 0.5 * nu * common / v - 0.5 * log(0.5 * (freedom + nu));
}

double kb_shooter_noise_evidence(const kb_shooter *s, double effective, const double *variance)
{
    double total, sum = 0, common = common_noise(s->likelihood.n_groups, s->counts, variance, &total);
    for (size_t i = 0; i < s->likelihood.n_groups; i++)
        if (s->counts[i] > 0 && !(s->dynamics->known_variance[i] > 0))
            sum += variance_evidence(variance[i], common, freedom_of(s->counts[i], effective, total));
    return sum;
}

double kb_evidence_at_rest(const kb_dynamics *d, const double *counts, const kb_fit *fit, size_t state)
{
    double total, common = common_noise(d->n_groups, counts, fit->variance, &total), n = counts[state];
    double v = fit->variance[state], freedom = freedom_of(n, fit->effective, total), start = d->start_variance[state];
    double squares = v * (freedom + noise_shrinkage) - noise_shrinkage * common; /* as v was estimated */
    double occam = start > 0 ? log1p(start * n / v) + fit->start[state] * fit->start[state] / start : 0;
    return variance_evidence(v, common, freedom) - 0.5 * (n * log(v) + squares / v + occam);
}

/* What the common level adds to a group's own degrees of freedom f_i: 1 / (1/nu + 1/sum_j 1/(1/f_j + 1/nu)), j the
   other groups. The level is theirs to tell, each as well as its own noise is known and no better than nu; a group
   alone has nothing but its own residuals. */
static double freedom_of_common(const kb_shooter *s, const kb_fit *fit, size_t group, double total)
{
    double sum = 0;
    for (size_t j = 0; j < s->likelihood.n_groups; j++) {
        if (j == group || !(s->counts[j] > 0)) continue;
        bool is_known = s->dynamics->known_variance[j] > 0;
        double own = is_known ? INFINITY : freedom_of(s->counts[j], fit->effective, total);
        sum += 1 / (1 / own + 1 / noise_shrinkage);
    }
    return 1 / (1 / noise_shrinkage + 1 / sum);
}

double kb_shooter_freedom(kb_shooter *s, const kb_fit *fit, size_t group)
{
    double total = 0;
    kb_shooter_count(s);
    for (size_t i = 0; i < s->likelihood.n_groups; i++) total += s->counts[i];
    if (!(s->counts[group] > 0)) return NAN;
    if (s->dynamics->known_variance[group] > 0) return INFINITY;
    return freedom_of(s->counts[group], fit->effective, total) + freedom_of_common(s, fit, group, total);
}
