/* SDIRK4 (Hairer and Wanner, Solving ODEs II, table IV.6.5): five stages, order 4(3), L-stable, stiffly accurate. Each
   stage Y = r + h g f(Y) is solved by Newton; its tangents reuse the stage's matrix. */
#include <math.h>
#include <string.h>

#include "base/linalg.h"
#include "forward/ode/flow.h"

enum { STAGES = 5, NEWTON_STEPS = 10 };
static const double g = 0.25;
static const double c[STAGES] = {0.25, 0.75, 11.0 / 20, 0.5, 1};
static const double a[STAGES][STAGES - 1] = {{0},
                                             {0.5},
                                             {17.0 / 50, -1.0 / 25},
                                             {371.0 / 1360, -137.0 / 2720, 15.0 / 544},
                                             {25.0 / 24, -49.0 / 48, 125.0 / 16, -85.0 / 12}};
static const double difference[STAGES] = {25.0 / 24 - 59.0 / 48, -49.0 / 48 + 17.0 / 96, 125.0 / 16 - 225.0 / 32, 0,
                                          0.25};

/* LU with partial pivoting, row-major, in place */
static bool factorise(size_t n, double *m, int *pivot)
{
    for (size_t k = 0; k < n; k++) {
        size_t best = k;
        for (size_t i = k + 1; i < n; i++)
            if (fabs(m[i * n + k]) > fabs(m[best * n + k])) best = i;
        pivot[k] = (int)best;
        for (size_t j = 0; best != k && j < n; j++) {
            double swap = m[k * n + j];
            m[k * n + j] = m[best * n + j];
            m[best * n + j] = swap;
        }
        if (!(fabs(m[k * n + k]) > 1e-14)) return false;
        for (size_t i = k + 1; i < n; i++) {
            double factor = m[i * n + k] /= m[k * n + k];
            for (size_t j = k + 1; j < n; j++) m[i * n + j] -= factor * m[k * n + j];
        }
    }
    return true;
}

/* x (n x P, the last fastest) <- m^{-1} x */
static void solve(size_t n, const double *m, const int *pivot, size_t P, double *x)
{
    for (size_t k = 0; k < n; k++) {
        double *top = x + k * P, *other = x + (size_t)pivot[k] * P;
        for (size_t p = 0; other != top && p < P; p++) {
            double swap = top[p];
            top[p] = other[p];
            other[p] = swap;
        }
        for (size_t i = k + 1; i < n; i++) kb_axpy(P, -m[i * n + k], top, x + i * P);
    }
    for (size_t k = n; k-- > 0;) {
        double *row = x + k * P;
        for (size_t j = k + 1; j < n; j++) kb_axpy(P, -m[k * n + j], x + j * P, row);
        for (size_t p = 0; p < P; p++) row[p] /= m[k * n + k];
    }
}

/* lu of I - h g J at (s, y), the rate there in `rate` */
static bool newton_matrix(kb_flow *f, double s, double h, const double *y, double *rate)
{
    size_t n = f->n;
    kb_flow_rate(f, s, y, rate, f->jacobian);
    for (size_t i = 0; i < n * n; i++) f->lu[i] = -h * g * f->jacobian[i];
    for (size_t i = 0; i < n; i++) f->lu[i * n + i] += 1;
    return factorise(n, f->lu, f->pivot);
}

static bool solve_stage(kb_flow *f, double s, double h, const double *known, double *y, double *rate)
{
    size_t n = f->n;
    for (int iteration = 0; iteration < NEWTON_STEPS; iteration++) {
        double largest = 0;
        if (!newton_matrix(f, s, h, y, rate)) return false;
        for (size_t k = 0; k < n; k++) f->delta[k] = known[k] + h * g * rate[k] - y[k];
        solve(n, f->lu, f->pivot, 1, f->delta);
        for (size_t k = 0; k < n; k++) {
            y[k] += f->delta[k];
            double scaled = fabs(f->delta[k]) / (1 + fabs(y[k]));
            if (!(scaled <= largest)) largest = scaled;
        }
        if (!(largest < 1e6)) return false;
        if (largest < 1e-2 * f->tolerance) {
            for (size_t k = 0; k < n; k++) rate[k] = (y[k] - known[k]) / (h * g);
            return true;
        }
    }
    return false;
}

double kb_implicit_step(kb_flow *f, double s, double h)
{
    size_t n = f->n;
    double *known = f->known, *error = f->error, largest = 0;
    for (int i = 0; i < STAGES; i++) {
        double *y = f->stage + i * n;
        memcpy(known, f->state, n * sizeof *known);
        for (int j = 0; j < i; j++)
            for (size_t k = 0; k < n; k++) known[k] += h * a[i][j] * f->rate[j * n + k];
        memcpy(y, i ? y - n : f->state, n * sizeof *known);
        if (!solve_stage(f, s + c[i] * h, h, known, y, f->rate + i * n)) return NAN;
    }
    for (size_t k = 0; k < n; k++) {
        error[k] = 0;
        for (int i = 0; i < STAGES; i++) error[k] += h * difference[i] * f->rate[i * n + k];
    }
    solve(n, f->lu, f->pivot, 1, error); /* the embedded solution is poor in stiff components, which this damps */
    for (size_t k = 0; k < n; k++) {
        f->trial[k] = f->stage[(STAGES - 1) * n + k];
        double scaled = fabs(error[k]) / (f->tolerance * (1 + fabs(f->trial[k])));
        if (!(scaled <= largest)) largest = scaled;
    }
    return largest;
}

/* (I - h g J) dY = S + h sum_j a_ij dK_j + h g F,   dK = (dY - known) / (h g) */
bool kb_implicit_tangent(kb_flow *f, double s, double h)
{
    size_t n = f->n, size = n * f->n_parameters;
    for (int i = 0; i < STAGES; i++) {
        double *S = f->tangent_stage, *rate = f->tangent_rate + i * size;
        memcpy(S, f->tangent, size * sizeof *S);
        for (int j = 0; j < i; j++) kb_axpy(size, h * a[i][j], f->tangent_rate + j * size, S);
        memcpy(rate, S, size * sizeof *rate);
        if (!newton_matrix(f, s + c[i] * h, h, f->stage + i * n, f->unused)) return false;
        kb_flow_keep_forces(f, i);
        kb_flow_force(f, i, 0, f->n_parameters, h * g, f->n_parameters, S);
        solve(n, f->lu, f->pivot, f->n_parameters, S);
        for (size_t p = 0; p < size; p++) rate[p] = (S[p] - rate[p]) / (h * g);
    }
    memcpy(f->tangent, f->tangent_stage, size * sizeof *f->tangent);
    return true;
}
