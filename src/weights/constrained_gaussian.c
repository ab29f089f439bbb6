/* Gaussians over w = w0 + C v: all sizes are those of C, k x f; the slabs' precision is D = 1/slab. */
#include <math.h>
#include <string.h>

#include "base/linalg.h"
#include "weights/constraints.h"
#include "weights/truncation.h"

/* C'XC (f x f) of a symmetric X (k x k); half: k x f */
static void reduce(size_t k, size_t f, const double *C, const double *X, double *half, double *out)
{
    kb_gemm(KB_PLAIN, KB_PLAIN, k, f, k, 1, X, k, C, k, 0, half, k);
    kb_gemm(KB_TRANSPOSED, KB_PLAIN, f, f, k, 1, C, k, half, k, 0, out, f);
}

/* C'DC; half: k x f */
static void reduce_slabs(const kb_columns *c, const kb_support *support, size_t f, const double *C, double *half,
                         double *out)
{
    size_t k = support->n;
    for (size_t i = 0; i < k; i++) {
        double slab = kb_constraints_slab(c, support, support->column[i]);
        for (size_t j = 0; j < f; j++) half[i + j * k] = C[i + j * k] / slab;
    }
    kb_gemm(KB_TRANSPOSED, KB_PLAIN, f, f, k, 1, C, k, half, k, 0, out, f);
}

double kb_constrained_factorise(const kb_columns *c, const kb_support *support, size_t f, const double *C, double *A,
                                double *work)
{
    size_t k = support->n;
    double *half = work, *reduced = work + k * k;
    if (!f) return 0;
    reduce_slabs(c, support, f, C, half, reduced);
    if (!kb_cholesky(f, reduced, f)) return NAN;
    double prior = kb_cholesky_logdet(f, reduced, f);
    reduce(k, f, C, A, half, reduced);
    if (!kb_cholesky(f, reduced, f)) return NAN;
    memcpy(A, reduced, f * f * sizeof *A);
    return 0.5 * (kb_cholesky_logdet(f, A, f) - prior);
}

void kb_constrained_solve(size_t k, size_t f, const double *C, const double *L, size_t n_right, double *x, double *work)
{
    if (f) {
        kb_gemm(KB_TRANSPOSED, KB_PLAIN, f, n_right, k, 1, C, k, x, k, 0, work, f);
        kb_cholesky_solve(f, n_right, L, f, work, f);
        kb_gemm(KB_PLAIN, KB_PLAIN, k, n_right, f, 1, C, k, work, f, 0, x, k);
    } else memset(x, 0, k * n_right * sizeof *x);
}

bool kb_constrained_inverse(size_t k, size_t f, const double *C, double *L, double *work)
{
    double *half = work, *inverse = work + k * k;
    if (!f) {
        memset(L, 0, k * k * sizeof *L);
        return true;
    }
    memcpy(inverse, L, f * f * sizeof *L);
    if (!kb_cholesky_inverse(f, inverse, f)) return false;
    kb_gemm(KB_PLAIN, KB_PLAIN, k, f, f, 1, C, k, inverse, f, 0, half, k);
    kb_gemm(KB_PLAIN, KB_TRANSPOSED, k, k, f, 1, half, k, C, k, 0, L, k);
    return true;
}

/* The bounded weights' part of a Gaussian. */
static double log_mass(const kb_columns *c, const kb_support *support, const double *mean, const double *V)
{
    const kb_constraints *s = c->constraints;
    double m[KB_MOST_BOUNDED], low[KB_MOST_BOUNDED], high[KB_MOST_BOUNDED], part[KB_MOST_BOUNDED * KB_MOST_BOUNDED];
    size_t n = 0, place[KB_MOST_BOUNDED], k = support->n;
    for (size_t q = 0; q < k; q++) {
        size_t column = support->column[q];
        if (!(s->low[column] > -INFINITY) && !(s->high[column] < INFINITY)) continue;
        m[n] = mean ? mean[q] : 0;
        low[n] = s->low[column];
        high[n] = s->high[column];
        place[n++] = q;
    }
    for (size_t j = 0; j < n; j++)
        for (size_t i = 0; i < n; i++) part[i + j * KB_MOST_BOUNDED] = V[place[i] + place[j] * k];
    return n ? kb_log_mass_in_box(n, m, part, KB_MOST_BOUNDED, low, high) : 0;
}

double kb_constrained_mass(const kb_columns *c, const kb_support *support, size_t f, const double *C,
                           const double *mean, const double *V, double *work)
{
    size_t k = support->n;
    double *half = work, *slabs = work + k * k;
    if (!c->constraints->n_bounds || !f) return 0;
    reduce_slabs(c, support, f, C, half, slabs);
    if (!kb_cholesky(f, slabs, f) || !kb_constrained_inverse(k, f, C, slabs, slabs + k * k)) return NAN;
    return log_mass(c, support, mean, V) - log_mass(c, support, NULL, slabs);
}
