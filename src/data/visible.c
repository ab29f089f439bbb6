#include "data/visible.h"

#include <math.h>

enum { ORDERS = 5, MOST_LOOKED_AT = 200000 };
static const double longest = 4; /* times the axis: a wavelength that is not seen to end */

static size_t count_points(const kb_grid_values *g)
{
    size_t n = 1;
    for (size_t a = 0; a < g->n_axes; a++) n *= g->n[a];
    return n;
}

static size_t stride_of(const kb_grid_values *g, size_t axis)
{
    size_t stride = 1;
    for (size_t a = axis + 1; a < g->n_axes; a++) stride *= g->n[a];
    return stride;
}

/* About MOST_LOOKED_AT points, spread evenly: a step that shares no factor with the axes would be best, an odd one
 * does.
 */
static size_t stride_of_looks(size_t n) { return n <= MOST_LOOKED_AT ? 1 : (n / MOST_LOOKED_AT) | 1; }

/* Mean square of (1, -k, ...) differences of order k along an axis, over their gain for white noise; NaN: none. */
static double difference_variance(const kb_grid_values *g, size_t axis, size_t order)
{
    size_t n = count_points(g), stride = stride_of(g, axis), look = stride_of_looks(n);
    double c[ORDERS + 1] = {1}, gain = 0, sum = 0, count = 0;
    for (size_t k = 1; k <= order; k++) c[k] = -c[k - 1] * (double)(order - k + 1) / (double)k;
    for (size_t k = 0; k <= order; k++) gain += c[k] * c[k];
    for (size_t p = 0; p < n; p += look) {
        if (p / stride % g->n[axis] + order >= g->n[axis]) continue;
        double difference = 0;
        for (size_t k = 0; k <= order; k++) difference += c[k] * g->value[p + k * stride];
        if (isnan(difference)) continue;
        sum += difference * difference;
        count++;
    }
    return count > 0 ? sum / count / gain : NAN;
}

double kb_grid_noise(const kb_grid_values *g)
{
    double least = INFINITY;
    for (size_t axis = 0; axis < g->n_axes; axis++)
        for (size_t order = 1; order <= ORDERS && order < g->n[axis]; order++) {
            double variance = difference_variance(g, axis, order);
            if (variance < least) least = variance;
        }
    return isfinite(least) ? least : 0;
}

static double variance_of(const kb_grid_values *g)
{
    size_t n = count_points(g), look = stride_of_looks(n);
    double sum = 0, squares = 0, count = 0;
    for (size_t p = 0; p < n; p += look) {
        if (isnan(g->value[p])) continue;
        sum += g->value[p];
        squares += g->value[p] * g->value[p];
        count++;
    }
    return count > 0 ? squares / count - (sum / count) * (sum / count) : 0;
}

/* Mean square of the change over a lag; NaN: none. */
static double structure(const kb_grid_values *g, size_t axis, size_t lag)
{
    size_t n = count_points(g), stride = stride_of(g, axis), look = stride_of_looks(n);
    double sum = 0, count = 0;
    for (size_t p = 0; p < n; p += look) {
        if (p / stride % g->n[axis] + lag >= g->n[axis]) continue;
        double change = g->value[p + lag * stride] - g->value[p];
        if (isnan(change)) continue;
        sum += change * change;
        count++;
    }
    return count > 0 ? sum / count : NAN;
}

double kb_grid_wavelength(const kb_grid_values *g, size_t axis, double noise)
{
    double field = variance_of(g) - noise, before = 1, lag_before = 0;
    for (size_t lag = 1; field > 0 && lag < g->n[axis]; lag += 1 + lag / 4) {
        double correlation = 1 - (structure(g, axis, lag) - 2 * noise) / (2 * field);
        if (correlation < 0.5) {
            double share = (before - 0.5) / (before - correlation);
            return 6 * (lag_before + share * ((double)lag - lag_before));
        }
        if (isnan(correlation)) break;
        before = correlation;
        lag_before = (double)lag;
    }
    return longest * (double)g->n[axis];
}
