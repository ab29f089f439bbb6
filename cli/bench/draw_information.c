#include "draw_information.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { PARAMETERS = DRAW_STATES * (DRAW_TERMS + 1), VALUES = DRAW_SAMPLES * DRAW_STATES };
static const double relative_step = 1e-4;

static size_t count_weights(const bench_draw *d)
{
    size_t n = 0;
    for (size_t i = 0; i < d->n_states; i++) n += d->n_terms[i];
    return n;
}

/* Weights, equation by equation, then starts. */
static double *parameter(bench_draw *d, size_t p)
{
    for (size_t i = 0; i < d->n_states; p -= d->n_terms[i++])
        if (p < d->n_terms[i]) return &d->weight[i][p];
    return &d->start[p];
}

static kbass_status solve(const bench_draw *d, double *values, kbass_error *error)
{
    char text[DRAW_STATES][400];
    const char *equations[DRAW_STATES];
    double times[DRAW_SAMPLES];
    kbass_model *model = NULL;
    for (size_t i = 0; i < d->n_states; i++) {
        size_t used = (size_t)snprintf(text[i], sizeof text[i], "%c_t = 0", "xyz"[i]);
        for (size_t j = 0; j < d->n_terms[i]; j++)
            used += (size_t)snprintf(text[i] + used, sizeof text[i] - used, " + (%.17g)*%s", d->weight[i][j],
                                     d->term[i][j]);
        equations[i] = text[i];
    }
    for (size_t k = 0; k < d->n_samples; k++) times[k] = d->span * (double)k / (double)(d->n_samples - 1);
    kbass_status status = kbass_model_parse(d->n_states, equations, NULL, &model, error);
    if (status == KBASS_OK) status = kbass_model_integrate(model, 0, d->start, d->n_samples, times, values, error);
    kbass_model_destroy(model);
    return status;
}

/* d values / d parameter, over the noise, by central differences */
static kbass_status differentiate(bench_draw *d, size_t p, double *slope, kbass_error *error)
{
    double *at = parameter(d, p), here = *at, h = relative_step * fmax(fabs(here), 0.1), low[VALUES];
    size_t n = d->n_samples * d->n_states;
    *at = here + h;
    kbass_status status = solve(d, slope, error);
    *at = here - h;
    if (status == KBASS_OK) status = solve(d, low, error);
    *at = here;
    for (size_t k = 0; status == KBASS_OK && k < n; k++)
        slope[k] = (slope[k] - low[k]) / (2 * h) / d->sigma[k % d->n_states];
    return status;
}

/* A becomes -A^{-1}, by sweeps; false where a pivot vanishes. */
static bool sweep(size_t n, double A[PARAMETERS][PARAMETERS])
{
    for (size_t k = 0; k < n; k++) {
        double pivot = A[k][k];
        if (!(fabs(pivot) > 1e-300)) return false;
        for (size_t i = 0; i < n; i++)
            for (size_t j = 0; j < n; j++)
                if (i != k && j != k) A[i][j] -= A[i][k] * A[k][j] / pivot;
        for (size_t i = 0; i < n; i++)
            if (i != k) A[i][k] = A[k][i] = A[k][i] / pivot;
        A[k][k] = -1 / pivot;
    }
    return true;
}

kbass_status bench_draw_inform(bench_draw *d, kbass_error *error)
{
    double slopes[PARAMETERS][VALUES], information[PARAMETERS][PARAMETERS] = {{0}};
    size_t n_weights = count_weights(d), n = n_weights + d->n_states;
    kbass_status status = KBASS_OK;
    for (size_t p = 0; status == KBASS_OK && p < n; p++) status = differentiate(d, p, slopes[p], error);
    for (size_t p = 0; status == KBASS_OK && p < n; p++)
        for (size_t q = 0; q < n; q++)
            for (size_t k = 0; k < d->n_samples * d->n_states; k++) information[p][q] += slopes[p][k] * slopes[q][k];
    d->clearness = NAN;
    if (status != KBASS_OK) return status;
    if (!sweep(n, information)) return KBASS_OK;
    double least = INFINITY;
    for (size_t p = 0; p < n_weights; p++) {
        if (!(-information[p][p] > 0)) return KBASS_OK;
        least = fmin(least, fabs(*parameter(d, p)) / sqrt(-information[p][p]));
    }
    d->clearness = least;
    return status;
}
