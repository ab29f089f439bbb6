#include "forward/shoot.h"

#include <math.h>
#include <string.h>

#include "base/larger.h"
#include "base/linalg.h"
#include "base/memory.h"
#include "base/status.h"
#include "forward/shoot_noise.h"

enum {
    SYMMETRIC_FROM = 400, /* parameters from which half of a product saves more than its symmetry costs */
    MANY_WEIGHTS = 33,    /* from which a product by BLAS saves more than its call costs */
    CHORDS = 4            /* steps that share their tangents */
};

/* ---------------------------------------------------------------- workspace */

/* All arrays of doubles with their sizes; one list serves making and freeing. */
enum { SHOOTER_ARRAYS = 20 };
static void list_arrays(kb_shooter *s, double **arrays[SHOOTER_ARRAYS], size_t sizes[SHOOTER_ARRAYS])
{
    size_t n = s->n, k = s->max_columns, P = k + n, W = s->max_windows, g = s->n_groups;
    size_t observations = s->dynamics->observation_start[s->dynamics->n_rows];
    size_t placed = observations + W * kb_dynamics_largest_row(s->dynamics);
    struct {
        double **array;
        size_t size;
    } list[SHOOTER_ARRAYS] = {{&s->predicted, placed},
                              {&s->tangents, placed * P},
                              {&s->normals, P * P},
                              {&s->weighted, observations * P},
                              {&s->Hww, k * k},
                              {&s->gw, k},
                              {&s->Hzw, W * n * k},
                              {&s->Hzz, W * n * n},
                              {&s->gz, W * n},
                              {&s->system, k * k},
                              {&s->dw, k},
                              {&s->dz, W * n},
                              {&s->trial_w, s->columns->n},
                              {&s->trial_start, W * n},
                              {&s->squares, g},
                              {&s->counts, g},
                              {&s->before, g},
                              {&s->gradient, P},
                              {&s->inverse, n * n},
                              {&s->spread, 2 * n * k}};
    for (int i = 0; i < SHOOTER_ARRAYS; i++) arrays[i] = list[i].array, sizes[i] = list[i].size;
}

kbass_status kb_shooter_create_on(kb_dynamics *dynamics, const kb_columns *columns, size_t max_windows,
                                  size_t max_columns, kb_shooter **out, kbass_error *error)
{
    double **arrays[SHOOTER_ARRAYS];
    size_t sizes[SHOOTER_ARRAYS];
    bool complete = true;
    kb_shooter *s = KB_NEW(kb_shooter, 1);
    if (!s) {
        dynamics->destroy(dynamics);
        return kb_out_of_memory(error, "shooting");
    }
    *s = (kb_shooter){.dynamics = dynamics,
                      .columns = columns,
                      .n = dynamics->n_start,
                      .n_groups = dynamics->n_groups,
                      .max_columns = max_columns,
                      .max_windows = max_windows};
    list_arrays(s, arrays, sizes);
    for (int i = 0; i < SHOOTER_ARRAYS; i++) complete = (*arrays[i] = KB_NEW(double, sizes[i])) != NULL && complete;
    s->offset = KB_NEW(size_t, max_windows + 1);
    if (!complete || !s->offset || kb_comparison_create(dynamics, &s->comparison, NULL) != KBASS_OK) {
        kb_shooter_destroy(s);
        return kb_out_of_memory(error, "shooting");
    }
    *out = s;
    return KBASS_OK;
}

kbass_status kb_shooter_create(const kb_record *record, const kb_dictionary *dictionary, const kb_columns *columns,
                               size_t max_windows, size_t max_columns, kb_shooter **out, kbass_error *error)
{
    kb_trajectory *trajectory = NULL;
    kbass_status status = kb_trajectory_create(record, dictionary, columns, max_columns, &trajectory, error);
    if (status == KBASS_OK)
        status = kb_shooter_create_on(&trajectory->dynamics, columns, max_windows, max_columns, out, error);
    if (status == KBASS_OK) (*out)->flow = trajectory->flow;
    return status;
}

void kb_shooter_destroy(kb_shooter *s)
{
    double **arrays[SHOOTER_ARRAYS];
    size_t sizes[SHOOTER_ARRAYS];
    if (!s) return;
    list_arrays(s, arrays, sizes);
    for (int i = 0; i < SHOOTER_ARRAYS; i++) kb_free(*arrays[i]);
    kb_free(s->offset);
    kb_comparison_clear(&s->comparison);
    s->dynamics->destroy(s->dynamics);
    kb_free(s);
}

/* ---------------------------------------------------------------- residuals and normal equations */

/* Border rows belong to two windows and count half in each. */
static double row_weight(const kb_shooter *s, size_t window, size_t row)
{
    bool shared = (window > 0 && row == s->windows->last[window - 1]) ||
                  (window + 1 < s->windows->n && row == s->windows->first[window + 1]);
    return shared ? 0.5 : 1;
}

static void set_model(kb_shooter *s, const kb_support *support, const double *w, const kb_support *tangents)
{
    s->dynamics->set_model(s->dynamics, support, w, tangents);
    s->n_tangents = tangents ? tangents->n : 0;
}

/* Predictions of one window, and tangents, to its place behind the window before. */
static bool shoot(kb_shooter *s, size_t window, const double *start, bool with_tangents)
{
    kb_dynamics *d = s->dynamics;
    size_t first = s->windows->first[window], last = s->windows->last[window], begin = d->observation_start[first];
    size_t n = d->observation_start[last + 1] - begin, P = s->n_tangents + s->n, at = window ? s->offset[window] : 0;
    double *predicted = s->predicted + at, *tangents = with_tangents ? s->tangents + at * P : NULL;
    s->offset[window] = at;
    s->offset[window + 1] = at + n;
    if (!d->predict(d, first, last, start, predicted, tangents)) return false;
    if (with_tangents) kb_comparison_weigh(&s->comparison, begin, n, predicted);
    kb_comparison_apply(&s->comparison, begin, n, predicted, P, tangents);
    return true;
}

static void add_squares(kb_shooter *s, size_t window)
{
    const kb_dynamics *d = s->dynamics;
    size_t first = s->windows->first[window], begin = d->observation_start[first];
    const double *predicted = s->predicted + s->offset[window];
    for (size_t row = first; row <= s->windows->last[window]; row++) {
        double weight = row_weight(s, window, row);
        for (size_t o = d->observation_start[row]; o < d->observation_start[row + 1]; o++) {
            double r = predicted[o - begin] - s->comparison.target[o], relative = s->comparison.relative[o];
            s->squares[d->group[o]] += weight * r * r / relative;
            s->log_relative += weight * log(relative);
        }
    }
}

/* Sums of squared residuals per group in s->squares; false when a window cannot be integrated. */
static bool sum_squares(kb_shooter *s, const kb_support *support, const double *w, const double *start)
{
    memset(s->squares, 0, s->n_groups * sizeof *s->squares);
    s->log_relative = 0;
    set_model(s, support, w, NULL);
    for (size_t window = 0; window < s->windows->n; window++) {
        if (!shoot(s, window, start + window * s->n, false)) return false;
        add_squares(s, window);
    }
    return true;
}

/* One window's J'J/v in s->normals (P x P) and J'r/v in s->gradient. */
static void window_normals(kb_shooter *s, size_t window, const double *variance)
{
    const kb_dynamics *d = s->dynamics;
    size_t P = s->n_tangents + s->n, first = s->windows->first[window], begin = d->observation_start[first], used = 0;
    const double *predicted = s->predicted + s->offset[window], *tangents = s->tangents + s->offset[window] * P;
    memset(s->gradient, 0, P * sizeof *s->gradient);
    for (size_t row = first; row <= s->windows->last[window]; row++) {
        double weight = row_weight(s, window, row);
        for (size_t o = d->observation_start[row]; o < d->observation_start[row + 1]; o++) {
            const double *tangent = tangents + (o - begin) * P;
            double *out = s->weighted + used++ * P,
                   root = sqrt(weight / (variance[d->group[o]] * s->comparison.relative[o]));
            for (size_t p = 0; p < P; p++) out[p] = root * tangent[p];
            double r = root * (predicted[o - begin] - s->comparison.target[o]);
            kb_axpy(P, r, out, s->gradient);
            if (s->kept_residuals) s->kept_residuals[s->n_kept + used - 1] = r;
        }
    }
    if (P < SYMMETRIC_FROM)
        kb_gemm(KB_PLAIN, KB_TRANSPOSED, P, P, used, 1, s->weighted, P, s->weighted, P, 0, s->normals, P);
    else kb_outer(P, used, s->weighted, P, s->normals, P);
    if (s->kept_tangents) memcpy(s->kept_tangents + s->n_kept * P, s->weighted, used * P * sizeof *s->weighted);
    s->n_kept += used;
}

/* Adds one window's message to (Hww, gw) after eliminating its start; keeps what back substitution needs. Returns half
   the log-determinant of its block with the prior's normaliser, NaN when it is not positive. */
static double eliminate_start(kb_shooter *s, size_t window, const double *start)
{
    size_t n = s->n, k = s->n_tangents, P = k + n;
    double log_prior = 0;
    double *Hzz = s->Hzz + window * n * n, *Hzw = s->Hzw + window * n * k, *gz = s->gz + window * n;
    for (size_t j = 0; j < n; j++) {
        for (size_t i = 0; i < n; i++) Hzz[i + j * n] = s->normals[k + i + (k + j) * P];
        double variance = s->dynamics->start_variance[j];
        bool is_known = !(variance > 0); /* its tangents are zero: any positive precision leaves it alone */
        Hzz[j + j * n] += is_known ? 1 : 1 / variance;
        gz[j] = is_known ? 0 : s->gradient[k + j] + start[j] / variance;
        log_prior += is_known ? 0 : log(variance);
    }
    for (size_t q = 0; q < k; q++)
        for (size_t i = 0; i < n; i++) Hzw[i + q * n] = s->normals[k + i + q * P];
    if (!kb_cholesky(n, Hzz, n)) return NAN;
    kb_lower_solve(n, k, Hzz, n, Hzw, n);
    kb_lower_solve(n, 1, Hzz, n, gz, n);
    for (size_t q = 0; q < k; q++) {
        for (size_t p = 0; p < k; p++) s->Hww[p + q * k] += s->normals[p + q * P];
        s->gw[q] += s->gradient[q];
    }
    kb_gemm(KB_TRANSPOSED, KB_PLAIN, k, k, n, -1, Hzw, n, Hzw, n, 1, s->Hww, k);
    kb_gemv(KB_TRANSPOSED, n, k, -1, Hzw, n, gz, 1, s->gw);
    return 0.5 * (kb_cholesky_logdet(n, Hzz, n) + log_prior);
}

/* Predictions and tangents of all windows; false when one cannot be integrated. */
static bool integrate(kb_shooter *s, const kb_support *support, const double *w, const double *start,
                      const kb_support *tangents)
{
    memset(s->squares, 0, s->n_groups * sizeof *s->squares);
    s->log_relative = 0;
    set_model(s, support, w, tangents);
    for (size_t window = 0; window < s->windows->n; window++)
        if (!shoot(s, window, start + window * s->n, true)) return false;
    for (size_t window = 0; window < s->windows->n; window++) add_squares(s, window);
    return true;
}

/* The integrated windows' messages at some noise: Hww = G, gw = gradient. Half the log-determinant of the starts'
   blocks, NaN when one is not positive. */
static double weigh(kb_shooter *s, const double *start, const double *variance)
{
    size_t k = s->n_tangents;
    double half_logdet = 0;
    memset(s->Hww, 0, k * k * sizeof *s->Hww);
    memset(s->gw, 0, k * sizeof *s->gw);
    s->n_kept = 0;
    for (size_t window = 0; window < s->windows->n; window++) {
        window_normals(s, window, variance);
        half_logdet += eliminate_start(s, window, start + window * s->n);
    }
    return half_logdet;
}

static double assemble(kb_shooter *s, const kb_support *support, const double *w, const double *start,
                       const kb_support *tangents, const double *variance)
{
    double clock = kb_clock();
    double half_logdet = integrate(s, support, w, start, tangents) ? weigh(s, start, variance) : NAN;
    if (tangents) s->pace = (kb_clock() - clock) / (double)(kb_windows_rows(s->windows) * (s->n_tangents + s->n));
    return half_logdet;
}

/* Is it time to give a fit up? One that is kept may go on a little. */
static bool is_given_up(const kb_shooter *s, size_t n_active)
{
    static const double patience = 0.2; /* seconds */
    return s->run && !kb_run_continue(s->run, n_active) && (!s->keeps_fit || kb_run_overdue(s->run) > patience);
}

/* ---------------------------------------------------------------- noise and evidence */

static double penalty(const kb_shooter *s, const kb_support *support, const double *w, const double *start)
{
    double sum = 0;
    for (size_t i = 0; i < s->windows->n * s->n; i++) {
        double variance = s->dynamics->start_variance[i % s->n];
        if (variance > 0) sum += start[i] * start[i] / variance;
    }
    for (size_t q = 0; q < support->n; q++) {
        size_t column = support->column[q];
        sum += w[column] * w[column] / s->columns->slab[column];
    }
    return 0.5 * sum;
}

/* Objective at fixed noise. */
static double objective(const kb_shooter *s, const kb_support *support, const double *w, const double *start,
                        const double *variance)
{
    return penalty(s, support, w, start) - kb_shooter_log_likelihood(s, variance);
}

/* ---------------------------------------------------------------- the fit */

/* A = G + 1/slab factorised in s->system; half its log-determinant with the slabs' */
static double factorise_weights(kb_shooter *s, const kb_support *support, double damping)
{
    size_t k = support->n;
    double log_slab = 0;
    memcpy(s->system, s->Hww, k * k * sizeof *s->system);
    for (size_t q = 0; q < k; q++) {
        double slab = s->columns->slab[support->column[q]];
        s->system[q + q * k] *= 1 + damping;
        s->system[q + q * k] += 1 / slab;
        log_slab += log(slab);
    }
    if (!kb_cholesky(k, s->system, k)) return NAN;
    return 0.5 * (kb_cholesky_logdet(k, s->system, k) + log_slab);
}

/* gamma = parameters - tr(A^{-1} prior): how many of them the data determine. Overwrites s->system with A^{-1}. */
static double effective_parameters(kb_shooter *s, const kb_support *support)
{
    size_t k = support->n, n = s->n;
    double gamma = (double)k, *C = s->spread, *CA = C + n * k, *inverse = s->inverse;
    if (!kb_cholesky_inverse(k, s->system, k)) return NAN;
    for (size_t q = 0; q < k; q++) gamma -= s->system[q + q * k] / s->columns->slab[support->column[q]];
    for (size_t window = 0; window < s->windows->n; window++) {
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

/* Step from the assembled system: dw damped by a share of G's diagonal, dz the best answer to it. */
static bool make_step(kb_shooter *s, const kb_fit *fit, double damping)
{
    size_t k = fit->support.n, n = s->n;
    if (!isfinite(factorise_weights(s, &fit->support, damping))) return false;
    for (size_t q = 0; q < k; q++)
        s->dw[q] = -s->gw[q] - fit->w[fit->support.column[q]] / s->columns->slab[fit->support.column[q]];
    kb_cholesky_solve(k, 1, s->system, k, s->dw, k);
    if (s->holds_weights) memset(s->dw, 0, k * sizeof *s->dw);
    for (size_t window = 0; window < s->windows->n; window++) {
        double *dz = s->dz + window * n;
        memcpy(dz, s->gz + window * n, n * sizeof *dz);
        kb_gemv(KB_PLAIN, n, k, 1, s->Hzw + window * n * k, n, s->dw, 1, dz);
        kb_lower_transposed_solve(n, 1, s->Hzz + window * n * n, n, dz, n);
    }
    return true;
}

static void make_trial(kb_shooter *s, const kb_fit *fit, double length)
{
    for (size_t q = 0; q < fit->support.n; q++)
        s->trial_w[fit->support.column[q]] = fit->w[fit->support.column[q]] + length * s->dw[q];
    for (size_t i = 0; i < s->windows->n * s->n; i++) {
        bool is_free = s->dynamics->start_variance[i % s->n] > 0;
        s->trial_start[i] = fit->start[i] - (is_free ? length * s->dz[i] : 0);
    }
}

static void accept_trial(kb_shooter *s, kb_fit *fit)
{
    for (size_t q = 0; q < fit->support.n; q++) fit->w[fit->support.column[q]] = s->trial_w[fit->support.column[q]];
    memcpy(fit->start, s->trial_start, s->windows->n * s->n * sizeof *fit->start);
}

static const double nothing_to_gain = 0.05; /* nats: more, and no step that helps: not converged. Not measured */

/* What the quadratic model of the objective has to gain: half of g' H^{-1} g. NaN when there is no such model. */
static double predicted_gain(kb_shooter *s, const kb_fit *fit)
{
    size_t k = fit->support.n, n = s->n;
    double gain = 0;
    if (!make_step(s, fit, 0)) return NAN;
    for (size_t q = 0; q < k; q++)
        gain -= s->dw[q] * (s->gw[q] + fit->w[fit->support.column[q]] / s->columns->slab[fit->support.column[q]]);
    return 0.5 * (gain + kb_dot(s->windows->n * n, s->gz, s->gz));
}

/* One damped Gauss-Newton step at fixed noise; returns the gain of the objective. Each failure both shortens the step
   and turns it towards the gradient. When no step helps the fit is as good as the objective can tell, or its tangents
   are not those of its predictions: then -1. */
static double improve(kb_shooter *s, kb_fit *fit, double *damping)
{
    double before = objective(s, &fit->support, fit->w, fit->start, fit->variance), length = 1;
    for (int tries = 0; tries < 9; tries++, length *= 0.5) {
        if (make_step(s, fit, *damping)) {
            make_trial(s, fit, length);
            double after = sum_squares(s, &fit->support, s->trial_w, s->trial_start)
                               ? objective(s, &fit->support, s->trial_w, s->trial_start, fit->variance)
                               : INFINITY;
            if (after < before) {
                accept_trial(s, fit);
                *damping = *damping > 1e-3 ? *damping / 10 : 0;
                return before - after;
            }
        }
        *damping = *damping > 0 ? *damping * 6 : 1e-3;
    }
    return predicted_gain(s, fit) < nothing_to_gain ? 0 : -1;
}

/* J'r/v of a window at its present predictions, with the tangents of the last assembly, in s->gradient. */
static void renew_gradient(kb_shooter *s, const kb_fit *fit, size_t window)
{
    const kb_dynamics *d = s->dynamics;
    size_t P = fit->support.n + s->n, first = s->windows->first[window], begin = d->observation_start[first];
    size_t n = d->observation_start[s->windows->last[window] + 1] - begin;
    const double *predicted = s->predicted + s->offset[window];
    for (size_t row = first; row <= s->windows->last[window]; row++)
        for (size_t o = d->observation_start[row]; o < d->observation_start[row + 1]; o++)
            s->weighted[o - begin] = row_weight(s, window, row) * (predicted[o - begin] - s->comparison.target[o]) /
                                     (fit->variance[d->group[o]] * s->comparison.relative[o]);
    kb_gemv(KB_PLAIN, P, n, 1, s->tangents + s->offset[window] * P, P, s->weighted, 0, s->gradient);
}

/* The messages' gradients at the present point, their matrices as they were. */
static void renew_messages(kb_shooter *s, const kb_fit *fit)
{
    size_t n = s->n, k = fit->support.n;
    memset(s->gw, 0, k * sizeof *s->gw);
    for (size_t window = 0; window < s->windows->n; window++) {
        double *gz = s->gz + window * n;
        const double *start = fit->start + window * n, *Hzw = s->Hzw + window * n * k;
        renew_gradient(s, fit, window);
        for (size_t j = 0; j < n; j++) {
            double variance = s->dynamics->start_variance[j];
            gz[j] = variance > 0 ? s->gradient[k + j] + start[j] / variance : 0;
        }
        kb_lower_solve(n, 1, s->Hzz + window * n * n, n, gz, n);
        kb_axpy(k, 1, s->gradient, s->gw);
        kb_gemv(KB_TRANSPOSED, n, k, -1, Hzw, n, gz, 1, s->gw);
    }
}

/* Steps at fixed noise with the matrices of one assembly: one, or where tangents are dear as long as they help. Returns
   the gain of the first. */
static double descend(kb_shooter *s, kb_fit *fit, double *damping, double tolerance)
{
    double first = improve(s, fit, damping), last = first;
    for (int chord = 0; s->dynamics->tangents_are_dear && chord < CHORDS && last > tolerance; chord++) {
        renew_messages(s, fit);
        double gain = improve(s, fit, damping);
        if (!(gain < 0.5 * last)) chord = CHORDS; /* the matrices are too old */
        last = gain;
    }
    return first;
}

/* Noise at the present point, by a few rounds with the effective number of parameters. */
static bool update_noise(kb_shooter *s, kb_fit *fit, double *effective)
{
    if (!isfinite(factorise_weights(s, &fit->support, 0))) return false;
    *effective = effective_parameters(s, &fit->support);
    if (!isfinite(*effective)) return false;
    kb_shooter_estimate_noise(s, *effective, fit->variance);
    return true;
}

static void finish(kb_shooter *s, kb_fit *fit)
{
    size_t k = fit->support.n;
    double squares = 0, values = 0;
    double starts = assemble(s, &fit->support, fit->w, fit->start, &fit->support, fit->variance);
    double weights = factorise_weights(s, &fit->support, 0);
    if (!isfinite(starts) || !isfinite(weights)) return;
    double effective = effective_parameters(s, &fit->support);
    fit->effective = effective;
    fit->log_likelihood = kb_shooter_log_likelihood(s, fit->variance);
    fit->log_evidence = fit->log_likelihood - penalty(s, &fit->support, fit->w, fit->start) - starts - weights +
                        kb_shooter_noise_evidence(s, effective, fit->variance) +
                        kb_support_log_prior(&fit->support, s->columns) +
                        kb_support_log_width(&fit->support, s->columns, fit->w);
    for (size_t i = 0; i < s->n_groups; i++) squares += s->squares[i], values += s->counts[i];
    fit->misfit = sqrt(squares / values);
    memcpy(fit->covariance, s->system, k * k * sizeof *fit->covariance); /* effective_parameters left the inverse */
    fit->valid = isfinite(fit->log_evidence);
}

bool kb_shooter_state(kb_shooter *s, const kb_fit *fit, size_t window, size_t row, double *state)
{
    set_model(s, &fit->support, fit->w, NULL);
    return s->dynamics->carry(s->dynamics, s->windows->first[window], row, fit->start + window * s->n, state);
}

/* [A^{-1}, -A^{-1} C'; -C A^{-1}, Hzz^{-1} + C A^{-1} C'],  C = Hzz^{-1} Hzw; s->system holds A^{-1} */
static bool window_covariance(kb_shooter *s, size_t window, size_t k, double *V)
{
    size_t n = s->n, size = k + n;
    double *C = s->Hzw + window * n * k, *inverse = s->Hzz + window * n * n;
    kb_lower_transposed_solve(n, k, inverse, n, C, n);
    if (!kb_cholesky_inverse(n, inverse, n)) return false;
    for (size_t q = 0; q < k; q++) memcpy(V + q * size, s->system + q * k, k * sizeof *V);
    kb_gemm(KB_PLAIN, KB_PLAIN, n, k, k, -1, C, n, s->system, k, 0, V + k, size);
    for (size_t j = 0; j < n; j++) memcpy(V + k + (k + j) * size, inverse + j * n, n * sizeof *V);
    kb_gemm(KB_PLAIN, KB_TRANSPOSED, n, n, k, -1, V + k, size, C, n, 1, V + k + k * size, size);
    for (size_t q = 0; q < k; q++)
        for (size_t i = 0; i < n; i++) V[q + (k + i) * size] = V[k + i + q * size];
    for (size_t i = 0; i < n; i++) /* a known start has no spread */
        if (!(s->dynamics->start_variance[i] > 0)) V[k + i + (k + i) * size] = 0;
    return true;
}

bool kb_shooter_covariances(kb_shooter *s, const kb_fit *fit, double *covariances)
{
    size_t k = fit->support.n, size = k + s->n;
    kb_shooter_count(s);
    if (!isfinite(assemble(s, &fit->support, fit->w, fit->start, &fit->support, fit->variance))) return false;
    if (!isfinite(factorise_weights(s, &fit->support, 0)) || !kb_cholesky_inverse(k, s->system, k)) return false;
    for (size_t window = 0; window < s->windows->n; window++)
        if (!window_covariance(s, window, k, covariances + window * size * size)) return false;
    return true;
}

void kb_shooter_fit_now(kb_shooter *s, kb_fit *fit, int max_iterations, double rival)
{
    static const double tolerance = 0.005; /* nats; far below any odds that matter */
    double damping = 0, effective = 0, values = 0;
    fit->valid = fit->converged = false;
    fit->log_evidence = -INFINITY;
    fit->n_windows = s->windows->n;
    fit->n_rows = kb_windows_rows(s->windows);
    kb_shooter_count(s);
    for (size_t i = 0; i < s->n_groups; i++) values += s->counts[i];
    for (int iteration = 0; iteration < max_iterations; iteration++) {
        bool is_late = is_given_up(s, fit->support.n);
        if (is_late && !s->keeps_fit) return;
        if (iteration && (is_late || (s->deadline > 0 && kb_clock() > s->deadline))) break;
        if (!isfinite(assemble(s, &fit->support, fit->w, fit->start, &fit->support, fit->variance))) return;
        memcpy(s->before, fit->variance, s->n_groups * sizeof *s->before);
        if (!update_noise(s, fit, &effective)) return;
        double moved = 0;
        for (size_t i = 0; i < s->n_groups; i++) moved = kb_larger(moved, fabs(log(fit->variance[i] / s->before[i])));
        if (!(moved <= 1e-3) && !isfinite(weigh(s, fit->start, fit->variance))) return;
        if (iteration >= 4 && kb_shooter_log_likelihood(s, fit->variance) + 60 + 0.1 * values < rival) return;
        double gain = descend(s, fit, &damping, tolerance);
        if (gain < tolerance && moved < 0.02) {
            fit->converged = gain >= 0;
            break;
        }
    }
    finish(s, fit);
}

bool kb_shooter_linearise(kb_shooter *s, const kb_fit *fit, double *tangents, double *residuals)
{
    s->kept_tangents = tangents;
    s->kept_residuals = residuals;
    kb_shooter_count(s);
    bool done = isfinite(assemble(s, &fit->support, fit->w, fit->start, &fit->support, fit->variance)) &&
                isfinite(factorise_weights(s, &fit->support, 0));
    s->kept_tangents = s->kept_residuals = NULL;
    return done;
}

bool kb_shooter_message(kb_shooter *s, const kb_fit *fit, const kb_support *all, kb_message *message)
{
    size_t k = all->n;
    if (!isfinite(assemble(s, &fit->support, fit->w, fit->start, all, fit->variance))) return false;
    memcpy(message->G, s->Hww, k * k * sizeof *message->G);
    for (size_t q = 0; q < k; q++) message->b[q] = -s->gw[q];
    for (size_t q = 0; q < fit->support.n; q++)
        kb_axpy(k, fit->w[fit->support.column[q]], message->G + fit->support.column[q] * k, message->b);
    return true;
}

/* a <- a - Haa^{-1} Haw dw */
void kb_shooter_follow(kb_shooter *s, const double *dw, double *start)
{
    size_t n = s->n, k = s->n_tangents;
    for (size_t window = 0; window < s->windows->n; window++) {
        double *dz = s->dz + window * n;
        kb_gemv(KB_PLAIN, n, k, 1, s->Hzw + window * n * k, n, dw, 0, dz);
        kb_lower_transposed_solve(n, 1, s->Hzz + window * n * n, n, dz, n);
        for (size_t i = 0; i < n; i++)
            if (s->dynamics->start_variance[i] > 0) start[window * n + i] -= dz[i];
    }
}
