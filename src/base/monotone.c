#include "base/monotone.h"

/* Blocks of neighbours with a common mean; a block below the one before it joins that. */
double kb_monotone_squares(size_t n, const double *y, const double *weight, double sign, double *work)
{
    double *sum = work, *weights = work + n, *count = work + 2 * n, squares = 0;
    size_t blocks = 0, at = 0;
    for (size_t i = 0; i < n; i++) {
        sum[blocks] = weight[i] * sign * y[i];
        weights[blocks] = weight[i];
        count[blocks++] = 1;
        while (blocks > 1 && sum[blocks - 1] * weights[blocks - 2] < sum[blocks - 2] * weights[blocks - 1]) {
            blocks--;
            sum[blocks - 1] += sum[blocks];
            weights[blocks - 1] += weights[blocks];
            count[blocks - 1] += count[blocks];
        }
    }
    for (size_t b = 0; b < blocks; b++)
        for (size_t k = 0; k < (size_t)count[b]; k++, at++) {
            double r = sign * y[at] - sum[b] / weights[b];
            squares += weight[at] * r * r;
        }
    return squares;
}
