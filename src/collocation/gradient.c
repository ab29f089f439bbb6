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
