/* What one more sample would tell (docs/math.md, eqs 47 and 48). Each model predicts it as a Gaussian: the spread of
 * the solution and the noise. */
#include <math.h>

#include "base/linalg.h"
#include "base/memory.h"
#include "base/status.h"
#include "forecast/row.h"
#include "forecast/spread.h"

enum { POINTS_AT_ONCE = 2000, INTEGRATION = 161 };
static const double half_width = 8; /* of the integrals, in standard deviations */

/* Predictions of a chunk of points by all models that can be followed there. */
typedef struct {
    size_t n_models, values;
    double *probability;     /* of each, among those that can */
    double *mean, *variance; /* n_models x values: of one more sample */
} predictions;

static double log_density(double y, double mean, double variance)
{
    return -0.5 * ((y - mean) * (y - mean) / variance + log(2 * M_PI * variance));
}

/* log of a model's probability and of the density under it */
static double log_joint(const predictions *q, size_t model, size_t value, double y)
{
    size_t at = model * q->values + value;
    return log(q->probability[model]) + log_density(y, q->mean[at], q->variance[at]);
}

/* log of the density averaged over the models */
static double log_mixture(const predictions *q, size_t value, double y)
{
    double most = -INFINITY, sum = 0;
    for (size_t m = 0; m < q->n_models; m++) most = fmax(most, log_joint(q, m, value, y));
    for (size_t m = 0; m < q->n_models; m++) sum += exp(log_joint(q, m, value, y) - most);
    return most + log(sum);
}

/* I(model; y) = sum_m pi_m int p_m(y) log(p_m(y) / p(y)) dy, by the trapezoidal rule, which is spectral here. */
static double about_models(const predictions *q, size_t value)
{
    double gain = 0, step = 2 * half_width / (INTEGRATION - 1);
    for (size_t m = 0; q->n_models > 1 && m < q->n_models; m++) {
        double mean = q->mean[m * q->values + value], variance = q->variance[m * q->values + value], sum = 0;
        for (size_t i = 0; i < INTEGRATION; i++) {
            double z = -half_width + step * (double)i, y = mean + sqrt(variance) * z;
            sum += exp(-0.5 * z * z) * (log_density(y, mean, variance) - log_mixture(q, value, y));
        }
        gain += q->probability[m] * sum * step / sqrt(2 * M_PI);
    }
    return fmax(gain, 0);
}

/* The same of several axes, from the mesh that the result has. */
static void predict_row(const kbass_posterior *p, const kb_belief *b, size_t n, const double *times,
                        const double *positions, double *mean, double *variance, double *about_weights)
{
    size_t F = p->n_states;
    for (size_t i = 0; i < n; i++) {
        kb_row_predict(p, b, times[i], positions + i * (p->n_axes - 1), mean + i * F, variance + i * F,
                       about_weights ? about_weights + i * F : NULL);
        for (size_t f = 0; f < F; f++) {
            size_t at = i * F + f;
            double noise = b->noise[f] * (p->is_relative ? fabs(mean[at]) : 1), known = noise * noise;
            variance[at] += known;
            if (about_weights) about_weights[at] += known;
            if (about_weights)
                about_weights[at] = about_weights[at] > 0 ? 0.5 * log(variance[at] / about_weights[at]) : 0;
        }
    }
}

/* Mean and variance of a sample by one model; about_weights unless NULL: I(w; y) = log(var y / var(y | w)) / 2 */
static kbass_status predict(const kbass_posterior *p, const kb_belief *b, size_t n, const double *times,
                            const double *positions, double *mean, double *variance, double *about_weights,
                            kbass_error *error)
{
    size_t k = b->n_terms, size = kb_spread_size(p, b), values = n * p->n_states;
    if (kb_posterior_has_row(p)) {
        predict_row(p, b, n, times, positions, mean, variance, about_weights);
        return KBASS_OK;
    }
    double *factor = KB_NEW(double, values *size);
    kbass_status status =
        factor ? kb_spread(p, b, n, times, positions, mean, factor, error) : kb_out_of_memory(error, "the predictions");
    for (size_t i = 0; status == KBASS_OK && i < values; i++) {
        const double *own = factor + i * size, noise = b->noise[i % p->n_states] * (p->is_relative ? fabs(mean[i]) : 1);
        double given_weights = kb_dot(size - k, own + k, own + k) + noise * noise;
        variance[i] = kb_dot(k, own, own) + given_weights;
        if (about_weights) about_weights[i] = given_weights > 0 ? 0.5 * log(variance[i] / given_weights) : 0;
    }
    kb_free(factor);
    return status;
}

/* Rivals that cannot be followed over these points are left out. */
static kbass_status predict_all(const kbass_posterior *p, size_t n, const double *times, const double *positions,
                                predictions *q, double *about_weights, kbass_error *error)
{
    double total = 0;
    q->n_models = 0;
    q->values = n * p->n_states;
    for (size_t m = 0; m < p->n_models; m++) {
        size_t at = q->n_models * q->values;
        kbass_status status = predict(p, &p->models[m], n, times, positions, q->mean + at, q->variance + at,
                                      m ? NULL : about_weights, error);
        if (status != KBASS_OK && (m == 0 || status != KBASS_ERROR_NUMERICAL)) return status;
        if (status != KBASS_OK) continue;
        q->probability[q->n_models++] = exp(p->models[m].log_odds);
        total += exp(p->models[m].log_odds);
    }
    for (size_t m = 0; m < q->n_models; m++) q->probability[m] /= total;
    return KBASS_OK;
}

static kbass_status check(const kbass_posterior *p, size_t n, const double *times, const double *positions,
                          kbass_error *error)
{
    double slack = 1e-9 * (p->last[0] - p->first[0]), before = p->first[0] - slack;
    bool may_go_on = p->n_axes == 1 || p->line.periodic;
    size_t space = p->n_axes - 1;
    if (!positions != (p->n_axes == 1))
        return kb_fail(error, KBASS_ERROR_ARGUMENT, "positions are needed for fields over space, and only for them");
    for (size_t i = 0; i < n; before = times[i++]) {
        if (!isfinite(times[i]) || !(times[i] >= before))
            return kb_fail(error, KBASS_ERROR_ARGUMENT, "time %g is not ascending from %g on", times[i], p->first[0]);
        if (!may_go_on && !(times[i] <= p->last[0] + slack))
            return kb_fail(error, KBASS_ERROR_ARGUMENT, "time %g is beyond the record, which ends at %g: %s", times[i],
                           p->last[0],
                           kb_posterior_has_row(p) ? "over several axes, or of second order, gains are known within it"
                                                   : "what the ends of the axis do there is not known");
        for (size_t a = 1; a <= space; a++)
            if (!(positions[i * space + a - 1] >= p->first[a] && positions[i * space + a - 1] <= p->last[a]))
                return kb_fail(error, KBASS_ERROR_ARGUMENT, "position %g is not within the record, %g to %g",
                               positions[i * space + a - 1], p->first[a], p->last[a]);
    }
    return KBASS_OK;
}

kbass_status kbass_posterior_gain(const kbass_posterior *p, size_t n, const double *times, const double *positions,
                                  double *models, double *weights, kbass_error *error)
{
    size_t F = p->n_states, room = (n < POINTS_AT_ONCE ? n : POINTS_AT_ONCE) * F;
    predictions q = {.probability = KB_NEW(double, p->n_models),
                     .mean = KB_NEW(double, p->n_models *room),
                     .variance = KB_NEW(double, p->n_models *room)};
    kbass_status status = check(p, n, times, positions, error);
    if (status == KBASS_OK && (!q.probability || !q.mean || !q.variance))
        status = kb_out_of_memory(error, "the predictions");
    for (size_t first = 0; status == KBASS_OK && first < n; first += POINTS_AT_ONCE) {
        size_t here = n - first < POINTS_AT_ONCE ? n - first : POINTS_AT_ONCE;
        status = predict_all(p, here, times + first, positions ? positions + first * (p->n_axes - 1) : NULL, &q,
                             weights + first * F, error);
        for (size_t i = 0; status == KBASS_OK && i < here * F; i++) models[first * F + i] = about_models(&q, i);
    }
    kb_free(q.probability);
    kb_free(q.mean);
    kb_free(q.variance);
    return status;
}
