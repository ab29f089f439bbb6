#include "collocation/ode_fields.h"

#include <math.h>
#include <string.h>

#include "base/linalg.h"
#include "base/memory.h"
#include "base/status.h"

/* ---------------------------------------------------------------- one system */

/* G and b of the first field become the sums. */
static void add_messages(size_t n, kb_ode_field *const *f)
{
    size_t k = f[0]->k;
    for (size_t p = 1; p < n; p++) {
        kb_axpy(k * k, 1, f[p]->G, f[0]->G);
        kb_axpy(k, 1, f[p]->b, f[0]->b);
    }
}

static bool marginalise(size_t n, kb_ode_field *const *f, const kb_support *support, double lambda)
{
    for (size_t p = 0; p < n; p++) {
        size_t nz = (kb_ode_field_assemble(f[p], support), f[p]->nz);
        for (size_t i = 0; lambda > 0 && i < nz; i++) f[p]->Hzz[i + i * nz] *= 1 + lambda;
        if (!kb_ode_field_marginalise(f[p])) return false;
    }
    add_messages(n, f);
    return true;
}

bool kb_ode_fields_factorise(size_t n, kb_ode_field *const *f, const kb_support *support)
{
    size_t k = support->n;
    if (!marginalise(n, f, support, 0)) return false;
    for (size_t q = 0; q < k; q++) f[0]->G[q + q * k] += 1 / f[0]->columns->slab[support->column[q]];
    return kb_cholesky(k, f[0]->G, k);
}

/* ---------------------------------------------------------------- solving */

/* Solves (H + lambda diag H) step = -g for z and w with the slab, through the Schur complement. */
static bool damped_step(size_t n, kb_ode_field *const *f, const kb_support *support, double lambda)
{
    size_t k = support->n;
    if (!marginalise(n, f, support, lambda)) return false;
    double *G = f[0]->G, *dw = f[0]->step + f[0]->nz;
    for (size_t q = 0; q < k; q++) {
        size_t column = support->column[q];
        double Hww = 0, slab = f[0]->columns->slab[column];
        for (size_t p = 0; p < n; p++) Hww += f[p]->Hww[q + q * k];
        G[q + q * k] += lambda * Hww + (1 + lambda) / slab;
        dw[q] = f[0]->b[q] - f[0]->w[column] / slab;
    }
    if (!kb_cholesky(k, G, k)) return false;
    kb_cholesky_solve(k, 1, G, k, dw, k);
    for (size_t p = 0; p < n; p++) {
        kb_ode_field *g = f[p];
        memcpy(g->step, g->gz, g->nz * sizeof *g->step);
        kb_gemv(KB_PLAIN, g->nz, k, 1, g->Hzw, g->nz, dw, 1, g->step);
        kb_lower_transposed_solve(g->nz, 1, g->Hzz, g->nz, g->step, g->nz);
        for (size_t i = 0; i < g->nz; i++) g->trial_z[i] = g->z[i] - g->step[i];
        for (size_t q = 0; q < k; q++) g->trial_w[support->column[q]] = g->w[support->column[q]] + dw[q];
    }
    return true;
}

static double objective(size_t n, kb_ode_field *const *f, const kb_support *support, bool of_trial)
{
    double J = 0;
    for (size_t p = 0; p < n; p++)
        J += kb_ode_field_objective(f[p], support, of_trial ? f[p]->trial_z : f[p]->z,
                                    of_trial ? f[p]->trial_w : f[p]->w);
    return J + kb_ode_field_slab_penalty(f[0], support, of_trial ? f[0]->trial_w : f[0]->w);
}

static void accept(size_t n, kb_ode_field *const *f, const kb_support *support)
{
    for (size_t p = 0; p < n; p++) {
        memcpy(f[p]->z, f[p]->trial_z, f[p]->n_states * f[p]->level->rank * sizeof *f[p]->z);
        for (size_t q = 0; q < support->n; q++) f[p]->w[support->column[q]] = f[p]->trial_w[support->column[q]];
    }
}

bool kb_ode_fields_solve(size_t n, kb_ode_field *const *f, const kb_support *support, int max_iterations,
                         double tolerance)
{
    double lambda = 1e-3, best = objective(n, f, support, false);
    for (int iteration = 0; iteration < max_iterations; iteration++) {
        double found = NAN;
        for (int tries = 0; tries < 8; tries++, lambda *= 6) {
            if (!damped_step(n, f, support, lambda)) continue;
            found = objective(n, f, support, true);
            if (found < best) break;
        }
        if (!(found < best)) break;
        accept(n, f, support);
        double gain = best - found;
        best = found;
        lambda = fmax(lambda / 5, 1e-9);
        if (gain < tolerance) break;
    }
    return isfinite(best);
}

/* ---------------------------------------------------------------- noise */

/* covariance of z = Hzz^{-1} + Hzz^{-1} Hzw (G + 1/S)^{-1} Hwz Hzz^{-1}; its trace against the data's Gram matrix */
static double spread_at(kb_ode_field *f, const double *G, size_t state, size_t row)
{
    size_t n = f->record->n_rows, r = f->level->rank, nz = f->nz, k = f->k;
    double *a = f->step, *c = f->step + nz;
    memset(a, 0, nz * sizeof *a);
    for (size_t q = 0; q < r; q++) a[state * r + q] = f->level->rows[row + q * n];
    kb_lower_solve(nz, 1, f->Hzz, nz, a, nz);
    kb_gemv(KB_TRANSPOSED, nz, k, 1, f->Hzw, nz, a, 0, c);
    kb_lower_solve(k, 1, G, k, c, k);
    return kb_dot(nz, a, a) + kb_dot(k, c, c);
}

static double sum_squares(kb_ode_field *f, const double *G, size_t state)
{
    size_t n = f->record->n_rows;
    double spread = 0;
    kb_ode_field_data_residual(f, f->z, state, f->residual);
    double squares = kb_dot(n, f->residual, f->residual);
    for (size_t row = 0; row < n; row++)
        if (f->record->measured[row + state * n] != 0) spread += spread_at(f, G, state, row);
    return squares + spread;
}

bool kb_ode_fields_learn_noise(size_t n, kb_ode_field *const *f, const kb_support *support)
{
    size_t values = 0;
    if (!kb_ode_fields_factorise(n, f, support)) return false;
    for (size_t i = 0; i < f[0]->n_states; i++) {
        double sum = 0, count = 0, known = f[0]->record->known_variance[i];
        for (size_t p = 0; p < n; p++) {
            if (f[p]->record->count[i]) sum += sum_squares(f[p], f[0]->G, i);
            count += (double)f[p]->record->count[i];
        }
        if (!(count > 0)) continue;
        values += (size_t)count;
        double v = sum / count;
        if (!isfinite(v)) return false;
        for (size_t p = 0; p < n; p++) f[p]->v[i] = known > 0 ? known : fmin(fmax(v, 1e-8), 0.5);
    }
    return values > 0;
}

/* ---------------------------------------------------------------- evidence and message */

double kb_ode_fields_evidence(size_t n, kb_ode_field *const *f, const kb_support *support)
{
    size_t k = support->n;
    double J = 0, log_noise = 0, weights = 0, without_data = 0, with_data = 0;
    for (size_t p = 0; p < n; p++) {
        kb_ode_field_assemble_prior(f[p], support);
        if (!kb_cholesky(f[p]->nz, f[p]->Hzz, f[p]->nz)) return -INFINITY;
        without_data += kb_cholesky_logdet(f[p]->nz, f[p]->Hzz, f[p]->nz);
    }
    if (!kb_ode_fields_factorise(n, f, support)) return -INFINITY;
    for (size_t p = 0; p < n; p++) {
        J += f[p]->objective;
        with_data += kb_cholesky_logdet(f[p]->nz, f[p]->Hzz, f[p]->nz);
        for (size_t i = 0; i < f[p]->n_states; i++) log_noise += 0.5 * (double)f[p]->record->count[i] * log(f[p]->v[i]);
    }
    J += kb_ode_field_slab_penalty(f[0], support, f[0]->w);
    for (size_t q = 0; q < k; q++) weights += log(f[0]->columns->slab[support->column[q]]);
    weights += kb_cholesky_logdet(k, f[0]->G, k);
    return -J - log_noise - 0.5 * (with_data - without_data) - 0.5 * weights +
           kb_support_log_prior(support, f[0]->columns);
}

bool kb_ode_fields_message(size_t n, kb_ode_field *const *f, const kb_support *all, kb_message *message)
{
    size_t k = all->n;
    if (!marginalise(n, f, all, 0)) return false;
    memcpy(message->G, f[0]->G, k * k * sizeof *message->G);
    memcpy(message->b, f[0]->b, k * sizeof *message->b);
    kb_gemv(KB_PLAIN, k, k, 1, f[0]->G, k, f[0]->w, 1, message->b);
    return true;
}

/* ---------------------------------------------------------------- states */

kbass_status kb_ode_state_create(size_t n, kb_ode_field *const *f, kb_ode_state **out, kbass_error *error)
{
    size_t states = f[0]->n_states;
    kb_ode_state *s = KB_NEW(kb_ode_state, 1);
    if (!s) return kb_out_of_memory(error, "a model of the kernel engine");
    s->z = KB_NEW(double, n *states *f[0]->max_rank);
    s->w = KB_NEW(double, f[0]->columns->n);
    s->v = KB_NEW(double, states);
    s->tau = KB_NEW(double, states);
    kbass_status status = s->z && s->w && s->v && s->tau ? kb_support_create(f[0]->columns->n, &s->support, error)
                                                         : kb_out_of_memory(error, "a model of the kernel engine");
    if (status == KBASS_OK) *out = s;
    else kb_ode_state_destroy(s);
    return status;
}

void kb_ode_state_destroy(kb_ode_state *s)
{
    if (!s) return;
    kb_support_clear(&s->support);
    kb_free(s->z);
    kb_free(s->w);
    kb_free(s->v);
    kb_free(s->tau);
    kb_free(s);
}

void kb_ode_state_save(kb_ode_state *s, size_t n, kb_ode_field *const *f)
{
    size_t states = f[0]->n_states, room = states * f[0]->max_rank;
    for (size_t p = 0; p < n; p++) memcpy(s->z + p * room, f[p]->z, states * f[p]->level->rank * sizeof *s->z);
    memcpy(s->w, f[0]->w, f[0]->columns->n * sizeof *s->w);
    memcpy(s->v, f[0]->v, states * sizeof *s->v);
    memcpy(s->tau, f[0]->tau, states * sizeof *s->tau);
}

void kb_ode_state_load(const kb_ode_state *s, size_t n, kb_ode_field *const *f)
{
    size_t states = f[0]->n_states, room = states * f[0]->max_rank;
    for (size_t p = 0; p < n; p++) {
        memcpy(f[p]->z, s->z + p * room, states * f[p]->level->rank * sizeof *s->z);
        memcpy(f[p]->w, s->w, f[0]->columns->n * sizeof *s->w);
        memcpy(f[p]->v, s->v, states * sizeof *s->v);
        memcpy(f[p]->tau, s->tau, states * sizeof *s->tau);
    }
}
