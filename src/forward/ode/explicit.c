/* Dormand and Prince's 5(4) pair, with tangents on the same stages. */
#include <math.h>
#include <string.h>

#include "base/wide.h"
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

/* ---------------------------------------------------------------- tangents */

enum { TANGENT_STAGES = 6 }; /* the seventh is the new state itself */

/* A block of parameters on its way through a step: stages and rates of two states are KB_FLOW_BLOCK numbers apart. */
typedef struct {
    kb_flow *flow;
    size_t first, n; /* parameters */
    double h;
} tangent_block;

static double *rate_of(const tangent_block *b, int stage)
{
    return b->flow->tangent_rate + (size_t)stage * b->flow->n * KB_FLOW_BLOCK;
}

static inline void add_multiple(size_t n, double factor, const double *restrict x, double *restrict y)
{
    for (size_t p = 0; p < n; p++) y[p] += factor * x[p];
}

/* stage = tangent + h sum_j a_ij rate_j */
static inline void find_stage(const tangent_block *b, int i)
{
    const kb_flow *f = b->flow;
    for (size_t k = 0; k < f->n; k++) {
        double *stage = f->tangent_stage + k * KB_FLOW_BLOCK;
        memcpy(stage, f->tangent + k * f->n_parameters + b->first, b->n * sizeof *stage);
        for (int j = 0; j < i; j++)
            if (a[i][j] != 0) add_multiple(b->n, b->h * a[i][j], rate_of(b, j) + k * KB_FLOW_BLOCK, stage);
    }
}

/* rate = J stage + df/d(weights) */
static inline void find_rate(const tangent_block *b, int i)
{
    const kb_flow *f = b->flow;
    const double *jacobian = f->jacobian + (size_t)i * f->n * f->n;
    for (size_t k = 0; k < f->n; k++) {
        double *rate = rate_of(b, i) + k * KB_FLOW_BLOCK;
        memset(rate, 0, b->n * sizeof *rate);
        for (size_t j = 0; j < f->n; j++) {
            double entry = jacobian[k * f->n + j];
            if (entry != 0) add_multiple(b->n, entry, f->tangent_stage + j * KB_FLOW_BLOCK, rate);
        }
    }
    kb_flow_force(f, i, b->first, b->n, 1, KB_FLOW_BLOCK, rate_of(b, i));
}

KB_WIDE static void carry_block(const tangent_block *b)
{
    kb_flow *f = b->flow;
    for (int i = 0; i < TANGENT_STAGES; i++) {
        find_stage(b, i);
        find_rate(b, i);
    }
    find_stage(b, TANGENT_STAGES);
    for (size_t k = 0; k < f->n; k++)
        memcpy(f->tangent + k * f->n_parameters + b->first, f->tangent_stage + k * KB_FLOW_BLOCK,
               b->n * sizeof *f->tangent);
}

/* Few parameters at a time, so that all of their stages stay in the processor's cache. */
bool kb_explicit_tangent(kb_flow *f, double s, double h)
{
    size_t n = f->n, P = f->n_parameters;
    for (int i = 0; i < TANGENT_STAGES; i++) {
        kb_flow_rate(f, s + c[i] * h, f->stage + i * n, f->unused, f->jacobian + (size_t)i * n * n);
        kb_flow_keep_forces(f, i);
    }
    for (size_t first = 0; first < P; first += KB_FLOW_BLOCK)
        carry_block(&(tangent_block){f, first, P - first < KB_FLOW_BLOCK ? P - first : KB_FLOW_BLOCK, h});
    return true;
}
