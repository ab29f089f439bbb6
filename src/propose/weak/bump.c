#include "propose/weak/bump.h"

#include <math.h>
#include <string.h>

/* Coefficients of the derivative in powers of s: (1 - s^2)^p = sum_j (p over j) (-1)^j s^(2j). Returns the degree. */
static size_t expand(size_t power, size_t order, double *c)
{
    size_t degree = 2 * power;
    memset(c, 0, (degree + 1) * sizeof *c);
    c[0] = 1;
    for (size_t j = 1; j <= power; j++) c[2 * j] = -c[2 * j - 2] * (double)(power - j + 1) / (double)j;
    for (size_t k = 0; k < order; k++) {
        for (size_t j = 0; j < degree; j++) c[j] = (double)(j + 1) * c[j + 1];
        if (degree) c[degree--] = 0;
        else c[0] = 0;
    }
    return degree;
}

void kb_bump_derivative(size_t power, size_t order, size_t n, const double *s, double *out)
{
    double c[2 * KB_BUMP_MOST_POWER + 1];
    size_t degree = expand(power, order, c);
    for (size_t i = 0; i < n; i++) {
        double value = 0;
        for (size_t j = degree + 1; j-- > 0;) value = value * s[i] + c[j];
        out[i] = fabs(s[i]) < 1 ? value : 0;
    }
}

void kb_bump_quadrature(size_t n, const double *time, double low, double high, double *weight)
{
    for (size_t i = 0; i < n; i++) weight[i] = 0.5 * ((i + 1 < n ? time[i + 1] : high) - (i ? time[i - 1] : low));
}
