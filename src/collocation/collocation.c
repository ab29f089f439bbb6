#include "collocation/collocation.h"

#include <math.h>
#include <string.h>

#include "base/linalg.h"
#include "base/memory.h"
#include "base/status.h"
#include "tensor/pair.h"
#include "tensor/rows.h"

/* ---------------------------------------------------------------- workspace */

typedef struct {
    size_t mesh, places, most, points, data, tensor;
    size_t n_axes, lines[KB_SAMPLE_AXES]; /* mesh points along each */
} extent;

enum { STACK = 1 << 21 }; /* room: doubles of stacked products; the cache */

static size_t larger(size_t a, size_t b) { return a > b ? a : b; }

static void widen(extent *x, const kb_patch *p)
{
    size_t tensor = 1;
    for (size_t a = 0; a < p->n_axes; a++) {
        tensor *= p->axis[a]->n_mesh;
        x->lines[a] = larger(x->lines[a], p->axis[a]->n_mesh);
    }
    x->n_axes = p->n_axes;
    x->mesh = larger(x->mesh, tensor);
    x->places = larger(x->places, tensor / p->axis[0]->n_mesh);
    x->most = larger(x->most, p->most);
    x->points = larger(x->points, p->n_points);
    x->data = larger(x->data, kb_patch_data_work(p));
    x->tensor = larger(x->tensor, kb_patch_transfer_work(p));
}

/* Products of space are at most `most` / KB_LEAST_RANK, of several axes half of `most`; the stacks of
   normal_equations.c hold at least four of their Gram matrices. */
static bool allocate_normal(kb_patch_workspace *b, const extent *x)
{
    size_t fields = b->dictionary->n_states, k = b->columns->n, n = x->most * fields;
    bool paired = x->n_axes > 2; /* features of several space axes */
    size_t space = x->most / (paired ? 2 : KB_LEAST_RANK) + 1;
    if (space > x->places) space = x->places;
    b->stack = larger(STACK, 4 * space * space);
    b->H = KB_NEW(double, n *n);
    b->spare_size = larger(n * larger(n, KB_NORMAL_PROBES), x->lines[0] * x->lines[0] * space);
    b->spare = KB_NEW(double, b->spare_size);
    b->left = KB_NEW(double, b->stack);
    b->right = KB_NEW(double, b->stack);
    b->pairs = KB_NEW(double, paired ? kb_pair_work(x->n_axes - 1, x->lines + 1, space) : 1);
    b->slice = KB_NEW(double, paired ? 2 * space *space : x->places *space *(fields + 1));
    b->Hzw = KB_NEW(double, n *(k + 1));
    b->gz = KB_NEW(double, n);
    b->Hww = KB_NEW(double, k *k);
    b->gw = KB_NEW(double, k);
    b->tensor = KB_NEW(double, x->mesh);
    b->place = KB_NEW(size_t, space);
    return b->H && b->spare && b->left && b->right && b->pairs && b->slice && b->Hzw && b->gz && b->Hww && b->gw &&
           b->tensor && b->place;
}

size_t kb_patch_workspace_doubles_per_point(const kb_dictionary *dictionary)
{
    size_t fields = dictionary->n_states;
    return (1 + fields) * dictionary->n_variables + dictionary->n_terms + 3 * fields + 2 +
           kb_dictionary_work(dictionary, 1);
}

static bool allocate_points(kb_patch_workspace *b, const extent *x)
{
    size_t m = x->mesh, variables = b->dictionary->n_variables, terms = b->dictionary->n_terms;
    size_t n_fields = b->dictionary->n_states;
    b->points = KB_NEW(double, m *variables);
    b->slopes = KB_NEW(double, m *n_fields);
    b->values = KB_NEW(double, m *terms);
    b->residual = KB_NEW(double, m *n_fields);
    b->weight = KB_NEW(double, m *n_fields);
    b->slope = KB_NEW(double, m *n_fields *variables);
    b->depends = KB_NEW(bool, n_fields *variables);
    b->slot = KB_NEW(size_t, terms);
    b->used_terms = KB_NEW(size_t, terms);
    b->work = KB_NEW(double, larger(kb_dictionary_work(b->dictionary, m), x->tensor));
    b->column = KB_NEW(double, 2 * m);
    b->data = KB_NEW(double, x->data + x->points);
    return b->points && b->slopes && b->values && b->residual && b->weight && b->slope && b->depends && b->slot &&
           b->used_terms && b->work && b->column && b->data;
}

kbass_status kb_patch_workspace_create(size_t n_patches, kb_patch *const *patches, const kb_dictionary *dictionary,
                                       const kb_columns *columns, kb_patch_workspace **out, kbass_error *error)
{
    extent x = {0};
    kb_patch_workspace *b = KB_NEW(kb_patch_workspace, 1);
    if (!b) return kb_out_of_memory(error, "the workspace of a patch");
    b->dictionary = dictionary;
    b->columns = columns;
    for (size_t i = 0; i < n_patches; i++) widen(&x, patches[i]);
    if (!allocate_points(b, &x) || !allocate_normal(b, &x)) {
        kb_patch_workspace_destroy(b);
        return kb_out_of_memory(error, "the workspace of a patch");
    }
    *out = b;
    return KBASS_OK;
}

void kb_patch_workspace_destroy(kb_patch_workspace *b)
{
    if (!b) return;
    double *arrays[] = {b->points, b->slopes, b->values, b->residual, b->weight, b->slope, b->work,
                        b->column, b->data,   b->H,      b->spare,    b->left,   b->right, b->pairs,
                        b->slice,  b->Hzw,    b->gz,     b->Hww,      b->gw,     b->tensor};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++) kb_free(arrays[i]);
    kb_free(b->depends);
    kb_free(b->slot);
    kb_free(b->place);
    kb_free(b->used_terms);
    kb_free(b);
}

/* ---------------------------------------------------------------- fields and terms */

double kb_variable_unit(const kb_dictionary *d, const kb_patch *p, size_t variable)
{
    const kb_variable *v = &d->variables[variable];
    double unit = p->samples->sd[v->field];
    for (size_t a = 0; a < p->n_axes; a++)
        for (int q = 0; q < v->order[a]; q++) unit /= p->samples->span[a];
    return unit;
}

static bool is_field(const kb_variable *v, size_t n_axes)
{
    for (size_t a = 0; a < n_axes; a++)
        if (v->order[a]) return false;
    return true;
}

static void evaluate_axis(const kb_patch *p, size_t axis, double *out)
{
    const kb_axis_level *level = p->level[axis];
    const double *mesh = p->axis[axis]->mesh + level->first;
    size_t inner = 1;
    for (size_t a = 0; a < axis; a++) inner *= p->level[a]->n_inner;
    for (size_t i = 0; i < p->n_mesh; i++)
        out[i] = p->samples->first[axis] + p->samples->span[axis] * mesh[i / inner % level->n_inner];
}

static void evaluate_variable(kb_patch_workspace *b, const kb_patch *p, size_t variable, const double *z)
{
    const kb_variable *v = &b->dictionary->variables[variable];
    double *out = b->points + variable * p->n_mesh, unit, offset;
    kb_mode modes[KB_SAMPLE_AXES];
    if (v->axis >= 0) {
        evaluate_axis(p, (size_t)v->axis, out);
        return;
    }
    kb_patch_modes(p, v->order, modes);
    kb_modes_product(p->n_axes, modes, kb_products_open(&p->kept, z + v->field * p->n, b->tensor), out, b->work);
    unit = kb_variable_unit(b->dictionary, p, variable);
    offset = is_field(v, p->n_axes) ? p->samples->mean[v->field] : 0;
    for (size_t i = 0; i < p->n_mesh; i++) out[i] = offset + unit * out[i];
}

void kb_collocation_evaluate(kb_patch_workspace *b, const kb_patch *p, const double *z)
{
    int order[KB_MAX_AXES] = {b->dictionary->time_order};
    kb_mode modes[KB_SAMPLE_AXES];
    for (size_t v = 0; v < b->dictionary->n_variables; v++) evaluate_variable(b, p, v, z);
    kb_patch_modes(p, order, modes);
    for (size_t i = 0; i < p->n_fields; i++)
        kb_modes_product(p->n_axes, modes, kb_products_open(&p->kept, z + i * p->n, b->tensor),
                         b->slopes + i * p->n_mesh, b->work);
}

static void list_used_terms(kb_patch_workspace *b, const kb_support *support)
{
    const kb_columns *c = b->columns;
    for (size_t term = 0; term < b->dictionary->n_terms; term++) b->slot[term] = (size_t)-1;
    for (size_t q = 0; q < support->n; q++) b->slot[c->term[support->column[q]]] = 0;
    for (size_t q = 0; q < c->n_fixed; q++) b->slot[c->fixed_term[q]] = 0;
    b->n_used = 0;
    for (size_t term = 0; term < b->dictionary->n_terms; term++)
        if (b->slot[term] != (size_t)-1) {
            b->slot[term] = b->n_used;
            b->used_terms[b->n_used++] = term;
        }
}

const double *kb_collocation_term(const kb_patch_workspace *b, const kb_patch *p, size_t term)
{
    return b->values + b->slot[term] * p->n_mesh;
}

static void equation_residual(kb_patch_workspace *b, const kb_patch *p, const kb_support *support, const double *w,
                              size_t field)
{
    const kb_columns *c = b->columns;
    size_t m = p->n_mesh;
    double *e = b->residual + field * m;
    memcpy(e, b->slopes + field * m, m * sizeof *e);
    for (size_t q = 0; q < c->n_fixed; q++)
        if (c->fixed_equation[q] == field)
            kb_axpy(m, -c->fixed_weight[q], kb_collocation_term(b, p, c->fixed_term[q]), e);
    for (size_t q = 0; q < support->n; q++) {
        size_t column = support->column[q];
        if (c->equation[column] == field && w[column] != 0 && kb_column_holds(c, column, p->run))
            kb_axpy(m, -w[column] / c->scale[column], kb_collocation_term(b, p, c->term[column]), e);
    }
}

void kb_collocation_residuals(kb_patch_workspace *b, const kb_patch *p, const kb_support *support, const double *z,
                              const double *w)
{
    list_used_terms(b, support);
    kb_collocation_evaluate(b, p, z);
    kb_dictionary_values(b->dictionary, b->n_used, b->used_terms, p->n_mesh, b->points, p->n_mesh, b->values, b->work);
    for (size_t i = 0; i < p->n_fields; i++)
        if (b->dictionary->has_equation[i]) equation_residual(b, p, support, w, i);
}

/* ---------------------------------------------------------------- slopes */

static void add_slopes(kb_patch_workspace *b, const kb_patch *p, size_t term, size_t field, double weight)
{
    size_t m = p->n_mesh;
    for (size_t v = 0; v < b->dictionary->n_variables; v++) {
        size_t at = field + v * p->n_fields;
        if (b->dictionary->variables[v].axis >= 0 || !kb_dictionary_depends(b->dictionary, term, v)) continue;
        kb_dictionary_slopes(b->dictionary, term, v, m, b->points, m, b->column, b->work);
        if (!b->depends[at]) memset(b->slope + at * m, 0, m * sizeof *b->slope);
        b->depends[at] = true;
        kb_axpy(m, weight * kb_variable_unit(b->dictionary, p, v), b->column, b->slope + at * m);
    }
}

void kb_collocation_slopes(kb_patch_workspace *b, const kb_patch *p, const kb_support *support, const double *w)
{
    const kb_columns *c = b->columns;
    memset(b->depends, 0, p->n_fields * b->dictionary->n_variables * sizeof *b->depends);
    for (size_t q = 0; q < c->n_fixed; q++)
        add_slopes(b, p, c->fixed_term[q], c->fixed_equation[q], c->fixed_weight[q]);
    for (size_t q = 0; q < support->n; q++) {
        size_t column = support->column[q];
        if (w[column] != 0 && kb_column_holds(c, column, p->run))
            add_slopes(b, p, c->term[column], c->equation[column], w[column] / c->scale[column]);
    }
}

/* ---------------------------------------------------------------- objective */

double kb_equation_weight(const kb_patch *p, const kb_hyper *hyper, size_t field)
{
    return p->count[field] / ((double)p->n_mesh * hyper->tau * hyper->slope_squares[field]);
}

void kb_collocation_weigh(kb_patch_workspace *b, const kb_patch *p, const kb_hyper *hyper)
{
    double nu = hyper->freedom;
    for (size_t i = 0; i < p->n_fields; i++) {
        const double *e = b->residual + i * p->n_mesh;
        double *weight = b->weight + i * p->n_mesh, scale = nu * hyper->tau * hyper->slope_squares[i];
        for (size_t j = 0; j < p->n_mesh; j++) weight[j] = nu > 0 ? (nu + 1) / nu / (1 + e[j] * e[j] / scale) : 1;
    }
}

static double equation_cost(const kb_patch_workspace *b, const kb_patch *p, const kb_hyper *hyper, size_t field)
{
    const double *e = b->residual + field * p->n_mesh;
    double weight = kb_equation_weight(p, hyper, field), nu = hyper->freedom, sum = 0;
    double variance = hyper->tau * hyper->slope_squares[field];
    if (!(nu > 0)) return 0.5 * weight * kb_dot(p->n_mesh, e, e);
    for (size_t j = 0; j < p->n_mesh; j++) sum += log1p(e[j] * e[j] / (nu * variance));
    return 0.5 * weight * variance * (nu + 1) * sum;
}

double kb_collocation_objective(kb_patch_workspace *b, const kb_patch *p, const kb_hyper *hyper,
                                const kb_support *support, const double *z, const double *w)
{
    double J = 0, *r = b->data;
    kb_collocation_residuals(b, p, support, z, w);
    for (size_t i = 0; i < p->n_fields; i++) {
        const double *zi = z + i * p->n;
        kb_patch_residual(p, i, zi, r, r + p->n_points);
        J += 0.5 * kb_dot(p->n, zi, zi) / hyper->amplitude[i] + 0.5 * kb_dot(p->n_points, r, r) / hyper->variance[i];
        if (b->dictionary->has_equation[i]) J += equation_cost(b, p, hyper, i);
    }
    return J;
}

void kb_collocation_measure(kb_patch_workspace *b, const kb_patch *p, const kb_support *all, const double *z,
                            double *slope_squares, double *column_squares)
{
    const kb_columns *c = b->columns;
    size_t m = p->n_mesh;
    list_used_terms(b, all);
    kb_collocation_evaluate(b, p, z);
    kb_dictionary_values(b->dictionary, b->n_used, b->used_terms, m, b->points, m, b->values, b->work);
    for (size_t i = 0; i < p->n_fields; i++) slope_squares[i] += kb_dot(m, b->slopes + i * m, b->slopes + i * m);
    for (size_t q = 0; q < all->n; q++) {
        if (!kb_column_holds(c, all->column[q], p->run)) continue;
        const double *value = kb_collocation_term(b, p, c->term[all->column[q]]);
        double scale = c->scale[all->column[q]];
        column_squares[all->column[q]] += kb_dot(m, value, value) / (scale * scale);
    }
}
