#include "tensor/mode.h"

#include <string.h>

#include "base/linalg.h"

void kb_mode_product(const kb_mode *M, size_t left, size_t right, const double *u, double *v)
{
    size_t in = left * M->columns, out = left * M->rows;
    if (left == 1) {
        kb_gemm(KB_PLAIN, KB_PLAIN, M->rows, right, M->columns, 1, M->entries, M->ld, u, M->columns, 0, v, M->rows);
        return;
    }
    for (size_t c = 0; c < right; c++)
        kb_gemm(KB_PLAIN, KB_TRANSPOSED, left, M->rows, M->columns, 1, u + c * in, left, M->entries, M->ld, 0,
                v + c * out, left);
}

void kb_mode_adjoint(const kb_mode *M, size_t left, size_t right, const double *v, double *u)
{
    size_t in = left * M->columns, out = left * M->rows;
    if (left == 1) {
        kb_gemm(KB_TRANSPOSED, KB_PLAIN, M->columns, right, M->rows, 1, M->entries, M->ld, v, M->rows, 0, u,
                M->columns);
        return;
    }
    for (size_t c = 0; c < right; c++)
        kb_gemm(KB_PLAIN, KB_PLAIN, left, M->columns, M->rows, 1, v + c * out, left, M->entries, M->ld, 0, u + c * in,
                left);
}

/* Axis after axis through two halves of the workspace; the last lands in `to`. */
static void chain(size_t n_axes, const kb_mode *M, size_t behind, int transposed, const double *from, double *to,
                  double *work)
{
    size_t half = kb_modes_work(n_axes, M) / 2 * behind, left = 1, right = behind;
    for (size_t a = 0; a < n_axes; a++) right *= transposed ? M[a].rows : M[a].columns;
    if (!n_axes) memcpy(to, from, behind * sizeof *to);
    for (size_t a = 0; a < n_axes; a++) {
        double *next = a + 1 == n_axes ? to : work + (a % 2) * half;
        right /= transposed ? M[a].rows : M[a].columns;
        if (transposed) kb_mode_adjoint(&M[a], left, right, from, next);
        else kb_mode_product(&M[a], left, right, from, next);
        left *= transposed ? M[a].columns : M[a].rows;
        from = next;
    }
}

void kb_modes_product(size_t n_axes, const kb_mode *M, const double *u, double *v, double *work)
{
    chain(n_axes, M, 1, KB_PLAIN, u, v, work);
}

void kb_modes_leading_product(size_t n_axes, const kb_mode *M, size_t behind, const double *u, double *v, double *work)
{
    chain(n_axes, M, behind, KB_PLAIN, u, v, work);
}

void kb_modes_leading_adjoint(size_t n_axes, const kb_mode *M, size_t behind, const double *v, double *u, double *work)
{
    chain(n_axes, M, behind, KB_TRANSPOSED, v, u, work);
}

void kb_modes_adjoint(size_t n_axes, const kb_mode *M, const double *v, double *u, double *work)
{
    chain(n_axes, M, 1, KB_TRANSPOSED, v, u, work);
}

size_t kb_modes_work(size_t n_axes, const kb_mode *M)
{
    size_t largest = 1;
    for (size_t a = 0; a < n_axes; a++) largest *= M[a].rows > M[a].columns ? M[a].rows : M[a].columns;
    return 2 * largest;
}
