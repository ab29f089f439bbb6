/* Values and forward-mode derivatives of expressions, some points at a time so that the stack stays in the cache. */
#include <math.h>
#include <string.h>

#include "dictionary/program.h"

enum { CHUNK = 128 };

/* ---------------------------------------------------------------- monomials */

static void times_power(size_t n, const double *x, unsigned power, double *value)
{
    for (; power; power--)
        for (size_t p = 0; p < n; p++) value[p] *= x[p];
}

static void monomial_values(const kb_expression *e, size_t n, const double *points, size_t ld, double *value)
{
    for (size_t p = 0; p < n; p++) value[p] = 1;
    for (size_t i = 0; i < e->n_powers; i++)
        times_power(n, points + e->powers[i].variable * ld, e->powers[i].power, value);
}

/* d(x^p rest)/dx = p x^(p-1) rest */
static void monomial_slopes(const kb_expression *e, size_t variable, size_t n, const double *points, size_t ld,
                            double *slope)
{
    double factor = 0;
    for (size_t i = 0; i < e->n_powers; i++)
        if (e->powers[i].variable == variable) factor = e->powers[i].power;
    for (size_t p = 0; p < n; p++) slope[p] = factor;
    for (size_t i = 0; factor > 0 && i < e->n_powers; i++) {
        unsigned power = e->powers[i].power - (e->powers[i].variable == variable);
        times_power(n, points + e->powers[i].variable * ld, power, slope);
    }
}

/* ---------------------------------------------------------------- stack machine: a is the lower operand, b the top */

static double raise_to(double v, double exponent)
{
    if (exponent == 2) return v * v;
    if (exponent == 3) return v * v * v;
    if (exponent == -1) return 1 / v;
    return pow(v, exponent);
}

#define FUNCTION_VALUES(name, value, slope)                                                                            \
    case KB_FUNCTION_##name:                                                                                           \
        for (size_t p = 0; p < n; p++) {                                                                               \
            double v = a[p];                                                                                           \
            a[p] = value;                                                                                              \
        }                                                                                                              \
        break;

static void function_values(unsigned function, size_t n, double *a)
{
    switch (function) {
        KB_FUNCTION_TABLE(FUNCTION_VALUES)
    }
}

/* A slope of exactly zero stays so: what does not depend on the variable adds no 0 * inf. */
#define FUNCTION_SLOPES(name, value, slope)                                                                            \
    case KB_FUNCTION_##name:                                                                                           \
        for (size_t p = 0; p < n; p++) {                                                                               \
            double v = a[p];                                                                                           \
            (void)v;                                                                                                   \
            if (da[p] != 0) da[p] *= (slope);                                                                          \
        }                                                                                                              \
        break;

static void function_slopes(unsigned function, size_t n, const double *a, double *da)
{
    switch (function) {
        KB_FUNCTION_TABLE(FUNCTION_SLOPES)
    }
}

#define PAIR_VALUES(name, value, is_first)                                                                             \
    case KB_PAIR_##name:                                                                                               \
        for (size_t p = 0; p < n; p++) {                                                                               \
            double a = lower[p], b = top[p];                                                                           \
            lower[p] = value;                                                                                          \
        }                                                                                                              \
        break;

static void pair_values(unsigned pair, size_t n, double *lower, const double *top)
{
    switch (pair) {
        KB_PAIR_TABLE(PAIR_VALUES)
    }
}

#define PAIR_SLOPES(name, value, is_first)                                                                             \
    case KB_PAIR_##name:                                                                                               \
        for (size_t p = 0; p < n; p++) {                                                                               \
            double a = lower[p], b = top[p];                                                                           \
            slope[p] = (is_first) ? slope[p] : top_slope[p];                                                           \
        }                                                                                                              \
        break;

static void pair_slopes(unsigned pair, size_t n, const double *lower, const double *top, double *slope,
                        const double *top_slope)
{
    switch (pair) {
        KB_PAIR_TABLE(PAIR_SLOPES)
    }
}

static void step_values(const kb_instruction *step, size_t n, double *a, const double *b)
{
    switch (step->operation) {
    case KB_ADD:
        for (size_t p = 0; p < n; p++) a[p] += b[p];
        break;
    case KB_MULTIPLY:
        for (size_t p = 0; p < n; p++) a[p] *= b[p];
        break;
    case KB_DIVIDE:
        for (size_t p = 0; p < n; p++) a[p] /= b[p];
        break;
    case KB_SCALE:
        for (size_t p = 0; p < n; p++) a[p] *= step->number;
        break;
    case KB_RAISE:
        for (size_t p = 0; p < n; p++) a[p] = raise_to(a[p], step->number);
        break;
    case KB_RAISE_BY:
        for (size_t p = 0; p < n; p++) a[p] = pow(a[p], b[p]);
        break;
    case KB_CALL_PAIR: pair_values(step->index, n, a, b); break;
    default: function_values(step->index, n, a);
    }
}

/* d(a^b) = b a^(b-1) da + a^b log(a) db */
static double power_slope(double a, double b, double da, double db)
{
    double slope = 0;
    if (da != 0) slope += b * raise_to(a, b - 1) * da;
    if (db != 0) slope += pow(a, b) * log(a) * db;
    return slope;
}

/* Before step_values: the operands still have their values. */
static void step_slopes(const kb_instruction *step, size_t n, const double *a, const double *b, double *da,
                        const double *db)
{
    switch (step->operation) {
    case KB_ADD:
        for (size_t p = 0; p < n; p++) da[p] += db[p];
        break;
    case KB_MULTIPLY:
        for (size_t p = 0; p < n; p++) da[p] = (da[p] != 0 ? da[p] * b[p] : 0) + (db[p] != 0 ? db[p] * a[p] : 0);
        break;
    case KB_DIVIDE:
        for (size_t p = 0; p < n; p++) da[p] = (da[p] - (db[p] != 0 ? db[p] * (a[p] / b[p]) : 0)) / b[p];
        break;
    case KB_SCALE:
        for (size_t p = 0; p < n; p++) da[p] *= step->number;
        break;
    case KB_RAISE:
        for (size_t p = 0; p < n; p++) da[p] = power_slope(a[p], step->number, da[p], 0);
        break;
    case KB_RAISE_BY:
        for (size_t p = 0; p < n; p++) da[p] = power_slope(a[p], b[p], da[p], db[p]);
        break;
    case KB_CALL_PAIR: pair_slopes(step->index, n, a, b, da, db); break;
    default: function_slopes(step->index, n, a, da);
    }
}

static void push(const kb_instruction *step, size_t n, const double *points, size_t ld, double *top)
{
    if (step->operation == KB_PUSH_VARIABLE) memcpy(top, points + step->index * ld, n * sizeof *top);
    else
        for (size_t p = 0; p < n; p++) top[p] = step->number;
}

static void push_slope(const kb_instruction *step, size_t variable, size_t n, double *top)
{
    double slope = step->operation == KB_PUSH_VARIABLE && step->index == variable;
    for (size_t p = 0; p < n; p++) top[p] = slope;
}

/* Runs the program on n points; leaves the value in stack[0] and, unless `slopes` is NULL, the slope in slopes[0]. */
static void run(const kb_expression *e, size_t variable, size_t n, const double *points, size_t ld, double *stack,
                double *slopes)
{
    size_t top = 0; /* first free place */
    for (size_t k = 0; k < e->n_instructions; k++) {
        const kb_instruction *step = &e->instructions[k];
        if (kb_is_push(step->operation)) {
            push(step, n, points, ld, stack + top * n);
            if (slopes) push_slope(step, variable, n, slopes + top * n);
            top++;
            continue;
        }
        if (kb_is_binary(step->operation)) top--;
        double *a = stack + (top - 1) * n, *b = a + n;
        if (slopes) step_slopes(step, n, a, b, slopes + (top - 1) * n, slopes + top * n);
        step_values(step, n, a, b);
    }
}

/* ---------------------------------------------------------------- interface */

static size_t chunk_of(size_t n_points) { return n_points < CHUNK ? n_points : CHUNK; }

size_t kb_expression_work(const kb_expression *e, size_t n_points)
{
    return e->is_monomial ? 0 : 2 * (e->stack_size + 1) * chunk_of(n_points);
}

void kb_expression_values(const kb_expression *e, size_t n_points, const double *points, size_t ld, double *value,
                          double *work)
{
    if (e->is_monomial) {
        monomial_values(e, n_points, points, ld, value);
        return;
    }
    for (size_t first = 0; first < n_points; first += CHUNK) {
        size_t n = chunk_of(n_points - first);
        run(e, 0, n, points + first, ld, work, NULL);
        memcpy(value + first, work, n * sizeof *value);
    }
}

void kb_expression_slopes(const kb_expression *e, size_t variable, size_t n_points, const double *points, size_t ld,
                          double *slope, double *work)
{
    if (e->is_monomial) {
        monomial_slopes(e, variable, n_points, points, ld, slope);
        return;
    }
    for (size_t first = 0; first < n_points; first += CHUNK) {
        size_t n = chunk_of(n_points - first);
        double *slopes = work + (e->stack_size + 1) * n;
        run(e, variable, n, points + first, ld, work, slopes);
        memcpy(slope + first, slopes, n * sizeof *slope);
    }
}
