#include "kernel/kernel.h"

#include <math.h>

/* Taylor coefficients c[0..n] of a function around the point of interest. */
typedef double taylor[KB_KERNEL_MAX_ORDER + 1];

static void square(const taylor a, taylor out, int n)
{
    for (int k = 0; k <= n; k++) {
        out[k] = 0;
        for (int i = 0; i <= k; i++) out[k] += a[i] * a[k - i];
    }
}

static void multiply(const taylor a, const taylor b, taylor out, int n)
{
    for (int k = 0; k <= n; k++) {
        out[k] = 0;
        for (int i = 0; i <= k; i++) out[k] += a[i] * b[k - i];
    }
}

/* e = exp(a):  k e_k = sum_i i a_i e_{k-i} */
static void exponential(const taylor a, taylor e, int n)
{
    e[0] = exp(a[0]);
    for (int k = 1; k <= n; k++) {
        e[k] = 0;
        for (int i = 1; i <= k; i++) e[k] += i * a[i] * e[k - i];
        e[k] /= k;
    }
}

/* p = a^r:  k a_0 p_k = sum_i (r i - (k - i)) a_i p_{k-i} */
static void power(const taylor a, double r, taylor p, int n)
{
    p[0] = pow(a[0], r);
    for (int k = 1; k <= n; k++) {
        p[k] = 0;
        for (int i = 1; i <= k; i++) p[k] += (r * i - (k - i)) * a[i] * p[k - i];
        p[k] /= k * a[0];
    }
}

/* sin(a + h s) in h */
static void sine(double a, double s, taylor out, int n)
{
    double scale = 1;
    for (int k = 0; k <= n; k++) {
        out[k] = scale * sin(a + k * M_PI_2);
        scale *= s / (k + 1);
    }
}

/* Matern nu = p + 1/2: polynomial in y = sqrt(2 nu)|d|/l times exp(-y). */
static void matern(double d, double length, int p, taylor out, int n)
{
    static const double polynomials[2][4] = {{1, 1, 1.0 / 3, 0}, {1, 1, 2.0 / 5, 1.0 / 15}};
    const double *coefficients = polynomials[p - 2];
    double slope = sqrt(2 * p + 1) / length * (d < 0 ? -1 : 1);
    taylor y = {slope * d, slope}, minus_y = {-slope * d, -slope}, decay, sum = {0}, next;
    for (int i = p; i >= 0; i--) { /* Horner */
        multiply(sum, y, next, n);
        for (int k = 0; k <= n; k++) sum[k] = next[k];
        sum[0] += coefficients[i];
    }
    exponential(minus_y, decay, n);
    multiply(sum, decay, out, n);
}

static void expand(const kb_kernel *kernel, double d, taylor out, int n)
{
    double l = kernel->length;
    taylor x = {d / l, 1 / l}, inner = {0}, s = {0};
    switch (kernel->kind) {
    case KB_KERNEL_MATERN52: matern(d, l, 2, out, n); return;
    case KB_KERNEL_MATERN72: matern(d, l, 3, out, n); return;
    case KB_KERNEL_RQ: /* (1 + x^2/2)^-1, alpha = 1 */
        square(x, inner, n);
        for (int k = 0; k <= n; k++) inner[k] *= 0.5;
        inner[0] += 1;
        power(inner, -1, out, n);
        return;
    case KB_KERNEL_PERIODIC: /* exp(-2 sin^2(pi d / period) / x^2), x = 2 pi l / period: length l in the axis' units */
        sine(M_PI * d / kernel->period, M_PI / kernel->period, s, n);
        square(s, inner, n);
        for (int k = 0; k <= n; k++) inner[k] *= -2 * pow(kernel->period / (2 * M_PI * l), 2);
        exponential(inner, out, n);
        return;
    default: /* exp(-x^2/2) */
        square(x, inner, n);
        for (int k = 0; k <= n; k++) inner[k] *= -0.5;
        exponential(inner, out, n);
    }
}

int kb_kernel_highest_derivative(kb_kernel_kind kind)
{
    return kind == KB_KERNEL_MATERN52 ? 2 : kind == KB_KERNEL_MATERN72 ? 3 : KB_KERNEL_MAX_ORDER / 2;
}

double kb_kernel_derivative(const kb_kernel *kernel, double t, double other, int order)
{
    taylor c = {0};
    double factorial = 1;
    expand(kernel, t - other, c, order);
    for (int k = 2; k <= order; k++) factorial *= k;
    return factorial * c[order];
}
