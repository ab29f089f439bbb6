#include "forward/comparison.h"

#include <math.h>

#include "base/memory.h"
#include "base/status.h"

static const double lowest = 0.1; /* of the smallest measured value: where log u becomes its tangent */

static double in_data_units(const kb_dynamics *d, size_t group, double q) { return d->mean[group] + d->sd[group] * q; }

static double compared(const kb_comparison *m, size_t group, double q, double *slope)
{
    const kb_dynamics *d = m->dynamics;
    double u = in_data_units(d, group, q), at = fmax(u, m->low[group]);
    *slope = d->sd[group] / (at * m->log_sd[group]);
    return (log(at) + (u - at) / at - m->log_mean[group]) / m->log_sd[group];
}

/* Scales of each group over its measured values. */
static void measure_groups(kb_comparison *m)
{
    const kb_dynamics *d = m->dynamics;
    for (size_t g = 0; g < d->n_groups; g++) {
        double n = 0, squares = 0, sum = 0, log_squares = 0, least = INFINITY;
        for (size_t o = 0; o < d->observation_start[d->n_rows]; o++) {
            if (d->group[o] != g) continue;
            double u = in_data_units(d, g, d->observed[o]), logarithm = d->noise_model == KB_NOISE_LOG ? log(u) : 0;
            n++;
            squares += u * u;
            sum += logarithm;
            log_squares += logarithm * logarithm;
            least = fmin(least, u);
        }
        double mean = sum / n, variance = log_squares / n - mean * mean;
        m->rms[g] = sqrt(squares / n);
        m->log_mean[g] = mean;
        m->log_sd[g] = variance > 0 ? sqrt(variance) : 1;
        m->low[g] = lowest * least;
    }
}

kbass_status kb_comparison_create(const kb_dynamics *d, kb_comparison *out, kbass_error *error)
{
    size_t n = d->observation_start[d->n_rows];
    kb_comparison m = {.dynamics = d,
                       .target = KB_NEW(double, n),
                       .relative = KB_NEW(double, n),
                       .rms = KB_NEW(double, d->n_groups),
                       .log_mean = KB_NEW(double, d->n_groups),
                       .log_sd = KB_NEW(double, d->n_groups),
                       .low = KB_NEW(double, d->n_groups)};
    if (!m.target || !m.relative || !m.rms || !m.log_mean || !m.log_sd || !m.low) {
        kb_comparison_clear(&m);
        return kb_out_of_memory(error, "shooting");
    }
    if (d->noise_model != KB_NOISE_ADDITIVE) measure_groups(&m);
    for (size_t o = 0; o < n; o++) {
        m.target[o] = d->observed[o];
        m.relative[o] = d->relative ? d->relative[o] : 1;
    }
    kb_comparison_apply(&m, 0, n, m.target, 0, NULL);
    *out = m;
    return KBASS_OK;
}

void kb_comparison_clear(kb_comparison *m)
{
    double *arrays[] = {m->target, m->relative, m->rms, m->log_mean, m->log_sd, m->low};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++) kb_free(arrays[i]);
    *m = (kb_comparison){0};
}

void kb_comparison_apply(const kb_comparison *m, size_t first, size_t n, double *predicted, size_t P, double *tangents)
{
    if (m->dynamics->noise_model != KB_NOISE_LOG) return;
    for (size_t o = 0; o < n; o++) {
        double slope;
        predicted[o] = compared(m, m->dynamics->group[first + o], predicted[o], &slope);
        for (size_t p = 0; tangents && p < P; p++) tangents[o * P + p] *= slope;
    }
}

void kb_comparison_weigh(kb_comparison *m, size_t first, size_t n, const double *predicted)
{
    const kb_dynamics *d = m->dynamics;
    if (d->noise_model != KB_NOISE_MULTIPLICATIVE) return;
    for (size_t o = 0; o < n; o++) {
        size_t group = d->group[first + o];
        double share = in_data_units(d, group, predicted[o]) / m->rms[group];
        m->relative[first + o] = fmax(share * share, kb_least_share * kb_least_share);
    }
}

double kb_comparison_value(const kb_comparison *m, size_t group, double value)
{
    if (m->dynamics->noise_model != KB_NOISE_LOG) return in_data_units(m->dynamics, group, value);
    return exp(m->log_mean[group] + m->log_sd[group] * value);
}

double kb_comparison_variance(const kb_comparison *m, size_t group, double variance)
{
    const kb_dynamics *d = m->dynamics;
    if (d->noise_model != KB_NOISE_LOG) return variance;
    double unit = d->sd[group] / (m->rms[group] * m->log_sd[group]);
    return variance * unit * unit;
}

double kb_comparison_unit(const kb_comparison *m, size_t group)
{
    double share = m->dynamics->noise_share, sd = m->dynamics->sd[group] / sqrt(share > 0 ? share : 1);
    switch (m->dynamics->noise_model) {
    case KB_NOISE_MULTIPLICATIVE: return sd / m->rms[group];
    case KB_NOISE_LOG: return m->log_sd[group];
    default: return sd;
    }
}
