#include "gp/bare_field.h"

#include <math.h>
#include <string.h>

#include "base/budget.h"
#include "base/linalg.h"
#include "base/memory.h"
#include "base/status.h"
#include "gp/scales.h"
#include "tensor/mode.h"

enum { BLOCKS = 4 };                    /* blocks: of an axis too long to be seen whole */
enum { BLOCK_POINTS = 150 };            /* points: of a block */
enum { RATIOS = 14 };                   /* values: of noise to signal that are tried */
enum { GOLDEN_STEPS = 16 };             /* steps: of golden section after them */
enum { AT_ONCE = 16 };                  /* room: lines at a time */
static const double least_ratio = 1e-8; /* of the signal's variance: least noise */

typedef struct {
    const kb_field_samples *samples;
    kb_kernel_kind kind;
    bool kronecker;
    size_t capacity, *n; /* per field */
    double *e, *s2;      /* capacity x n_fields */
    size_t *block;       /* BLOCKS x BLOCK_POINTS x n_fields: the blocks' points */
    double *vectors[KB_SAMPLE_AXES],
        *values[KB_SAMPLE_AXES]; /* eigenproblems of the axes, or of a block in the first */
    double *work;
} spectrum;

static bool is_full_grid(const kb_field_samples *samples)
{
    for (size_t i = 0; i < samples->n_fields; i++)
        if (samples->count[i] < samples->n_points) return false;
    return samples->gridded && !samples->relative;
}

/* ---------------------------------------------------------------- eigenvalues and projections */

static double distance(const kb_field_samples *samples, size_t i, size_t j)
{
    double sum = 0;
    for (size_t a = 0; a < samples->n_axes; a++) {
        double d = (samples->point[i + a * samples->n_points] - samples->point[j + a * samples->n_points]) /
                   samples->spacing[a];
        sum += d * d;
    }
    return sum;
}

/* The measured points nearest to a centre, in units of the spacing. */
static size_t choose_block(const kb_field_samples *samples, size_t field, size_t centre, size_t *points,
                           double *nearest)
{
    size_t n = 0;
    for (size_t i = 0; i < samples->n_points; i++) {
        if (samples->measured[i + field * samples->n_points] == 0) continue;
        double d = distance(samples, i, centre);
        if (n == BLOCK_POINTS && !(d < nearest[n - 1])) continue;
        size_t at = n < BLOCK_POINTS ? n++ : n - 1;
        for (; at > 0 && nearest[at - 1] > d; at--) nearest[at] = nearest[at - 1], points[at] = points[at - 1];
        nearest[at] = d;
        points[at] = i;
    }
    return n;
}

static void choose_blocks(spectrum *s)
{
    const kb_field_samples *samples = s->samples;
    for (size_t i = 0; i < samples->n_fields; i++)
        for (size_t b = 0; b < BLOCKS; b++) {
            size_t centre = (2 * b + 1) * samples->n_points / (2 * BLOCKS);
            s->n[i] = choose_block(samples, i, centre, s->block + (b + i * BLOCKS) * BLOCK_POINTS, s->work);
        }
}

static kb_kernel axis_kernel(const spectrum *s, size_t axis, double length)
{
    double period = s->samples->period[axis];
    return period > 0 ? (kb_kernel){KB_KERNEL_PERIODIC, length, period} : (kb_kernel){s->kind, length, 1};
}

static bool block_spectrum(spectrum *s, const double *length, size_t field, size_t block)
{
    const kb_field_samples *samples = s->samples;
    size_t n = s->n[field], points = samples->n_points, at = field * s->capacity + block * n;
    const size_t *point = s->block + (block + field * BLOCKS) * BLOCK_POINTS;
    double *K = s->vectors[0], *y = s->work;
    for (size_t j = 0; j < n; j++)
        for (size_t i = j; i < n; i++) {
            K[i + j * n] = kb_field_samples_root(samples, point[i] + field * points) *
                           kb_field_samples_root(samples, point[j] + field * points);
            for (size_t a = 0; a < samples->n_axes; a++) {
                kb_kernel kernel = axis_kernel(s, a, length[a]);
                const double *x = samples->point + a * points;
                K[i + j * n] *= kb_kernel_derivative(&kernel, x[point[i]], x[point[j]], 0);
            }
        }
    if (!kb_eigen_symmetric(n, K, n, s->e + at)) return false;
    for (size_t i = 0; i < n; i++)
        y[i] = samples->value[point[i] + field * points] * kb_field_samples_root(samples, point[i] + field * points);
    kb_gemv(KB_TRANSPOSED, n, n, 1, K, n, y, 0, s->s2 + at);
    return true;
}

static bool axis_spectrum(spectrum *s, double length, size_t axis)
{
    size_t n = s->samples->n_grid[axis];
    const double *x = s->samples->grid[axis];
    double *K = s->vectors[axis];
    kb_kernel kernel = axis_kernel(s, axis, length);
    for (size_t j = 0; j < n; j++)
        for (size_t i = j; i < n; i++) K[i + j * n] = kb_kernel_derivative(&kernel, x[i], x[j], 0);
    return kb_eigen_symmetric(n, K, n, s->values[axis]);
}

/* The points of samples run with the last axis fastest, so the modes come in reverse. */
static bool kronecker_spectrum(spectrum *s, const double *length)
{
    const kb_field_samples *samples = s->samples;
    size_t axes = samples->n_axes, points = samples->n_points;
    kb_mode modes[KB_SAMPLE_AXES];
    for (size_t a = 0; a < axes; a++) {
        size_t n = samples->n_grid[a];
        if (!axis_spectrum(s, length[a], a)) return false;
        modes[axes - 1 - a] = (kb_mode){n, n, n, s->vectors[a]};
    }
    for (size_t p = 0; p < points; p++) {
        double product = 1;
        for (size_t a = axes, rest = p; a-- > 0; rest /= samples->n_grid[a])
            product *= s->values[a][rest % samples->n_grid[a]];
        for (size_t i = 0; i < samples->n_fields; i++) s->e[p + i * points] = product;
    }
    for (size_t i = 0; i < samples->n_fields; i++)
        kb_modes_adjoint(axes, modes, samples->value + i * points, s->s2 + i * points, s->work);
    return true;
}

static bool fill_spectrum(spectrum *s, const double *length)
{
    bool done = true;
    if (s->kronecker) done = kronecker_spectrum(s, length);
    else
        for (size_t i = 0; i < s->samples->n_fields; i++)
            for (size_t b = 0; done && b < BLOCKS; b++) done = block_spectrum(s, length, i, b);
    if (!done) return false;
    for (size_t i = 0; i < s->capacity * s->samples->n_fields; i++) {
        s->e[i] = fmax(s->e[i], 0);
        s->s2[i] *= s->s2[i];
    }
    return true;
}

/* ---------------------------------------------------------------- likelihood */

static size_t field_size(const spectrum *s, size_t field) { return s->kronecker ? s->capacity : BLOCKS * s->n[field]; }

/* -log p at noise ratio r, the amplitude at its best; or, with known noise, at the amplitude known / r */
static double cost(const spectrum *s, size_t field, double r, double *amplitude)
{
    size_t n = field_size(s, field);
    const double *e = s->e + field * s->capacity, *s2 = s->s2 + field * s->capacity;
    double quadratic = 0, logs = 0, known = s->samples->known_variance[field];
    for (size_t i = 0; i < n; i++) quadratic += s2[i] / (e[i] + r);
    for (size_t i = 0; i < n; i += AT_ONCE) { /* a logarithm costs as much as some dozens of products */
        double product = 1;
        for (size_t j = i; j < i + AT_ONCE && j < n; j++) product *= e[j] + r;
        logs += log(product);
    }
    *amplitude = known > 0 ? known / r : fmax(quadratic / (double)n, 1e-12);
    return 0.5 * (quadratic / *amplitude + logs + (double)n * log(*amplitude));
}

/* The best ratio: a coarse look, then golden section around it. */
static double best_ratio(const spectrum *s, size_t field, double *amplitude, double *ratio)
{
    static const double golden = 0.6180339887498949;
    double step = log(KB_MOST_NOISE / least_ratio) / (RATIOS - 1), best = INFINITY, at = 0;
    for (int i = 0; i < RATIOS; i++) {
        double found = cost(s, field, least_ratio * exp(i * step), amplitude);
        if (found < best) best = found, at = i * step;
    }
    double a = fmax(at - step, 0), b = fmin(at + step, (RATIOS - 1) * step);
    for (int i = 0; i < GOLDEN_STEPS; i++) {
        double c = b - golden * (b - a), d = a + golden * (b - a);
        if (cost(s, field, least_ratio * exp(c), amplitude) < cost(s, field, least_ratio * exp(d), amplitude)) b = d;
        else a = c;
    }
    *ratio = least_ratio * exp(0.5 * (a + b));
    return cost(s, field, *ratio, amplitude);
}

static double total_cost(spectrum *s, const double *log_length, kb_bare_field *gp)
{
    double length[KB_SAMPLE_AXES], sum = 0;
    for (size_t a = 0; a < s->samples->n_axes; a++) length[a] = exp(log_length[a]);
    if (!fill_spectrum(s, length)) return INFINITY;
    for (size_t i = 0; i < s->samples->n_fields; i++) {
        double ratio;
        sum += best_ratio(s, i, &gp->amplitude[i], &ratio);
        gp->variance[i] = ratio * gp->amplitude[i];
    }
    return sum;
}

/* ---------------------------------------------------------------- search over length scales */

static double coarse_search(spectrum *s, const double *low, double high, double *at, kb_bare_field *gp)
{
    static const size_t per_axis[] = {0, 16, 8, 5, 4};
    size_t axes = s->samples->n_axes, n = per_axis[axes], total = 1;
    double best = INFINITY, trial[KB_SAMPLE_AXES];
    for (size_t a = 0; a < axes; a++) total *= n;
    for (size_t i = 0; i < total && !kb_budget_expired(); i++) {
        for (size_t a = 0, rest = i; a < axes; a++, rest /= n)
            trial[a] = low[a] + (high - low[a]) * (double)(rest % n) / (double)(n - 1);
        double found = total_cost(s, trial, gp);
        if (found < best) {
            best = found;
            memcpy(at, trial, axes * sizeof *at);
        }
    }
    return best;
}

/* Compass search: a step along any axis that lowers the cost is taken; steps halve when none does. */
static double fine_search(spectrum *s, const double *low, double high, double *at, double best, kb_bare_field *gp)
{
    for (double step = 0.25; step > 0.02; step /= 2)
        for (bool moved = true; moved && !kb_budget_expired();) {
            moved = false;
            for (size_t i = 0; i < 2 * s->samples->n_axes; i++) {
                size_t a = i / 2;
                double before = at[a];
                at[a] = fmin(fmax(before + (i % 2 ? step : -step), low[a]), high);
                double found = at[a] == before ? INFINITY : total_cost(s, at, gp);
                if (found < best - 1e-6) best = found, moved = true;
                else at[a] = before;
            }
        }
    return best;
}

static void search(spectrum *s, kb_bare_field *gp)
{
    double low[KB_SAMPLE_AXES], at[KB_SAMPLE_AXES] = {0}, high = log(KB_LONGEST_SCALE);
    for (size_t a = 0; a < s->samples->n_axes; a++)
        low[a] = fmin(log(KB_SHORTEST_SCALE * s->samples->spacing[a]), high - 1);
    double best = coarse_search(s, low, high, at, gp);
    fine_search(s, low, high, at, best, gp);
    gp->log_likelihood = -total_cost(s, at, gp);
    for (size_t a = 0; a < s->samples->n_axes; a++) gp->length[a] = exp(at[a]);
}

/* ---------------------------------------------------------------- life */

static void spectrum_clear(spectrum *s)
{
    double *arrays[] = {s->e, s->s2, s->work};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++) kb_free(arrays[i]);
    for (size_t a = 0; a < KB_SAMPLE_AXES; a++) kb_free(s->vectors[a]), kb_free(s->values[a]);
    kb_free(s->n);
    kb_free(s->block);
}

static bool spectrum_init(spectrum *s, const kb_field_samples *samples, kb_kernel_kind kind)
{
    bool complete = true;
    *s = (spectrum){.samples = samples, .kind = kind, .kronecker = is_full_grid(samples)};
    s->capacity = s->kronecker ? samples->n_points : BLOCKS * BLOCK_POINTS;
    s->n = KB_NEW(size_t, samples->n_fields);
    s->e = KB_NEW(double, s->capacity * samples->n_fields);
    s->s2 = KB_NEW(double, s->capacity * samples->n_fields);
    s->work = KB_NEW(double, 2 * s->capacity);
    s->block = KB_NEW(size_t, s->kronecker ? 0 : s->capacity * samples->n_fields);
    for (size_t a = 0; a < samples->n_axes; a++) {
        size_t n = s->kronecker ? samples->n_grid[a] : a ? 0 : BLOCK_POINTS;
        s->vectors[a] = KB_NEW(double, n *n);
        s->values[a] = KB_NEW(double, n);
        complete = complete && s->vectors[a] && s->values[a];
    }
    complete = complete && s->n && s->e && s->s2 && s->work && s->block;
    if (complete && !s->kronecker) choose_blocks(s);
    return complete;
}

kbass_status kb_bare_field_fit(const kb_field_samples *samples, kb_kernel_kind kind, kb_bare_field **out,
                               kbass_error *error)
{
    spectrum s;
    size_t refusals = kb_memory_refusals();
    kb_bare_field *gp = KB_NEW(kb_bare_field, 1);
    kbass_status status = KBASS_OK;
    bool complete = spectrum_init(&s, samples, kind) && gp;
    if (complete) {
        gp->amplitude = KB_NEW(double, samples->n_fields);
        gp->variance = KB_NEW(double, samples->n_fields);
        complete = gp->amplitude && gp->variance;
    }
    if (!complete) status = kb_out_of_memory(error, "the field's length scales");
    if (status == KBASS_OK) {
        search(&s, gp);
        if (kb_memory_refusals() != refusals) status = kb_out_of_memory(error, "the field's length scales");
        else if (kb_budget_expired()) status = kb_out_of_time(error, "the field's length scales were found");
        else if (!isfinite(gp->log_likelihood))
            status = kb_fail(error, KBASS_ERROR_NUMERICAL, "no length scale of the kernel fits these data");
    }
    spectrum_clear(&s);
    if (status == KBASS_OK) *out = gp;
    else kb_bare_field_destroy(gp);
    return status;
}

void kb_bare_field_destroy(kb_bare_field *gp)
{
    if (!gp) return;
    kb_free(gp->amplitude);
    kb_free(gp->variance);
    kb_free(gp);
}
