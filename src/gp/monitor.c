#include "gp/monitor.h"

#include <math.h>

static const double rounding = 1e-9; /* second differences below it say nothing */
enum { ROUNDS = 6 };                 /* rounds: of smoothing the distances */

static size_t n_cells(const kb_even_axis *axis) { return axis->is_periodic ? axis->n : axis->n - 1; }
static double step_of(const kb_even_axis *axis) { return axis->end / (double)n_cells(axis); }

/* By the trapezoidal rule. */
static double integral(const kb_even_axis *axis, const double *M)
{
    double sum = 0;
    for (size_t j = 0; j < n_cells(axis); j++) sum += 0.5 * (M[j] + M[(j + 1) % axis->n]);
    return sum * step_of(axis);
}

/* |d2q/ds2|^{1/2} h at point j of a line; at the ends that of their neighbours. */
static double bend(const kb_even_axis *axis, const double *line, size_t stride, size_t j)
{
    size_t n = axis->n;
    if (!axis->is_periodic) j = j == 0 ? 1 : j == n - 1 ? n - 2 : j;
    double second = fabs(line[(j + n - 1) % n * stride] - 2 * line[j * stride] + line[(j + 1) % n * stride]);
    return second > rounding && isfinite(second) ? sqrt(second) : 0;
}

void kb_monitor_measure(const kb_even_axis *axis, size_t left, size_t right, const double *v, double *M)
{
    for (size_t j = 0; j < axis->n; j++) {
        M[j] = 0;
        for (size_t c = 0; c < right; c++)
            for (size_t a = 0; a < left; a++) M[j] += bend(axis, v + a + left * axis->n * c, left, j);
    }
    double all = integral(axis, M);
    for (size_t j = 0; j < axis->n; j++) M[j] = 1 / axis->end + (all > 0 ? M[j] / all : 0);
}

/* 1/M grows by at most `most` from point j to k. */
static void limit_pair(double *M, size_t j, size_t k, double most) { M[k] = fmax(M[k], 1 / (1 / M[j] + most)); }

/* The nodes' distance is d = int M / (n_cells M); |d'| <= growth. Raising M raises its integral, hence the rounds. */
void kb_monitor_limit(const kb_even_axis *axis, size_t n_nodes, double *M)
{
    double gaps = (double)(axis->is_periodic ? n_nodes : n_nodes - 1);
    size_t cells = n_cells(axis), laps = axis->is_periodic ? 2 : 1;
    for (int round = 0; round < ROUNDS; round++) {
        double most = KB_MONITOR_GROWTH * step_of(axis) * gaps / integral(axis, M);
        for (size_t j = 0; j < laps * cells; j++) limit_pair(M, j % axis->n, (j + 1) % axis->n, most);
        for (size_t j = laps * cells; j-- > 0;) limit_pair(M, (j + 1) % axis->n, j % axis->n, most);
    }
}

/* Where in a cell, as a share of it, the integral of M, a straight line there, has come to `part` of a cell. */
static double share_of_cell(double M, double next, double part)
{
    return 2 * part / (M + sqrt(fmax(M * M + 2 * (next - M) * part, 0)));
}

void kb_monitor_spread(const kb_even_axis *axis, const double *M, size_t n_nodes, double *nodes)
{
    double h = step_of(axis), each = integral(axis, M) / h / (double)(axis->is_periodic ? n_nodes : n_nodes - 1),
           before = 0;
    size_t i = 0;
    for (size_t j = 0; j < n_cells(axis) && i < n_nodes; j++) {
        double next = M[(j + 1) % axis->n], after = before + 0.5 * (M[j] + next);
        for (; i < n_nodes && each * (double)i < after; i++)
            nodes[i] = h * ((double)j + share_of_cell(M[j], next, each * (double)i - before));
        before = after;
    }
    for (; i < n_nodes; i++) nodes[i] = axis->end; /* the last, by rounding */
}
