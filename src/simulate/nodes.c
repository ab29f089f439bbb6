#include "simulate/nodes.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"

bool kb_nodes_create(kb_nodes *nodes, size_t n, bool is_periodic, double low, double high)
{
    *nodes = (kb_nodes){.n = n, .is_periodic = is_periodic, .low = low, .high = high};
    nodes->at = KB_NEW(double, n);
    nodes->sine = KB_NEW(double, n);
    nodes->cosine = KB_NEW(double, n);
    if (!nodes->at || !nodes->sine || !nodes->cosine) return false;
    for (size_t j = 0; j < n; j++) {
        double share = is_periodic ? (double)j / (double)n : 0.5 - 0.5 * cos(M_PI * (double)j / (double)(n - 1));
        nodes->at[j] = low + (high - low) * share;
        nodes->sine[j] = sin(M_PI * share);
        nodes->cosine[j] = cos(M_PI * share);
    }
    if (!is_periodic) nodes->at[n - 1] = high;
    return true;
}

void kb_nodes_clear(kb_nodes *nodes)
{
    kb_free(nodes->at);
    kb_free(nodes->sine);
    kb_free(nodes->cosine);
    *nodes = (kb_nodes){0};
}

/* ---------------------------------------------------------------- barycentric interpolation */

static double sign(size_t j) { return j % 2 ? -1 : 1; }

/* w_j ~ (-1)^j / sin(theta_j), for even n (-1)^j / tan(theta_j); theta_j = pi (x - at_j) / period */
static bool periodic_weights(const kb_nodes *nodes, double x, double *weight, size_t *hit)
{
    double angle = M_PI * (x - nodes->low) / (nodes->high - nodes->low), s = sin(angle), c = cos(angle);
    for (size_t j = 0; j < nodes->n; j++) {
        double sine = s * nodes->cosine[j] - c * nodes->sine[j];
        double cosine = nodes->n % 2 ? 1 : c * nodes->cosine[j] + s * nodes->sine[j];
        weight[j] = sign(j) * cosine / sine;
        *hit = j;
        if (fabs(sine) < 1e-14) return true;
    }
    return false;
}

/* w_j ~ (-1)^j / (x - at_j), half of it at the ends */
static bool chebyshev_weights(const kb_nodes *nodes, double x, double *weight, size_t *hit)
{
    for (size_t j = 0; j < nodes->n; j++) {
        double end = j == 0 || j + 1 == nodes->n ? 0.5 : 1, distance = x - nodes->at[j];
        weight[j] = sign(j) * end / distance;
        *hit = j;
        if (fabs(distance) < 1e-15 * (nodes->high - nodes->low)) return true;
    }
    return false;
}

void kb_nodes_weights(const kb_nodes *nodes, double x, double *weight)
{
    size_t hit = 0;
    double sum = 0;
    bool is_node =
        nodes->is_periodic ? periodic_weights(nodes, x, weight, &hit) : chebyshev_weights(nodes, x, weight, &hit);
    if (is_node) {
        memset(weight, 0, nodes->n * sizeof *weight);
        weight[hit] = 1;
        return;
    }
    for (size_t j = 0; j < nodes->n; j++) sum += weight[j];
    for (size_t j = 0; j < nodes->n; j++) weight[j] /= sum;
}

/* ---------------------------------------------------------------- differentiation */

/* D_ij for i != j */
static double entry(const kb_nodes *nodes, size_t i, size_t j)
{
    size_t n = nodes->n;
    double length = nodes->high - nodes->low;
    if (nodes->is_periodic) {
        double angle = M_PI * ((double)i - (double)j) / (double)n;
        return M_PI / length * sign(i + j) / sin(angle);
    }
    double end_i = i == 0 || i + 1 == n ? 0.5 : 1, end_j = j == 0 || j + 1 == n ? 0.5 : 1;
    double a = M_PI * (double)(i + j) / (double)(2 * n - 2), b = M_PI * ((double)i - (double)j) / (double)(2 * n - 2);
    return sign(i + j) * end_j / end_i / (length * sin(a) * sin(b)); /* at_i - at_j without cancellation */
}

/* Rows sum to zero: a constant has no slope, to the last digit. */
void kb_nodes_derivative(const kb_nodes *nodes, double *matrix)
{
    size_t n = nodes->n;
    for (size_t i = 0; i < n; i++) {
        double sum = 0;
        for (size_t j = 0; j < n; j++) {
            if (i == j) continue;
            matrix[i + j * n] = entry(nodes, i, j);
            sum += matrix[i + j * n];
        }
        matrix[i + i * n] = -sum;
    }
}
