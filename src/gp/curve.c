#include "gp/curve.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"

static double width(const kb_curve *c, size_t i) { return c->time[i + 1] - c->time[i]; }

static double secant(const kb_curve *c, size_t i) { return (c->value[i + 1] - c->value[i]) / width(c, i); }

/* Slope at the first of four points a step apart (1: from the beginning, -1: from the end): that of the cubic through
   them, or of the parabola through three. */
static double end_slope(const kb_curve *c, size_t at, int step)
{
    double t[4] = {0}, f[4] = {0};
    size_t n = c->n < 4 ? c->n : 4;
    for (size_t i = 0; i < n; i++) {
        size_t point = step > 0 ? at + i : at - i;
        t[i] = c->time[point];
        f[i] = c->value[point];
    }
    for (size_t order = 1; order < n; order++) /* divided differences */
        for (size_t i = n - 1; i >= order; i--) f[i] = (f[i] - f[i - 1]) / (t[i] - t[i - order]);
    double slope = f[1];
    if (n > 2) slope += (t[0] - t[1]) * f[2];
    if (n > 3) slope += (t[0] - t[1]) * (t[0] - t[2]) * f[3];
    return slope;
}

/* h_i m_{i-1} + 2 (h_{i-1} + h_i) m_i + h_{i-1} m_{i+1} = 3 (h_i d_{i-1} + h_{i-1} d_i); work: n */
static void spline_slopes(kb_curve *c, double *work)
{
    size_t n = c->n;
    double *m = c->slope;
    m[0] = end_slope(c, 0, 1);
    m[n - 1] = end_slope(c, n - 1, -1);
    work[0] = 0;
    for (size_t i = 1; i + 1 < n; i++) {
        double before = width(c, i - 1), after = width(c, i), pivot = 2 * (before + after) - after * work[i - 1];
        work[i] = before / pivot;
        m[i] = (3 * (after * secant(c, i - 1) + before * secant(c, i)) - after * m[i - 1]) / pivot;
    }
    for (size_t i = n - 1; i-- > 1;) m[i] -= work[i] * m[i + 1];
}

/* |m| <= 3 min(|left|, |right|), and where both rise or both fall m does not turn. */
static double limited(double m, double left, double right)
{
    double most = 3 * fmin(fabs(left), fabs(right)), low = left > 0 && right > 0 ? 0 : -most;
    double high = left < 0 && right < 0 ? 0 : most;
    return fmin(fmax(m, low), high);
}

bool kb_curve_create(size_t n, const double *times, const double *values, bool is_held, kb_curve *out)
{
    kb_curve c = {n, is_held, 0, KB_NEW(double, n), KB_NEW(double, n), KB_NEW(double, n)};
    double *work = KB_NEW(double, n);
    bool done = c.time && c.value && c.slope && work;
    if (done) {
        memcpy(c.time, times, n * sizeof *times);
        memcpy(c.value, values, n * sizeof *values);
        spline_slopes(&c, work);
        for (size_t i = 0; i < n; i++)
            c.slope[i] = limited(c.slope[i], secant(&c, i ? i - 1 : 0), secant(&c, i + 1 < n ? i : n - 2));
        *out = c;
    } else {
        kb_curve_clear(&c);
    }
    kb_free(work);
    return done;
}

void kb_curve_clear(kb_curve *c)
{
    kb_free(c->time);
    kb_free(c->value);
    kb_free(c->slope);
    *c = (kb_curve){0};
}

/* The last point at or before a time between the first and the last. */
static size_t point_before(const kb_curve *c, double time)
{
    size_t low = 0, high = c->n - 1;
    while (high - low > 1) {
        size_t middle = (low + high) / 2;
        if (time < c->time[middle]) high = middle;
        else low = middle;
    }
    return low;
}

double kb_curve_next_jump(const kb_curve *c, double time)
{
    time -= c->delay;
    if (!c->is_held || !(time < c->time[c->n - 1])) return INFINITY;
    size_t next = time < c->time[0] ? 1 : point_before(c, time) + 1;
    while (next < c->n && c->value[next] == c->value[next - 1]) next++;
    return next < c->n ? c->time[next] + c->delay : INFINITY;
}

double kb_curve_at(const kb_curve *c, double time, double *slope)
{
    if (slope) *slope = 0;
    time -= c->delay;
    if (!(time > c->time[0])) return c->value[0];
    if (!(time < c->time[c->n - 1])) return c->value[c->n - 1];
    size_t low = point_before(c, time), high = low + 1;
    if (c->is_held) return c->value[low];
    double h = width(c, low), x = (time - c->time[low]) / h, d = secant(c, low), a = c->slope[low], b = c->slope[high];
    if (slope) *slope = 6 * x * (1 - x) * d + (1 - x) * (1 - 3 * x) * a + x * (3 * x - 2) * b;
    return c->value[low] + h * x * (a + x * (3 * d - 2 * a - b + x * (a + b - 2 * d)));
}
