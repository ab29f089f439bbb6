#include "base/statistics.h"

#include <math.h>

enum { MOST_TERMS = 10000, BISECTIONS = 200 };
static const double rounding = 4e-16; /* of a factor next to 1: two units in its last place, less is never reached */

/* Regularised incomplete gamma function by its series: x^a e^-x / Gamma(a + 1) sum_k x^k / ((a + 1) ... (a + k)) */
static double lower_series(double a, double x)
{
    double term = 1, sum = 1;
    for (int k = 1; k < MOST_TERMS && term > 1e-17 * sum; k++) sum += term *= x / (a + k);
    return sum * exp(a * log(x) - x - lgamma(a + 1));
}

/* Its complement by Lentz's continued fraction, for x > a + 1 */
static double upper_fraction(double a, double x)
{
    double b = x + 1 - a, c = 1e300, d = 1 / b, product = d;
    for (int k = 1; k < MOST_TERMS; k++) {
        double an = -k * (k - a);
        b += 2;
        d = 1 / (an * d + b);
        c = b + an / c;
        product *= c * d;
        if (fabs(c * d - 1) <= rounding) break;
    }
    return product * exp(a * log(x) - x - lgamma(a));
}

double kb_chi2_below(double x, double freedom)
{
    double a = freedom / 2;
    if (!(x > 0)) return 0;
    return x / 2 < a + 1 ? lower_series(a, x / 2) : 1 - upper_fraction(a, x / 2);
}

double kb_chi2_quantile(double share, double freedom)
{
    double low = 0, high = freedom;
    while (kb_chi2_below(high, freedom) < share) high *= 2;
    for (int i = 0; i < BISECTIONS && high - low > 1e-14 * high; i++) {
        double middle = 0.5 * (low + high);
        if (kb_chi2_below(middle, freedom) < share) low = middle;
        else high = middle;
    }
    return 0.5 * (low + high);
}

/* Regularised incomplete beta function by Lentz's continued fraction, for x < (a + 1) / (a + b + 2). */
static double beta_fraction(double a, double b, double x)
{
    double c = 1, d = 1 / (1 - (a + b) * x / (a + 1)), product = d;
    for (int k = 1; k < MOST_TERMS; k++) {
        double even = k * (b - k) * x / ((a + 2 * k - 1) * (a + 2 * k));
        double odd = -(a + k) * (a + b + k) * x / ((a + 2 * k) * (a + 2 * k + 1));
        d = 1 / (1 + even * d);
        c = 1 + even / c;
        product *= c * d;
        d = 1 / (1 + odd * d);
        c = 1 + odd / c;
        product *= c * d;
        if (fabs(c * d - 1) <= rounding) break;
    }
    return product * exp(a * log(x) + b * log1p(-x) + lgamma(a + b) - lgamma(a) - lgamma(b)) / a;
}

/* I_x(a, b), with y = 1 - x */
static double beta_below(double a, double b, double x, double y)
{
    return x < (a + 1) / (a + b + 2) ? beta_fraction(a, b, x) : 1 - beta_fraction(b, a, y);
}

double kb_student_below(double t, double freedom)
{
    if (!(freedom < 1e7)) return 0.5 * erfc(-t / sqrt(2));
    if (t == 0) return 0.5;
    double x = freedom / (freedom + t * t), tail = 0.5 * beta_below(freedom / 2, 0.5, x, t * t / (freedom + t * t));
    return t > 0 ? 1 - tail : tail;
}

double kb_student_width(double freedom)
{
    static const double normal = 1.959963984540054; /* sds: 95 % lie within */
    double low = normal, high = 2 * normal;
    if (!(freedom < 1e7)) return 1;
    while (kb_student_below(high, freedom) < 0.975) high *= 2;
    for (int i = 0; i < BISECTIONS && high - low > 1e-13 * high; i++) {
        double middle = 0.5 * (low + high);
        if (kb_student_below(middle, freedom) < 0.975) low = middle;
        else high = middle;
    }
    return 0.5 * (low + high) / normal;
}

double kb_fisher_quantile(double share, double above, double below)
{
    double low = 0, high = 1, most = 1e7; /* beyond, the fraction is slow and the distribution's width 1e-3 */
    above = fmin(above, most);
    below = fmin(below, most);
    for (int i = 0; i < BISECTIONS && high - low > 1e-13; i++) { /* of x = above F / (above F + below) */
        double middle = 0.5 * (low + high);
        if (beta_below(above / 2, below / 2, middle, 1 - middle) < share) low = middle;
        else high = middle;
    }
    return low * below / ((1 - low) * above);
}
