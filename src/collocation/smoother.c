#include "collocation/smoother.h"

#include <string.h>

#include "base/linalg.h"
#include "base/budget.h"
#include "base/memory.h"
#include "base/status.h"
#include "tensor/rows.h"

static size_t larger(size_t a, size_t b) { return a > b ? a : b; }

/* ---------------------------------------------------------------- grids */

static kbass_status solve_axes(kb_smoother *s, kbass_error *error)
{
    const kb_patch *p = s->patch;
    for (size_t a = 0; a < p->n_axes; a++) {
        size_t r = p->kept.rank[a];
        for (size_t j = 0; j < r; j++)
            memcpy(s->vectors[a] + j * r, p->level[a]->gram + j * p->level[a]->rank, r * sizeof(double));
        if (!kb_eigen_symmetric(r, s->vectors[a], r, s->values[a]))
            return kb_fail(error, KBASS_ERROR_NUMERICAL,
                           "the Gram matrix of the data along an axis has no eigenvectors");
    }
    return KBASS_OK;
}

static void eigen_modes(const kb_smoother *s, kb_mode *modes)
{
    for (size_t a = 0; a < s->patch->n_axes; a++)
        modes[a] = (kb_mode){s->patch->kept.rank[a], s->patch->kept.rank[a], s->patch->kept.rank[a], s->vectors[a]};
}

/* tensor = 1 / (1 + lambda_0 lambda_1 ... / v) in the eigenvectors' basis */
static void fill_shrinkage(kb_smoother *s, size_t field)
{
    const kb_patch *p = s->patch;
    for (size_t i = 0; i < p->n; i++) {
        double product = 1;
        for (size_t a = 0, rest = i; a < p->n_axes; rest /= p->kept.rank[a++])
            product *= s->values[a][rest % p->kept.rank[a]];
        s->tensor[i] = 1 / (1 + (product > 0 ? product : 0) / s->variance[field]);
    }
}

static void regress_grid(kb_smoother *s, size_t field, double *z)
{
    const kb_patch *p = s->patch;
    kb_mode modes[KB_SAMPLE_AXES];
    double *rotated = s->work, *work = s->work + p->n;
    kb_patch_pull(p, p->value + field * p->n_points, z, work);
    eigen_modes(s, modes);
    kb_modes_adjoint(p->n_axes, modes, z, rotated, work);
    fill_shrinkage(s, field);
    for (size_t i = 0; i < p->n; i++) rotated[i] *= s->tensor[i] / s->variance[field];
    kb_modes_product(p->n_axes, modes, rotated, z, work);
}

/* ---------------------------------------------------------------- scattered data */

/* K[i, j] = h_i^{-1/2} prod_a phi_a(i)' psi_a(j), i the data, 0 where not measured; spare: as large as K */
static void covariance(const kb_smoother *s, size_t field, const kb_mode *phi, const kb_mode *psi, double *K,
                       double *spare)
{
    const double *measured = s->patch->measured + field * s->patch->n_points;
    size_t rows = phi[0].rows, columns = psi[0].rows;
    for (size_t a = 0; a < s->patch->n_axes; a++) {
        kb_gemm(KB_PLAIN, KB_TRANSPOSED, rows, columns, s->patch->kept.rank[a], 1, phi[a].entries, phi[a].ld,
                psi[a].entries, psi[a].ld, 0, a ? spare : K, rows);
        for (size_t i = 0; a && i < rows * columns; i++) K[i] *= spare[i];
    }
    for (size_t j = 0; j < columns; j++)
        for (size_t i = 0; i < rows; i++) K[i + j * rows] *= measured[i];
}

static kbass_status factorise(kb_smoother *s, double *spare, kbass_error *error)
{
    const kb_patch *p = s->patch;
    size_t n = p->n_points;
    kb_mode modes[KB_SAMPLE_AXES];
    kb_patch_data_modes(p, modes);
    for (size_t f = 0; f < p->n_fields; f++) {
        double *K = s->factors[f];
        covariance(s, f, modes, modes, K, spare);
        for (size_t i = 0; i < n; i++) {
            double measured = p->measured[i + f * n];
            for (size_t j = 0; j < n; j++) K[j + i * n] *= measured;
            K[i + i * n] += measured > 0 ? s->variance[f] : 1;
        }
        if (!kb_cholesky(n, K, n))
            return kb_fail(error, KBASS_ERROR_NUMERICAL, "the kernel matrix of %zu points cannot be factorised", n);
    }
    return KBASS_OK;
}

static void regress_points(kb_smoother *s, size_t field, double *z)
{
    const kb_patch *p = s->patch;
    const double *y = p->value + field * p->n_points, *measured = p->measured + field * p->n_points;
    double *alpha = s->work, *work = s->work + p->n_points;
    for (size_t i = 0; i < p->n_points; i++) alpha[i] = measured[i] * y[i];
    kb_cholesky_solve(p->n_points, 1, s->factors[field], p->n_points, alpha, p->n_points);
    for (size_t i = 0; i < p->n_points; i++) alpha[i] *= measured[i];
    kb_patch_pull(p, alpha, z, work);
}

/* ---------------------------------------------------------------- life */

/* Points x points for every field, and once more as workspace. */
static kbass_status check_points(const kb_patch *p, kbass_error *error)
{
    double n = (double)p->n_points, bytes = 8 * n * n * (double)(p->n_fields + 1);
    if (p->gridded || bytes <= kb_memory_available()) return KBASS_OK;
    return kb_fail(error, KBASS_ERROR_DATA, "%zu points that fill no grid take %.3g GB of memory, %.3g GB are there",
                   p->n_points, bytes / 1e9, kb_memory_available() / 1e9);
}

static size_t work_size(const kb_patch *p)
{
    kb_mode modes[KB_SAMPLE_AXES];
    kb_patch_data_modes(p, modes);
    if (p->gridded) return p->n + larger(2 * p->n, kb_patch_data_work(p));
    return p->n_points + kb_rows_work(p->n_axes, modes);
}

static bool allocate(kb_smoother *s)
{
    const kb_patch *p = s->patch;
    bool complete = true;
    s->variance = KB_NEW(double, p->n_fields);
    s->tensor = KB_NEW(double, p->n);
    s->work = KB_NEW(double, work_size(p));
    s->factors = KB_NEW(double *, p->n_fields);
    if (!s->variance || !s->tensor || !s->work || !s->factors) return false;
    for (size_t a = 0; p->gridded && a < p->n_axes; a++) {
        s->vectors[a] = KB_NEW(double, p->kept.rank[a] * p->kept.rank[a]);
        s->values[a] = KB_NEW(double, p->kept.rank[a]);
        complete = complete && s->vectors[a] && s->values[a];
    }
    for (size_t f = 0; !p->gridded && f < p->n_fields; f++)
        complete = (s->factors[f] = KB_NEW(double, p->n_points * p->n_points)) != NULL && complete;
    return complete;
}

kbass_status kb_smoother_create(const kb_patch *p, const double *variance, kb_smoother **out, kbass_error *error)
{
    kb_smoother *s = NULL;
    double *spare = NULL;
    kbass_status status = check_points(p, error);
    if (status != KBASS_OK) return status;
    s = KB_NEW(kb_smoother, 1);
    spare = KB_NEW(double, p->gridded ? 0 : p->n_points * p->n_points);
    if (s) s->patch = p;
    if (!s || !spare || !allocate(s)) status = kb_out_of_memory(error, "the field");
    if (status == KBASS_OK) {
        memcpy(s->variance, variance, p->n_fields * sizeof *variance);
        status = p->gridded ? solve_axes(s, error) : factorise(s, spare, error);
    }
    kb_free(spare);
    if (status == KBASS_OK) *out = s;
    else kb_smoother_destroy(s);
    return status;
}

void kb_smoother_destroy(kb_smoother *s)
{
    if (!s) return;
    for (size_t a = 0; a < KB_SAMPLE_AXES; a++) kb_free(s->vectors[a]), kb_free(s->values[a]);
    for (size_t f = 0; s->factors && f < s->patch->n_fields; f++) kb_free(s->factors[f]);
    kb_free(s->factors);
    kb_free(s->variance);
    kb_free(s->tensor);
    kb_free(s->work);
    kb_free(s);
}

void kb_smoother_regress(kb_smoother *s, size_t field, double *z)
{
    if (s->patch->gridded) regress_grid(s, field, z);
    else regress_points(s, field, z);
}
