/* The integral form along a fitted solution (docs/math.md, eq. 91): the solution is taken as it is, and every equation
 * is a regression for itself. What is wrong with one equation does not hide behind what its tangents suppose of it.
 */
#include <string.h>

#include "base/linalg.h"
#include "base/memory.h"
#include "forward/shoot.h"
#include "forward/shoot_normals.h"

static const double worse = 2; /* times the squared residuals of the bare field; not measured */

/* One window on its way through all equations. */
typedef struct {
    const kb_shooter *shooter;
    size_t first, n_rows, run;
    double *sums; /* n_rows x n_terms: integrals from the window's first row */
    double *X,
        *y; /* of one equation: its columns and measurements at the rows where it was measured, less their means */
} window_sums;

/* Measurements of a state in the window; *rows: where. */
static size_t list_measured(const window_sums *w, size_t state, size_t *rows, double *y)
{
    const kb_dynamics *d = w->shooter->dynamics;
    size_t n = 0;
    for (size_t row = 0; row < w->n_rows; row++)
        for (size_t o = d->observation_start[w->first + row]; o < d->observation_start[w->first + row + 1]; o++)
            if (d->group[o] == state) rows[n] = row, y[n++] = d->observed[o];
    return n;
}

static void add_fixed(const window_sums *w, size_t equation, size_t n, const size_t *rows, double *y)
{
    const kb_columns *c = w->shooter->likelihood.columns;
    for (size_t i = 0; i < c->n_fixed; i++)
        for (size_t r = 0; c->fixed_equation[i] == equation && r < n; r++)
            y[r] -= c->fixed_weight[i] * w->sums[rows[r] + c->fixed_term[i] * w->n_rows];
}

static void centre(size_t n, double *values)
{
    double mean = 0;
    for (size_t i = 0; i < n; i++) mean += values[i] / (double)n;
    for (size_t i = 0; i < n; i++) values[i] -= mean;
}

/* G += X'X / v, b += X'y / v for the columns first to end. */
static void add_equation(window_sums *w, size_t first, size_t end, double variance, size_t *rows, kb_message *m)
{
    const kb_columns *c = w->shooter->likelihood.columns;
    size_t equation = c->equation[first], n = list_measured(w, equation, rows, w->y), k = end - first;
    if (n < 2) return;
    add_fixed(w, equation, n, rows, w->y);
    centre(n, w->y);
    for (size_t j = 0; j < k; j++) {
        bool holds = kb_column_holds(c, first + j, w->run);
        const double *sums = w->sums + c->term[first + j] * w->n_rows;
        for (size_t r = 0; r < n; r++) w->X[r + j * n] = holds ? sums[rows[r]] / c->scale[first + j] : 0;
        centre(n, w->X + j * n);
    }
    kb_gemm(KB_TRANSPOSED, KB_PLAIN, k, k, n, 1 / variance, w->X, n, w->X, n, 1, m->G + first + first * m->n, m->n);
    kb_gemv(KB_TRANSPOSED, n, k, 1 / variance, w->X, n, w->y, 1, m->b + first);
}

static size_t run_of(const kb_dynamics *d, size_t row)
{
    size_t run = 0;
    while (d->run_start && row >= d->run_start[run + 1]) run++;
    return run;
}

/* States that the model leaves with more noise than the bare field has are the bare field's. */
static bool choose_bare(const kb_shooter *s, const kb_fit *fit, bool *is_bare)
{
    const kb_dynamics *d = s->dynamics;
    double *squares = KB_NEW(double, 2 * d->n_groups), *counts = squares ? squares + d->n_groups : NULL;
    double *state = KB_NEW(double, d->n_start);
    bool done = squares && state && d->guess;
    for (size_t row = 0; done && row < d->n_rows; row++) {
        done = d->guess(s->dynamics, row, state, NULL) == KBASS_OK;
        for (size_t o = d->observation_start[row]; done && o < d->observation_start[row + 1]; o++) {
            double residual = d->observed[o] - state[d->group[o]];
            squares[d->group[o]] += residual * residual;
            counts[d->group[o]]++;
        }
    }
    for (size_t i = 0; done && i < d->n_groups; i++)
        is_bare[i] = counts[i] > 0 && fit->variance[i] > worse * squares[i] / counts[i];
    kb_free(squares);
    kb_free(state);
    return done;
}

/* All equations in all windows. */
static bool add_windows(kb_shooter *s, const kb_fit *fit, const bool *is_bare, window_sums *w, size_t *rows,
                        kb_message *m)
{
    kb_dynamics *d = s->dynamics;
    const kb_columns *c = s->likelihood.columns;
    const kb_windows *windows = s->likelihood.windows;
    for (size_t i = 0; i < windows->n; i++) {
        w->first = windows->first[i];
        w->n_rows = windows->last[i] - w->first + 1;
        w->run = run_of(d, w->first);
        if (w->n_rows < 2) continue;
        const double *start = fit->start + i * s->likelihood.n_start;
        if (!d->integrals(d, w->first, windows->last[i], start, is_bare, w->sums)) return false;
        for (size_t first = 0, end; first < c->n; first = end) {
            end = kb_columns_end(c, first);
            add_equation(w, first, end, fit->variance[c->equation[first]], rows, m);
        }
    }
    return true;
}

static size_t largest_equation(const kb_columns *c)
{
    size_t most = 0;
    for (size_t first = 0, end; first < c->n; first = end) {
        end = kb_columns_end(c, first);
        if (end - first > most) most = end - first;
    }
    return most;
}

bool kb_shooter_integrals(kb_shooter *s, const kb_fit *fit, bool mixes, kb_message *m)
{
    const kb_dynamics *d = s->dynamics;
    const kb_windows *windows = s->likelihood.windows;
    size_t most = 0;
    if (!d->integrals || d->noise_model != KB_NOISE_ADDITIVE) return false;
    for (size_t i = 0; i < windows->n; i++)
        if (windows->last[i] - windows->first[i] + 1 > most) most = windows->last[i] - windows->first[i] + 1;
    window_sums w = {.shooter = s};
    size_t *rows = KB_NEW(size_t, most);
    bool *is_bare = KB_NEW(bool, d->n_groups);
    w.sums = KB_NEW(double, most * d->n_terms);
    w.X = KB_NEW(double, most *largest_equation(s->likelihood.columns));
    w.y = KB_NEW(double, most);
    bool done = rows && is_bare && w.sums && w.X && w.y && (!mixes || choose_bare(s, fit, is_bare));
    kb_message_zero(m);
    if (done) kb_shooter_set_model(s, &fit->support, fit->w, NULL);
    done = done && add_windows(s, fit, is_bare, &w, rows, m);
    kb_free(rows);
    kb_free(is_bare);
    kb_free(w.sums);
    kb_free(w.X);
    kb_free(w.y);
    return done;
}
