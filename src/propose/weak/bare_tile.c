#include "propose/weak/bare_tile.h"

#include <math.h>
#include <string.h>

#include "base/linalg.h"
#include "base/memory.h"
#include "base/status.h"
#include "kernel/kernel.h"
#include "tensor/mode.h"

typedef struct {
    const kb_weak_tile *tile;
    size_t n_points;
    kb_bare_axes *axes;
    double *coefficients, *work;
} regression;

static void forget_axis(kb_bare_axes *axes, size_t axis)
{
    kb_free(axes->vectors[axis]);
    kb_free(axes->values[axis]);
    axes->vectors[axis] = axes->values[axis] = NULL;
    for (int k = 0; k <= KB_HIGHEST_ORDER; k++) {
        kb_free(axes->features[axis][k]);
        axes->features[axis][k] = NULL;
    }
}

void kb_bare_axes_clear(kb_bare_axes *axes)
{
    for (size_t a = 0; a < KB_MAX_AXES; a++) forget_axis(axes, a);
}

static bool decompose(regression *g, size_t axis, double length)
{
    size_t n = g->tile->n[axis];
    const double *x = g->tile->at[axis];
    kb_kernel kernel = {KB_KERNEL_SE, length, 1};
    double *K = g->axes->vectors[axis] = KB_NEW(double, n *n);
    g->axes->values[axis] = KB_NEW(double, n);
    if (!K || !g->axes->values[axis]) return false;
    for (size_t j = 0; j < n; j++)
        for (size_t i = j; i < n; i++) K[i + j * n] = kb_kernel_derivative(&kernel, x[i], x[j], 0);
    if (!kb_eigen_symmetric(n, K, n, g->axes->values[axis])) return false;
    for (size_t i = 0; i < n; i++) g->axes->values[axis][i] = fmax(g->axes->values[axis][i], 0);
    return true;
}

static bool make_features(regression *g, size_t axis, int order, double length)
{
    size_t n = g->tile->n[axis];
    const double *x = g->tile->at[axis];
    kb_kernel kernel = {KB_KERNEL_SE, length, 1};
    double *K = KB_NEW(double, n *n), *features = g->axes->features[axis][order] = KB_NEW(double, n *n);
    bool done = K && features;
    for (size_t j = 0; done && j < n; j++)
        for (size_t i = 0; i < n; i++) K[i + j * n] = kb_kernel_derivative(&kernel, x[i], x[j], order);
    if (done) kb_gemm(KB_PLAIN, KB_PLAIN, n, n, n, 1, K, n, g->axes->vectors[axis], n, 0, features, n);
    kb_free(K);
    return done;
}

/* Tensors have the last axis fastest, modes the first. */
static size_t mode_of(const regression *g, size_t axis) { return g->tile->n_axes - 1 - axis; }

static void regress(regression *g, const double *y, double ratio)
{
    const kb_weak_tile *t = g->tile;
    kb_mode modes[KB_MAX_AXES];
    for (size_t a = 0; a < t->n_axes; a++)
        modes[mode_of(g, a)] = (kb_mode){t->n[a], t->n[a], t->n[a], g->axes->vectors[a]};
    kb_modes_adjoint(t->n_axes, modes, y, g->coefficients, g->work);
    for (size_t p = 0; p < g->n_points; p++) {
        double product = 1;
        for (size_t a = t->n_axes, rest = p; a-- > 0; rest /= t->n[a]) product *= g->axes->values[a][rest % t->n[a]];
        g->coefficients[p] /= product + ratio;
    }
}

static bool evaluate(regression *g, const kb_variable *variable, const kb_bare_scales *scales, double *out)
{
    const kb_weak_tile *t = g->tile;
    kb_mode modes[KB_MAX_AXES];
    for (size_t a = 0; a < t->n_axes; a++) {
        int order = variable->order[a];
        if (!g->axes->features[a][order] && !make_features(g, a, order, scales->length[a])) return false;
        modes[mode_of(g, a)] = (kb_mode){t->n[a], t->n[a], t->n[a], g->axes->features[a][order]};
    }
    kb_modes_product(t->n_axes, modes, g->coefficients, out, g->work);
    return true;
}

static void fill_axis(const regression *g, size_t axis, double *out)
{
    size_t stride = 1;
    for (size_t a = axis + 1; a < g->tile->n_axes; a++) stride *= g->tile->n[a];
    for (size_t p = 0; p < g->n_points; p++) out[p] = g->tile->at[axis][p / stride % g->tile->n[axis]];
}

static bool fill_field(regression *g, const kb_dictionary *d, size_t field, const kb_bare_scales *scales,
                       double *centred, double *bare)
{
    const double *value = g->tile->value + field * g->n_points;
    double mean = 0;
    bool done = true;
    for (size_t p = 0; p < g->n_points; p++) mean += value[p] / (double)g->n_points;
    for (size_t p = 0; p < g->n_points; p++) centred[p] = value[p] - mean;
    regress(g, centred, scales->ratio[field]);
    for (size_t v = 0; done && v < d->n_variables; v++) {
        const kb_variable *variable = &d->variables[v];
        double *out = bare + v * g->n_points;
        if (variable->axis >= 0 || variable->field != field) continue;
        done = evaluate(g, variable, scales, out);
        for (size_t p = 0; kb_variable_order(variable) == 0 && p < g->n_points; p++) out[p] += mean;
    }
    return done;
}

kbass_status kb_bare_tile_evaluate(const kb_dictionary *d, const kb_weak_tile *tile, const kb_bare_scales *scales,
                                   kb_bare_axes *axes, double *bare, kbass_error *error)
{
    regression g = {.tile = tile, .n_points = 1, .axes = axes};
    for (size_t a = 0; a < tile->n_axes; a++) g.n_points *= tile->n[a];
    double *centred = KB_NEW(double, g.n_points);
    g.coefficients = KB_NEW(double, g.n_points);
    g.work = KB_NEW(double, 2 * g.n_points);
    bool done = centred && g.coefficients && g.work;
    forget_axis(axes, 0);
    for (size_t a = 0; done && a < tile->n_axes; a++)
        if (!axes->values[a]) done = decompose(&g, a, scales->length[a]);
    for (size_t field = 0; done && field < tile->n_fields; field++)
        done = fill_field(&g, d, field, scales, centred, bare);
    for (size_t v = 0; done && v < d->n_variables; v++)
        if (d->variables[v].axis >= 0) fill_axis(&g, (size_t)d->variables[v].axis, bare + v * g.n_points);
    kb_free(g.coefficients);
    kb_free(g.work);
    kb_free(centred);
    return done ? KBASS_OK : kb_out_of_memory(error, "the bare field");
}
