#include "constants/ridge.h"

#include <math.h>
#include <string.h>

#include "base/linalg.h"

enum { ROUNDS = 5 };                /* rounds: until curvatures are right */
static const double step = 0.8;     /* standard deviations at which L is looked at */
static const double most_drop = 8;  /* nats: further down L says nothing of its curvature */
static const double stretch = 25;   /* ratio: of a curvature in one round at most */
static const double settled = 1.5;  /* ratio: to 1, at which it is right */
static const double longest = 0.29; /* share of a range: the sd of what is uniform over it */

typedef struct {
    kb_profile *p;
    size_t n;
    double *B;          /* n x n: a direction in each column, one standard deviation long */
    double *H, *lambda; /* n x n, n: curvatures along them, and their eigenvectors and values */
    double *slope, *y;  /* n */
    double *forth;      /* n: drops one step along each */
    double *turned;     /* n x n */
    double *eigen_work;
} ridge;

size_t kb_ridge_work(size_t n) { return 3 * n * n + 4 * n + kb_eigen_work(n); }

static ridge carve(kb_profile *p, double *work)
{
    size_t n = p->n;
    ridge r = {.p = p, .n = n, .B = work, .H = work + n * n, .turned = work + 2 * n * n};
    r.lambda = work + 3 * n * n;
    r.slope = r.lambda + n;
    r.y = r.slope + n;
    r.forth = r.y + n;
    r.eigen_work = r.forth + n;
    return r;
}

/* share + B y */
static void go(const ridge *r, const double *y, double length, double *share)
{
    memcpy(share, r->p->share, sizeof r->p->share);
    for (size_t a = 0; a < r->n; a++)
        for (size_t b = 0; b < r->n; b++) share[r->p->active[a]] += length * r->B[a + b * r->n] * y[b];
}

/* How far L falls; INFINITY outside of the ranges. */
static double drop_at(ridge *r, size_t a, double along_a, size_t b, double along_b, double best)
{
    double share[KB_MOST_CONSTANTS];
    memset(r->y, 0, r->n * sizeof *r->y);
    r->y[a] += along_a;
    r->y[b] += along_b;
    go(r, r->y, 1, share);
    double drop = best - kb_profile_evidence(r->p, share);
    return isnan(drop) ? INFINITY : drop;
}

/* Slopes and curvatures of -L along the directions. Where one side ends, L is taken for even. */
static void measure(ridge *r, double best)
{
    size_t n = r->n;
    for (size_t a = 0; a < n; a++) {
        double forth = drop_at(r, a, step, a, 0, best), back = drop_at(r, a, -step, a, 0, best);
        if (!isfinite(forth)) forth = isfinite(back) ? back : most_drop;
        if (!isfinite(back)) back = forth;
        r->forth[a] = forth;
        r->slope[a] = (forth - back) / (2 * step);
        r->H[a + a * n] = (fmin(forth, most_drop) + fmin(back, most_drop)) / (step * step);
    }
    for (size_t a = 0; a < n; a++)
        for (size_t b = 0; b < a; b++) {
            double both = drop_at(r, a, step, b, step, best),
                   cross = (both - r->forth[a] - r->forth[b]) / (step * step);
            double most = sqrt(fmax(r->H[a + a * n], 0) * fmax(r->H[b + b * n], 0));
            r->H[a + b * n] = r->H[b + a * n] = isfinite(cross) ? fmin(fmax(cross, -most), most) : 0;
        }
}

/* Newton's step, shortened until it helps. */
static void step_together(ridge *r, double *best)
{
    size_t n = r->n;
    double share[KB_MOST_CONSTANTS];
    memset(r->y, 0, n * sizeof *r->y);
    for (size_t i = 0; i < n; i++) {
        double along = -kb_dot(n, r->H + i * n, r->slope) / r->lambda[i];
        kb_axpy(n, along, r->H + i * n, r->y);
    }
    for (double length = 1; length > 0.1; length /= 2) {
        go(r, r->y, length, share);
        if (kb_profile_improve(r->p, share, best)) return;
    }
}

/* B <- B V lambda^{-1/2}; false when that changes little. */
static bool turn(ridge *r)
{
    size_t n = r->n;
    bool is_settled = true;
    memcpy(r->turned, r->B, n * n * sizeof *r->B);
    kb_gemm(KB_PLAIN, KB_PLAIN, n, n, n, 1, r->turned, n, r->H, n, 0, r->B, n);
    for (size_t i = 0; i < n; i++) {
        double *direction = r->B + i * n, length = 0;
        for (size_t a = 0; a < n; a++) length = fmax(length, fabs(direction[a]));
        double factor = fmin(1 / sqrt(r->lambda[i]), longest / length);
        is_settled = is_settled && factor < settled && factor * settled > 1;
        for (size_t a = 0; a < n; a++) direction[a] *= factor;
    }
    return !is_settled;
}

/* log |det B| */
static double log_volume(ridge *r)
{
    size_t n = r->n;
    kb_gemm(KB_TRANSPOSED, KB_PLAIN, n, n, n, 1, r->B, n, r->B, n, 0, r->turned, n);
    return kb_cholesky(n, r->turned, n) ? 0.5 * kb_cholesky_logdet(n, r->turned, n) : -INFINITY;
}

double kb_ridge_measure(kb_profile *p, const double *width, double *best, double *C, double *work)
{
    ridge r = carve(p, work);
    size_t n = r.n;
    memset(r.B, 0, n * n * sizeof *r.B);
    for (size_t a = 0; a < n; a++) r.B[a + a * n] = width[a];
    for (int round = 0; round < ROUNDS; round++) {
        measure(&r, *best);
        if (!kb_eigen_symmetric_with(n, r.H, n, r.lambda, r.eigen_work)) break;
        for (size_t i = 0; i < n; i++) r.lambda[i] = fmin(fmax(r.lambda[i], 1 / stretch), stretch);
        step_together(&r, best);
        if (!turn(&r)) break;
    }
    kb_gemm(KB_PLAIN, KB_TRANSPOSED, n, n, n, 1, r.B, n, r.B, n, 0, C, n);
    return 0.5 * (double)n * log(2 * M_PI) + log_volume(&r);
}
