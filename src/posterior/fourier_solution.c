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

/* Weights' and starts' covariances, by window. */
static kbass_status find_covariances(kb_fourier_model *fourier, const kb_columns *columns, const kb_windows *windows,
                                     const kb_fit *fit, double **V, kbass_error *error)
{
    kb_shooter *shooter = NULL;
    size_t k = fit->support.n, P = k + fourier->dynamics.n_start;
    kbass_status status = kb_shooter_create_on(&fourier->dynamics, columns, windows->n, k, &shooter, error);
    if (status == KBASS_OK && !(*V = KB_NEW(double, windows->n *P *P)))
        status = kb_out_of_memory(error, "the solution");
    if (status == KBASS_OK) {
        shooter->windows = windows;
        if (!kb_shooter_covariances(shooter, fit, *V))
            status = kb_fail(error, KBASS_ERROR_NUMERICAL, "the fitted model cannot be integrated again");
    }
    kb_shooter_destroy(shooter);
    return status;
}

kbass_status kb_fourier_solution(const kb_field_samples *samples, const kb_dictionary *dictionary,
                                 const kb_columns *columns, const kb_fourier_settings *settings,
                                 const kb_windows *windows, const kb_fit *fit, size_t n, const double *times,
                                 const double *positions, double *mean, double *sd, kbass_error *error)
{
    size_t space = samples->n_axes - 1, F = samples->n_fields, n_start = 0;
    double *V = NULL, *bound = KB_NEW(double, F);
    kb_fourier_model *fourier = NULL;
    kbass_status status = bound ? kb_fourier_model_create(samples, dictionary, columns, settings,
                                                          sd ? fit->support.n : KB_NO_TANGENTS, &fourier, error)
                                : kb_out_of_memory(error, "the solution");
    if (status == KBASS_OK) {
        n_start = fourier->dynamics.n_start;
        memcpy(bound, fourier->bound, F * sizeof *bound);
        if (sd) status = find_covariances(fourier, columns, windows, fit, &V, error);
        else fourier->dynamics.destroy(&fourier->dynamics);
    }
    for (size_t window = 0, done = 0; status == KBASS_OK && window < windows->n; window++) {
        size_t here = window + 1 == windows->n
                          ? n - done
                          : kb_points_within(samples, windows->last[window], n - done, times + done);
        size_t P = fit->support.n + n_start;
        kb_field_samples points = {0};
        if (!here) continue;
        fourier = NULL;
        status = kb_solution_points_create(samples, samples->grid[0][windows->first[window]], here, times + done,
                                           positions + done * space, &points, error);
        if (status == KBASS_OK)
            status = kb_fourier_model_create(&points, dictionary, columns, settings,
                                             sd ? fit->support.n : KB_NO_TANGENTS, &fourier, error);
        if (status == KBASS_OK) {
            memcpy(fourier->bound, bound, F * sizeof *bound);
            status = walk(fourier, fit, fit->start + window * n_start, V ? V + window * P * P : NULL, mean + done * F,
                          sd ? sd + done * F : NULL, error);
        }
        if (fourier) fourier->dynamics.destroy(&fourier->dynamics);
        kb_solution_points_clear(&points);
        done += here;
    }
    kb_free(V);
    kb_free(bound);
    return status;
}
