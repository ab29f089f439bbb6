#include "propose/weak/integral_axes.h"

#include <math.h>
#include <string.h>

#include "base/linalg.h"
#include "base/memory.h"
#include "base/status.h"
#include "problem/pde_nd.h"
#include "propose/weak/closed_grid.h"
#include "search/schedule.h"
#include "weights/subset.h"

enum { STENCIL = 4 };        /* rows: of the cubic that is integrated */
enum { MOST_POINTS = 2000 }; /* points: of a row that take part; seconds */

/* Sums over points and rows: X'X of all terms, X'Y, Y'Y, for left-hand sides Y. */
typedef struct {
    const kb_pde_nd_problem *problem;
    kb_closed_grid *grid;
    size_t n_terms, n_fields, window; /* rows of one */
    size_t every, n_seen;             /* every so manieth point of a row, and how many these are */
    double *G, *B, *squares, n;       /* n: independent rows of X */
    double *X, *Y;                    /* of one window: points x rows, by term or field */
    double *variables, *values, *work;
} form_sums;

/* ---------------------------------------------------------------- one window */

/* int over [t_(r-1), t_r] of the cubic through four rows from q on: two points of Gauss. */
static size_t stencil(const double *time, size_t n, size_t r, double weight[STENCIL])
{
    size_t q = r < 2 ? 0 : r + 2 > n ? n - STENCIL : r - 2;
    double h = time[r] - time[r - 1], middle = 0.5 * (time[r] + time[r - 1]);
    memset(weight, 0, STENCIL * sizeof *weight);
    for (int side = -1; side <= 1; side += 2)
        for (size_t i = 0; i < STENCIL; i++) {
            double at = middle + side * 0.5 * h / sqrt(3), product = 0.5 * h;
            for (size_t j = 0; j < STENCIL; j++)
                if (j != i) product *= (at - time[q + j]) / (time[q + i] - time[q + j]);
            weight[i] += product;
        }
    return q;
}

/* All terms at the points of a window's rows. */
static void evaluate(const form_sums *s, size_t first)
{
    const kb_dictionary *d = s->grid->dictionary;
    size_t n = s->grid->n_points, rows = s->n_seen * s->window;
    for (size_t r = 0; r < s->window; r++) {
        kb_closed_grid_look(s->grid, first + r, s->variables);
        for (size_t term = 0; term < s->n_terms; term++) {
            kb_dictionary_values(d, 1, &term, n, s->variables, n, s->values, s->work);
            for (size_t i = 0; i < s->n_seen; i++) s->X[i + r * s->n_seen + term * rows] = s->values[i * s->every];
        }
        for (size_t f = 0; f < s->n_fields; f++)
            for (size_t i = 0; i < s->n_seen; i++)
                s->Y[i + r * s->n_seen + f * rows] =
                    s->grid->value[i * s->every + n * (first + r + s->grid->samples->n_grid[0] * f)];
    }
}

/* From a term's values to its integrals since the window's first row; work: points x rows */
static void integrate(const form_sums *s, const double *time, double *x, double *work)
{
    size_t n = s->n_seen;
    memset(work, 0, n * sizeof *work);
    for (size_t r = 1; r < s->window; r++) {
        double weight[STENCIL];
        size_t q = stencil(time, s->window, r, weight);
        memcpy(work + r * n, work + (r - 1) * n, n * sizeof *work);
        for (size_t j = 0; j < STENCIL; j++) kb_axpy(n, weight[j], x + (q + j) * n, work + r * n);
    }
    memcpy(x, work, n * s->window * sizeof *x);
}

/* Less the mean over the rows, at each point: its start is not known. */
static void centre(const form_sums *s, double *x)
{
    for (size_t i = 0; i < s->n_seen; i++) {
        double mean = 0;
        for (size_t r = 0; r < s->window; r++) mean += x[i + r * s->n_seen] / (double)s->window;
        for (size_t r = 0; r < s->window; r++) x[i + r * s->n_seen] -= mean;
    }
}

static void add_window(form_sums *s, size_t first)
{
    size_t rows = s->n_seen * s->window, T = s->n_terms;
    const double *time = s->grid->samples->grid[0] + first;
    evaluate(s, first);
    for (size_t term = 0; term < T; term++) {
        integrate(s, time, s->X + term * rows, s->values);
        centre(s, s->X + term * rows);
    }
    for (size_t f = 0; f < s->n_fields; f++) {
        centre(s, s->Y + f * rows);
        s->squares[f] += kb_dot(rows, s->Y + f * rows, s->Y + f * rows);
    }
    kb_gram(T, rows, 1, s->X, rows, 1, s->G, T);
    kb_symmetrise(T, s->G, T);
    kb_gemm(KB_TRANSPOSED, KB_PLAIN, T, s->n_fields, rows, 1, s->X, rows, s->Y, rows, 1, s->B, T);
    s->n += (double)(s->n_seen * (s->window - 1));
}

/* ---------------------------------------------------------------- one equation */

/* Left-hand sides less the terms whose weights are given. */
static void take_fixed(const form_sums *s, size_t equation, double *b, double *squares)
{
    const kb_columns *c = s->problem->columns;
    size_t T = s->n_terms;
    memcpy(b, s->B + equation * T, T * sizeof *b);
    *squares = s->squares[equation];
    for (size_t i = 0; i < c->n_fixed; i++) {
        if (c->fixed_equation[i] != equation) continue;
        const double *column = s->G + c->fixed_term[i] * T;
        double w = c->fixed_weight[i];
        *squares += w * (w * column[c->fixed_term[i]] - 2 * b[c->fixed_term[i]]);
        kb_axpy(T, -w, column, b);
    }
}

static void set_subset(const form_sums *s, kb_subset *subset, size_t first, const double *b, double squares)
{
    const kb_columns *c = s->problem->columns;
    size_t n = subset->columns.n;
    for (size_t j = 0; j < n; j++) {
        size_t term = c->term[first + j];
        subset->unit->b[j] = b[term] / c->scale[first + j];
        for (size_t i = 0; i < n; i++)
            subset->unit->G[i + j * n] =
                s->G[c->term[first + i] + term * s->n_terms] / (c->scale[first + i] * c->scale[first + j]);
    }
    subset->squares = squares;
    subset->n = s->n;
}

/* Powers of fields, or one derivative alone. */
static bool is_simple(const kb_dictionary *d, size_t term)
{
    size_t derivatives = 0, others = 0;
    for (size_t v = 0; v < d->n_variables; v++) {
        if (!kb_dictionary_depends(d, term, v)) continue;
        if (kb_variable_order(&d->variables[v])) derivatives++;
        else others++;
    }
    return !derivatives || (derivatives == 1 && !others);
}

/* The best set of an equation's columns into the proposal. */
static kbass_status search_equation(const form_sums *s, size_t first, size_t end, bool simple, kb_fit *out,
                                    kbass_error *error)
{
    const kb_columns *c = s->problem->columns;
    size_t n = 0, *which = KB_NEW(size_t, end - first);
    double *b = KB_NEW(double, s->n_terms), squares = 0;
    kb_subset *all = NULL, *some = NULL;
    kb_support support = {0};
    kbass_status status = which && b ? KBASS_OK : kb_out_of_memory(error, "proposals");
    for (size_t q = first; status == KBASS_OK && q < end; q++)
        if (!simple || c->required[q] || is_simple(s->problem->dictionary, c->term[q])) which[n++] = q - first;
    if (status == KBASS_OK) status = kb_subset_create(c, first, end - first, &all, error);
    if (status == KBASS_OK) status = kb_support_create(end - first, &support, error);
    if (status == KBASS_OK) {
        take_fixed(s, c->equation[first], b, &squares);
        set_subset(s, all, first, b, squares);
        status = kb_subset_restrict(all, n, which, &some, error);
    }
    if (status == KBASS_OK && squares > 0 && isfinite(kb_subset_search(some, &support))) {
        for (size_t q = 0; q < support.n; q++) {
            size_t column = first + which[support.column[q]];
            kb_support_add(&out->support, column);
            out->w[column] = some->mean[q];
        }
        out->variance[c->equation[first]] = fmax(some->variance, KB_LEAST_NOISE);
    }
    kb_subset_destroy(all);
    kb_subset_destroy(some);
    kb_support_clear(&support);
    kb_free(which);
    kb_free(b);
    return status;
}

/* What the sums so far say of all equations. */
static kbass_status propose(const form_sums *s, bool simple, kb_pool *pool, kbass_error *error)
{
    const kb_columns *c = s->problem->columns;
    kb_support none = {0};
    kb_fit *fit = NULL;
    kb_pool own;
    kb_pool_init(&own, pool->n_columns, pool->n_start, pool->max_windows);
    kbass_status status = kb_pool_add(&own, &none, &fit, error);
    for (size_t f = 0; status == KBASS_OK && f < s->n_fields; f++) fit->variance[f] = s->problem->domain->variance[f];
    for (size_t first = 0, end; status == KBASS_OK && first < c->n; first = end) {
        end = kb_columns_end(c, first);
        status = search_equation(s, first, end, simple, fit, error);
    }
    bool is_new = status == KBASS_OK && fit->support.n && !kb_pool_find(pool, &fit->support);
    if (is_new) status = kb_pool_merge(pool, &own, error);
    kb_pool_clear(&own);
    return status;
}

/* ---------------------------------------------------------------- all windows */

static bool allocate(form_sums *s)
{
    const kb_dictionary *d = s->problem->dictionary;
    size_t n = s->grid->n_points, T = s->n_terms = d->n_terms, F = s->n_fields = d->n_states;
    double part = kb_schedule_of_axes.value.least_rows;
    size_t rows = s->grid->samples->n_grid[0];
    s->window = (size_t)fmin((double)rows, fmax(part, (double)((rows + 3) / 4)));
    s->every = (n + MOST_POINTS - 1) / MOST_POINTS;
    while (s->every > 1 && s->grid->n[s->grid->n_axes - 1] % s->every == 0) s->every++; /* not the same places always */
    s->n_seen = (n + s->every - 1) / s->every;
    size_t all = s->n_seen * s->window;
    s->G = KB_NEW(double, T *T);
    s->B = KB_NEW(double, T *F);
    s->squares = KB_NEW(double, F);
    s->X = KB_NEW(double, all *T);
    s->Y = KB_NEW(double, all *F);
    s->variables = KB_NEW(double, n * d->n_variables);
    s->values = KB_NEW(double, n > all ? n : all);
    s->work = KB_NEW(double, kb_dictionary_work(d, n));
    return s->G && s->B && s->squares && s->X && s->Y && s->variables && s->values && s->work;
}

static void clear(form_sums *s)
{
    double *arrays[] = {s->G, s->B, s->squares, s->X, s->Y, s->variables, s->values, s->work};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++) kb_free(arrays[i]);
    kb_closed_grid_destroy(s->grid);
}

/* Of the first window, where fields are smoothest and fits begin, and of all of them; simple terms, and all terms. */
static kbass_status propose_windows(form_sums *s, kb_proposals *p, kbass_error *error)
{
    size_t windows = s->grid->samples->n_grid[0] / s->window;
    kbass_status status = KBASS_OK;
    for (size_t i = 0; status == KBASS_OK && i < windows && !kb_run_stopped(p->run); i++) {
        add_window(s, i * s->window);
        if (i && i + 1 < windows) continue;
        status = propose(s, true, p->pool, error);
        if (status == KBASS_OK) status = propose(s, false, p->pool, error);
        p->n_starts += 2;
    }
    return status;
}

kbass_status kb_propose_integral_of_axes(kb_proposals *p, kbass_error *error)
{
    const kb_pde_nd_problem *e = p->problem;
    form_sums s = {.problem = e};
    kbass_status status = kb_closed_grid_create(e->run_samples[0], e->dictionary, &s.grid, error);
    if (status != KBASS_OK || !s.grid) return status;
    status = allocate(&s) ? propose_windows(&s, p, error) : kb_out_of_memory(error, "proposals");
    clear(&s);
    return status;
}
