#include "weights/truncation.h"

#include <math.h>
#include <stdbool.h>

enum { POINTS = 251 };                 /* points: of the quadrature; within 1 in 1000 */
enum { STEPS = 34 };                   /* halvings: of a quantile */
static const double singular = 1e-10;  /* share of a variance that is rounding */
static const double negligible = 1e-4; /* mass outside */

/* log Phi(x); Mills' ratio below -30. */
static double log_phi(double x)
{
    if (x > -30) return log(0.5 * erfc(-x * M_SQRT1_2));
    return -0.5 * x * x - log(-x) - 0.5 * log(2 * M_PI) + log1p(-1 / (x * x));
}

double kb_log_normal_between(double a, double b)
{
    if (!(a < b)) return -INFINITY;
    if (a > 0) return kb_log_normal_between(-b, -a);
    if (b > 0) return log1p(-0.5 * erfc(-a * M_SQRT1_2) - 0.5 * erfc(b * M_SQRT1_2));
    double upper = log_phi(b), lower = log_phi(a);
    return upper + log1p(-exp(lower - upper));
}

/* The x between a and b below which a share of that mass lies. */
static double quantile_between(double a, double b, double share)
{
    double target = kb_log_normal_between(a, b) + log(share), low = fmax(a, -40 + fmin(b, 0)),
           high = fmin(b, 40 + fmax(a, 0));
    for (int i = 0; i < STEPS && high - low > 1e-12; i++) {
        double x = 0.5 * (low + high);
        if (kb_log_normal_between(a, x) < target) low = x;
        else high = x;
    }
    return 0.5 * (low + high);
}

/* Lower Cholesky factor of a matrix that may be singular: a direction without spread has a column of zeros. */
static void factorise(size_t n, const double *V, size_t ld, double L[KB_MOST_BOUNDED][KB_MOST_BOUNDED])
{
    for (size_t j = 0; j < n; j++)
        for (size_t i = j; i < n; i++) {
            double sum = V[i + j * ld];
            for (size_t k = 0; k < j; k++) sum -= L[i][k] * L[j][k];
            if (i == j) L[j][j] = sum > singular * V[j + j * ld] ? sqrt(sum) : 0;
            else L[i][j] = L[j][j] > 0 ? sum / L[j][j] : 0;
        }
}

static bool is_diagonal(size_t n, double L[KB_MOST_BOUNDED][KB_MOST_BOUNDED])
{
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < i; j++)
            if (fabs(L[i][j]) > 1e-8 * fabs(L[i][i])) return false;
    return true;
}

/* One point of the lattice: the product of the conditional masses. */
static double log_mass_at(size_t n, const double *mean, double L[KB_MOST_BOUNDED][KB_MOST_BOUNDED], const double *low,
                          const double *high, size_t point)
{
    double y[KB_MOST_BOUNDED], sum = 0;
    for (size_t i = 0; i < n; i++) {
        double m = mean[i], root = sqrt((double)(2 + i)), at = ((double)point + 0.5) * (root - floor(root));
        for (size_t j = 0; j < i; j++) m += L[i][j] * y[j];
        y[i] = 0;
        if (!(L[i][i] > 0)) {
            double slack = 1e-9 * (fabs(m) + 1e-300);
            if (m < low[i] - slack || m > high[i] + slack) return -INFINITY;
            continue;
        }
        double a = (low[i] - m) / L[i][i], b = (high[i] - m) / L[i][i];
        sum += kb_log_normal_between(a, b);
        if (!(sum > -INFINITY)) return -INFINITY;
        at = fabs(2 * (at - floor(at)) - 1); /* baker's transformation */
        if (i + 1 < n) y[i] = quantile_between(a, b, fmin(fmax(at, 1e-9), 1 - 1e-9));
    }
    return sum;
}

/* The mass beyond each bound alone, added up: no less than what is outside of all. */
static double mass_outside(size_t n, const double *mean, const double *V, size_t ld, const double *low,
                           const double *high)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++) {
        double sd = sqrt(V[i + i * ld]);
        if (sd > 0) sum -= expm1(kb_log_normal_between((low[i] - mean[i]) / sd, (high[i] - mean[i]) / sd));
    }
    return sum;
}

double kb_log_mass_in_box(size_t n, const double *mean, const double *V, size_t ld, const double *low,
                          const double *high)
{
    double L[KB_MOST_BOUNDED][KB_MOST_BOUNDED], values[POINTS], largest = -INFINITY, sum = 0;
    double outside = mass_outside(n, mean, V, ld, low, high);
    if (outside < negligible) return -outside;
    factorise(n, V, ld, L);
    size_t points = n < 2 || is_diagonal(n, L) ? 1 : POINTS;
    for (size_t p = 0; p < points; p++) {
        values[p] = log_mass_at(n, mean, L, low, high, p);
        if (values[p] > largest) largest = values[p];
    }
    if (!(largest > -INFINITY)) return -INFINITY;
    for (size_t p = 0; p < points; p++) sum += exp(values[p] - largest);
    return largest + log(sum / (double)points);
}
