#include "propose/weak/closed_grid.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/linalg.h"
#include "base/memory.h"
#include "base/status.h"
#include "tensor/mode.h"

enum { FEWEST_POINTS = 5 };                           /* points: of an axis that can be seen to close */
enum { FEWEST_ROWS = 4 };                             /* rows: in time */
static const double shortest_from = 0.6;              /* of the highest frequency: waves that show the noise */
static const double widest_gap = 1.5;                 /* spacings: between points of an axis that closes */
static const double well_carried = 0.8;               /* of the points: waves that uneven ones carry */
static const double two_pi = 6.283185307179586476925; /* exact */

/* ---------------------------------------------------------------- does the grid close? */

/* Points along an axis without the one that closes it; 0 when it is open or has gaps. */
static size_t closed_points(const kb_field_samples *c, size_t axis, bool *is_even)
{
    size_t n = c->n_grid[axis];
    const double *x = c->grid[axis];
    if (!(c->period[axis] > 0) || n < FEWEST_POINTS + 1) return 0;
    if (x[n - 1] - x[0] > c->period[axis] - 0.25 * c->spacing[axis]) n--;
    double step = c->period[axis] / (double)n;
    *is_even = true;
    for (size_t i = 0; i < n; i++) {
        double gap = (i + 1 < n ? x[i + 1] : x[0] + c->period[axis]) - x[i];
        if (!(gap < widest_gap * step)) return 0;
        *is_even = *is_even && fabs(gap - step) < 0.01 * step;
    }
    return n;
}

/* An odd number of waves: of even points nearly as many, else no more than they carry well. */
static size_t waves_of(size_t n, bool is_even)
{
    size_t most = is_even ? n : (size_t)(well_carried * (double)n);
    return most - (most % 2 == 0);
}

static bool is_complete(const kb_field_samples *c)
{
    for (size_t i = 0; i < c->n_points * c->n_fields; i++)
        if (!(c->measured[i] > 0)) return false;
    return true;
}

static bool set_sizes(kb_closed_grid *g)
{
    const kb_field_samples *c = g->samples;
    if (!c->gridded || c->n_axes < 2 || c->n_grid[0] < FEWEST_ROWS || !is_complete(c)) return false;
    g->n_axes = c->n_axes - 1;
    g->n_points = g->n_modes = 1;
    for (size_t a = 0; a < g->n_axes; a++) {
        bool is_even;
        g->n[a] = closed_points(c, a + 1, &is_even);
        if (!g->n[a]) return false;
        g->m[a] = waves_of(g->n[a], is_even);
        g->n_points *= g->n[a];
        g->n_modes *= g->m[a];
    }
    return true;
}

/* ---------------------------------------------------------------- waves */

/* d^order of wave k after some turns of the first: wave 0 is 1, 2j - 1 and 2j are cosine and sine of frequency j. */
static double wave(size_t k, int order, double turn, double number)
{
    double j = (double)((k + 1) / 2), phase = two_pi * j * turn + 0.25 * two_pi * (order - (k && k % 2 == 0));
    return pow(j * number, order) * (k || !order ? cos(k ? phase : 0) : 0);
}

static bool make_basis(kb_closed_grid *g, size_t axis, int order)
{
    const kb_field_samples *c = g->samples;
    size_t n = g->n[axis], m = g->m[axis];
    double *B = g->basis[axis][order] = KB_NEW(double, n *m);
    double number = two_pi / (c->period[axis + 1] * c->span[axis + 1]);
    for (size_t k = 0; B && k < m; k++)
        for (size_t i = 0; i < n; i++) {
            double turns = (c->grid[axis + 1][i] - c->grid[axis + 1][0]) / c->period[axis + 1];
            B[i + k * n] = wave(k, order, turns, number);
        }
    return B != NULL;
}

/* (B'B)^-1 B', and the diagonal of (B'B)^-1. */
static bool make_inverse(kb_closed_grid *g, size_t axis)
{
    size_t n = g->n[axis], m = g->m[axis];
    const double *B = g->basis[axis][0];
    double *A = KB_NEW(double, m *m), *inverse = g->inverse[axis] = KB_NEW(double, m *n),
           *spread = g->spread[axis] = KB_NEW(double, m);
    bool done = A && inverse && spread;
    if (done) {
        kb_gram(m, n, 1, B, n, 0, A, m);
        done = kb_cholesky(m, A, m);
    }
    if (done) {
        for (size_t k = 0; k < m; k++)
            for (size_t i = 0; i < n; i++) inverse[k + i * m] = B[i + k * n];
        kb_cholesky_solve(m, n, A, m, inverse, m);
        for (size_t k = 0; k < m; k++) /* the squared length of a row of the inverse */
            for (size_t i = 0; i < n; i++) spread[k] += inverse[k + i * m] * inverse[k + i * m];
    }
    kb_free(A);
    return done;
}

static bool make_bases(kb_closed_grid *g)
{
    for (size_t a = 0; a < g->n_axes; a++) {
        int highest = 0;
        for (size_t v = 0; v < g->dictionary->n_variables; v++)
            if (g->dictionary->variables[v].axis < 0 && g->dictionary->variables[v].order[a + 1] > highest)
                highest = g->dictionary->variables[v].order[a + 1];
        for (int order = 0; order <= highest; order++)
            if (!make_basis(g, a, order)) return false;
        if (!make_inverse(g, a)) return false;
    }
    return true;
}

/* The last axis of a row runs fastest. */
static void to_waves(const kb_closed_grid *g, const double *values, double *coefficients)
{
    size_t left = g->n_points, right = 1;
    const double *from = values;
    for (size_t a = 0; a < g->n_axes; a++) {
        double *to = a + 1 == g->n_axes ? coefficients : g->work + (a % 2) * g->n_points;
        kb_mode inverse = {g->m[a], g->n[a], g->m[a], g->inverse[a]};
        left /= g->n[a];
        kb_mode_product(&inverse, left, right, from, to);
        right *= g->m[a];
        from = to;
    }
}

static void from_waves(const kb_closed_grid *g, const int *order, const double *coefficients, double *values)
{
    size_t left = g->n_modes, right = 1;
    const double *from = coefficients;
    for (size_t a = 0; a < g->n_axes; a++) {
        double *to = a + 1 == g->n_axes ? values : g->work + (a % 2) * g->n_points;
        kb_mode B = {g->n[a], g->m[a], g->n[a], g->basis[a][order[a + 1]]};
        left /= g->m[a];
        kb_mode_product(&B, left, right, from, to);
        right *= g->n[a];
        from = to;
    }
}

/* ---------------------------------------------------------------- the filter */

/* Mean square over the rows, in units of what noise of variance 1 would leave there; and is it among the shortest? */
static bool power_of(const kb_closed_grid *g, size_t field, size_t mode, double *power)
{
    size_t rows = g->samples->n_grid[0];
    double sum = 0, norm = 1;
    bool is_short = false;
    for (size_t row = 0; row < rows; row++) {
        double x = g->coefficients[mode + g->n_modes * (row + rows * field)];
        sum += x * x / (double)rows;
    }
    for (size_t a = g->n_axes, rest = mode; a-- > 0; rest /= g->m[a]) {
        size_t k = rest % g->m[a];
        norm *= g->spread[a][k];
        is_short = is_short || (double)((k + 1) / 2) > shortest_from * (double)(g->m[a] / 2);
    }
    *power = sum / norm;
    return is_short;
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Wiener's, of one field. work: 2 n_modes */
static void filter(kb_closed_grid *g, size_t field, double *work)
{
    size_t rows = g->samples->n_grid[0], n = 0;
    double *power = work, *shortest = work + g->n_modes;
    for (size_t i = 0; i < g->n_modes; i++)
        if (power_of(g, field, i, &power[i])) shortest[n++] = power[i];
    qsort(shortest, n, sizeof *shortest, compare);
    double noise = n ? shortest[n / 2] : 0, clear = 1 + 3 * sqrt(2 / (double)rows);
    for (size_t i = 0; i < g->n_modes; i++) {
        double gain = power[i] > clear * noise ? 1 - noise / power[i] : 0;
        for (size_t row = 0; row < rows; row++) g->coefficients[i + g->n_modes * (row + rows * field)] *= gain;
    }
}

/* ---------------------------------------------------------------- life */

/* A row of measurements without the points that close it. */
static void take_row(kb_closed_grid *g, size_t row, size_t field, double *values)
{
    const kb_field_samples *c = g->samples;
    size_t all = c->n_points / c->n_grid[0];
    const double *from = c->value + field * c->n_points + row * all;
    for (size_t i = 0; i < g->n_points; i++) {
        size_t at = 0, stride = 1;
        for (size_t a = g->n_axes, rest = i; a-- > 0; rest /= g->n[a]) {
            at += rest % g->n[a] * stride;
            stride *= c->n_grid[a + 1];
        }
        values[i] = from[at];
    }
}

static bool fill(kb_closed_grid *g)
{
    size_t rows = g->samples->n_grid[0], fields = g->samples->n_fields;
    double *spectrum = KB_NEW(double, 2 * g->n_modes);
    g->coefficients = KB_NEW(double, g->n_modes *rows *fields);
    g->value = KB_NEW(double, g->n_points *rows *fields);
    g->work = KB_NEW(double, 2 * g->n_points);
    bool done = spectrum && g->coefficients && g->value && g->work && make_bases(g);
    for (size_t f = 0; done && f < fields; f++) {
        for (size_t row = 0; row < rows; row++) {
            double *values = g->value + g->n_points * (row + rows * f);
            take_row(g, row, f, values);
            to_waves(g, values, g->coefficients + g->n_modes * (row + rows * f));
        }
        filter(g, f, spectrum);
    }
    kb_free(spectrum);
    return done;
}

kbass_status kb_closed_grid_create(const kb_field_samples *samples, const kb_dictionary *dictionary,
                                   kb_closed_grid **out, kbass_error *error)
{
    kb_closed_grid *g = KB_NEW(kb_closed_grid, 1);
    *out = NULL;
    if (!g) return kb_out_of_memory(error, "proposals");
    g->samples = samples;
    g->dictionary = dictionary;
    bool closes = set_sizes(g);
    kbass_status status = !closes || fill(g) ? KBASS_OK : kb_out_of_memory(error, "proposals");
    if (closes && status == KBASS_OK) *out = g;
    else kb_closed_grid_destroy(g);
    return status;
}

void kb_closed_grid_destroy(kb_closed_grid *g)
{
    if (!g) return;
    for (size_t a = 0; a < KB_SAMPLE_AXES; a++) {
        for (int order = 0; order <= KB_HIGHEST_ORDER; order++) kb_free(g->basis[a][order]);
        kb_free(g->inverse[a]);
        kb_free(g->spread[a]);
    }
    kb_free(g->coefficients);
    kb_free(g->value);
    kb_free(g->work);
    kb_free(g);
}

/* The coordinate along an axis at a row's points. */
static void fill_axis(const kb_closed_grid *g, size_t row, size_t axis, double *x)
{
    const kb_field_samples *c = g->samples;
    for (size_t i = 0; i < g->n_points; i++) {
        size_t at = row, rest = i;
        for (size_t a = g->n_axes; a-- > 0; rest /= g->n[a])
            if (a + 1 == axis) at = rest % g->n[a];
        x[i] = c->first[axis] + c->span[axis] * c->grid[axis][at];
    }
}

void kb_closed_grid_look(const kb_closed_grid *g, size_t row, double *variables)
{
    const kb_field_samples *c = g->samples;
    size_t rows = c->n_grid[0];
    for (size_t v = 0; v < g->dictionary->n_variables; v++) {
        const kb_variable *variable = &g->dictionary->variables[v];
        double *x = variables + v * g->n_points;
        if (variable->axis >= 0) {
            fill_axis(g, row, (size_t)variable->axis, x);
            continue;
        }
        size_t f = variable->field;
        from_waves(g, variable->order, g->coefficients + g->n_modes * (row + rows * f), x);
        double mean = kb_variable_order(variable) ? 0 : c->mean[f];
        for (size_t i = 0; i < g->n_points; i++) x[i] = mean + c->sd[f] * x[i];
    }
}
