#include "tensor/rows.h"

#include <string.h>

#include "base/linalg.h"

static size_t other_columns(size_t n_axes, const kb_mode *phi)
{
    size_t columns = 1;
    for (size_t a = 1; a < n_axes; a++) columns *= phi[a].columns;
    return columns;
}

size_t kb_rows_work(size_t n_axes, const kb_mode *phi) { return phi[0].rows * other_columns(n_axes, phi); }

/* W[p, rest] = sum_b phi[p, b] W[p, (b, rest)], in place */
static void contract(const kb_mode *phi, size_t rest, double *W)
{
    size_t n = phi->rows;
    for (size_t c = 0; c < rest; c++)
        for (size_t b = 0; b < phi->columns; b++) {
            const double *feature = phi->entries + b * phi->ld, *from = W + (b + c * phi->columns) * n;
            double *to = W + c * n;
            for (size_t p = 0; p < n; p++) to[p] = (b ? to[p] : 0) + feature[p] * from[p];
        }
}

void kb_rows_product(size_t n_axes, const kb_mode *phi, const double *u, double *v, double *work)
{
    size_t n = phi[0].rows, rest = other_columns(n_axes, phi);
    kb_gemm(KB_PLAIN, KB_PLAIN, n, rest, phi[0].columns, 1, phi[0].entries, phi[0].ld, u, phi[0].columns, 0, work, n);
    for (size_t a = 1; a < n_axes; a++) {
        rest /= phi[a].columns;
        contract(&phi[a], rest, work);
    }
    memcpy(v, work, n * sizeof *v);
}

/* W[p, (b, built)] = phi[p, b] W[p, built], in place, last block first */
void kb_rows_adjoint(size_t n_axes, const kb_mode *phi, const double *v, double *u, double *work)
{
    size_t n = phi[0].rows, built = 1;
    memcpy(work, v, n * sizeof *v);
    for (size_t a = 1; a < n_axes; built *= phi[a++].columns)
        for (size_t b = phi[a].columns; b-- > 0;)
            for (size_t q = built; q-- > 0;) {
                const double *feature = phi[a].entries + b * phi[a].ld, *from = work + q * n;
                double *to = work + (q + b * built) * n;
                for (size_t p = 0; p < n; p++) to[p] = feature[p] * from[p];
            }
    kb_gemm(KB_TRANSPOSED, KB_PLAIN, phi[0].columns, built, n, 1, phi[0].entries, phi[0].ld, work, n, 0, u,
            phi[0].columns);
}
