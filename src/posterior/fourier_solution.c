#include "posterior/fourier_solution.h"

#include <math.h>
#include <string.h>

#include "base/linalg.h"
#include "base/memory.h"
#include "base/status.h"
#include "posterior/solution_points.h"

/* The lower triangle L of V = L L', zeros above it; what rounding made of a covariance gets a little more. */
static kbass_status factorise(size_t n, const double *V, double *L, kbass_error *error)
{
    static const double more[] = {0, 1e-14, 1e-12, 1e-10}; /* of the mean variance */
    double mean = 0;
    for (size_t i = 0; i < n; i++) mean += V[i + i * n] / (double)n;
    for (size_t try = 0; try < sizeof more / sizeof *more; try++) {
        memcpy(L, V, n * n * sizeof *L);
        for (size_t i = 0; i < n; i++) L[i + i * n] += more[try] * mean;
        if (!kb_cholesky(n, L, n)) continue;
        for (size_t j = 1; j < n; j++) memset(L + j * n, 0, j * sizeof *L);
        return KBASS_OK;
    }
    return kb_fail(error, KBASS_ERROR_NUMERICAL, "the covariance of weights and start is not positive");
}

/* What a row after the other needs: L of the covariance, its tangents turned by L'. */
typedef struct {
    double *L, *turned, *work;
} turning;

static void turning_clear(turning *t)
{
    kb_free(t->L);
    kb_free(t->turned);
    kb_free(t->work);
}

/* m: with its model set, tangents of all its parameters. */
static kbass_status turning_create(const kb_fourier_model *m, const double *V, turning *t, kbass_error *error)
{
    size_t P = m->n_parameters;
    *t = (turning){KB_NEW(double, P *P), KB_NEW(double, kb_dynamics_largest_row(&m->dynamics) * P),
                   KB_NEW(double, kb_fourier_model_turn_work(m))};
    kbass_status status =
        t->L && t->turned && t->work ? factorise(P, V, t->L, error) : kb_out_of_memory(error, "the solution");
    if (status != KBASS_OK) turning_clear(t);
    return status;
}

static kbass_status cannot_be_integrated(kbass_error *error)
{
    return kb_fail(error, KBASS_ERROR_NUMERICAL, "the fitted model cannot be integrated over these times");
}

/* Values of one row, from scaled to the data's units; sd: of tangents t under V, the root of t'V t. */
static void finish_row(const kb_fourier_model *p, size_t row, const turning *t, double *mean, double *sd)
{
    const kb_dynamics *d = &p->dynamics;
    size_t begin = d->observation_start[row], n = d->observation_start[row + 1] - begin, P = p->n_parameters;
    if (t && n) kb_fourier_model_turn(p, row, t->L, t->turned, t->work);
    for (size_t o = 0; o < n; o++) {
        size_t f = d->group[begin + o];
        const double *own = t ? t->turned + o * P : NULL;
        mean[o] = p->samples->mean[f] + p->samples->sd[f] * mean[o];
        if (own) sd[o] = p->samples->sd[f] * sqrt(kb_dot(P, own, own));
    }
}

/* Row by row, so that the tangents of one row are all that is kept. */
static kbass_status walk(kb_fourier_model *p, const kb_fit *fit, const double *start, const double *V, kb_run *clock,
                         double *mean, double *sd, kbass_error *error)
{
    kb_dynamics *d = &p->dynamics;
    turning turned = {0};
    d->set_model(d, &fit->support, fit->w, V ? &fit->support : NULL);
    kbass_status status = V ? turning_create(p, V, &turned, error) : KBASS_OK;
    for (size_t row = 0; status == KBASS_OK && row < d->n_rows; row++) {
        size_t at = d->observation_start[row];
        bool is_reached = V ? kb_fourier_model_reach_turned(p, 0, row, start, mean + at)
                            : kb_fourier_model_reach(p, 0, row, start, mean + at, NULL);
        if (is_reached) finish_row(p, row, V ? &turned : NULL, mean + at, sd ? sd + at : NULL);
        else status = cannot_be_integrated(error);
        if (status == KBASS_OK && !kb_run_spares(clock)) status = kb_run_cut(error);
    }
    turning_clear(&turned);
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
        shooter->likelihood.windows = windows;
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
                                 const double *times, const double *positions, kb_run *clock, double *mean, double *sd,
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
            status = walk(way.fourier, fit, fit->start + window * n_start, sd ? V + window * P * P : NULL, clock,
                          mean + done * F, sd ? sd + done * F : NULL, error);
        }
        passage_clear(&way);
        done += here;
    }
    return status;
}

/* ---------------------------------------------------------------- linearised about the fit */

/* Of one row; the first k numbers of turned tangents belong to the weights. */
static void take_row(const kb_fourier_model *m, size_t row, const turning *t, kb_field_spread *out)
{
    const kb_dynamics *d = &m->dynamics;
    size_t begin = d->observation_start[row], n = d->observation_start[row + 1] - begin, P = m->n_parameters,
           k = out->k;
    double *turned = t->turned;
    if (n) kb_fourier_model_turn(m, row, t->L, turned, t->work);
    for (size_t o = 0; o < n; o++) {
        size_t f = d->group[begin + o], value = begin + o;
        double unit = m->samples->sd[f], *own = turned + o * P;
        for (size_t q = 0; q < P; q++) own[q] *= unit;
        out->mean[value] = m->samples->mean[f] + unit * out->mean[value];
        memcpy(out->by_weights + value * k, own, k * sizeof *own);
        out->variance[value] = kb_dot(P - k, own + k, own + k);
    }
    if (out->covariance && n)
        kb_gemm(KB_TRANSPOSED, KB_PLAIN, n, n, P - k, 1, turned + k, P, turned + k, P, 0,
                out->covariance + begin + begin * out->n, out->n);
}

static kbass_status take_rows(kb_fourier_model *m, const kb_fit *fit, const turning *t, kb_field_spread *out,
                              kbass_error *error)
{
    kb_dynamics *d = &m->dynamics;
    for (size_t row = 0; row < d->n_rows; row++) {
        if (!kb_fourier_model_reach_turned(m, 0, row, fit->start, out->mean + d->observation_start[row]))
            return cannot_be_integrated(error);
        take_row(m, row, t, out);
    }
    return KBASS_OK;
}

kbass_status kb_fourier_spread(const kb_field_samples *samples, const kb_dictionary *dictionary,
                               const kb_columns *columns, const kb_fourier_settings *settings, const kb_fit *fit,
                               const double *V, size_t n, const double *times, const double *positions,
                               kb_field_spread *out, kbass_error *error)
{
    passage way;
    turning turned = {0};
    size_t k = fit->support.n;
    kbass_status status =
        passage_create(samples, dictionary, columns, settings, 0, n, times, positions, k, &way, error);
    if (status == KBASS_OK) {
        kb_dynamics *d = &way.fourier->dynamics;
        d->set_model(d, &fit->support, fit->w, &fit->support);
        status = turning_create(way.fourier, V, &turned, error);
    }
    if (status == KBASS_OK) {
        size_t P = way.fourier->n_parameters;
        for (size_t q = 0; q < k; q++)
            for (size_t j = 0; j < k; j++) out->weights[q * k + j] = turned.L[q + j * P];
        status = take_rows(way.fourier, fit, &turned, out, error);
    }
    turning_clear(&turned);
    passage_clear(&way);
    return status;
}
