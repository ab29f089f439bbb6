#include "forward/shoot_normals.h"

#include <math.h>
#include <string.h>

#include "base/linalg.h"
#include "forward/shoot_share.h"
#include "forward/shoot_team.h"
#include "weights/constraints.h"

enum { SYMMETRIC_FROM = 400 }; /* parameters: from which half of a product saves more than its symmetry costs */
enum { MANY_WEIGHTS = 33 };    /* weights: from which a product by BLAS saves more than its call costs */

/* ---------------------------------------------------------------- residuals and normal equations */

/* Border rows belong to two windows and count half in each. */
double kb_shooter_row_weight(const kb_shooter *s, size_t window, size_t row)
{
    bool shared = (window > 0 && row == s->likelihood.windows->last[window - 1]) ||
                  (window + 1 < s->likelihood.windows->n && row == s->likelihood.windows->first[window + 1]);
    return shared ? 0.5 : 1;
}

void kb_shooter_set_model(kb_shooter *s, const kb_support *support, const double *w, const kb_support *tangents)
{
    s->dynamics->set_model(s->dynamics, support, w, tangents);
    s->n_tangents = tangents ? tangents->n : 0;
    s->model_support = support;
    s->model_w = w;
    s->model_tangents = tangents;
}

void kb_shooter_place_windows(kb_shooter *s)
{
    const kb_windows *windows = s->likelihood.windows;
    const size_t *start = s->dynamics->observation_start;
    s->offset[0] = 0;
    for (size_t w = 0; w < windows->n; w++)
        s->offset[w + 1] = s->offset[w] + start[windows->last[w] + 1] - start[windows->first[w]];
}

/* Predictions of this rank's windows, and tangents, each behind the window before; up to which window all are there.
   What follows a window that cannot be integrated is not tried. */
static size_t predict(kb_shooter *s, const double *start, bool with_tangents)
{
    kb_dynamics *d = s->dynamics;
    const kb_windows *windows = s->likelihood.windows;
    size_t P = s->n_tangents + s->likelihood.n_start, window = 0;
    kb_shooter_place_windows(s);
    if (kb_shooter_has_team(s, with_tangents)) return kb_shooter_predict_together(s, start, with_tangents);
    for (; window < windows->n; window++) {
        size_t at = s->offset[window];
        if (kb_shooter_owns(s, window) &&
            !d->predict(d, windows->first[window], windows->last[window], start + window * s->likelihood.n_start,
                        s->predicted + at, with_tangents ? s->tangents + at * P : NULL))
            break;
    }
    s->was_stiff = s->flow && s->flow->stiff;
    return s->ranks ? kb_shooter_exchange_predictions(s, window) : window;
}

/* As they are compared with the measurements. */
static void compare(kb_shooter *s, size_t window, bool with_tangents)
{
    size_t P = s->n_tangents + s->likelihood.n_start, at = s->offset[window], n = s->offset[window + 1] - at,
           begin = s->dynamics->observation_start[s->likelihood.windows->first[window]];
    bool has_tangents = with_tangents && kb_shooter_owns(s, window);
    if (with_tangents) kb_comparison_weigh(&s->comparison, begin, n, s->predicted + at);
    kb_comparison_apply(&s->comparison, begin, n, s->predicted + at, P, has_tangents ? s->tangents + at * P : NULL);
}

static void add_squares(kb_shooter *s, size_t window)
{
    const kb_dynamics *d = s->dynamics;
    size_t first = s->likelihood.windows->first[window], begin = d->observation_start[first];
    const double *predicted = s->predicted + s->offset[window];
    for (size_t row = first; row <= s->likelihood.windows->last[window]; row++) {
        double weight = kb_shooter_row_weight(s, window, row);
        for (size_t o = d->observation_start[row]; o < d->observation_start[row + 1]; o++) {
            double r = predicted[o - begin] - s->comparison.target[o], relative = s->comparison.relative[o];
            s->squares[d->group[o]] += weight * r * r / relative;
            s->log_relative += weight * log(relative);
        }
    }
}

/* Sums of squared residuals per group in s->squares; false when a window cannot be integrated. */
bool kb_shooter_sum_squares(kb_shooter *s, const kb_support *support, const double *w, const double *start)
{
    memset(s->squares, 0, s->likelihood.n_groups * sizeof *s->squares);
    s->log_relative = 0;
    kb_shooter_set_model(s, support, w, NULL);
    size_t n = predict(s, start, false);
    for (size_t window = 0; window < n; window++) {
        compare(s, window, false);
        add_squares(s, window);
    }
    return n == s->likelihood.windows->n;
}

/* predicted, tangents: of the window. */
static void make_normals(const kb_shooter *s, size_t window, const double *predicted, const double *tangents,
                         const double *variance, kb_shooter *to)
{
    const kb_dynamics *d = s->dynamics;
    size_t P = s->n_tangents + s->likelihood.n_start, first = s->likelihood.windows->first[window],
           begin = d->observation_start[first], used = 0, at = s->offset[window];
    memset(to->gradient, 0, P * sizeof *to->gradient);
    for (size_t row = first; row <= s->likelihood.windows->last[window]; row++) {
        double weight = kb_shooter_row_weight(s, window, row);
        for (size_t o = d->observation_start[row]; o < d->observation_start[row + 1]; o++) {
            const double *tangent = tangents + (o - begin) * P;
            double *out = to->weighted + used++ * P,
                   root = sqrt(weight / (variance[d->group[o]] * s->comparison.relative[o]));
            for (size_t p = 0; p < P; p++) out[p] = root * tangent[p];
            double r = root * (predicted[o - begin] - s->comparison.target[o]);
            kb_axpy(P, r, out, to->gradient);
            if (s->kept_residuals) s->kept_residuals[at + used - 1] = r;
        }
    }
    if (P < SYMMETRIC_FROM)
        kb_gemm(KB_PLAIN, KB_TRANSPOSED, P, P, used, 1, to->weighted, P, to->weighted, P, 0, to->normals, P);
    else kb_team_outer(P, used, to->weighted, to->normals);
    if (s->kept_tangents) memcpy(s->kept_tangents + at * P, to->weighted, used * P * sizeof *to->weighted);
}

void kb_shooter_window_normals(const kb_shooter *s, size_t window, const double *variance, kb_shooter *to)
{
    size_t P = s->n_tangents + s->likelihood.n_start, at = s->offset[window];
    make_normals(s, window, s->predicted + at, s->tangents + at * P, variance, to);
}

static bool own_normals(kb_shooter *s, size_t window, const void *variance)
{
    kb_shooter_window_normals(s, window, variance, s);
    return true;
}

bool kb_shooter_stream_normals(const kb_shooter *s, size_t window, const double *start, const double *variance,
                               kb_shooter *to)
{
    const kb_windows *windows = s->likelihood.windows;
    size_t P = s->n_tangents + s->likelihood.n_start, n = s->offset[window + 1] - s->offset[window],
           begin = s->dynamics->observation_start[windows->first[window]];
    kb_dynamics *d = to->dynamics;
    d->set_model(d, s->model_support, s->model_w, s->model_tangents);
    if (!d->predict(d, windows->first[window], windows->last[window], start + window * s->likelihood.n_start,
                    to->predicted, to->tangents))
        return false;
    kb_comparison_apply(&s->comparison, begin, n, to->predicted, P, to->tangents);
    make_normals(s, window, to->predicted, to->tangents, variance, to);
    return true;
}

double kb_shooter_reduce_start(kb_shooter *s, size_t window, const double *start, const double *normals,
                               const double *gradient)
{
    size_t n = s->likelihood.n_start, k = s->n_tangents, P = k + n;
    double log_prior = 0;
    double *Hzz = s->Hzz + window * n * n, *Hzw = s->Hzw + window * n * k, *gz = s->gz + window * n;
    for (size_t j = 0; j < n; j++) {
        for (size_t i = 0; i < n; i++) Hzz[i + j * n] = normals[k + i + (k + j) * P];
        double variance = s->dynamics->start_variance[j];
        bool is_known = !(variance > 0); /* its tangents are zero: any positive precision leaves it alone */
        Hzz[j + j * n] += is_known ? 1 : 1 / variance;
        gz[j] = is_known ? 0 : gradient[k + j] + start[j] / variance;
        log_prior += is_known ? 0 : log(variance);
    }
    for (size_t q = 0; q < k; q++)
        for (size_t i = 0; i < n; i++) Hzw[i + q * n] = normals[k + i + q * P];
    if (!kb_cholesky(n, Hzz, n)) return NAN;
    kb_lower_solve(n, k, Hzz, n, Hzw, n);
    kb_lower_solve(n, 1, Hzz, n, gz, n);
    return 0.5 * (kb_cholesky_logdet(n, Hzz, n) + log_prior);
}

void kb_shooter_add_message(kb_shooter *s, size_t window, const double *normals, size_t stride, const double *gradient)
{
    size_t n = s->likelihood.n_start, k = s->n_tangents;
    const double *Hzw = s->Hzw + window * n * k, *gz = s->gz + window * n;
    for (size_t q = 0; q < k; q++) s->gw[q] += gradient[q];
    kb_team_eliminate(k, n, normals, stride, Hzw, s->Hww);
    kb_gemv(KB_TRANSPOSED, n, k, -1, Hzw, n, gz, 1, s->gw);
}

/* Predictions and tangents of all windows; false when one cannot be integrated. */
static bool integrate(kb_shooter *s, const kb_support *support, const double *w, const double *start,
                      const kb_support *tangents)
{
    memset(s->squares, 0, s->likelihood.n_groups * sizeof *s->squares);
    s->log_relative = 0;
    kb_shooter_set_model(s, support, w, tangents);
    size_t n = predict(s, start, true);
    for (size_t window = 0; window < n; window++) compare(s, window, true);
    if (n < s->likelihood.windows->n) return false;
    for (size_t window = 0; window < n; window++) add_squares(s, window);
    return true;
}

static void forget_messages(kb_shooter *s)
{
    size_t k = s->n_tangents;
    memset(s->Hww, 0, k * k * sizeof *s->Hww);
    memset(s->gw, 0, k * sizeof *s->gw);
}

/* A window's start eliminated from s->normals, and its message added. Half the log-determinant of its block. */
static double take_window(kb_shooter *s, size_t window, const double *start)
{
    size_t n = s->likelihood.n_start;
    double half_logdet = kb_shooter_reduce_start(s, window, start + window * n, s->normals, s->gradient);
    kb_shooter_add_message(s, window, s->normals, s->n_tangents + n, s->gradient);
    return half_logdet;
}

/* The integrated windows' messages at some noise: Hww = G, gw = gradient. Half the log-determinant of the starts'
   blocks, NaN when one is not positive. */
double kb_shooter_weigh(kb_shooter *s, const double *start, const double *variance)
{
    double half_logdet = 0;
    forget_messages(s);
    if (s->ranks) kb_shooter_exchange_normals(s, own_normals, variance);
    else if (kb_shooter_weigh_together(s, start, variance, false, &half_logdet)) return half_logdet;
    for (size_t window = 0; window < s->likelihood.windows->n; window++) {
        if (s->ranks) kb_shooter_take_normals(s, window);
        else own_normals(s, window, variance);
        half_logdet += take_window(s, window, start);
    }
    return half_logdet;
}

static void note_pace(kb_shooter *s, double began)
{
    s->pace = (kb_clock() - began) /
              (double)(kb_windows_rows(s->likelihood.windows) * (s->n_tangents + s->likelihood.n_start));
}

double kb_shooter_assemble(kb_shooter *s, const kb_support *support, const double *w, const double *start,
                           const kb_support *tangents, const double *variance)
{
    double clock = kb_clock();
    double half_logdet = integrate(s, support, w, start, tangents) ? kb_shooter_weigh(s, start, variance) : NAN;
    if (tangents) note_pace(s, clock);
    return half_logdet;
}

typedef struct {
    const double *start, *variance;
} streaming;

static bool own_streamed(kb_shooter *s, size_t window, const void *context)
{
    const streaming *c = context;
    return kb_shooter_stream_normals(s, window, c->start, c->variance, s);
}

/* One window after the other, with the tangents of one at a time. */
static double stream(kb_shooter *s, const double *start, const double *variance)
{
    const streaming c = {start, variance};
    double half_logdet = 0;
    forget_messages(s);
    if (s->ranks && !kb_shooter_exchange_normals(s, own_streamed, &c)) return NAN;
    if (!s->ranks && kb_shooter_weigh_together(s, start, variance, true, &half_logdet)) return half_logdet;
    for (size_t window = 0; window < s->likelihood.windows->n; window++) {
        if (s->ranks) kb_shooter_take_normals(s, window);
        else if (!own_streamed(s, window, &c)) return NAN;
        half_logdet += take_window(s, window, start);
    }
    return half_logdet;
}

/* Relative noise at a row that two windows share is that of the later one, and what is stiff in a window is so in the
   next: such windows are integrated before any is weighed. */
double kb_shooter_assemble_once(kb_shooter *s, const kb_support *support, const double *w, const double *start,
                                const kb_support *tangents, const double *variance)
{
    if (s->flow || s->dynamics->noise_model == KB_NOISE_MULTIPLICATIVE)
        return kb_shooter_assemble(s, support, w, start, tangents, variance);
    double clock = kb_clock();
    kb_shooter_set_model(s, support, w, tangents);
    kb_shooter_place_windows(s);
    double half_logdet = stream(s, start, variance);
    note_pace(s, clock);
    return half_logdet;
}

/* ---------------------------------------------------------------- weights */

/* A = G + 1/slab factorised in s->system; half its log-determinant with the slabs' */
double kb_shooter_factorise(kb_shooter *s, const kb_support *support, double damping)
{
    size_t k = support->n;
    double log_slab = 0;
    memcpy(s->system, s->Hww, k * k * sizeof *s->system);
    for (size_t q = 0; q < k; q++) {
        double slab = kb_constraints_slab(s->likelihood.columns, support, support->column[q]);
        s->system[q + q * k] *= 1 + damping;
        s->system[q + q * k] += 1 / slab;
        log_slab += log(slab);
    }
    if (s->likelihood.columns->constraints) {
        s->n_free = kb_constraints_basis(s->likelihood.columns, support, s->held, s->basis);
        return kb_constrained_factorise(s->likelihood.columns, support, s->n_free, s->basis, s->system,
                                        s->constrained_work);
    }
    if (!kb_cholesky(k, s->system, k)) return NAN;
    return 0.5 * (kb_cholesky_logdet(k, s->system, k) + log_slab);
}

void kb_shooter_solve(const kb_shooter *s, size_t k, size_t n_right, double *x, double *work)
{
    if (s->likelihood.columns->constraints) kb_constrained_solve(k, s->n_free, s->basis, s->system, n_right, x, work);
    else kb_cholesky_solve(k, n_right, s->system, k, x, k);
}

bool kb_shooter_invert(kb_shooter *s, size_t k)
{
    if (!s->likelihood.columns->constraints) return kb_cholesky_inverse(k, s->system, k);
    return kb_constrained_inverse(k, s->n_free, s->basis, s->system, s->constrained_work);
}

/* gamma = parameters - tr(A^{-1} prior): how many of them the data determine. Overwrites s->system with A^{-1}. */
double kb_shooter_effective(kb_shooter *s, const kb_support *support)
{
    size_t k = support->n, n = s->likelihood.n_start;
    double gamma = (double)(s->likelihood.columns->constraints ? s->n_free : k);
    double *C = s->spread, *CA = C + n * k, *inverse = s->inverse;
    if (!kb_shooter_invert(s, k)) return NAN;
    for (size_t q = 0; q < k; q++)
        gamma -= s->system[q + q * k] / kb_constraints_slab(s->likelihood.columns, support, support->column[q]);
    for (size_t window = 0; window < s->likelihood.windows->n; window++) {
        const double *L = s->Hzz + window * n * n;
        memcpy(inverse, L, n * n * sizeof *inverse);
        if (!kb_cholesky_inverse(n, inverse, n)) return NAN;
        memcpy(C, s->Hzw + window * n * k, n * k * sizeof *C);
        kb_lower_transposed_solve(n, k, L, n, C, n); /* Hzz^{-1} Hzw: what the weights' spread adds */
        if (k >= MANY_WEIGHTS) kb_gemm(KB_PLAIN, KB_PLAIN, n, k, k, 1, C, n, s->system, k, 0, CA, n);
        for (size_t i = 0; i < n; i++) {
            double variance = inverse[i + i * n], prior = s->dynamics->start_variance[i];
            for (size_t p = 0; p < k; p++)
                for (size_t q = 0; q < k && k < MANY_WEIGHTS; q++)
                    variance += C[i + p * n] * s->system[p + q * k] * C[i + q * n];
            for (size_t q = 0; q < k && k >= MANY_WEIGHTS; q++) variance += C[i + q * n] * CA[i + q * n];
            gamma += prior > 0 ? 1 - variance / prior : 0;
        }
    }
    return fmax(gamma, 0);
}
