#include "forward/shoot.h"

#include <math.h>
#include <string.h>

#include "base/linalg.h"
#include "base/memory.h"
#include "base/status.h"

static const double start_variance = 4;    /* prior of an initial state, in units of the state's variance */
static const double noise_floor = 1e-6;    /* smallest noise variance: 0.1 % of a state's sd, below which "noise" is model and solver error */
static const double noise_shrinkage = 4;   /* the states' common noise level counts as this many samples of each */

/* ---------------------------------------------------------------- windows, fits, workspace */

kbass_status kb_windows_create(const kb_record *record, size_t n, kb_windows **out, kbass_error *error)
{
    kb_windows *windows = KB_NEW(kb_windows, 1);
    if (windows) {
        windows->n = n;
        windows->first = KB_NEW(size_t, n);
        windows->last = KB_NEW(size_t, n);
    }
    if (!windows || !windows->first || !windows->last) {
        kb_windows_destroy(windows);
        return kb_out_of_memory(error, "the windows");
    }
    for (size_t i = 0; i < n; i++) {
        windows->first[i] = i * (record->n_rows - 1) / n;
        windows->last[i] = (i + 1) * (record->n_rows - 1) / n;
    }
    *out = windows;
    return KBASS_OK;
}

void kb_windows_destroy(kb_windows *windows)
{
    if (!windows) return;
    kb_free(windows->first);
    kb_free(windows->last);
    kb_free(windows);
}

kbass_status kb_fit_create(size_t n_columns, size_t n_states, size_t max_windows, size_t n_support, kb_fit **out,
                           kbass_error *error)
{
    kb_fit *fit = KB_NEW(kb_fit, 1);
    if (!fit) return kb_out_of_memory(error, "a fit");
    fit->w = KB_NEW(double, n_columns);
    fit->start = KB_NEW(double, max_windows * n_states);
    fit->variance = KB_NEW(double, n_states);
    fit->covariance = KB_NEW(double, n_support * n_support);
    fit->support.column = KB_NEW(size_t, n_columns);
    if (!fit->w || !fit->start || !fit->variance || !fit->covariance || !fit->support.column) {
        kb_fit_destroy(fit);
        return kb_out_of_memory(error, "a fit");
    }
    *out = fit;
    return KBASS_OK;
}

void kb_fit_destroy(kb_fit *fit)
{
    if (!fit) return;
    kb_support_clear(&fit->support);
    kb_free(fit->w);
    kb_free(fit->start);
    kb_free(fit->variance);
    kb_free(fit->covariance);
    kb_free(fit);
}

void kb_fit_copy(const kb_fit *from, kb_fit *to, size_t n_columns, size_t n_states)
{
    kb_fit kept = *to;
    size_t size = from->support.n;
    *to = *from;
    to->support = kept.support;
    to->w = kept.w;
    to->start = kept.start;
    to->variance = kept.variance;
    to->covariance = kept.covariance;
    kb_support_copy(&from->support, &to->support);
    memcpy(to->w, from->w, n_columns * sizeof *to->w);
    memcpy(to->start, from->start, from->n_windows * n_states * sizeof *to->start);
    memcpy(to->variance, from->variance, n_states * sizeof *to->variance);
    memcpy(to->covariance, from->covariance, size * size * sizeof *to->covariance);
}

kbass_status kb_shooter_create(const kb_record *record, const kb_dictionary *dictionary, const kb_columns *columns,
                               size_t max_windows, size_t max_columns, kb_shooter **out, kbass_error *error)
{
    kb_shooter *s = KB_NEW(kb_shooter, 1);
    size_t n = record->n_states, k = max_columns, P = k + n, W = max_windows;
    kbass_status status = s ? kb_flow_create(record, dictionary, columns, k, &s->flow, error)
                            : kb_out_of_memory(error, "shooting");
    if (status != KBASS_OK) {
        kb_shooter_destroy(s);
        return status;
    }
    s->record = record;
    s->columns = columns;
    s->n = n;
    s->max_columns = k;
    s->max_windows = W;
    double **arrays[] = {&s->states, &s->tangents, &s->row,     &s->weighted, &s->Hww, &s->gw,      &s->Hzw,         &s->Hzz,
                         &s->gz,     &s->system,   &s->trial_w, &s->trial_start, &s->squares, &s->counts, &s->dw, &s->dz};
    size_t sizes[] = {record->n_rows * n, record->n_rows * n * P, P * P, record->n_rows * P, k * k, k, W * n * k, W * n * n,
                      W * n, k * k, columns->n, W * n, n, n, k, W * n};
    bool complete = true;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        complete = (*arrays[i] = KB_NEW(double, sizes[i])) != NULL && complete;
    if (!complete) {
        kb_shooter_destroy(s);
        return kb_out_of_memory(error, "shooting");
    }
    *out = s;
    return KBASS_OK;
}

void kb_shooter_destroy(kb_shooter *s)
{
    if (!s) return;
    double *arrays[] = {s->states, s->tangents, s->row,     s->weighted, s->Hww, s->gw,      s->Hzw,         s->Hzz,
                        s->gz,     s->system,   s->trial_w, s->trial_start, s->squares, s->counts, s->dw, s->dz};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++) kb_free(arrays[i]);
    kb_flow_destroy(s->flow);
    kb_free(s);
}

/* ---------------------------------------------------------------- residuals and normal equations */

/* Border rows belong to two windows and count half in each. */
static double row_weight(const kb_shooter *s, size_t window, size_t row)
{
    bool shared = (window > 0 && row == s->windows->first[window]) ||
                  (window + 1 < s->windows->n && row == s->windows->last[window]);
    return shared ? 0.5 : 1;
}

static double observation_weight(const kb_shooter *s, size_t window, size_t row, size_t state)
{
    if (!s->flow->dictionary->has_equation[state]) return 0;
    return row_weight(s, window, row) * s->record->measured[row + state * s->record->n_rows];
}

/* Trajectory of one window in s->states (and tangents). */
static bool shoot(kb_shooter *s, size_t window, const double *start, bool with_tangents)
{
    size_t first = s->windows->first[window], last = s->windows->last[window];
    return kb_flow_integrate(s->flow, last - first + 1, s->record->time + first, start, s->states,
                             with_tangents ? s->tangents : NULL);
}

static void add_squares(kb_shooter *s, size_t window)
{
    size_t n = s->n, first = s->windows->first[window];
    for (size_t row = first; row <= s->windows->last[window]; row++)
        for (size_t i = 0; i < n; i++) {
            double r = s->states[(row - first) * n + i] - s->record->value[row + i * s->record->n_rows];
            s->squares[i] += observation_weight(s, window, row, i) * r * r;
        }
}

/* Sums of squared residuals per state in s->squares; false when a window cannot be integrated. */
static bool sum_squares(kb_shooter *s, const kb_support *support, const double *w, const double *start)
{
    memset(s->squares, 0, s->n * sizeof *s->squares);
    kb_flow_model(s->flow, support, w, NULL);
    for (size_t window = 0; window < s->windows->n; window++) {
        if (!shoot(s, window, start + window * s->n, false)) return false;
        add_squares(s, window);
    }
    return true;
}

/* One window's J'J/v and J'r/v, split into weights and start: P x P in s->row (lower), gradient in s->weighted's tail. */
static void window_normals(kb_shooter *s, size_t window, const double *variance, double *gradient)
{
    size_t n = s->n, P = s->flow->n_parameters, first = s->windows->first[window], last = s->windows->last[window];
    memset(s->row, 0, P * P * sizeof *s->row);
    memset(gradient, 0, P * sizeof *gradient);
    for (size_t i = 0; i < n; i++) {
        size_t used = 0;
        for (size_t row = first; row <= last; row++) {
            double weight = observation_weight(s, window, row, i);
            if (weight == 0) continue;
            const double *tangent = s->tangents + ((row - first) * n + i) * P;
            double r = s->states[(row - first) * n + i] - s->record->value[row + i * s->record->n_rows];
            double *out = s->weighted + used++ * P, root = sqrt(weight / variance[i]);
            for (size_t p = 0; p < P; p++) out[p] = root * tangent[p];
            kb_axpy(P, root * r, out, gradient);
        }
        /* weighted is P x used, column-major: H += weighted weighted' */
        kb_gemm(KB_PLAIN, KB_TRANSPOSED, P, P, used, 1, s->weighted, P, s->weighted, P, 1, s->row, P);
    }
}

/* Adds one window's message to (Hww, gw) after eliminating its start; keeps what back substitution needs. Returns half
   the log-determinant of its block with the prior's normaliser, NaN when it is not positive. */
static double eliminate_start(kb_shooter *s, size_t window, const double *start, const double *gradient)
{
    size_t n = s->n, P = s->flow->n_parameters, k = s->flow->n_tangents;
    double *Hzz = s->Hzz + window * n * n, *Hzw = s->Hzw + window * n * k, *gz = s->gz + window * n;
    for (size_t j = 0; j < n; j++) {
        for (size_t i = 0; i < n; i++) Hzz[i + j * n] = s->row[k + i + (k + j) * P];
        Hzz[j + j * n] += 1 / start_variance;
        gz[j] = gradient[k + j] + start[j] / start_variance;
    }
    for (size_t q = 0; q < k; q++)
        for (size_t i = 0; i < n; i++) Hzw[i + q * n] = s->row[k + i + q * P];
    if (!kb_cholesky(n, Hzz, n)) return NAN;
    kb_lower_solve(n, k, Hzz, n, Hzw, n);
    kb_lower_solve(n, 1, Hzz, n, gz, n);
    for (size_t q = 0; q < k; q++) {
        for (size_t p = 0; p < k; p++) s->Hww[p + q * k] += s->row[p + q * P];
        s->gw[q] += gradient[q];
    }
    kb_gemm(KB_TRANSPOSED, KB_PLAIN, k, k, n, -1, Hzw, n, Hzw, n, 1, s->Hww, k);
    kb_gemv(KB_TRANSPOSED, n, k, -1, Hzw, n, gz, 1, s->gw);
    return 0.5 * (kb_cholesky_logdet(n, Hzz, n) + (double)n * log(start_variance));
}

/* Integrates all windows with tangents and sums their messages: Hww = G, gw = gradient. NaN when it fails. */
static double assemble(kb_shooter *s, const kb_support *support, const double *w, const double *start,
                       const kb_support *tangents, const double *variance)
{
    size_t k = tangents->n, P = k + s->n;
    double half_logdet = 0, gradient[P];
    memset(s->Hww, 0, k * k * sizeof *s->Hww);
    memset(s->gw, 0, k * sizeof *s->gw);
    memset(s->squares, 0, s->n * sizeof *s->squares);
    kb_flow_model(s->flow, support, w, tangents);
    for (size_t window = 0; window < s->windows->n; window++) {
        const double *own = start + window * s->n;
        if (!shoot(s, window, own, true)) return NAN;
        add_squares(s, window);
        window_normals(s, window, variance, gradient);
        half_logdet += eliminate_start(s, window, own, gradient);
    }
    return half_logdet;
}

/* ---------------------------------------------------------------- noise and evidence */

static void count_values(kb_shooter *s)
{
    for (size_t i = 0; i < s->n; i++)
        s->counts[i] = s->flow->dictionary->has_equation[i] ? (double)s->record->count[i] : 0;
}

/* v_i = (SSE_i + nu v) / (N_i - gamma_i + nu), v the harmonic mean of the v_i; gamma parameters shared by N_i */
static void estimate_noise(const kb_shooter *s, double effective, double *variance)
{
    double total = 0;
    for (size_t i = 0; i < s->n; i++) total += s->counts[i];
    for (int sweep = 0; sweep < 30; sweep++) {
        double inverse = 0, states = 0;
        for (size_t i = 0; i < s->n; i++)
            if (s->counts[i] > 0) inverse += 1 / variance[i], states++;
        double common = states / inverse;
        for (size_t i = 0; i < s->n; i++) {
            if (!(s->counts[i] > 0)) continue;
            double freedom = fmax(s->counts[i] - effective * s->counts[i] / total, 0.2 * s->counts[i]);
            variance[i] = (s->squares[i] + noise_shrinkage * common) / (freedom + noise_shrinkage);
            variance[i] = fmax(variance[i], noise_floor);
            if (s->record->known_variance[i] > 0) variance[i] = s->record->known_variance[i];
        }
    }
}

static double log_likelihood(const kb_shooter *s, const double *variance)
{
    double sum = 0;
    for (size_t i = 0; i < s->n; i++)
        if (s->counts[i] > 0) sum -= 0.5 * s->counts[i] * log(variance[i]) + 0.5 * s->squares[i] / variance[i];
    return sum;
}

/* log p(v_i | common) in log v_i, and the Laplace factor of each log v_i */
static double noise_evidence(const kb_shooter *s, double effective, const double *variance)
{
    double inverse = 0, states = 0, total = 0, sum = 0, nu = noise_shrinkage;
    for (size_t i = 0; i < s->n; i++)
        if (s->counts[i] > 0) inverse += 1 / variance[i], states++, total += s->counts[i];
    double common = states / inverse;
    for (size_t i = 0; i < s->n; i++) {
        if (!(s->counts[i] > 0) || s->record->known_variance[i] > 0) continue;
        double freedom = fmax(s->counts[i] * (1 - effective / total), 0.2 * s->counts[i]);
        sum += 0.5 * nu * log(common / variance[i]) - 0.5 * nu * common / variance[i] - 0.5 * log(0.5 * (freedom + nu));
    }
    return sum;
}

static double penalty(const kb_shooter *s, const kb_support *support, const double *w, const double *start)
{
    double sum = kb_dot(s->windows->n * s->n, start, start) / start_variance;
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
    return penalty(s, support, w, start) - log_likelihood(s, variance);
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
    double gamma = (double)(k + s->windows->n * n), identity[n * n], spread[n * (k ? k : 1)];
    if (!kb_cholesky_inverse(k, s->system, k)) return NAN;
    for (size_t q = 0; q < k; q++) gamma -= s->system[q + q * k] / s->columns->slab[support->column[q]];
    for (size_t window = 0; window < s->windows->n; window++) {
        const double *L = s->Hzz + window * n * n, *B = s->Hzw + window * n * k;
        memset(identity, 0, sizeof identity);
        for (size_t i = 0; i < n; i++) identity[i + i * n] = 1;
        kb_lower_solve(n, n, L, n, identity, n); /* L^{-1} */
        for (size_t i = 0; i < n; i++) /* rows of L^{-T} B: what the weights add */
            for (size_t q = 0; q < k; q++) spread[i + q * n] = kb_dot(n, identity + i * n, B + q * n);
        for (size_t i = 0; i < n; i++) {
            double variance = kb_dot(n, identity + i * n, identity + i * n);
            for (size_t p = 0; p < k; p++)
                for (size_t q = 0; q < k; q++) variance += spread[i + p * n] * s->system[p + q * k] * spread[i + q * n];
            gamma -= variance / start_variance;
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
        bool is_free = s->flow->dictionary->has_equation[i % s->n];
        s->trial_start[i] = fit->start[i] - (is_free ? length * s->dz[i] : 0);
    }
}

static void accept_trial(kb_shooter *s, kb_fit *fit)
{
    for (size_t q = 0; q < fit->support.n; q++) fit->w[fit->support.column[q]] = s->trial_w[fit->support.column[q]];
    memcpy(fit->start, s->trial_start, s->windows->n * s->n * sizeof *fit->start);
}

/* One damped Gauss-Newton step at fixed noise; returns the gain of the objective, 0 when no step helps. Each failure
   both shortens the step and turns it towards the gradient. */
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
    return 0;
}

/* Noise at the present point, by a few rounds with the effective number of parameters. */
static bool update_noise(kb_shooter *s, kb_fit *fit, double *effective)
{
    if (!isfinite(factorise_weights(s, &fit->support, 0))) return false;
    *effective = effective_parameters(s, &fit->support);
    if (!isfinite(*effective)) return false;
    estimate_noise(s, *effective, fit->variance);
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
    fit->log_likelihood = log_likelihood(s, fit->variance);
    fit->log_evidence = fit->log_likelihood - penalty(s, &fit->support, fit->w, fit->start) - starts - weights +
                        noise_evidence(s, effective, fit->variance) + kb_support_log_prior(&fit->support, s->columns);
    for (size_t i = 0; i < s->n; i++) squares += s->squares[i], values += s->counts[i];
    fit->misfit = sqrt(squares / values);
    memcpy(fit->covariance, s->system, k * k * sizeof *fit->covariance); /* effective_parameters left the inverse */
    fit->valid = isfinite(fit->log_evidence);
}

bool kb_shooter_state(kb_shooter *s, const kb_fit *fit, size_t window, size_t row, double *state)
{
    size_t first = s->windows->first[window];
    kb_flow_model(s->flow, &fit->support, fit->w, NULL);
    if (!kb_flow_integrate(s->flow, row - first + 1, s->record->time + first, fit->start + window * s->n, s->states, NULL))
        return false;
    memcpy(state, s->states + (row - first) * s->n, s->n * sizeof *state);
    return true;
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
    return true;
}

bool kb_shooter_covariances(kb_shooter *s, const kb_fit *fit, double *covariances)
{
    size_t k = fit->support.n, size = k + s->n;
    count_values(s);
    if (!isfinite(assemble(s, &fit->support, fit->w, fit->start, &fit->support, fit->variance))) return false;
    if (!isfinite(factorise_weights(s, &fit->support, 0)) || !kb_cholesky_inverse(k, s->system, k)) return false;
    for (size_t window = 0; window < s->windows->n; window++)
        if (!window_covariance(s, window, k, covariances + window * size * size)) return false;
    return true;
}

void kb_shooter_fit(kb_shooter *s, kb_fit *fit, int max_iterations, double rival)
{
    static const double tolerance = 0.005; /* nats; far below any odds that matter */
    double damping = 0, effective = 0, before[s->n];
    fit->valid = fit->converged = false;
    fit->log_evidence = -INFINITY;
    fit->n_windows = s->windows->n;
    count_values(s);
    for (int iteration = 0; iteration < max_iterations; iteration++) {
        if (!isfinite(assemble(s, &fit->support, fit->w, fit->start, &fit->support, fit->variance))) return;
        memcpy(before, fit->variance, sizeof before);
        if (!update_noise(s, fit, &effective)) return;
        double moved = 0;
        for (size_t i = 0; i < s->n; i++) moved = fmax(moved, fabs(log(fit->variance[i] / before[i])));
        if (moved > 1e-3 &&
            !isfinite(assemble(s, &fit->support, fit->w, fit->start, &fit->support, fit->variance))) return;
        if (iteration >= 4 && log_likelihood(s, fit->variance) + 60 + 0.1 * (double)s->record->n_values < rival) return;
        double gain = improve(s, fit, &damping);
        if (gain < tolerance && moved < 0.02) {
            fit->converged = true;
            break;
        }
    }
    finish(s, fit);
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
