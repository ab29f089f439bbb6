/* Dormand and Prince's 5(4) pair, with tangents on the same stages. */
#include <math.h>
#include <string.h>

#include "base/linalg.h"
#include "forward/ode/flow.h"

static const double c[7] = {0, 1.0 / 5, 3.0 / 10, 4.0 / 5, 8.0 / 9, 1, 1};
static const double a[7][6] = {{0},
                               {1.0 / 5},
                               {3.0 / 40, 9.0 / 40},
                               {44.0 / 45, -56.0 / 15, 32.0 / 9},
                               {19372.0 / 6561, -25360.0 / 2187, 64448.0 / 6561, -212.0 / 729},
                               {9017.0 / 3168, -355.0 / 33, 46732.0 / 5247, 49.0 / 176, -5103.0 / 18656},
                               {35.0 / 384, 0, 500.0 / 1113, 125.0 / 192, -2187.0 / 6784, 11.0 / 84}};
/* fifth-order weights (the last row of a) minus fourth-order ones */
static const double difference[7] = {71.0 / 57600,      0,          -71.0 / 16695, 71.0 / 1920,
                                     -17253.0 / 339200, 22.0 / 525, -1.0 / 40};

/* The last stage is the new state, where the next step begins. */
double kb_explicit_step(kb_flow *f, double s, double h)
{
    size_t n = f->n;
    if (f->rated != s) kb_flow_rate(f, s, f->state, f->rate, NULL);
    memcpy(f->stage, f->state, n * sizeof *f->stage);
    f->rated = s;
    for (int i = 1; i < 7; i++) {
        double *y = f->stage + i * n;
        memcpy(y, f->state, n * sizeof *y);
        for (int j = 0; j < i; j++)
            if (a[i][j] != 0)
                for (size_t k = 0; k < n; k++) y[k] += h * a[i][j] * f->rate[j * n + k];
        kb_flow_rate(f, s + c[i] * h, y, f->rate + i * n, NULL);
    }
    double largest = 0;
    for (size_t k = 0; k < n; k++) {
        double error = 0;
        for (int i = 0; i < 7; i++) error += h * difference[i] * f->rate[i * n + k];
        f->trial[k] = f->stage[6 * n + k];
        double scaled = fabs(error) / (f->tolerance * (1 + fabs(f->trial[k])));
        if (!(scaled <= largest)) largest = scaled; /* NaN stays: nothing is larger than it */
    }
    return largest;
}

bool kb_explicit_tangent(kb_flow *f, double s, double h)
{
    size_t n = f->n, P = f->n_parameters, size = n * P;
    for (int i = 0; i < 7; i++) {
        double *S = f->tangent_stage, *rate = f->tangent_rate + i * size;
        memcpy(S, f->tangent, size * sizeof *S);
        for (int j = 0; j < i; j++)
            if (a[i][j] != 0) kb_axpy(size, h * a[i][j], f->tangent_rate + j * size, S);
        if (i == 6) break; /* the last stage is the new state itself */
        kb_flow_rate(f, s + c[i] * h, f->stage + i * n, f->unused, f->jacobian);
        memset(rate, 0, size * sizeof *rate);
        for (size_t k = 0; k < n; k++)
            for (size_t j = 0; j < n; j++) {
                double entry = f->jacobian[k * n + j];
                if (entry != 0)
                    for (size_t p = 0; p < P; p++) rate[k * P + p] += entry * S[j * P + p];
            }
        kb_flow_forcing(f, 1, rate);
    }
    memcpy(f->tangent, f->tangent_stage, size * sizeof *f->tangent);
    return true;
}
