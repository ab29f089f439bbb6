/* What one does with a field's Gauss-Newton system: joint refinement, noise, evidence. */
#include <math.h>
#include <string.h>

#include "base/linalg.h"
#include "collocation/ode_field.h"

/* Solves (H + lambda diag H) step = -g for z and w with the slab, through the Schur complement. */
static bool damped_step(kb_ode_field *f, const kb_support *support, double lambda)
{
    size_t nz = f->nz, k = f->k;
    kb_ode_field_assemble(f, support);
    for (size_t i = 0; i < nz; i++) f->Hzz[i + i * nz] *= 1 + lambda;
    if (!kb_ode_field_marginalise(f)) return false;
    double *dw = f->step + nz;
    for (size_t q = 0; q < k; q++) {
        size_t column = support->column[q];
        f->G[q + q * k] += lambda * f->Hww[q + q * k] + (1 + lambda) / f->columns->slab[column];
        dw[q] = f->b[q] - f->w[column] / f->columns->slab[column];
    }
    if (!kb_cholesky(k, f->G, k)) return false;
    kb_cholesky_solve(k, 1, f->G, k, dw, k);
    memcpy(f->step, f->gz, nz * sizeof *f->step);
    kb_gemv(KB_PLAIN, nz, k, 1, f->Hzw, nz, dw, 1, f->step);
    kb_lower_transposed_solve(nz, 1, f->Hzz, nz, f->step, nz);
    for (size_t i = 0; i < nz; i++) f->trial_z[i] = f->z[i] - f->step[i];
    for (size_t q = 0; q < k; q++) f->trial_w[support->column[q]] = f->w[support->column[q]] + dw[q];
    return true;
}

static void accept(kb_ode_field *f, const kb_support *support)
{
    memcpy(f->z, f->trial_z, f->n_states * f->level->rank * sizeof *f->z);
    for (size_t q = 0; q < support->n; q++) f->w[support->column[q]] = f->trial_w[support->column[q]];
}

bool kb_ode_field_solve(kb_ode_field *f, const kb_support *support, int max_iterations, double tolerance)
{
    double lambda = 1e-3;
    double best = kb_ode_field_objective(f, support, f->z, f->w) + kb_ode_field_slab_penalty(f, support, f->w);
    for (int iteration = 0; iteration < max_iterations; iteration++) {
        double found = NAN;
        for (int tries = 0; tries < 8; tries++, lambda *= 6) {
            if (!damped_step(f, support, lambda)) continue;
            found = kb_ode_field_objective(f, support, f->trial_z, f->trial_w) +
                    kb_ode_field_slab_penalty(f, support, f->trial_w);
            if (found < best) break;
        }
        if (!(found < best)) break;
        accept(f, support);
        double gain = best - found;
        best = found;
        lambda = fmax(lambda / 5, 1e-9);
        if (gain < tolerance) break;
    }
    return isfinite(best);
}

bool kb_ode_field_learn_noise(kb_ode_field *f, const kb_support *support)
{
    size_t n = f->record->n_rows, r = f->level->rank, nz = f->n_states * r, k = support->n, rows = 0;
    kb_ode_field_assemble(f, support);
    if (!kb_ode_field_marginalise(f)) return false;
    for (size_t q = 0; q < k; q++) f->G[q + q * k] += 1 / f->columns->slab[support->column[q]];
    if (!kb_cholesky(k, f->G, k)) return false;
    /* covariance of z = Hzz^{-1} + Hzz^{-1} Hzw (G + 1/S)^{-1} Hwz Hzz^{-1}; its trace against the data's Gram matrix
     */
    for (size_t i = 0; i < f->n_states; i++) {
        double squares = 0, spread = 0;
        if (!f->record->count[i]) continue;
        kb_ode_field_data_residual(f, f->z, i, f->residual);
        squares = kb_dot(n, f->residual, f->residual);
        for (size_t row = 0; row < n; row++) {
            if (f->record->measured[row + i * n] == 0) continue;
            double *a = f->step, *c = f->step + nz;
            memset(a, 0, nz * sizeof *a);
            for (size_t q = 0; q < r; q++) a[i * r + q] = f->level->rows[row + q * n];
            kb_lower_solve(nz, 1, f->Hzz, nz, a, nz);
            kb_gemv(KB_TRANSPOSED, nz, k, 1, f->Hzw, nz, a, 0, c);
            kb_lower_solve(k, 1, f->G, k, c, k);
            spread += kb_dot(nz, a, a) + kb_dot(k, c, c);
            rows++;
        }
        double v = (squares + spread) / (double)f->record->count[i];
        if (!isfinite(v)) return false;
        f->v[i] = f->record->known_variance[i] > 0 ? f->record->known_variance[i] : fmin(fmax(v, 1e-8), 0.5);
    }
    return rows > 0;
}

double kb_ode_field_evidence(kb_ode_field *f, const kb_support *support)
{
    size_t k = support->n;
    double log_noise = 0, weights = 0;
    kb_ode_field_assemble_prior(f, support);
    if (!kb_cholesky(f->nz, f->Hzz, f->nz)) return -INFINITY;
    double without_data = kb_cholesky_logdet(f->nz, f->Hzz, f->nz);

    kb_ode_field_assemble(f, support);
    double J = f->objective + kb_ode_field_slab_penalty(f, support, f->w);
    if (!kb_ode_field_marginalise(f)) return -INFINITY;
    double with_data = kb_cholesky_logdet(f->nz, f->Hzz, f->nz);
    for (size_t i = 0; i < f->n_states; i++) log_noise += 0.5 * (double)f->record->count[i] * log(f->v[i]);
    for (size_t q = 0; q < k; q++) {
        f->G[q + q * k] += 1 / f->columns->slab[support->column[q]];
        weights += log(f->columns->slab[support->column[q]]);
    }
    if (!kb_cholesky(k, f->G, k)) return -INFINITY;
    weights += kb_cholesky_logdet(k, f->G, k);
    return -J - log_noise - 0.5 * (with_data - without_data) - 0.5 * weights +
           kb_support_log_prior(support, f->columns);
}
