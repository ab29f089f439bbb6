#include "posterior/fourier_solution.h"

#include <math.h>
#include <string.h>

#include "base/linalg.h"
#include "base/memory.h"
#include "base/status.h"
#include "posterior/solution_points.h"

/* Values of one row, from scaled to the data's units; sd: of tangents t under V, the root of t'V t. */
static void finish_row(const kb_fourier_model *p, size_t row, const double *V, const double *tangents, double *turned,
                       double *mean, double *sd)
{
    const kb_dynamics *d = &p->dynamics;
    size_t begin = d->observation_start[row], n = d->observation_start[row + 1] - begin, P = p->n_parameters;
    if (V) kb_gemm(KB_PLAIN, KB_PLAIN, P, n, P, 1, V, P, tangents, P, 0, turned, P);
    for (size_t o = 0; o < n; o++) {
        size_t f = d->group[begin + o];
        mean[o] = p->samples->mean[f] + p->samples->sd[f] * mean[o];
        if (V) sd[o] = p->samples->sd[f] * sqrt(fmax(kb_dot(P, turned + o * P, tangents + o * P), 0));
    }
}

/* Row by row, so that the tangents of one row are all that is kept. */
static kbass_status walk(kb_fourier_model *p, const kb_fit *fit, const double *start, const double *V, double *mean,
                         double *sd, kbass_error *error)
{
    kb_dynamics *d = &p->dynamics;
    size_t size = V ? kb_dynamics_largest_row(d) * (fit->support.n + d->n_start) : 0;
    double *tangents = V ? KB_NEW(double, size) : NULL, *turned = V ? KB_NEW(double, size) : NULL;
    kbass_status status = !V || (tangents && turned) ? KBASS_OK : kb_out_of_memory(error, "the solution");
    if (status == KBASS_OK) d->set_model(d, &fit->support, fit->w, V ? &fit->support : NULL);
    for (size_t row = 0; status == KBASS_OK && row < d->n_rows; row++) {
        size_t at = d->observation_start[row];
        if (kb_fourier_model_reach(p, 0, row, start, mean + at, tangents))
            finish_row(p, row, V, tangents, turned, mean + at, sd ? sd + at : NULL);
        else status = kb_fail(error, KBASS_ERROR_NUMERICAL, "the fitted model cannot be integrated over these times");
    }
    kb_free(tangents);
    kb_free(turned);
    return status;
}

kbass_status kb_fourier_covariances(const kb_field_samples *samples, const kb_dictionary *dictionary,
                                    const kb_columns *columns, const kb_fourier_settings *settings,
                                    const kb_windows *windows, const kb_fit *fit, double **V, kbass_error *error)
{
    kb_shooter *shooter = NULL;
    kb_fourier_model *fourier = NULL;
    size_t k = fit->support.n;
    *V = NULL;
    kbass_status status = kb_fourier_model_create(samples, dictionary, columns, settings, k, &fourier, error);
    if (status != KBASS_OK) return status;
    size_t P = k + fourier->dynamics.n_start;
    status = kb_shooter_create_on(&fourier->dynamics, columns, windows->n, k, &shooter, error);
    if (status == KBASS_OK && !(*V = KB_NEW(double, windows->n *P *P)))
        status = kb_out_of_memory(error, "the solution");
    if (status == KBASS_OK) {
        shooter->windows = windows;
        if (!kb_shooter_covariances(shooter, fit, *V))
            status = kb_fail(error, KBASS_ERROR_NUMERICAL, "the fitted model cannot be integrated again");
    }
    kb_shooter_destroy(shooter);
    if (status == KBASS_OK) return KBASS_OK;
    kb_free(*V);
    *V = NULL;
    return status;
}

/* A model through points from a row on, that may go as far as the fitted one. */
typedef struct {
    kb_field_samples points;
    kb_fourier_model *fourier;
} passage;

static kbass_status passage_create(const kb_field_samples *samples, const kb_dictionary *dictionary,
                                   const kb_columns *columns, const kb_fourier_settings *settings, size_t row, size_t n,
                                   const double *times, const double *positions, size_t max_tangents, passage *out,
                                   kbass_error *error)
{
    kb_fourier_model *fitted = NULL;
    *out = (passage){.fourier = NULL};
    kbass_status status =
        kb_solution_points_create(samples, samples->grid[0][row], n, times, positions, &out->points, error);
    if (status == KBASS_OK)
        status = kb_fourier_model_create(samples, dictionary, columns, settings, KB_NO_TANGENTS, &fitted, error);
    if (status == KBASS_OK)
        status =
            kb_fourier_model_create(&out->points, dictionary, columns, settings, max_tangents, &out->fourier, error);
    if (status == KBASS_OK) memcpy(out->fourier->bound, fitted->bound, samples->n_fields * sizeof *fitted->bound);
    if (fitted) fitted->dynamics.destroy(&fitted->dynamics);
    return status;
}

static void passage_clear(passage *p)
{
    if (p->fourier) p->fourier->dynamics.destroy(&p->fourier->dynamics);
    kb_solution_points_clear(&p->points);
}

kbass_status kb_fourier_solution(const kb_field_samples *samples, const kb_dictionary *dictionary,
                                 const kb_columns *columns, const kb_fourier_settings *settings,
                                 const kb_windows *windows, const kb_fit *fit, const double *V, size_t n,
                                 const double *times, const double *positions, double *mean, double *sd,
                                 kbass_error *error)
{
    size_t space = samples->n_axes - 1, F = samples->n_fields, k = fit->support.n;
    kbass_status status = KBASS_OK;
    for (size_t window = 0, done = 0; status == KBASS_OK && window < windows->n; window++) {
        size_t here = window + 1 == windows->n
                          ? n - done
                          : kb_points_within(samples, windows->last[window], n - done, times + done);
        passage way;
        if (!here) continue;
        status = passage_create(samples, dictionary, columns, settings, windows->first[window], here, times + done,
                                positions + done * space, sd ? k : KB_NO_TANGENTS, &way, error);
        if (status == KBASS_OK) {
            size_t n_start = way.fourier->dynamics.n_start, P = k + n_start;
            status = walk(way.fourier, fit, fit->start + window * n_start, sd ? V + window * P * P : NULL,
                          mean + done * F, sd ? sd + done * F : NULL, error);
        }
        passage_clear(&way);
        done += here;
    }
    return status;
}

/* ---------------------------------------------------------------- linearised about the fit */

/* Of one row: turned = L' tangents, whose first k numbers belong to the weights. */
static void take_row(const kb_fourier_model *m, size_t row, const double *L, const double *tangents, double *turned,
                     kb_field_spread *out)
{
    const kb_dynamics *d = &m->dynamics;
    size_t begin = d->observation_start[row], n = d->observation_start[row + 1] - begin, P = m->n_parameters,
           k = out->k;
    kb_gemm(KB_TRANSPOSED, KB_PLAIN, P, n, P, 1, L, P, tangents, P, 0, turned, P);
    for (size_t o = 0; o < n; o++) {
        size_t f = d->group[begin + o], value = begin + o;
        double unit = m->samples->sd[f], *own = turned + o * P;
        for (size_t q = 0; q < P; q++) own[q] *= unit;
        out->mean[value] = m->samples->mean[f] + unit * out->mean[value];
        memcpy(out->by_weights + value * k, own, k * sizeof *own);
        out->variance[value] = kb_dot(P - k, own + k, own + k);
    }
    for (size_t j = 0; out->covariance && j < n; j++)
        for (size_t i = 0; i < n; i++)
            out->covariance[begin + i + (begin + j) * out->n] = kb_dot(P - k, turned + i * P + k, turned + j * P + k);
}

static kbass_status take_rows(kb_fourier_model *m, const kb_fit *fit, const double *L, kb_field_spread *out,
                              kbass_error *error)
{
    kb_dynamics *d = &m->dynamics;
    size_t size = kb_dynamics_largest_row(d) * (fit->support.n + d->n_start);
    double *tangents = KB_NEW(double, size), *turned = KB_NEW(double, size);
    kbass_status status = tangents && turned ? KBASS_OK : kb_out_of_memory(error, "the posterior");
    if (status == KBASS_OK) d->set_model(d, &fit->support, fit->w, &fit->support);
    for (size_t row = 0; status == KBASS_OK && row < d->n_rows; row++) {
        if (kb_fourier_model_reach(m, 0, row, fit->start, out->mean + d->observation_start[row], tangents))
            take_row(m, row, L, tangents, turned, out);
        else status = kb_fail(error, KBASS_ERROR_NUMERICAL, "the fitted model cannot be integrated over these times");
    }
    kb_free(tangents);
    kb_free(turned);
    return status;
}

kbass_status kb_fourier_spread(const kb_field_samples *samples, const kb_dictionary *dictionary,
                               const kb_columns *columns, const kb_fourier_settings *settings, const kb_fit *fit,
                               const double *V, size_t n, const double *times, const double *positions,
                               kb_field_spread *out, kbass_error *error)
{
    passage way;
    size_t k = fit->support.n;
    double *L = NULL;
    kbass_status status =
        passage_create(samples, dictionary, columns, settings, 0, n, times, positions, k, &way, error);
    size_t P = status == KBASS_OK ? k + way.fourier->dynamics.n_start : 0;
    if (status == KBASS_OK && !(L = KB_NEW(double, P *P))) status = kb_out_of_memory(error, "the posterior");
    if (status == KBASS_OK) {
        memcpy(L, V, P * P * sizeof *L);
        if (!kb_cholesky(P, L, P))
            status = kb_fail(error, KBASS_ERROR_NUMERICAL, "the covariance of weights and start is not positive");
    }
    if (status == KBASS_OK) {
        for (size_t j = 1; j < P; j++) memset(L + j * P, 0, j * sizeof *L);
        for (size_t q = 0; q < k; q++)
            for (size_t j = 0; j < k; j++) out->weights[q * k + j] = L[q + j * P];
        status = take_rows(way.fourier, fit, L, out, error);
    }
    passage_clear(&way);
    kb_free(L);
    return status;
}
