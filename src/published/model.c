#include "published/model.h"

#include <math.h>
#include <string.h>

#include "base/linalg.h"
#include "base/memory.h"

enum { BLOCK = 512 };

static size_t smaller(size_t a, size_t b) { return a < b ? a : b; }

/* ---------------------------------------------------------------- life */

void kb_published_model_destroy(kb_published_model *m)
{
    if (!m) return;
    for (size_t i = 0; m->equations && i < m->n_equations; i++) {
        kb_published_equation *e = &m->equations[i];
        double *arrays[] = {e->w, e->covariance, e->G, e->b};
        for (size_t k = 0; k < sizeof arrays / sizeof *arrays; k++) kb_free(arrays[k]);
        kb_free(e->column);
        kb_free(e->term);
    }
    double *arrays[] = {m->variance, m->gradient, m->slope,    m->points,   m->pull,   m->lhs,  m->force,
                        m->unit,     m->values,   m->weighted, m->residual, m->slopes, m->work, m->rows};
    for (size_t k = 0; k < sizeof arrays / sizeof *arrays; k++) kb_free(arrays[k]);
    kb_free(m->equations);
    kb_free(m->is_used);
    kb_columns_destroy(m->columns);
    kb_published_field_destroy(m->field);
    kb_free(m);
}

/* What a derivative of the field is multiplied by: its unit, and reach / span for each order along an axis. */
static void set_units(kb_published_model *m)
{
    const kb_published_field *f = m->field;
    for (size_t v = 0; v < m->dictionary->n_variables; v++) {
        const kb_variable *variable = &m->dictionary->variables[v];
        m->unit[v] = variable->axis >= 0 ? 0 : f->unit[variable->field];
        for (size_t a = 0; a < f->n_axes; a++) m->unit[v] *= pow(f->reach[a] / f->samples->span[a], variable->order[a]);
    }
}

/* The coordinates of the mesh, as far as terms may use them. */
static void set_axes(kb_published_model *m)
{
    const kb_field_samples *c = m->field->samples;
    for (size_t v = 0; v < m->dictionary->n_variables; v++) {
        int axis = m->dictionary->variables[v].axis;
        size_t stride = 1;
        if (axis < 0) continue;
        for (int a = 0; a < axis; a++) stride *= c->n_mesh[a];
        for (size_t p = 0; p < m->field->n_mesh; p++)
            m->points[p + v * m->field->n_mesh] =
                c->first[axis] + c->span[axis] * c->mesh[axis][p / stride % c->n_mesh[axis]];
    }
}

static bool allocate(kb_published_model *m)
{
    size_t mesh = m->field->n_mesh, variables = m->dictionary->n_variables, fields = m->field->n_fields;
    m->variance = KB_NEW(double, fields);
    m->slope = KB_NEW(double, fields * m->field->n_axes);
    m->points = KB_NEW(double, mesh *variables);
    m->pull = KB_NEW(double, mesh *variables);
    m->lhs = KB_NEW(double, mesh *fields);
    m->force = KB_NEW(double, mesh *fields);
    m->is_used = KB_NEW(bool, variables);
    m->unit = KB_NEW(double, variables);
    m->values = KB_NEW(double, BLOCK *(m->dictionary->n_terms + 1));
    m->weighted = KB_NEW(double, BLOCK *(m->dictionary->n_terms + 1));
    m->residual = KB_NEW(double, BLOCK);
    m->slopes = KB_NEW(double, BLOCK);
    m->work = KB_NEW(double, kb_dictionary_work(m->dictionary, BLOCK));
    m->rows = KB_NEW(double, m->field->samples->n_points);
    return m->variance && m->slope && m->points && m->pull && m->lhs && m->force && m->is_used && m->unit &&
           m->values && m->weighted && m->residual && m->slopes && m->work && m->rows;
}

kbass_status kb_published_model_resize(kb_published_model *m, kbass_error *error)
{
    size_t n = m->field->first[m->field->n_fields];
    for (size_t v = 0; v < m->dictionary->n_variables; v++) {
        m->is_used[v] = false;
        for (size_t i = 0; i < m->n_equations; i++)
            for (size_t q = 0; q < m->equations[i].n; q++)
                if (kb_dictionary_depends(m->dictionary, m->equations[i].term[q], v)) m->is_used[v] = true;
        for (size_t q = 0; m->columns && q < m->columns->n_fixed; q++)
            if (kb_dictionary_depends(m->dictionary, m->columns->fixed_term[q], v)) m->is_used[v] = true;
        if (!m->columns) m->is_used[v] = true;
    }
    if (n <= m->n_gradient) return KBASS_OK;
    kb_free(m->gradient);
    m->gradient = KB_NEW(double, n);
    m->n_gradient = m->gradient ? n : 0;
    return m->gradient ? KBASS_OK : kb_out_of_memory(error, "the gradient");
}

static bool equation_create(kb_published_equation *e, const kb_columns *c, size_t first, size_t last)
{
    size_t n = e->n = last - first;
    e->state = c->equation[first];
    e->column = KB_NEW(size_t, n);
    e->term = KB_NEW(size_t, n);
    e->w = KB_NEW(double, n);
    e->covariance = KB_NEW(double, n *n);
    e->G = KB_NEW(double, n *n);
    e->b = KB_NEW(double, n);
    if (!e->column || !e->term || !e->w || !e->covariance || !e->G || !e->b) return false;
    for (size_t q = 0; q < n; q++) {
        e->column[q] = first + q;
        e->term[q] = c->term[first + q];
    }
    e->tau = 1;
    return true;
}

static bool create_equations(kb_published_model *m)
{
    const kb_columns *c = m->columns;
    m->equations = KB_NEW(kb_published_equation, m->field->n_fields);
    for (size_t first = 0, last; m->equations && first < c->n; first = last) {
        last = kb_columns_end(c, first);
        if (!equation_create(&m->equations[m->n_equations++], c, first, last)) return false;
    }
    return m->equations != NULL;
}

/* ---------------------------------------------------------------- the field where the terms read it */

static void find_orders(const kb_published_model *m, unsigned *orders)
{
    for (size_t a = 0; a < m->field->n_axes; a++) {
        orders[a] = 1;
        for (size_t v = 0; v < m->dictionary->n_variables; v++)
            if (m->is_used[v] && m->dictionary->variables[v].axis < 0)
                orders[a] |= 1u << m->dictionary->variables[v].order[a];
    }
    orders[0] |= 1u << m->dictionary->time_order;
}

/* Kernels, coefficients, and unless it is plain regression the variables over the mesh. */
static bool lay(kb_published_model *m, bool with_equations)
{
    unsigned orders[KB_SAMPLE_AXES] = {0};
    int time[KB_SAMPLE_AXES] = {m->dictionary->time_order};
    kb_published_field *f = m->field;
    size_t mesh = f->n_mesh;
    if (with_equations) find_orders(m, orders);
    if (!kb_published_field_set(f, orders)) return false;
    if (!with_equations) return true;
    for (size_t v = 0; v < m->dictionary->n_variables; v++) {
        const kb_variable *variable = &m->dictionary->variables[v];
        double *points = m->points + v * mesh;
        if (variable->axis >= 0 || !m->is_used[v]) continue;
        double offset = kb_variable_order(variable) ? 0 : f->offset[variable->field];
        kb_published_field_derivative(f, variable->field, variable->order, points);
        for (size_t p = 0; p < mesh; p++) points[p] = offset + m->unit[v] * points[p];
    }
    for (size_t i = 0; i < f->n_fields; i++)
        if (m->dictionary->has_equation[i]) kb_published_field_derivative(f, i, time, m->lhs + i * mesh);
    return true;
}

double kb_published_model_slope_square(const kb_published_model *m, size_t field)
{
    const double *lhs = m->lhs + field * m->field->n_mesh;
    return kb_dot(m->field->n_mesh, lhs, lhs) / (double)m->field->n_mesh;
}

static kbass_status scale_columns(kb_published_model *m, bool in_data_units, kbass_error *error)
{
    const kb_published_field *f = m->field;
    double span = f->samples->span[0] / f->reach[0], *squares = KB_NEW(double, f->n_fields);
    if (!squares) return kb_out_of_memory(error, "the columns");
    for (size_t i = 0; i < f->n_fields; i++) squares[i] = kb_published_model_slope_square(m, i);
    kbass_status status =
        kb_columns_create(m->dictionary, f->unit, span, f->n_mesh, m->points, squares, &m->columns, error);
    for (size_t c = 0; status == KBASS_OK && in_data_units && c < m->columns->n; c++) {
        m->columns->unit[c] *= m->columns->scale[c];
        m->columns->scale[c] = 1;
    }
    kb_free(squares);
    return status;
}

kbass_status kb_published_model_create(kb_published_field *field, const kb_dictionary *dictionary, bool in_data_units,
                                       kb_published_model **out, kbass_error *error)
{
    kb_published_model *m = KB_NEW(kb_published_model, 1);
    if (!m) {
        kb_published_field_destroy(field);
        return kb_out_of_memory(error, "the published method");
    }
    m->field = field;
    m->dictionary = dictionary;
    kbass_status status = allocate(m) ? KBASS_OK : kb_out_of_memory(error, "the published method");
    if (status == KBASS_OK) {
        set_units(m);
        set_axes(m);
        status = kb_published_model_resize(m, error);
    }
    if (status == KBASS_OK && !lay(m, true)) status = kb_fail(error, KBASS_ERROR_DATA, "the kernel matrix is singular");
    if (status == KBASS_OK) status = scale_columns(m, in_data_units, error);
    if (status == KBASS_OK && !create_equations(m)) status = kb_out_of_memory(error, "the published method");
    if (status == KBASS_OK) status = kb_published_model_resize(m, error);
    if (status == KBASS_OK) *out = m;
    else kb_published_model_destroy(m);
    return status;
}

/* ---------------------------------------------------------------- one equation at a block of points */

/* values[:, q] = P_q / scale_q */
static void take_terms(kb_published_model *m, const kb_published_equation *e, size_t first, size_t n)
{
    kb_dictionary_values(m->dictionary, e->n, e->term, n, m->points + first, m->field->n_mesh, m->values, m->work);
    for (size_t q = 0; q < e->n; q++) {
        double scale = 1 / m->columns->scale[e->column[q]];
        for (size_t p = 0; p < n && scale != 1; p++) m->values[p + q * n] *= scale;
    }
}

/* residual = D_t f - fixed part */
static void take_left(kb_published_model *m, const kb_published_equation *e, size_t first, size_t n)
{
    const kb_columns *c = m->columns;
    memcpy(m->residual, m->lhs + first + e->state * m->field->n_mesh, n * sizeof *m->residual);
    for (size_t q = 0; q < c->n_fixed; q++) {
        if (c->fixed_equation[q] != e->state) continue;
        kb_dictionary_values(m->dictionary, 1, &c->fixed_term[q], n, m->points + first, m->field->n_mesh, m->slopes,
                             m->work);
        kb_axpy(n, -c->fixed_weight[q], m->slopes, m->residual);
    }
}

/* pull of variable v += factor * force * dP/dv over the block */
static void pull_term(kb_published_model *m, size_t term, double factor, const double *force, size_t first, size_t n)
{
    size_t mesh = m->field->n_mesh;
    for (size_t v = 0; v < m->dictionary->n_variables; v++) {
        double *pull = m->pull + first + v * mesh, scale = factor * m->unit[v];
        if (m->dictionary->variables[v].axis >= 0 || !kb_dictionary_depends(m->dictionary, term, v)) continue;
        kb_dictionary_slopes(m->dictionary, term, v, n, m->points + first, mesh, m->slopes, m->work);
        for (size_t p = 0; p < n; p++) pull[p] += scale * force[p] * m->slopes[p];
    }
}

static double pull_block(kb_published_model *m, const kb_published_equation *e, size_t first, size_t n)
{
    const kb_columns *c = m->columns;
    double J = 0, *force = m->force + first + e->state * m->field->n_mesh, *weighted = m->weighted;
    take_terms(m, e, first, n);
    take_left(m, e, first, n);
    if (e->n) kb_gemv(KB_PLAIN, n, e->n, -1, m->values, n, e->w, 1, m->residual);
    for (size_t p = 0; p < n; p++) {
        J += m->residual[p] * m->residual[p];
        force[p] = m->residual[p] / e->tau;
    }
    if (e->has_covariance && e->n) {
        kb_gemm(KB_PLAIN, KB_PLAIN, n, e->n, e->n, 1, m->values, n, e->covariance, e->n, 0, weighted, n);
        J += kb_dot(n * e->n, m->values, weighted);
    } else {
        memset(weighted, 0, n * e->n * sizeof *weighted);
    }
    for (size_t q = 0; q < e->n; q++) {
        kb_axpy(n, -e->w[q], m->residual, weighted + q * n);
        pull_term(m, e->term[q], 1 / (e->tau * c->scale[e->column[q]]), weighted + q * n, first, n);
    }
    for (size_t q = 0; q < c->n_fixed; q++)
        if (c->fixed_equation[q] == e->state)
            pull_term(m, c->fixed_term[q], -c->fixed_weight[q] / e->tau, m->residual, first, n);
    return J / (2 * e->tau);
}

/* ---------------------------------------------------------------- the objective */

static double add_measurements(kb_published_model *m, size_t field)
{
    size_t n = m->field->samples->n_points;
    kb_published_field_residual(m->field, field, m->rows);
    double J = kb_dot(n, m->rows, m->rows) / (2 * m->variance[field]);
    for (size_t p = 0; p < n; p++) m->rows[p] /= -m->variance[field];
    kb_published_field_pull_rows(m->field, field, m->rows);
    return J;
}

static double add_equations(kb_published_model *m)
{
    size_t mesh = m->field->n_mesh;
    double J = 0;
    for (size_t v = 0; v < m->dictionary->n_variables; v++)
        if (m->is_used[v]) memset(m->pull + v * mesh, 0, mesh * sizeof *m->pull);
    for (size_t i = 0; i < m->n_equations; i++)
        for (size_t first = 0; first < mesh; first += BLOCK)
            J += pull_block(m, &m->equations[i], first, smaller(BLOCK, mesh - first));
    return J;
}

/* The pulls of the variables go back to the fields they belong to. */
static void pull_fields(kb_published_model *m, size_t field)
{
    int time[KB_SAMPLE_AXES] = {m->dictionary->time_order};
    size_t mesh = m->field->n_mesh;
    for (size_t v = 0; v < m->dictionary->n_variables; v++) {
        const kb_variable *variable = &m->dictionary->variables[v];
        if (variable->axis < 0 && variable->field == field && m->is_used[v])
            kb_published_field_pull(m->field, field, variable->order, m->pull + v * mesh);
    }
    for (size_t i = 0; i < m->n_equations; i++)
        if (m->equations[i].state == field) kb_published_field_pull(m->field, field, time, m->force + field * mesh);
}

double kb_published_model_gradient(kb_published_model *m)
{
    kb_published_field *f = m->field;
    size_t n = f->first[f->n_fields];
    double J = 0.5 * kb_dot(n, f->z, f->z);
    memcpy(m->gradient, f->z, n * sizeof *m->gradient);
    memset(m->slope, 0, f->n_fields * f->n_axes * sizeof *m->slope);
    if (!lay(m, m->has_equations)) return NAN;
    if (m->has_equations) J += add_equations(m);
    for (size_t i = 0; i < f->n_fields; i++) {
        double slopes[KB_SAMPLE_AXES] = {0};
        J += add_measurements(m, i);
        if (m->has_equations) pull_fields(m, i);
        kb_published_field_gradient(f, i, m->gradient + f->first[i], slopes);
        for (size_t a = 0; a < f->n_axes; a++) m->slope[i + a * f->n_fields] += slopes[a];
    }
    return J;
}

/* ---------------------------------------------------------------- for the E step and after it */

bool kb_published_model_gram(kb_published_model *m)
{
    size_t mesh = m->field->n_mesh;
    if (!lay(m, true)) return false;
    for (size_t i = 0; i < m->n_equations; i++) {
        kb_published_equation *e = &m->equations[i];
        for (size_t first = 0; first < mesh; first += BLOCK) {
            size_t n = smaller(BLOCK, mesh - first);
            take_terms(m, e, first, n);
            take_left(m, e, first, n);
            if (!e->n) continue;
            kb_gram(e->n, n, 1, m->values, n, first ? 1 : 0, e->G, e->n);
            kb_gemv(KB_TRANSPOSED, n, e->n, 1, m->values, n, m->residual, first ? 1 : 0, e->b);
        }
        kb_symmetrise(e->n, e->G, e->n);
    }
    return true;
}

double kb_published_model_residual(kb_published_model *m, size_t field)
{
    const kb_published_field *f = m->field;
    size_t n = f->samples->n_points;
    kb_published_field_residual(m->field, field, m->rows);
    return f->unit[field] * sqrt(kb_dot(n, m->rows, m->rows) / (double)f->samples->count[field]);
}

void kb_published_model_slopes(kb_published_model *m, size_t equation, size_t variable, double *out)
{
    const kb_published_equation *e = &m->equations[equation];
    const kb_columns *c = m->columns;
    size_t mesh = m->field->n_mesh;
    memset(out, 0, mesh * sizeof *out);
    for (size_t first = 0; first < mesh; first += BLOCK) {
        size_t n = smaller(BLOCK, mesh - first);
        for (size_t q = 0; q < e->n; q++) {
            if (!kb_dictionary_depends(m->dictionary, e->term[q], variable)) continue;
            kb_dictionary_slopes(m->dictionary, e->term[q], variable, n, m->points + first, mesh, m->slopes, m->work);
            kb_axpy(n, e->w[q] * m->unit[variable] / m->columns->scale[e->column[q]], m->slopes, out + first);
        }
        for (size_t q = 0; q < c->n_fixed; q++) {
            bool is_there = c->fixed_equation[q] == e->state;
            if (!is_there || !kb_dictionary_depends(m->dictionary, c->fixed_term[q], variable)) continue;
            kb_dictionary_slopes(m->dictionary, c->fixed_term[q], variable, n, m->points + first, mesh, m->slopes,
                                 m->work);
            kb_axpy(n, c->fixed_weight[q] * m->unit[variable], m->slopes, out + first);
        }
    }
}
