#include <math.h>
#include <string.h>

#include "base/linalg.h"
#include "base/memory.h"
#include "base/status.h"
#include "em/states.h"

/* Of one window (docs/math.md, eq. 79): the weights' covariance A becomes C, the start given the weights stays as the
 * data have it. B = V_sw A^{-1},   V_ww <- C,   V_sw <- B C,   V_ss <- V_ss + B (C - A) B' V: size x size, the k
 * weights from `first` on, the start behind them. work: 2 k^2 + 2 k n. */
static bool widen(double *V, size_t size, size_t first, size_t k, const double *C, double *work)
{
    size_t n = size - first - k, at = first + k;
    double *L = work, *D = L + k * k, *B = D + k * k, *P = B + k * n; /* B: k x n, transposed */
    for (size_t j = 0; j < k; j++)
        for (size_t i = 0; i < k; i++) {
            L[i + j * k] = V[first + i + (first + j) * size];
            D[i + j * k] = C[i + j * k] - L[i + j * k];
        }
    for (size_t j = 0; j < n; j++)
        for (size_t i = 0; i < k; i++) B[i + j * k] = V[first + i + (at + j) * size];
    if (!kb_cholesky(k, L, k)) return false;
    kb_cholesky_solve(k, n, L, k, B, k);
    kb_gemm(KB_PLAIN, KB_PLAIN, k, n, k, 1, D, k, B, k, 0, P, k);
    kb_gemm(KB_TRANSPOSED, KB_PLAIN, n, n, k, 1, B, k, P, k, 1, V + at + at * size, size);
    kb_gemm(KB_PLAIN, KB_PLAIN, k, n, k, 1, C, k, B, k, 0, P, k);
    kb_symmetrise(n, V + at + at * size, size);
    for (size_t j = 0; j < k; j++)
        for (size_t i = 0; i < k; i++) V[first + i + (first + j) * size] = C[i + j * k];
    for (size_t j = 0; j < n; j++)
        for (size_t i = 0; i < k; i++) V[first + i + (at + j) * size] = V[at + j + (first + i) * size] = P[i + j * k];
    return true;
}

/* The fit that a model of the posterior was made of. */
static const kb_fit *find(const kb_pool *pool, const kb_belief *model, size_t n_fixed)
{
    for (size_t i = 0; i < pool->n; i++)
        if (kb_fit_log_odds(pool->fits[i], pool->fits[0]) == model->log_odds &&
            pool->fits[i]->support.n + n_fixed == model->n_terms)
            return pool->fits[i];
    return NULL;
}

static kbass_status widen_model(const kb_columns *columns, const kb_fit *fit, size_t n_start, kb_belief *model,
                                kbass_error *error)
{
    size_t k = fit->support.n, size = model->n_terms + n_start;
    double *C = KB_NEW(double, k *k), *work = KB_NEW(double, 2 * k * (k + n_start));
    bool complete = C && work;
    for (size_t j = 0; complete && j < k; j++)
        for (size_t i = 0; i < k; i++)
            C[i + j * k] = columns->unit[fit->support.column[i]] * columns->unit[fit->support.column[j]] *
                           fit->covariance[i + j * k];
    for (size_t i = 0; complete && k && i < model->n_windows; i++)
        widen(model->windows[i].covariance, size, columns->n_fixed, k, C, work);
    kb_free(C);
    kb_free(work);
    return complete ? KBASS_OK : kb_out_of_memory(error, "the posterior");
}

kbass_status kb_em_states_widen(const kb_ode_problem *p, const kb_search_result *found, kbass_posterior *posterior,
                                kbass_error *error)
{
    kbass_status status = KBASS_OK;
    for (size_t i = 0; status == KBASS_OK && i < posterior->n_models; i++) {
        const kb_fit *fit = find(&found->pool, &posterior->models[i], p->columns->n_fixed);
        if (fit) status = widen_model(p->columns, fit, posterior->n_start, &posterior->models[i], error);
    }
    return status;
}
