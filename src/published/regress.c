#include "published/regress.h"

#include <math.h>
#include <string.h>

#include "base/linalg.h"
#include "base/budget.h"
#include "base/memory.h"

enum { MOST_ITERATIONS = 400, PARTS = 10, CANDIDATES = 3 };
static const double accuracy = 1e-8; /* of the gradient, relative */

/* In scaled units. On samples too sparse to foretell each other the error of prediction is no noise, so that what is
   taken for noise is limited. */
static const double candidates[CANDIDATES] = {1e-4, 3e-4, 1e-3};

typedef struct {
    kb_published_field *field;
    const double *mask; /* by point: 1, or 0 where a value is left out */
    double *r;          /* n_points */
    double *x, *g, *p, *Ap;
    size_t n;
} solver;

static bool allocate(solver *s, kb_published_field *f)
{
    s->field = f;
    s->n = f->first[f->n_fields];
    s->r = KB_NEW(double, f->samples->n_points);
    s->x = KB_NEW(double, s->n);
    s->g = KB_NEW(double, s->n);
    s->p = KB_NEW(double, s->n);
    s->Ap = KB_NEW(double, s->n);
    return s->r && s->x && s->g && s->p && s->Ap;
}

static void clear(solver *s)
{
    double *arrays[] = {s->r, s->x, s->g, s->p, s->Ap};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++) kb_free(arrays[i]);
}

/* out = z - F'(y - F z) / v at z, a field at a time; the others' z do not matter. */
static bool gradient(solver *s, size_t which, double variance, const double *z, double *out)
{
    static const unsigned values[KB_SAMPLE_AXES] = {1, 1, 1, 1};
    kb_published_field *f = s->field;
    size_t n = kb_published_field_size(f, which);
    memcpy(f->z + f->first[which], z, n * sizeof *z);
    if (!kb_published_field_set(f, values)) return false;
    kb_published_field_residual(f, which, s->r);
    for (size_t p = 0; p < f->samples->n_points; p++) s->r[p] *= -(s->mask ? s->mask[p] : 1) / variance;
    kb_published_field_pull_rows(f, which, s->r);
    memcpy(out, z, n * sizeof *out);
    kb_published_field_gradient(f, which, out, NULL);
    return true;
}

/* Conjugate gradients on the quadratic, whose Hessian times p is the gradient at p less that at 0. */
static bool solve(solver *s, size_t which, double variance)
{
    kb_published_field *f = s->field;
    size_t n = kb_published_field_size(f, which);
    double *at_zero = s->g + f->first[which], *x = s->x + f->first[which], *p = s->p + f->first[which];
    double *Ap = s->Ap + f->first[which], *r = KB_NEW(double, n);
    bool is_good = r != NULL;
    memset(x, 0, n * sizeof *x);
    is_good = is_good && gradient(s, which, variance, x, at_zero);
    for (size_t i = 0; is_good && i < n; i++) p[i] = r[i] = -at_zero[i];
    double square = is_good ? kb_dot(n, r, r) : 0, first = square;
    for (int k = 0; is_good && k < MOST_ITERATIONS && square > accuracy * accuracy * first; k++) {
        if (kb_budget_expired()) break;
        is_good = gradient(s, which, variance, p, Ap);
        if (!is_good) break;
        kb_axpy(n, -1, at_zero, Ap);
        double step = square / kb_dot(n, p, Ap), before = square;
        kb_axpy(n, step, p, x);
        kb_axpy(n, -step, Ap, r);
        square = kb_dot(n, r, r);
        for (size_t i = 0; i < n; i++) p[i] = r[i] + square / before * p[i];
    }
    kb_free(r);
    return is_good && isfinite(square) && gradient(s, which, variance, x, Ap);
}

kbass_status kb_published_regress(kb_published_field *f, const double *variance, kbass_error *error)
{
    solver s = {0};
    bool complete = allocate(&s, f), is_good = complete;
    for (size_t i = 0; is_good && i < f->n_fields; i++) is_good = solve(&s, i, variance[i]);
    clear(&s);
    if (!complete) return kb_out_of_memory(error, "the kernel regression");
    return is_good ? KBASS_OK : kb_fail(error, KBASS_ERROR_DATA, "the kernel regression fails in numerical trouble");
}

/* ---------------------------------------------------------------- cross-validation */

/* Which part a value is left out with: scattered, and the same in every run. */
static size_t part_of(size_t point)
{
    unsigned long long x = (point + 1) * 0x9E3779B97F4A7C15ull;
    return (size_t)((x >> 33) % PARTS);
}

/* Sum of squared errors at the values that the part leaves out; NaN in numerical trouble. */
static double error_of_part(solver *s, size_t which, double variance, size_t part, double *mask)
{
    const kb_field_samples *c = s->field->samples;
    double sum = 0;
    for (size_t p = 0; p < c->n_points; p++) mask[p] = part_of(p) != part;
    s->mask = mask;
    if (!solve(s, which, variance)) return NAN;
    kb_published_field_residual(s->field, which, s->r);
    for (size_t p = 0; p < c->n_points; p++)
        if (part_of(p) == part) sum += s->r[p] * s->r[p];
    return sum;
}

static double choose(solver *s, size_t which, double *mask)
{
    double best = INFINITY, chosen = candidates[CANDIDATES / 2];
    for (size_t k = 0; k < CANDIDATES && !kb_budget_expired(); k++) {
        double sum = 0;
        for (size_t part = 0; part < PARTS; part++) sum += error_of_part(s, which, candidates[k], part, mask);
        if (sum < best) best = sum, chosen = candidates[k];
    }
    return chosen;
}

kbass_status kb_published_cross_validate(kb_published_field *f, double *variance, kbass_error *error)
{
    solver s = {0};
    double *mask = KB_NEW(double, f->samples->n_points);
    bool complete = allocate(&s, f) && mask;
    for (size_t i = 0; complete && i < f->n_fields; i++) variance[i] = choose(&s, i, mask);
    clear(&s);
    kb_free(mask);
    if (complete && kb_budget_expired()) return kb_out_of_time(error, "the noise was found by cross-validation");
    return complete ? KBASS_OK : kb_out_of_memory(error, "the cross-validation");
}
