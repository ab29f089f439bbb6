#include "collocation/gradient.h"

#include "base/linalg.h"

void kb_equation_pull(kb_patch_workspace *b, const kb_patch *p, size_t equation, const double *r, double *out)
{
    int order[KB_MAX_AXES] = {b->dictionary->time_order};
    size_t m = p->n_mesh;
    double *product = b->column + m;
    kb_mode modes[KB_SAMPLE_AXES];
    kb_patch_modes(p, order, modes);
    kb_modes_adjoint(p->n_axes, modes, r, b->tensor, b->work);
    kb_products_gather(&p->kept, 1, b->tensor, out + equation * p->n);
    for (size_t v = 0; v < b->dictionary->n_variables; v++) {
        const kb_variable *variable = &b->dictionary->variables[v];
        const double *slope = b->slope + (equation + v * p->n_fields) * m;
        if (variable->axis >= 0 || !b->depends[equation + v * p->n_fields]) continue;
        for (size_t i = 0; i < m; i++) product[i] = slope[i] * r[i];
        kb_patch_modes(p, variable->order, modes);
        kb_modes_adjoint(p->n_axes, modes, product, b->tensor, b->work);
        kb_products_gather(&p->kept, -1, b->tensor, out + variable->field * p->n);
    }
}

void kb_equation_gradient(kb_patch_workspace *b, const kb_patch *p, const kb_hyper *hyper, size_t equation)
{
    const double *e = b->residual + equation * p->n_mesh, *weight = b->weight + equation * p->n_mesh;
    double scale = kb_equation_weight(p, hyper, equation);
    for (size_t i = 0; i < p->n_mesh; i++) b->column[i] = scale * weight[i] * e[i];
    kb_equation_pull(b, p, equation, b->column, b->gz);
}

void kb_equation_column(kb_patch_workspace *b, const kb_patch *p, const kb_hyper *hyper, const kb_support *support,
                        size_t q)
{
    const kb_columns *c = b->columns;
    size_t column = support->column[q], equation = c->equation[column], m = p->n_mesh, k = support->n;
    const double *value = kb_collocation_term(b, p, c->term[column]), *weight = b->weight + equation * m;
    double scale = kb_equation_weight(p, hyper, equation) / c->scale[column], *r = b->column;
    if (!kb_column_holds(c, column, p->run)) scale = 0;
    for (size_t i = 0; i < m; i++) r[i] = scale * weight[i] * value[i];
    for (size_t s = 0; s <= q; s++) {
        size_t other = support->column[s];
        double product = 0;
        if (c->equation[other] == equation && kb_column_holds(c, other, p->run))
            product = kb_dot(m, r, kb_collocation_term(b, p, c->term[other])) / c->scale[other];
        b->Hww[q + s * k] = b->Hww[s + q * k] = product;
    }
    b->gw[q] = -kb_dot(m, r, b->residual + equation * m);
    for (size_t i = 0; i < m; i++) r[i] = -r[i];
}

/* dJ/dz of the data's part, added to gz; returns that part of J. */
static double add_data(kb_patch_workspace *b, const kb_patch *p, const kb_hyper *hyper, const double *z)
{
    double *r = b->data, *work = r + p->n_points, J = 0;
    for (size_t i = 0; i < p->n_fields; i++) {
        kb_patch_residual(p, i, z + i * p->n, r, work);
        J += 0.5 * kb_dot(p->n_points, r, r) / hyper->variance[i];
        for (size_t j = 0; j < p->n_points; j++) r[j] *= p->measured[j + i * p->n_points];
        kb_patch_pull(p, r, b->tensor, work);
        kb_axpy(p->n, 1 / hyper->variance[i], b->tensor, b->gz + i * p->n);
    }
    return J;
}

double kb_patch_gradient(kb_patch_workspace *b, const kb_patch *p, const kb_hyper *hyper, const kb_support *support,
                         const double *z, const double *w)
{
    double J = 0;
    kb_collocation_residuals(b, p, support, z, w);
    kb_collocation_slopes(b, p, support, w);
    kb_collocation_weigh(b, p, hyper);
    for (size_t i = 0; i < p->n_fields * p->n; i++) {
        b->gz[i] = z[i] / hyper->amplitude[i / p->n];
        J += 0.5 * z[i] * b->gz[i];
    }
    for (size_t i = 0; i < p->n_fields; i++) {
        const double *e = b->residual + i * p->n_mesh;
        if (!b->dictionary->has_equation[i]) continue;
        J += 0.5 * kb_equation_weight(p, hyper, i) * kb_dot(p->n_mesh, e, e);
        kb_equation_gradient(b, p, hyper, i);
    }
    return J + add_data(b, p, hyper, z);
}

void kb_patch_plug_in(kb_patch_workspace *b, const kb_patch *p, const kb_hyper *hyper, const kb_support *support,
                      const double *z, const double *w)
{
    kb_collocation_residuals(b, p, support, z, w);
    kb_collocation_weigh(b, p, hyper);
    for (size_t q = 0; q < support->n; q++) kb_equation_column(b, p, hyper, support, q);
}
