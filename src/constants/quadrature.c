#include "constants/quadrature.h"

#include <math.h>

double kb_nodes_mass(const kb_nodes *q)
{
    double total = 0;
    for (size_t i = 1; i < q->n; i++)
        total += 0.5 * (q->density[i] + q->density[i - 1]) * (q->share[i] - q->share[i - 1]);
    return total;
}

double kb_nodes_quantile(const kb_nodes *q, double level)
{
    double total = kb_nodes_mass(q), sum = 0;
    for (size_t i = 1; i < q->n; i++) {
        double a = q->density[i - 1], b = q->density[i], h = q->share[i] - q->share[i - 1], mass = 0.5 * (a + b) * h;
        if (sum + mass >= level * total && mass > 0) {
            double want = (level * total - sum) / h, slope = b - a; /* a x + slope x^2 / 2 = want */
            double x = fabs(slope) > 1e-12 ? (sqrt(fmax(a * a + 2 * slope * want, 0)) - a) / slope : want / a;
            return q->share[i - 1] + h * fmin(fmax(x, 0), 1);
        }
        sum += mass;
    }
    return q->share[q->n - 1];
}
