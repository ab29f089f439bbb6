#include "gp/level.h"

#include <math.h>
#include <string.h>

#include "base/budget.h"
#include "base/linalg.h"
#include "base/memory.h"

static kbass_status fill_features(kb_level *level, const kb_record *record, const double *mesh, kbass_error *error)
{
    size_t n = level->n_mesh, rows = level->n_rows, rank = level->rank;
    double *work = KB_NEW(double, kb_basis_work(level->basis, rows > n ? rows : n));
    level->rows = KB_NEW(double, rows *rank);
    level->mesh = KB_NEW(double, n *rank);
    level->slope = KB_NEW(double, n *rank);
    level->eigenvalue = KB_NEW(double, rank);
    bool complete = work && level->rows && level->mesh && level->slope && level->eigenvalue;
    if (complete) {
        kb_basis_features(level->basis, rows, record->time, 0, level->rows, work);
        kb_basis_features(level->basis, n, mesh, 0, level->mesh, work);
        kb_basis_features(level->basis, n, mesh, 1, level->slope, work);
        for (size_t q = 0; q < rank; q++) level->eigenvalue[q] = kb_dot(n, level->mesh + q * n, level->mesh + q * n);
    }
    kb_free(work);
    if (complete && kb_budget_expired()) return kb_out_of_time(error, "the kernel's features were made");
    return complete ? KBASS_OK : kb_out_of_memory(error, "the kernel's features");
}

kbass_status kb_level_create(const kb_record *record, kb_kernel_kind kind, double length, size_t n_mesh, kb_level **out,
                             kbass_error *error)
{
    kb_kernel kernel = {kind, length, 1};
    kbass_status status = KBASS_OK;
    kb_level *level = KB_NEW(kb_level, 1);
    double *mesh = KB_NEW(double, n_mesh);
    if (!level || !mesh) status = kb_out_of_memory(error, "the mesh");
    for (size_t i = 0; status == KBASS_OK && i < n_mesh; i++) mesh[i] = (double)i / (double)(n_mesh - 1);
    if (status == KBASS_OK) status = kb_basis_create(&kernel, n_mesh, mesh, &level->basis, error);
    if (status == KBASS_OK) {
        level->length = length;
        level->rank = level->basis->rank;
        level->n_rows = record->n_rows;
        level->n_mesh = n_mesh;
        status = fill_features(level, record, mesh, error);
    }
    kb_free(mesh);
    if (status == KBASS_OK) *out = level;
    else kb_level_destroy(level);
    return status;
}

kbass_status kb_level_share(const kb_level *level, const kb_record *slice, kb_level **out, kbass_error *error)
{
    size_t rows = slice->n_rows;
    kb_level *shared = KB_NEW(kb_level, 1);
    double *features = KB_NEW(double, rows * level->rank), *work = KB_NEW(double, kb_basis_work(level->basis, rows));
    bool complete = shared && features && work;
    if (complete) {
        *shared = *level;
        shared->shares = true;
        shared->n_rows = rows;
        shared->rows = features;
        kb_basis_features(level->basis, rows, slice->time, 0, features, work);
        *out = shared;
    } else {
        kb_free(shared);
        kb_free(features);
    }
    kb_free(work);
    return complete ? KBASS_OK : kb_out_of_memory(error, "the kernel's features");
}

void kb_level_destroy(kb_level *level)
{
    if (!level) return;
    kb_free(level->rows);
    if (level->shares) {
        kb_free(level);
        return;
    }
    kb_basis_destroy(level->basis);
    kb_free(level->mesh);
    kb_free(level->slope);
    kb_free(level->eigenvalue);
    kb_free(level);
}

void kb_level_project(const kb_level *level, const double *values, double *z)
{
    static const double ridge = 1e-6; /* keeps directions that the mesh hardly sees small */
    kb_gemv(KB_TRANSPOSED, level->n_mesh, level->rank, 1, level->mesh, level->n_mesh, values, 0, z);
    for (size_t q = 0; q < level->rank; q++) z[q] /= level->eigenvalue[q] + ridge;
}

void kb_level_gram(const kb_level *level, const kb_record *record, size_t state, double *gram)
{
    size_t n = level->n_rows, r = level->rank;
    const double *measured = record->measured + state * n;
    if (record->count[state] == n && !record->has_error_bars) {
        kb_gram(r, n, 1, level->rows, n, 0, gram, r);
        return;
    }
    memset(gram, 0, r * r * sizeof *gram);
    for (size_t q = 0; q < r; q++)
        for (size_t row = 0; row < n; row++) {
            double factor = measured[row] * measured[row] * level->rows[row + q * n];
            if (factor == 0) continue;
            for (size_t p = q; p < r; p++) gram[p + q * r] += factor * level->rows[row + p * n];
        }
}

/* sum_n y_n a_n / h_n; y is 0 where not measured */
static double weighted_dot(const kb_record *record, size_t state, const double *a)
{
    size_t n = record->n_rows;
    const double *y = record->value + state * n, *measured = record->measured + state * n;
    double sum = 0;
    if (!record->has_error_bars) return kb_dot(n, y, a);
    for (size_t row = 0; row < n; row++) sum += measured[row] * measured[row] * y[row] * a[row];
    return sum;
}

/* R' diag(1/h) R / v + I = L L', L in the lower triangle of H */
static bool factorise(const kb_level *level, const kb_record *record, size_t state, double v, double *H)
{
    size_t r = level->rank;
    kb_level_gram(level, record, state, H);
    for (size_t q = 0; q < r; q++) {
        for (size_t p = q; p < r; p++) H[p + q * r] *= 1 / v;
        H[q + q * r] += 1;
    }
    return kb_cholesky(r, H, r);
}

/* scale * R' diag(1/h) y */
static void right_hand_side(const kb_level *level, const kb_record *record, size_t state, double scale, double *g)
{
    for (size_t q = 0; q < level->rank; q++)
        g[q] = scale * weighted_dot(record, state, level->rows + q * level->n_rows);
}

bool kb_level_regress(const kb_level *level, const kb_record *record, size_t state, double v, double *z, double *work)
{
    size_t r = level->rank;
    if (!factorise(level, record, state, v, work)) return false;
    right_hand_side(level, record, state, 1 / v, z);
    kb_cholesky_solve(r, 1, work, r, z, r);
    return true;
}

/* Matrices of such states are the same: all rows were measured, without error bars. */
static bool is_plain(const kb_record *record, size_t state)
{
    return record->count[state] == record->n_rows && !record->has_error_bars;
}

double kb_level_evidence(const kb_level *level, const kb_record *record, double v, double *each, double *work)
{
    size_t r = level->rank, n = level->n_rows;
    double *H = work, *z = work + r * r, total = 0, plain = NAN; /* the noise for which H is that of plain states */
    for (size_t state = 0; state < record->n_states; state++) {
        const double *y = record->value + state * n;
        double variance = record->known_variance[state] > 0 ? record->known_variance[state] : v;
        if (!is_plain(record, state) || variance != plain) {
            if (!factorise(level, record, state, variance, H)) return -INFINITY;
            plain = is_plain(record, state) ? variance : NAN;
        }
        right_hand_side(level, record, state, 1 / variance, z);
        kb_lower_solve(r, 1, H, r, z, r);
        /* y'(vI + RR')^{-1}y = y'y/v - |L^{-1} R'y/v|^2 ; log|.| = N log v + logdet(I + R'R/v) */
        double cost = 0.5 * (weighted_dot(record, state, y) / variance - kb_dot(r, z, z)) +
                      0.5 * ((double)record->count[state] * log(variance) + kb_cholesky_logdet(r, H, r));
        if (each) each[state] -= cost;
        total -= cost;
    }
    return total;
}
