#include "published/laplace.h"

#include <math.h>
#include <string.h>

#include "base/linalg.h"
#include "base/memory.h"

/* One field's features by coefficient: A' Phi_k', rank x n_mesh, and of the rows; coefficients stand at the nodes. */
typedef struct {
    size_t n_axes, rank[KB_SAMPLE_AXES], n[KB_SAMPLE_AXES], n_rows[KB_SAMPLE_AXES];
    double *mesh[KB_SAMPLE_AXES][KB_PUBLISHED_ORDERS], *rows[KB_SAMPLE_AXES];
} features;

typedef struct {
    kb_published_model *model;
    features *of;                /* by field */
    double *coefficient, *alpha; /* mesh; last axis x orders, of one point of the others */
    double *S, *work;            /* last axis x orders x orders; rank x last axis */
} builder;

/* ---------------------------------------------------------------- whitened features */

static double *whiten(const kb_published_axis *axis, size_t n, const double *Phi)
{
    double *out = KB_NEW(double, axis->n *n);
    if (out)
        kb_gemm(KB_TRANSPOSED, KB_TRANSPOSED, axis->n, n, axis->rank, 1, axis->A, axis->rank, Phi, n, 0, out, axis->n);
    return out;
}

static bool take_features(const kb_published_field *f, size_t which, features *out)
{
    bool complete = true;
    out->n_axes = f->n_axes;
    for (size_t a = 0; a < f->n_axes; a++) {
        const kb_published_axis *axis = f->axis[which + a * f->n_fields];
        out->rank[a] = axis->n;
        out->n[a] = axis->n_mesh;
        out->n_rows[a] = axis->n_rows;
        for (int k = 0; k < KB_PUBLISHED_ORDERS; k++)
            if (axis->orders >> k & 1)
                complete = (out->mesh[a][k] = whiten(axis, axis->n_mesh, axis->feature[k])) != NULL && complete;
        complete = (out->rows[a] = whiten(axis, axis->n_rows, axis->row_feature)) != NULL && complete;
    }
    return complete;
}

static void features_clear(features *x)
{
    for (size_t a = 0; a < x->n_axes; a++) {
        for (int k = 0; k < KB_PUBLISHED_ORDERS; k++) kb_free(x->mesh[a][k]);
        kb_free(x->rows[a]);
    }
}

/* ---------------------------------------------------------------- ODE systems: one block */

/* column p of J (n x m): d e_p / d z = [f is the equation's] phi^(order) - sum over its variables of slope phi */
static void fill_jacobian(builder *b, size_t equation, double *J)
{
    kb_published_model *m = b->model;
    const kb_published_field *f = m->field;
    size_t n = f->first[f->n_fields], mesh = f->n_mesh, state = m->equations[equation].state;
    const features *own = &b->of[state];
    memset(J, 0, n * mesh * sizeof *J);
    for (size_t p = 0; p < mesh; p++)
        memcpy(J + p * n + f->first[state], own->mesh[0][m->dictionary->time_order] + p * own->rank[0],
               own->rank[0] * sizeof *J);
    for (size_t v = 0; v < m->dictionary->n_variables; v++) {
        size_t which = m->dictionary->variables[v].field, r = b->of[which].rank[0];
        if (m->dictionary->variables[v].axis >= 0 || !m->is_used[v]) continue;
        kb_published_model_slopes(m, equation, v, b->coefficient);
        for (size_t p = 0; p < mesh; p++)
            kb_axpy(r, -b->coefficient[p], b->of[which].mesh[0][0] + p * r, J + p * n + f->first[which]);
    }
}

/* H += sum over the rows of b b' / v */
static void add_rows(const kb_published_model *m, const features *x, size_t which, size_t n, double *H)
{
    const kb_field_samples *c = m->field->samples;
    size_t r = x->rank[0], first = m->field->first[which];
    for (size_t p = 0; p < c->n_points; p++) {
        const double *b = x->rows[0] + m->field->place[p] * r;
        if (!(c->measured[p + which * c->n_points] > 0)) continue;
        for (size_t j = 0; j < r; j++) kb_axpy(r, b[j] / m->variance[which], b, H + first + (first + j) * n);
    }
}

static bool build_whole(builder *b, kb_published_laplace *l)
{
    kb_published_model *m = b->model;
    size_t n = m->field->first[m->field->n_fields], mesh = m->field->n_mesh;
    double *J = KB_NEW(double, n *mesh), *H = l->factor;
    if (!J) return false;
    for (size_t i = 0; i < n; i++) H[i + i * n] = 1;
    for (size_t i = 0; i < m->field->n_fields; i++) add_rows(m, &b->of[i], i, n, H);
    for (size_t i = 0; i < m->n_equations; i++) {
        fill_jacobian(b, i, J);
        kb_gemm(KB_PLAIN, KB_TRANSPOSED, n, n, mesh, 1 / m->equations[i].tau, J, n, J, n, 1, H, n);
    }
    kb_free(J);
    return kb_cholesky(n, H, n);
}

/* ---------------------------------------------------------------- fields: a block for each coefficient but the last
 * axis' */

/* The product over all axes but the last of the features of orders k at mesh point q of them, for block i. */
static double weight_at(const features *x, const int *order, size_t i, size_t q)
{
    double product = 1;
    for (size_t a = 0; a + 1 < x->n_axes; a++) {
        product *= x->mesh[a][order[a]][i % x->rank[a] + q % x->n[a] * x->rank[a]];
        i /= x->rank[a];
        q /= x->n[a];
    }
    return product;
}

static size_t points_but_last(const features *x)
{
    size_t n = 1;
    for (size_t a = 0; a + 1 < x->n_axes; a++) n *= x->n[a];
    return n;
}

/* alpha[x + k * n] += factor * coefficient(q, x) * weight, for one derivative; coefficient NULL: 1 */
static void add_derivative(const features *x, const int *order, const double *coefficient, double factor, size_t i,
                           size_t q, double *alpha)
{
    size_t last = x->n_axes - 1, n = x->n[last], stride = points_but_last(x);
    double weight = factor * weight_at(x, order, i, q);
    for (size_t k = 0; k < n; k++)
        alpha[k + (size_t)order[last] * n] += weight * (coefficient ? coefficient[q + k * stride] : 1);
}

/* H += B^(k) diag(S) B^(l)' */
static void add_product(const features *x, int k, int l, const double *S, double *work, double *H)
{
    size_t last = x->n_axes - 1, r = x->rank[last], n = x->n[last];
    for (size_t p = 0; p < n; p++)
        for (size_t j = 0; j < r; j++) work[j + p * r] = S[p] * x->mesh[last][k][j + p * r];
    kb_gemm(KB_PLAIN, KB_TRANSPOSED, r, r, n, 1, work, r, x->mesh[last][l], r, 1, H, r);
}

typedef struct {
    size_t equation, which, n_slopes;
    const int (*order)[KB_MAX_AXES]; /* of each derivative of the field in the equation */
    double *const *slope;            /* likewise: what it is multiplied by, mesh; NULL: 1 */
} coupling;

/* One equation's part of block i of a field. */
static void add_equation(builder *b, const coupling *c, size_t i, double *H)
{
    const features *x = &b->of[c->which];
    size_t n = x->n[x->n_axes - 1], others = points_but_last(x);
    double tau = b->model->equations[c->equation].tau;
    memset(b->S, 0, n * KB_PUBLISHED_ORDERS * KB_PUBLISHED_ORDERS * sizeof *b->S);
    for (size_t q = 0; q < others; q++) {
        memset(b->alpha, 0, n * KB_PUBLISHED_ORDERS * sizeof *b->alpha);
        for (size_t d = 0; d < c->n_slopes; d++)
            add_derivative(x, c->order[d], c->slope[d], c->slope[d] ? -1 : 1, i, q, b->alpha);
        for (int k = 0; k < KB_PUBLISHED_ORDERS; k++)
            for (int l = 0; l < KB_PUBLISHED_ORDERS && x->mesh[x->n_axes - 1][k]; l++)
                for (size_t p = 0; p < n && x->mesh[x->n_axes - 1][l]; p++)
                    b->S[p + (size_t)(k * KB_PUBLISHED_ORDERS + l) * n] +=
                        b->alpha[p + (size_t)k * n] * b->alpha[p + (size_t)l * n] / tau;
    }
    for (int k = 0; k < KB_PUBLISHED_ORDERS; k++)
        for (int l = 0; l < KB_PUBLISHED_ORDERS; l++)
            if (x->mesh[x->n_axes - 1][k] && x->mesh[x->n_axes - 1][l])
                add_product(x, k, l, b->S + (size_t)(k * KB_PUBLISHED_ORDERS + l) * n, b->work, H);
}

/* The measurements' part of block i: weights of the coordinates along the last axis. */
static void add_measurements(builder *b, size_t which, size_t i, double *H)
{
    const kb_published_field *f = b->model->field;
    const kb_field_samples *c = f->samples;
    const features *x = &b->of[which];
    size_t last = x->n_axes - 1, r = x->rank[last];
    for (size_t k = 0; k < x->n_rows[last]; k++) b->alpha[k] = 0;
    for (size_t p = 0; p < c->n_points; p++) {
        size_t place = f->place[p], block = i;
        double product = 1;
        if (!(c->measured[p + which * c->n_points] > 0)) continue;
        for (size_t a = 0; a < last; a++) {
            size_t row = c->gridded ? place % x->n_rows[a] : p;
            product *= x->rows[a][block % x->rank[a] + row * x->rank[a]];
            block /= x->rank[a];
            place /= x->n_rows[a];
        }
        b->alpha[c->gridded ? place : p] += product * product;
    }
    for (size_t k = 0; k < x->n_rows[last]; k++) {
        const double *phi = x->rows[last] + k * r;
        if (b->alpha[k] == 0) continue;
        for (size_t j = 0; j < r; j++) kb_axpy(r, b->alpha[k] * phi[j] / b->model->variance[which], phi, H + j * r);
    }
}

/* Which derivatives of a field an equation has, and what they are multiplied by; slopes are the caller's, mesh each. */
static void find_coupling(builder *b, coupling *c, int (*order)[KB_MAX_AXES], double **slope, double *slopes)
{
    kb_published_model *m = b->model;
    size_t n = 0;
    if (m->equations[c->equation].state == c->which) {
        memset(order[n], 0, sizeof order[n]);
        order[n][0] = m->dictionary->time_order;
        slope[n++] = NULL;
    }
    for (size_t v = 0; v < m->dictionary->n_variables; v++) {
        const kb_variable *variable = &m->dictionary->variables[v];
        if (variable->axis >= 0 || variable->field != c->which || !m->is_used[v]) continue;
        memcpy(order[n], variable->order, sizeof order[n]);
        slope[n] = slopes + n * m->field->n_mesh;
        kb_published_model_slopes(m, c->equation, v, slope[n++]);
    }
    *c = (coupling){c->equation, c->which, n, (const int(*)[KB_MAX_AXES])order, slope};
}

/* All blocks of a field, from block `first` on. */
static bool build_field(builder *b, kb_published_laplace *l, size_t which, size_t first, size_t n_blocks)
{
    kb_published_model *m = b->model;
    size_t variables = m->dictionary->n_variables + 1, r = l->size[first];
    int(*order)[KB_MAX_AXES] = kb_allocate(variables, sizeof *order);
    double **slope = KB_NEW(double *, variables), *slopes = KB_NEW(double, variables * m->field->n_mesh);
    bool is_good = order && slope && slopes;
    for (size_t i = 0; is_good && i < n_blocks; i++) {
        double *H = l->factor + l->first[first + i];
        for (size_t j = 0; j < r; j++) H[j + j * r] = 1;
        add_measurements(b, which, i, H);
    }
    for (size_t e = 0; is_good && e < m->n_equations; e++) {
        coupling c = {.equation = e, .which = which};
        find_coupling(b, &c, order, slope, slopes);
        for (size_t i = 0; i < n_blocks; i++) add_equation(b, &c, i, l->factor + l->first[first + i]);
    }
    for (size_t i = 0; is_good && i < n_blocks; i++) is_good = kb_cholesky(r, l->factor + l->first[first + i], r);
    kb_free(order);
    kb_free(slope);
    kb_free(slopes);
    return is_good;
}

static size_t blocks_of(const features *x)
{
    size_t n = 1;
    for (size_t a = 0; a + 1 < x->n_axes; a++) n *= x->rank[a];
    return n;
}

static bool build_blocks(builder *b, kb_published_laplace *l)
{
    size_t first = 0;
    for (size_t i = 0; i < b->model->field->n_fields; first += blocks_of(&b->of[i]), i++)
        if (!build_field(b, l, i, first, blocks_of(&b->of[i]))) return false;
    return true;
}

/* ---------------------------------------------------------------- life */

void kb_published_laplace_destroy(kb_published_laplace *l)
{
    if (!l) return;
    kb_free(l->first);
    kb_free(l->size);
    kb_free(l->factor);
    kb_free(l);
}

static bool allocate(kb_published_laplace *l, const builder *b)
{
    const kb_published_field *f = b->model->field;
    size_t total = 0, block = 0;
    l->n_blocks = f->n_axes == 1;
    for (size_t i = 0; f->n_axes > 1 && i < f->n_fields; i++) l->n_blocks += blocks_of(&b->of[i]);
    l->first = KB_NEW(size_t, l->n_blocks);
    l->size = KB_NEW(size_t, l->n_blocks);
    if (!l->first || !l->size) return false;
    if (f->n_axes == 1) total = (l->size[0] = f->first[f->n_fields]) * f->first[f->n_fields];
    for (size_t i = 0; f->n_axes > 1 && i < f->n_fields; i++)
        for (size_t k = 0; k < blocks_of(&b->of[i]); k++, block++) {
            l->size[block] = b->of[i].rank[f->n_axes - 1];
            l->first[block] = total;
            total += l->size[block] * l->size[block];
        }
    return (l->factor = KB_NEW(double, total)) != NULL;
}

static bool prepare(builder *b)
{
    const kb_published_field *f = b->model->field;
    size_t longest = 0, n = f->samples->n_mesh[f->n_axes - 1], rank = 0;
    bool complete = (b->of = KB_NEW(features, f->n_fields)) != NULL;
    for (size_t i = 0; complete && i < f->n_fields; i++) {
        complete = take_features(f, i, &b->of[i]);
        if (b->of[i].n_rows[f->n_axes - 1] > longest) longest = b->of[i].n_rows[f->n_axes - 1];
        if (b->of[i].rank[f->n_axes - 1] > rank) rank = b->of[i].rank[f->n_axes - 1];
    }
    b->coefficient = KB_NEW(double, f->n_mesh);
    b->alpha = KB_NEW(double, n *KB_PUBLISHED_ORDERS + longest);
    b->S = KB_NEW(double, n *KB_PUBLISHED_ORDERS *KB_PUBLISHED_ORDERS);
    b->work = KB_NEW(double, rank *n);
    return complete && b->coefficient && b->alpha && b->S && b->work;
}

static void builder_clear(builder *b)
{
    for (size_t i = 0; b->of && i < b->model->field->n_fields; i++) features_clear(&b->of[i]);
    kb_free(b->of);
    kb_free(b->coefficient);
    kb_free(b->alpha);
    kb_free(b->S);
    kb_free(b->work);
}

kbass_status kb_published_laplace_create(kb_published_model *m, kb_published_laplace **out, kbass_error *error)
{
    builder b = {.model = m};
    kb_published_laplace *l = KB_NEW(kb_published_laplace, 1);
    bool is_laid = kb_published_model_gram(m);
    bool complete = l && is_laid && prepare(&b) && allocate(l, &b);
    bool is_good = complete && (m->field->n_axes == 1 ? build_whole(&b, l) : build_blocks(&b, l));
    builder_clear(&b);
    if (is_good) {
        *out = l;
        return KBASS_OK;
    }
    kb_published_laplace_destroy(l);
    if (is_laid && !complete) return kb_out_of_memory(error, "the solution's band");
    return kb_fail(error, KBASS_ERROR_DATA, "the Hessian of the field is singular");
}

/* ---------------------------------------------------------------- solutions and variances */

static size_t count_blocks(const kb_published_field *f, size_t which)
{
    return (f->first[which + 1] - f->first[which]) / f->axis[which + (f->n_axes - 1) * f->n_fields]->n;
}

/* The coefficients of a block lie a number of blocks apart: the last axis is the slowest. */
static void solve_block(const kb_published_laplace *l, size_t block, size_t stride, double *x, double *work)
{
    size_t n = l->size[block];
    for (size_t k = 0; k < n; k++) work[k] = x[k * stride];
    kb_cholesky_solve(n, 1, l->factor + l->first[block], n, work, n);
    for (size_t k = 0; k < n; k++) x[k * stride] = work[k];
}

void kb_published_laplace_solve(const kb_published_laplace *l, const kb_published_field *f, double *x, double *work)
{
    size_t block = 0;
    if (f->n_axes == 1) {
        solve_block(l, 0, 1, x, work);
        return;
    }
    for (size_t i = 0; i < f->n_fields; i++)
        for (size_t k = 0, n = count_blocks(f, i); k < n; k++) solve_block(l, block++, n, x + f->first[i] + k, work);
}

/* |R^{-1} b|^2 */
static double square_of(size_t n, const double *R, double *b)
{
    kb_lower_solve(n, 1, R, n, b, n);
    return kb_dot(n, b, b);
}

static double whole_variance(const kb_published_laplace *l, const kb_published_field *f, size_t which,
                             const double *feature, double *work)
{
    memset(work, 0, l->size[0] * sizeof *work);
    memcpy(work + f->first[which], feature, (f->first[which + 1] - f->first[which]) * sizeof *work);
    return square_of(l->size[0], l->factor, work);
}

double kb_published_laplace_variance(const kb_published_laplace *l, const kb_published_field *f, size_t which,
                                     const double *const *feature, double *work)
{
    size_t block = 0, n_blocks = 1, last = f->n_axes - 1;
    double variance = 0;
    if (f->n_axes == 1) return whole_variance(l, f, which, feature[0], work);
    for (size_t i = 0; i < which; i++) block += (f->first[i + 1] - f->first[i]) / f->axis[i + last * f->n_fields]->n;
    n_blocks = (f->first[which + 1] - f->first[which]) / f->axis[which + last * f->n_fields]->n;
    for (size_t i = 0; i < n_blocks; i++) {
        double product = 1;
        for (size_t a = 0, rest = i; a < last; a++) {
            size_t rank = f->axis[which + a * f->n_fields]->n;
            product *= feature[a][rest % rank];
            rest /= rank;
        }
        memcpy(work, feature[last], l->size[block + i] * sizeof *work);
        variance += product * product * square_of(l->size[block + i], l->factor + l->first[block + i], work);
    }
    return variance;
}
