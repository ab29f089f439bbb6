#include "forecast/spread.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/linalg.h"
#include "base/memory.h"
#include "base/number.h"
#include "base/status.h"
#include "dictionary/text.h"
#include "forecast/stage.h"
#include "simulate/model.h"

static const double rounding = 1e-6;  /* of a variance: what is left below it is no variance */
static const double difference = 0.1; /* in standard deviations, of the differences along the factor */
enum { MOST_STEPS = 1000000 };

/* ---------------------------------------------------------------- factors */

/* Cholesky of the correlations, row by row of L; a pivot that vanishes leaves a column of zeros. */
static bool factorise(size_t n, const double *V, double *L)
{
    for (size_t j = 0; j < n; j++) {
        double sd = sqrt(V[j + j * n]);
        if (!(sd >= 0) || !isfinite(sd)) return false;
        for (size_t i = j; i < n; i++) {
            double unit = sd * sqrt(V[i + i * n]), rest = unit > 0 ? V[i + j * n] / unit : 0;
            if (!(unit > 0) && V[i + j * n] != 0) return false;
            for (size_t k = 0; k < j; k++) rest -= L[i + k * n] * L[j + k * n];
            L[i + j * n] = rest;
        }
        double pivot = L[j + j * n];
        if (sd > 0 && !(pivot >= -rounding)) return false;
        bool vanishes = !(pivot > rounding);
        for (size_t i = j; i < n; i++) {
            if (vanishes && i > j && !(fabs(L[i + j * n]) <= 2 * sqrt(rounding))) return false;
            L[i + j * n] = vanishes ? 0 : L[i + j * n] / sqrt(pivot);
        }
    }
    return true;
}

bool kb_covariance_factor(size_t n, const double *V, double *L)
{
    memset(L, 0, n * n * sizeof *L);
    if (!factorise(n, V, L)) return false;
    for (size_t j = 0; j < n; j++)
        for (size_t i = j; i < n; i++) L[i + j * n] *= sqrt(V[i + i * n]);
    return true;
}

bool kb_is_covariance(size_t n, const double *V)
{
    double *L = KB_NEW(double, n *n);
    bool is_good = L && factorise(n, V, L);
    kb_free(L);
    return is_good;
}

/* ---------------------------------------------------------------- states */

/* "x_t = 1.02*(y) + -0.5*(x^2)"; returns its length, as snprintf does. */
static size_t write_equation(const kbass_posterior *p, const kb_belief *b, const double *weights, size_t state,
                             char *text, size_t size)
{
    size_t used = (size_t)snprintf(text, size, "%s_%s = 0", p->state_names[state], p->row.time_order > 1 ? "tt" : "t");
    for (size_t i = 0; i < b->n_terms; i++) {
        char number[KB_NUMBER_SIZE];
        if (b->equation[i] != state) continue;
        kb_number_print(fabs(weights[i]), number);
        used += (size_t)snprintf(used < size ? text + used : NULL, used < size ? size - used : 0,
                                 kb_is_sum(b->term[i]) ? " %c %s*(%s)" : " %c %s*%s", weights[i] < 0 ? '-' : '+',
                                 number, b->term[i]);
    }
    return used;
}

void kb_belief_equations_free(const kbass_posterior *p, char **equations)
{
    for (size_t i = 0; equations && i < p->n_states; i++) kb_free(equations[i]);
    kb_free(equations);
}

kbass_status kb_belief_equations(const kbass_posterior *p, const kb_belief *b, const double *weights, char ***out,
                                 kbass_error *error)
{
    char **equations = KB_NEW(char *, p->n_states);
    bool complete = equations != NULL;
    for (size_t i = 0; complete && i < p->n_states; i++) {
        size_t size = 1 + write_equation(p, b, weights, i, NULL, 0);
        equations[i] = KB_NEW(char, size);
        complete = equations[i] != NULL;
        if (complete) write_equation(p, b, weights, i, equations[i], size);
    }
    *out = complete ? equations : NULL;
    if (!complete) kb_belief_equations_free(p, equations);
    return complete ? KBASS_OK : kb_out_of_memory(error, "a model");
}

kbass_status kb_belief_model(const kbass_posterior *p, const kb_belief *b, const double *weights, kb_model **out,
                             kbass_error *error)
{
    char **equations = NULL;
    kbass_status status = kb_belief_equations(p, b, weights, &equations, error);
    if (status == KBASS_OK)
        status = kb_model_create(p->n_states, (const char *const *)equations, p->axis_names[0], &p->inputs, out, error);
    kb_belief_equations_free(p, equations);
    return status;
}

/* The solution from weights and start moved by `shift` along a direction of the factor; NULL: not moved. */
static kbass_status solve_moved(const kbass_posterior *p, const kb_belief *b, const kb_stretch *s,
                                const double *direction, double shift, size_t n_times, const double *times,
                                double *states, kbass_error *error)
{
    size_t k = b->n_terms, n = p->n_start;
    double *moved = KB_NEW(double, k + n);
    kb_model *model = NULL;
    if (!moved) return kb_out_of_memory(error, "the solution");
    memcpy(moved, b->weight, k * sizeof *moved);
    memcpy(moved + k, s->start, n * sizeof *moved);
    if (direction) kb_axpy(k + n, shift, direction, moved);
    kbass_status status = kb_belief_model(p, b, moved, &model, error);
    if (status == KBASS_OK)
        status = kb_model_follow(model, MOST_STEPS, s->first, moved + k, n_times, times, states, NULL, error);
    kb_model_destroy(model);
    kb_free(moved);
    return status;
}

/* (x(+h) - x(-h)) / 2h along each column of L */
static kbass_status differentiate(const kbass_posterior *p, const kb_belief *b, const kb_stretch *s, const double *L,
                                  size_t n_times, const double *times, double *factor, double *work, kbass_error *error)
{
    size_t size = b->n_terms + p->n_start, n = n_times * p->n_states;
    kbass_status status = KBASS_OK;
    for (size_t j = 0; status == KBASS_OK && j < size; j++) {
        const double *direction = L + j * size;
        if (kb_dot(size, direction, direction) == 0) continue;
        status = solve_moved(p, b, s, direction, difference, n_times, times, work, error);
        if (status == KBASS_OK) status = solve_moved(p, b, s, direction, -difference, n_times, times, work + n, error);
        for (size_t i = 0; status == KBASS_OK && i < n; i++)
            factor[i * size + j] = (work[i] - work[n + i]) / (2 * difference);
    }
    return status;
}

kbass_status kb_spread_states(const kbass_posterior *p, const kb_belief *b, const kb_stretch *s, size_t n_times,
                              const double *times, double *mean, double *factor, kbass_error *error)
{
    size_t size = b->n_terms + p->n_start, n = n_times * p->n_states;
    double *L = KB_NEW(double, size *size), *work = KB_NEW(double, 2 * n);
    kbass_status status = L && work ? KBASS_OK : kb_out_of_memory(error, "the posterior of the solution");
    if (status == KBASS_OK && factor && !kb_covariance_factor(size, s->covariance, L))
        status =
            kb_fail(error, KBASS_ERROR_NUMERICAL, "the covariance of weights and start is not positive semidefinite");
    if (status == KBASS_OK) status = solve_moved(p, b, s, NULL, 0, n_times, times, mean, error);
    if (status == KBASS_OK && factor) {
        memset(factor, 0, n * size * sizeof *factor);
        status = differentiate(p, b, s, L, n_times, times, factor, work, error);
    }
    kb_free(L);
    kb_free(work);
    return status;
}

/* ---------------------------------------------------------------- all windows */

size_t kb_spread_size(const kbass_posterior *p, const kb_belief *b) { return b->n_terms + b->n_windows * p->n_start; }

/* How many of n ascending times, from the first on, belong to a window; the last one takes what is left. */
static size_t times_within(const kb_belief *b, size_t window, size_t n, const double *times)
{
    size_t inside = 0;
    if (window + 1 == b->n_windows) return n;
    while (inside < n && times[inside] <= b->windows[window].last) inside++;
    return inside;
}

/* One window's factor, (k + n_start) wide, into the columns of the whole. */
static void widen(const kbass_posterior *p, const kb_belief *b, size_t window, size_t n_values, const double *narrow,
                  double *wide)
{
    size_t k = b->n_terms, n = p->n_start, size = kb_spread_size(p, b);
    memset(wide, 0, n_values * size * sizeof *wide);
    for (size_t i = 0; i < n_values; i++) {
        memcpy(wide + i * size, narrow + i * (k + n), k * sizeof *wide);
        memcpy(wide + i * size + k + window * n, narrow + i * (k + n) + k, n * sizeof *wide);
    }
}

kbass_status kb_spread(const kbass_posterior *p, const kb_belief *b, size_t n, const double *times,
                       const double *positions, double *mean, double *factor, kbass_error *error)
{
    size_t F = p->n_states, narrow_size = b->n_terms + p->n_start, done = 0;
    double *narrow = factor ? KB_NEW(double, n *F *narrow_size) : NULL;
    kbass_status status = !factor || narrow ? KBASS_OK : kb_out_of_memory(error, "the posterior of the solution");
    for (size_t window = 0; status == KBASS_OK && window < b->n_windows; window++) {
        const kb_stretch *s = &b->windows[window];
        size_t here = times_within(b, window, n - done, times + done);
        if (!here) continue;
        status = p->n_axes > 1
                     ? kb_spread_fields(p, b, s, here, times + done, positions + done, mean + done * F, narrow, error)
                     : kb_spread_states(p, b, s, here, times + done, mean + done * F, narrow, error);
        if (status == KBASS_OK && factor)
            widen(p, b, window, here * F, narrow, factor + done * F * kb_spread_size(p, b));
        done += here;
    }
    kb_free(narrow);
    return status;
}
