/* u(P) = A z: what the prior makes of whitened coefficients, and its slope by log(length).
 *
 * L of L L' = G G' + jitter is never formed. Whitening point after point, with S_i = I - sum_{j < i} w_j w_j' (what is
 * still unknown of the nodes after i points), row i of W = L^{-1} G is
 *
 *     w_i = S_i g_i / sqrt(g_i' S_i g_i + jitter)
 *
 * and with D = R^{-1} dK(P, P) R^{-T}, dK(Q, Q) = G D G', differentiating L gives
 *
 *     dA = R dW',   dw_i = (S_i - w_i w_i' / 2) D w_i
 *
 * Both go by blocks of points: a block's w_i are S_i at its beginning times its g_i, whitened among themselves.
 *
 * With coefficients at the nodes alone L is small, and A = K(P, P) L^{-T} = L - jitter L^{-T}.
 */
#include <math.h>
#include <string.h>

#include "base/linalg.h"
#include "published/axis.h"

enum { BLOCK = 32 };

typedef struct {
    size_t r, n;
    double *R, *D, *S; /* rank x rank */
    double *G, *W, *V; /* n x rank: G, W, dW */
    double *small;     /* BLOCK x BLOCK */
    double *moved;     /* BLOCK x rank */
} prior;

size_t kb_published_prior_work(size_t rank, size_t n)
{
    return 3 * rank * rank + 3 * n * rank + BLOCK * BLOCK + BLOCK * rank;
}

static prior lay_out(const kb_published_axis *axis)
{
    prior p = {.r = axis->rank, .n = axis->n, .R = axis->work};
    p.D = p.R + p.r * p.r;
    p.S = p.D + p.r * p.r;
    p.G = p.S + p.r * p.r;
    p.W = p.G + p.n * p.r;
    p.V = p.W + p.n * p.r;
    p.small = p.V + p.n * p.r;
    p.moved = p.small + BLOCK * BLOCK;
    return p;
}

/* ---------------------------------------------------------------- kernel matrices */

/* table[i], table[n_mesh + i]: kernel and slope, i steps apart */
static void fill_table(kb_published_axis *axis)
{
    double f[2] = {0, 0};
    for (size_t i = 0; i < axis->n_mesh; i++) {
        double d = (double)i * axis->step;
        kb_published_derivatives(&axis->kernel, d, 2, f);
        axis->table[i] = f[0];
        axis->table[axis->n_mesh + i] = -d * f[1];
    }
}

/* K between two points of the mesh, and d/dlog(l) kappa = -d kappa' */
static double kernel_between(const kb_published_axis *axis, size_t i, size_t j, double *slope)
{
    double f[2] = {0, 0}, d = axis->mesh[i] - axis->mesh[j];
    size_t apart = i > j ? i - j : j - i;
    if (axis->step > 0 && axis->learns) {
        *slope = axis->table[axis->n_mesh + apart];
        return axis->table[apart];
    }
    kb_published_derivatives(&axis->kernel, d, 2, f);
    *slope = -d * f[1];
    return f[0];
}

/* R of R R' = K(P, P) + jitter, and D = R^{-1} dK(P, P) R^{-T} */
static bool fill_nodes(const kb_published_axis *axis, double jitter, prior *p)
{
    size_t r = p->r;
    for (size_t j = 0; j < r; j++) {
        for (size_t i = 0; i < r; i++)
            p->R[i + j * r] = kernel_between(axis, axis->node[i], axis->node[j], &p->D[i + j * r]);
        p->R[j + j * r] += jitter;
    }
    if (!kb_cholesky(r, p->R, r)) return false;
    for (size_t j = 1; j < r; j++) memset(p->R + j * r, 0, j * sizeof *p->R);
    if (!axis->learns) return true;
    kb_lower_solve(r, r, p->R, r, p->D, r);
    for (size_t j = 0; j < r; j++) /* dK(P, P) is symmetric: transposing leaves R^{-1} to be applied once more */
        for (size_t i = 0; i < j; i++) {
            double swap = p->D[i + j * r];
            p->D[i + j * r] = p->D[j + i * r];
            p->D[j + i * r] = swap;
        }
    kb_lower_solve(r, r, p->R, r, p->D, r);
    return true;
}

static void set_identity(size_t n, double *I)
{
    memset(I, 0, n * n * sizeof *I);
    for (size_t i = 0; i < n; i++) I[i + i * n] = 1;
}

/* ---------------------------------------------------------------- at the whole mesh: the recursion */

/* W of `b` points from `first` on: L_b^{-1} G S with L_b L_b' = G S G' + jitter, all of the block. */
static bool whiten_block(prior *p, size_t first, size_t b, double jitter)
{
    size_t r = p->r, n = p->n;
    double *G = p->G + first, *W = p->W + first, *N = p->small;
    kb_gemm(KB_PLAIN, KB_PLAIN, b, r, r, 1, G, n, p->S, r, 0, W, n);
    kb_gemm(KB_PLAIN, KB_TRANSPOSED, b, b, r, 1, W, n, G, n, 0, N, b);
    for (size_t i = 0; i < b; i++) N[i + i * b] += jitter;
    if (!kb_cholesky(b, N, b)) return false;
    kb_lower_solve(b, r, N, b, W, n);
    return true;
}

/* V = W D; dW = V S - half(V W') W, half: the lower triangle with its diagonal halved */
static void slope_block(prior *p, size_t first, size_t b)
{
    size_t r = p->r, n = p->n;
    double *W = p->W + first, *V = p->V + first, *C = p->small;
    kb_gemm(KB_PLAIN, KB_PLAIN, b, r, r, 1, W, n, p->D, r, 0, V, n);
    kb_gemm(KB_PLAIN, KB_TRANSPOSED, b, b, r, 1, V, n, W, n, 0, C, b);
    for (size_t j = 0; j < b; j++) {
        memset(C + j * b, 0, j * sizeof *C);
        C[j + j * b] /= 2;
    }
    kb_gemm(KB_PLAIN, KB_PLAIN, b, r, r, 1, V, n, p->S, r, 0, p->moved, b);
    kb_gemm(KB_PLAIN, KB_PLAIN, b, r, b, -1, C, b, W, n, 1, p->moved, b);
    for (size_t i = 0; i < r; i++) memcpy(V + i * n, p->moved + i * b, b * sizeof *V);
}

static bool fill_whole(kb_published_axis *axis, prior *p)
{
    size_t r = p->r, n = p->n;
    if (!fill_nodes(axis, 0, p)) return false;
    kb_gemm(KB_PLAIN, KB_PLAIN, n, r, r, 1, axis->feature[0], n, p->R, r, 0, p->G, n);
    set_identity(r, p->S);
    for (size_t first = 0; first < n; first += BLOCK) {
        size_t b = n - first < BLOCK ? n - first : BLOCK;
        if (!whiten_block(p, first, b, axis->jitter)) return false;
        if (axis->learns) slope_block(p, first, b);
        kb_gemm(KB_TRANSPOSED, KB_PLAIN, r, r, b, -1, p->W + first, n, p->W + first, n, 1, p->S, r);
    }
    kb_gemm(KB_PLAIN, KB_TRANSPOSED, r, n, r, 1, p->R, r, p->W, n, 0, axis->A, r);
    if (axis->learns) kb_gemm(KB_PLAIN, KB_TRANSPOSED, r, n, r, 1, p->R, r, p->V, n, 0, axis->A_slope, r);
    return true;
}

/* ---------------------------------------------------------------- at the nodes alone */

/* A = L - jitter L^{-T};  dL = L half(D), so dA = L half(D) + jitter L^{-T} half(D)' */
static bool fill_compressed(kb_published_axis *axis, prior *p)
{
    size_t r = p->r;
    double jitter = axis->jitter * (double)r / (double)axis->n_mesh, *half = p->D, *turned = p->S, *inverse = p->G;
    if (!fill_nodes(axis, jitter, p)) return false;
    set_identity(r, inverse);
    kb_lower_transposed_solve(r, r, p->R, r, inverse, r);
    for (size_t i = 0; i < r * r; i++) axis->A[i] = p->R[i] - jitter * inverse[i];
    if (!axis->learns) return true;
    for (size_t j = 0; j < r; j++) {
        memset(half + j * r, 0, j * sizeof *half);
        half[j + j * r] /= 2;
        for (size_t i = 0; i < r; i++) turned[j + i * r] = half[i + j * r];
    }
    kb_lower_transposed_solve(r, r, p->R, r, turned, r);
    kb_gemm(KB_PLAIN, KB_PLAIN, r, r, r, 1, p->R, r, half, r, 0, axis->A_slope, r);
    kb_axpy(r * r, jitter, turned, axis->A_slope);
    return true;
}

bool kb_published_axis_fill_prior(kb_published_axis *axis)
{
    prior p = lay_out(axis);
    if (axis->step > 0 && axis->learns) fill_table(axis);
    return axis->is_whole ? fill_whole(axis, &p) : fill_compressed(axis, &p);
}
