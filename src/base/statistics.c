#include "base/statistics.h"

#include <math.h>

enum { MOST_TERMS = 10000, BISECTIONS = 200 };

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
        if (fabs(c * d - 1) <= 1e-16) break;
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
