#include "forward/shoot.h"

#include <math.h>
#include <string.h>

#include "base/larger.h"
#include "base/linalg.h"
#include "forward/shoot_noise.h"
#include "forward/shoot_normals.h"
#include "forward/shoot_share.h"
#include "weights/constraints.h"

enum { CHORDS = 4 };      /* steps: that share their tangents */
enum { TRIES = 9 };       /* lengths: of a step that are tried */
enum { CHORD_TRIES = 2 }; /* lengths: of a step with old tangents */
enum { SETTLED = 4 };     /* iterations: after which the rate of gains says what is to come */

/* ---------------------------------------------------------------- noise and evidence */

static double penalty(const kb_shooter *s, const kb_support *support, const double *w, const double *start)
{
    double sum = 0;
    for (size_t i = 0; i < s->likelihood.windows->n * s->likelihood.n_start; i++) {
        double variance = s->dynamics->start_variance[i % s->likelihood.n_start];
        if (variance > 0) sum += start[i] * start[i] / variance;
    }
    for (size_t q = 0; q < support->n; q++) {
        size_t column = support->column[q];
        sum += w[column] * w[column] / kb_constraints_slab(s->likelihood.columns, support, column);
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

/* Of the objective along a weight of the fit. */
static double slope(const kb_shooter *s, const kb_fit *fit, size_t q)
{
    size_t column = fit->support.column[q];
    return s->gw[q] + fit->w[column] / kb_constraints_slab(s->likelihood.columns, &fit->support, column);
}

/* dw from the assembled system; weights in s->held stay. */
static bool make_weight_step(kb_shooter *s, const kb_fit *fit, double damping)
{
    size_t k = fit->support.n;
    if (!isfinite(kb_shooter_factorise(s, &fit->support, damping))) return false;
    for (size_t q = 0; q < k; q++) s->dw[q] = -slope(s, fit, q);
    kb_shooter_solve(s, k, 1, s->dw, s->constrained_work);
    return true;
}

/* Weights at a bound that the step would pass are held there, and the step is made without them. */
static bool make_bounded_step(kb_shooter *s, const kb_fit *fit, double damping)
{
    size_t k = fit->support.n;
    memset(s->held, 0, k * sizeof *s->held);
    for (bool is_changed = true; is_changed;) {
        is_changed = false;
        if (!make_weight_step(s, fit, damping)) return false;
        for (size_t q = 0; q < k && s->likelihood.columns->constraints; q++) {
            size_t column = fit->support.column[q];
            if (s->held[q] || !kb_constraints_blocks(s->likelihood.columns, column, fit->w[column], s->dw[q])) continue;
            s->held[q] = is_changed = true;
        }
    }
    memset(s->held, 0, k * sizeof *s->held);
    return true;
}

/* Step from the assembled system: dw damped by a share of G's diagonal, dz the best answer to it. */
static bool make_step(kb_shooter *s, const kb_fit *fit, double damping)
{
    size_t k = fit->support.n, n = s->likelihood.n_start;
    if (!make_bounded_step(s, fit, damping)) return false;
    if (s->likelihood.holds_weights) memset(s->dw, 0, k * sizeof *s->dw);
    for (size_t window = 0; window < s->likelihood.windows->n; window++) {
        double *dz = s->dz + window * n;
        memcpy(dz, s->gz + window * n, n * sizeof *dz);
        kb_gemv(KB_PLAIN, n, k, 1, s->Hzw + window * n * k, n, s->dw, 1, dz);
        kb_lower_transposed_solve(n, 1, s->Hzz + window * n * n, n, dz, n);
    }
    return true;
}

/* A step that leaves no bound; a weight that it takes to one is there exactly. */
static double cut_step(kb_shooter *s, const kb_fit *fit, double length, size_t *place)
{
    const kb_support *support = &fit->support;
    for (size_t q = 0; q < support->n; q++) s->placed_w[q] = fit->w[support->column[q]];
    return kb_constraints_cut(s->likelihood.columns, support, s->placed_w, s->dw, length, place);
}

static void make_trial(kb_shooter *s, const kb_fit *fit, double length)
{
    size_t stopped = fit->support.n;
    if (s->likelihood.columns->constraints) length = cut_step(s, fit, length, &stopped);
    s->was_cut = stopped < fit->support.n;
    for (size_t q = 0; q < fit->support.n; q++)
        s->trial_w[fit->support.column[q]] = fit->w[fit->support.column[q]] + length * s->dw[q];
    if (s->was_cut)
        s->trial_w[fit->support.column[stopped]] =
            kb_constraints_end(s->likelihood.columns, &fit->support, s->dw, stopped);
    for (size_t i = 0; i < s->likelihood.windows->n * s->likelihood.n_start; i++) {
        bool is_free = s->dynamics->start_variance[i % s->likelihood.n_start] > 0;
        s->trial_start[i] = fit->start[i] - (is_free ? length * s->dz[i] : 0);
    }
}

static void accept_trial(kb_shooter *s, kb_fit *fit)
{
    for (size_t q = 0; q < fit->support.n; q++) fit->w[fit->support.column[q]] = s->trial_w[fit->support.column[q]];
    memcpy(fit->start, s->trial_start, s->likelihood.windows->n * s->likelihood.n_start * sizeof *fit->start);
}

static const double nothing_to_gain = 0.05; /* nats: more, and no step that helps: not converged. Not measured */

/* By how much the objective falls at first along the step that was made, for length 1: -g'(dw, dz). */
static double descent(const kb_shooter *s, const kb_fit *fit)
{
    double fall = kb_dot(s->likelihood.windows->n * s->likelihood.n_start, s->gz, s->gz);
    for (size_t q = 0; q < fit->support.n; q++) fall -= s->dw[q] * slope(s, fit, q);
    return fall;
}

/* What the quadratic model of the objective has to gain: half of g' H^{-1} g. NaN when there is no such model. */
static double predicted_gain(kb_shooter *s, const kb_fit *fit)
{
    return make_step(s, fit, 0) ? 0.5 * descent(s, fit) : NAN;
}

/* The objective at a length of the step, the trial. */
static double try_length(kb_shooter *s, const kb_fit *fit, double length)
{
    make_trial(s, fit, length);
    return kb_shooter_sum_squares(s, &fit->support, s->trial_w, s->trial_start)
               ? objective(s, &fit->support, s->trial_w, s->trial_start, fit->variance)
               : INFINITY;
}

/* The top of the parabola through the start, its descent and what a length gained, where that is worth another
   prediction: Gauss-Newton's matrix has no second derivatives, and where noise or misfit is large its steps are too
   long or too short for many iterations. Returns the gain of the better of both, which is the trial then. */
static double correct_length(kb_shooter *s, const kb_fit *fit, double before, double length, double gain)
{
    static const double farthest = 4, worth = 0.2; /* times the length; of the gain */
    double fall = descent(s, fit), curvature = 2 * (fall * length - gain) / (length * length),
           top = curvature * farthest * length > fall ? fall / curvature : farthest * length,
           more = fall * top - 0.5 * curvature * top * top - gain;
    if (s->was_cut || !(more > worth * gain)) return gain;
    double other = before - try_length(s, fit, top);
    if (other > gain) return other;
    return before - try_length(s, fit, length);
}

/* Along a narrow curved valley, phases of a long record for one, full steps leave it, and damped ones turn away from
   it: where a step gained little of what the quadratic promises, shorter undamped ones. Returns the gain of the best,
   which is the trial then. */
static double follow_valley(kb_shooter *s, const kb_fit *fit, double before, double length, double damping, double gain)
{
    static const double little = 0.05, shortest = 1. / 64; /* of the promised gain; of a step */
    double best = 0, most = gain;
    if (!(predicted_gain(s, fit) * little > gain)) return gain;
    for (double own = 0.5; own >= shortest; own *= 0.5) {
        double found = before - try_length(s, fit, own);
        if (found > most) most = found, best = own;
        else if (best > 0) break;
    }
    if (best > 0) return before - try_length(s, fit, best);
    return make_step(s, fit, damping) ? before - try_length(s, fit, length) : gain;
}

/* One damped Gauss-Newton step at fixed noise; returns the gain of the objective. Each failure both shortens the step
   and turns it towards the gradient. When no step helps the fit is as good as the objective can tell, or its tangents
   are not those of its predictions: then -1. */
static double improve(kb_shooter *s, kb_fit *fit, int most_tries, double *damping)
{
    double before = objective(s, &fit->support, fit->w, fit->start, fit->variance), length = 1;
    for (int tries = 0; tries < most_tries; tries++, length *= 0.5) {
        double gain = make_step(s, fit, *damping) ? before - try_length(s, fit, length) : -INFINITY;
        if (gain > 0) {
            if (s->dynamics->tangents_are_dear) gain = correct_length(s, fit, before, length, gain);
            else if (tries > 0) gain = follow_valley(s, fit, before, length, *damping, gain);
            accept_trial(s, fit);
            *damping = *damping > 1e-3 ? *damping / 10 : 0;
            return gain;
        }
        *damping = *damping > 0 ? *damping * 6 : 1e-3;
    }
    return predicted_gain(s, fit) < nothing_to_gain ? 0 : -1;
}

/* J'r/v of a window at its present predictions, with the tangents of the last assembly, in s->gradient. */
static void renew_gradient(kb_shooter *s, size_t window, const void *context)
{
    const kb_fit *fit = context;
    const kb_dynamics *d = s->dynamics;
    size_t P = fit->support.n + s->likelihood.n_start, first = s->likelihood.windows->first[window],
           begin = d->observation_start[first];
    size_t n = d->observation_start[s->likelihood.windows->last[window] + 1] - begin;
    const double *predicted = s->predicted + s->offset[window];
    for (size_t row = first; row <= s->likelihood.windows->last[window]; row++)
        for (size_t o = d->observation_start[row]; o < d->observation_start[row + 1]; o++)
            s->weighted[o - begin] = kb_shooter_row_weight(s, window, row) *
                                     (predicted[o - begin] - s->comparison.target[o]) /
                                     (fit->variance[d->group[o]] * s->comparison.relative[o]);
    kb_gemv(KB_PLAIN, P, n, 1, s->tangents + s->offset[window] * P, P, s->weighted, 0, s->gradient);
}

/* The messages' gradients at the present point, their matrices as they were. */
static void renew_messages(kb_shooter *s, const kb_fit *fit)
{
    size_t n = s->likelihood.n_start, k = fit->support.n;
    memset(s->gw, 0, k * sizeof *s->gw);
    if (s->ranks) kb_shooter_exchange_gradients(s, k + n, renew_gradient, fit);
    for (size_t window = 0; window < s->likelihood.windows->n; window++) {
        double *gz = s->gz + window * n;
        const double *start = fit->start + window * n, *Hzw = s->Hzw + window * n * k;
        if (s->ranks) kb_shooter_take_gradient(s, k + n, window);
        else renew_gradient(s, window, fit);
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
    double first = improve(s, fit, TRIES, damping), last = first;
    for (int chord = 0; s->dynamics->tangents_are_dear && chord < CHORDS && last > tolerance; chord++) {
        double own = *damping;
        renew_messages(s, fit);
        if (!(predicted_gain(s, fit) > tolerance)) break;
        double gain = improve(s, fit, CHORD_TRIES, &own);
        if (!(gain < 0.5 * last)) chord = CHORDS; /* the matrices are too old */
        last = gain;
    }
    return first;
}

/* Noise at the present point, by a few rounds with the effective number of parameters. */
static bool update_noise(kb_shooter *s, kb_fit *fit, double *effective)
{
    if (!isfinite(kb_shooter_factorise(s, &fit->support, 0))) return false;
    *effective = kb_shooter_effective(s, &fit->support);
    if (!isfinite(*effective)) return false;
    kb_shooter_estimate_noise(s, *effective, fit->variance);
    return true;
}

/* What constraints do to the evidence: half of g'V g, by which the Gaussian's top is higher than the fit where weights
   are at their bounds, and the mass within the bounds. s->system is V. */
static double constrained_evidence(kb_shooter *s, const kb_fit *fit)
{
    size_t k = fit->support.n;
    double *mean = s->dw, *g = s->placed_w;
    if (!s->likelihood.columns->constraints) return 0;
    for (size_t q = 0; q < k; q++) g[q] = -slope(s, fit, q);
    kb_gemv(KB_PLAIN, k, k, 1, s->system, k, g, 0, mean);
    double gain = 0.5 * kb_dot(k, g, mean);
    for (size_t q = 0; q < k; q++) mean[q] += fit->w[fit->support.column[q]];
    return gain + kb_constrained_mass(s->likelihood.columns, &fit->support, s->n_free, s->basis, mean, s->system,
                                      s->constrained_work);
}

/* Weights that obey to begin with. */
static void obey(kb_shooter *s, kb_fit *fit)
{
    const kb_support *support = &fit->support;
    if (!s->likelihood.columns->constraints) return;
    for (size_t q = 0; q < support->n; q++) s->placed_w[q] = fit->w[support->column[q]];
    kb_constraints_project(s->likelihood.columns, support, s->placed_w);
    for (size_t q = 0; q < support->n; q++) fit->w[support->column[q]] = s->placed_w[q];
}

/* Half the log-determinant of the starts' blocks at the end. is_late: steps ended before the noise had followed the
   residuals. */
static double assemble_last(kb_shooter *s, bool is_late, kb_fit *fit)
{
    double starts = kb_shooter_assemble(s, &fit->support, fit->w, fit->start, &fit->support, fit->variance), last = 0;
    return is_late && isfinite(starts) && update_noise(s, fit, &last) ? kb_shooter_weigh(s, fit->start, fit->variance)
                                                                      : starts;
}

/* What is known of the fit at its end, by the assembled system; starts: half the log-determinant of their blocks. */
static void finish(kb_shooter *s, double starts, kb_fit *fit)
{
    size_t k = fit->support.n;
    double squares = 0, values = 0;
    double weights = kb_shooter_factorise(s, &fit->support, 0);
    if (!isfinite(starts) || !isfinite(weights)) return;
    double effective = kb_shooter_effective(s, &fit->support);
    fit->effective = effective;
    fit->log_likelihood = kb_shooter_log_likelihood(s, fit->variance);
    fit->log_evidence = fit->log_likelihood - penalty(s, &fit->support, fit->w, fit->start) - starts - weights +
                        kb_shooter_noise_evidence(s, effective, fit->variance) +
                        kb_support_log_prior(&fit->support, s->likelihood.columns) +
                        kb_support_log_width(&fit->support, s->likelihood.columns, fit->w) +
                        constrained_evidence(s, fit);
    for (size_t i = 0; i < s->likelihood.n_groups; i++) squares += s->squares[i], values += s->counts[i];
    fit->values = values;
    fit->misfit = sqrt(squares / values);
    memcpy(fit->covariance, s->system, k * k * sizeof *fit->covariance); /* kb_shooter_effective left the inverse */
    fit->valid = isfinite(fit->log_evidence);
}

/* Would many such gains in each of the iterations left not bring the misfit to where a law's is? */
static bool falls_short(const kb_shooter *s, double values, double gain, int iterations_left)
{
    static const double patience = 3;
    double squares = 0;
    for (size_t i = 0; i < s->likelihood.n_groups; i++) squares += s->squares[i];
    return s->likelihood.aim > 0 &&
           patience * gain * iterations_left < 0.5 * values * log(squares / (values * s->likelihood.aim));
}

/* Is it time to give a fit up? One that is kept may go on a little; seconds: what its last iteration took. */
static bool is_given_up(const kb_shooter *s, size_t n_active, double seconds)
{
    static const double patience = 0.2;  /* seconds */
    if (s->ranks && s->likelihood.run) { /* all of them, or none */
        kb_run_continue(s->likelihood.run, n_active);
        kb_run_agree(s->likelihood.run);
        return kb_run_stopped(s->likelihood.run);
    }
    return s->likelihood.run && !kb_run_continue(s->likelihood.run, n_active) &&
           (!s->likelihood.keeps_fit || kb_run_overdue(s->likelihood.run) + seconds > patience);
}

/* The system at the present point and its noise. Returns half the log-determinant of the starts' blocks, NaN when there
   is none; moved: by how much a variance changed, as a logarithm. */
static double assemble_with_noise(kb_shooter *s, kb_fit *fit, double *moved)
{
    static const double same = 1e-3;
    double effective = 0,
           starts = kb_shooter_assemble(s, &fit->support, fit->w, fit->start, &fit->support, fit->variance);
    *moved = 0;
    memcpy(s->before, fit->variance, s->likelihood.n_groups * sizeof *s->before);
    if (!isfinite(starts) || !update_noise(s, fit, &effective)) return NAN;
    for (size_t i = 0; i < s->likelihood.n_groups; i++)
        *moved = kb_larger(*moved, fabs(log(fit->variance[i] / s->before[i])));
    return *moved <= same ? starts : kb_shooter_weigh(s, fit->start, fit->variance);
}

/* Has the fit arrived, by the system just assembled? Then no step is tried, and no other system is needed. */
static bool has_arrived(kb_shooter *s, const kb_fit *fit, double moved, double tolerance)
{
    static const double still = 1e-4; /* the variance that the system was weighed with */
    return s->dynamics->tangents_are_dear && moved <= still && !s->was_cut && predicted_gain(s, fit) < tolerance;
}

enum { ITERATION, DAMPING, WAS_CUT, STATE_NUMBERS }; /* what the next iteration depends on beside the fit */

static void prepare(kb_shooter *s, kb_fit *fit, double state[STATE_NUMBERS], double *values)
{
    fit->valid = fit->converged = false;
    fit->log_evidence = fit->log_likelihood = -INFINITY;
    fit->n_windows = s->likelihood.windows->n;
    fit->n_rows = kb_windows_rows(s->likelihood.windows);
    obey(s, fit);
    kb_shooter_count(s);
    *values = 0;
    for (size_t i = 0; i < s->likelihood.n_groups; i++) *values += s->counts[i];
    memset(state, 0, STATE_NUMBERS * sizeof *state);
    kb_likelihood_take_state(&s->likelihood, fit, STATE_NUMBERS, state);
    s->was_cut = state[WAS_CUT] > 0;
}

void kb_shooter_fit(kb_shooter *s, kb_fit *fit, int max_iterations, double rival)
{
    static const double tolerance = 0.005; /* nats; far below any odds that matter */
    double values = 0, moved = 0, starts = NAN, state[STATE_NUMBERS], began = kb_clock();
    bool is_late = false;
    prepare(s, fit, state, &values);
    for (int iteration = (int)state[ITERATION]; iteration < max_iterations && !fit->converged; iteration++) {
        state[ITERATION] = iteration;
        state[WAS_CUT] = s->was_cut;
        kb_likelihood_keep_state(&s->likelihood, fit, STATE_NUMBERS, state);
        double now = kb_clock();
        is_late = is_given_up(s, fit->support.n, now - began);
        began = now;
        if (is_late && !s->likelihood.keeps_fit) return;
        is_late = is_late || (s->likelihood.deadline > 0 && kb_clock() > s->likelihood.deadline);
        if (iteration && is_late) break;
        starts = assemble_with_noise(s, fit, &moved);
        if (!isfinite(starts)) return;
        fit->log_likelihood = kb_shooter_log_likelihood(s, fit->variance);
        if (iteration >= SETTLED && fit->log_likelihood + 60 + 0.1 * values < rival) return;
        fit->converged = has_arrived(s, fit, moved, tolerance);
        if (fit->converged) break;
        starts = NAN;
        double gain = descend(s, fit, &state[DAMPING], tolerance);
        if (gain < tolerance && moved < 0.02 && !s->was_cut) {
            fit->converged = gain >= 0;
            break;
        }
        if (iteration >= SETTLED && falls_short(s, values, gain, max_iterations - iteration)) break;
    }
    finish(s, isfinite(starts) ? starts : assemble_last(s, is_late, fit), fit);
}
