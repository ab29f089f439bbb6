#include "collocation/ode_field.h"

#include <math.h>
#include <string.h>

#include "base/linalg.h"
#include "base/memory.h"
#include "base/status.h"

static const double reference_mesh = 200; /* points: tau is stated for it, so that it means the same on any mesh */

/* Known functions of time are no unknowns: their coefficients stay at zero and nothing depends on them. */
static bool is_input(const kb_ode_field *f, size_t state)
{
    return kb_inputs_curve(f->record->inputs, f->record->run, state) != NULL;
}

static bool allocate_system(kb_ode_field *f)
{
    size_t nz = f->n_states * f->max_rank, k = f->columns->n, all = nz + k;
    f->v = KB_NEW(double, f->n_states);
    f->tau = KB_NEW(double, f->n_states);
    f->z = KB_NEW(double, nz);
    f->w = KB_NEW(double, k);
    f->Hzz = KB_NEW(double, nz *nz);
    f->Hzw = KB_NEW(double, nz *k);
    f->Hww = KB_NEW(double, k *k);
    f->gz = KB_NEW(double, nz);
    f->gw = KB_NEW(double, k);
    f->G = KB_NEW(double, k *k);
    f->b = KB_NEW(double, k);
    f->rms = KB_NEW(double, k);
    f->trial_z = KB_NEW(double, nz);
    f->trial_w = KB_NEW(double, k);
    f->step = KB_NEW(double, all);
    return f->v && f->tau && f->z && f->w && f->Hzz && f->Hzw && f->Hww && f->gz && f->gw && f->G && f->b && f->rms &&
           f->trial_z && f->trial_w && f->step;
}

static bool allocate_workspace(kb_ode_field *f)
{
    size_t m = f->n_mesh, n = f->n_states, terms = f->dictionary->n_terms, r = f->max_rank;
    f->points = KB_NEW(double, m * f->dictionary->n_variables);
    f->slopes = KB_NEW(double, m *n);
    f->values = KB_NEW(double, m *terms);
    f->X = KB_NEW(double, m *terms);
    f->Jz = KB_NEW(double, m *n *r);
    f->D = KB_NEW(double, m *n *n);
    f->residual = KB_NEW(double, m + f->record->n_rows);
    f->gram = KB_NEW(double, n *r *r);
    f->work = KB_NEW(double, kb_dictionary_work(f->dictionary, m) + m);
    f->used_terms = KB_NEW(size_t, terms);
    f->slot = KB_NEW(size_t, terms);
    f->nonzero = KB_NEW(bool, n *n);
    return f->points && f->slopes && f->values && f->X && f->Jz && f->D && f->residual && f->gram && f->work &&
           f->used_terms && f->slot && f->nonzero;
}

/* Inputs on the mesh, once for all. */
static void evaluate_inputs(kb_ode_field *f)
{
    for (size_t i = 0; i < f->n_states; i++)
        for (size_t p = 0; is_input(f, i) && p < f->n_mesh; p++) {
            double q =
                kb_record_input(f->record, 0, i, (double)p / (double)(f->n_mesh - 1), &f->slopes[p + i * f->n_mesh]);
            f->points[p + i * f->n_mesh] = f->record->mean[i] + f->record->sd[i] * q;
        }
}

kbass_status kb_ode_field_create(const kb_record *record, const kb_dictionary *dictionary, const kb_columns *columns,
                                 size_t n_mesh, size_t max_rank, kb_ode_field **out, kbass_error *error)
{
    kb_ode_field *f = KB_NEW(kb_ode_field, 1);
    if (!f) return kb_out_of_memory(error, "the field");
    f->record = record;
    f->dictionary = dictionary;
    f->columns = columns;
    f->n_states = record->n_states;
    f->n_mesh = n_mesh;
    f->max_rank = max_rank;
    if (!allocate_system(f) || !allocate_workspace(f)) {
        kb_ode_field_destroy(f);
        return kb_out_of_memory(error, "the field");
    }
    double *time = f->points + record->n_states * n_mesh;
    for (size_t p = 0; p < n_mesh; p++) time[p] = record->first + record->span * (double)p / (double)(n_mesh - 1);
    evaluate_inputs(f);
    *out = f;
    return KBASS_OK;
}

void kb_ode_field_destroy(kb_ode_field *f)
{
    if (!f) return;
    double *arrays[] = {f->v,  f->tau, f->z,        f->w,    f->Hzz,    f->Hzw,     f->Hww,     f->gz,
                        f->gw, f->G,   f->b,        f->rms,  f->points, f->slopes,  f->values,  f->X,
                        f->Jz, f->D,   f->residual, f->gram, f->work,   f->trial_z, f->trial_w, f->step};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++) kb_free(arrays[i]);
    kb_free(f->used_terms);
    kb_free(f->slot);
    kb_free(f->nonzero);
    kb_free(f);
}

void kb_ode_field_set_level(kb_ode_field *f, const kb_level *level)
{
    size_t m = f->n_mesh;
    if (f->level == level) return;
    for (size_t i = 0; i < f->n_states; i++) {
        if (f->level) {
            kb_gemv(KB_PLAIN, m, f->level->rank, 1, f->level->mesh, m, f->z + i * f->level->rank, 0, f->work);
            kb_level_project(level, f->work, f->trial_z + i * level->rank);
        } else {
            memset(f->trial_z + i * level->rank, 0, level->rank * sizeof *f->z);
        }
    }
    memcpy(f->z, f->trial_z, f->n_states * level->rank * sizeof *f->z);
    f->level = level;
    for (size_t i = 0; i < f->n_states; i++)
        kb_level_gram(level, f->record, i, f->gram + i * level->rank * level->rank);
}

bool kb_ode_field_regress(kb_ode_field *f)
{
    size_t r = f->level->rank;
    for (size_t i = 0; i < f->n_states; i++)
        if (!kb_level_regress(f->level, f->record, i, f->v[i], f->z + i * r, f->Hzz)) return false;
    return true;
}

void kb_ode_field_evaluate(kb_ode_field *f, const double *z)
{
    size_t m = f->n_mesh, r = f->level->rank;
    for (size_t i = 0; i < f->n_states; i++) {
        double *u = f->points + i * m;
        if (is_input(f, i)) continue;
        kb_gemv(KB_PLAIN, m, r, f->record->sd[i], f->level->mesh, m, z + i * r, 0, u);
        for (size_t p = 0; p < m; p++) u[p] += f->record->mean[i];
        kb_gemv(KB_PLAIN, m, r, f->record->stretch, f->level->slope, m, z + i * r, 0, f->slopes + i * m);
    }
}

void kb_ode_field_slope_squares(kb_ode_field *f, double *squares)
{
    kb_ode_field_evaluate(f, f->z);
    for (size_t i = 0; i < f->n_states; i++) {
        const double *slope = f->slopes + i * f->n_mesh;
        squares[i] = kb_dot(f->n_mesh, slope, slope) / (double)f->n_mesh;
    }
}

double kb_ode_field_at(const kb_ode_field *f, size_t state, double time, int order, double *work)
{
    double *features = work + f->n_mesh;
    kb_basis_features(f->level->basis, 1, &time, order, features, work);
    return kb_dot(f->level->rank, features, f->z + state * f->level->rank);
}

/* ---------------------------------------------------------------- residuals */

static void list_used_terms(kb_ode_field *f, const kb_support *support)
{
    const kb_columns *c = f->columns;
    for (size_t term = 0; term < f->dictionary->n_terms; term++) f->slot[term] = KB_NO_COLUMN;
    for (size_t q = 0; q < support->n; q++) f->slot[c->term[support->column[q]]] = 0;
    for (size_t q = 0; q < c->n_fixed; q++) f->slot[c->fixed_term[q]] = 0;
    f->n_used = 0;
    for (size_t term = 0; term < f->dictionary->n_terms; term++)
        if (f->slot[term] != KB_NO_COLUMN) {
            f->slot[term] = f->n_used;
            f->used_terms[f->n_used++] = term;
        }
}

static void evaluate_terms(kb_ode_field *f, const double *z)
{
    kb_ode_field_evaluate(f, z);
    kb_dictionary_values(f->dictionary, f->n_used, f->used_terms, f->n_mesh, f->points, f->n_mesh, f->values, f->work);
}

static const double *term_values(const kb_ode_field *f, size_t term) { return f->values + f->slot[term] * f->n_mesh; }

/* e_i = dq_i/ds - fixed part - Phi w, at the fields last evaluated; w by column */
static void equation_residual(kb_ode_field *f, const kb_support *support, const double *w, size_t state, double *e)
{
    const kb_columns *c = f->columns;
    memcpy(e, f->slopes + state * f->n_mesh, f->n_mesh * sizeof *e);
    for (size_t q = 0; q < c->n_fixed; q++)
        if (c->fixed_equation[q] == state) kb_axpy(f->n_mesh, -c->fixed_weight[q], term_values(f, c->fixed_term[q]), e);
    for (size_t q = 0; q < support->n; q++) {
        size_t column = support->column[q];
        if (c->equation[column] == state && w[column] != 0)
            kb_axpy(f->n_mesh, -w[column] / c->scale[column], term_values(f, c->term[column]), e);
    }
}

static double equation_weight(const kb_ode_field *f, size_t state)
{
    return reference_mesh / ((double)f->n_mesh * f->record->stretch * f->tau[state]);
}

/* r = (q(t_n) - y_n) h_n^{-1/2} where measured, 0 elsewhere */
void kb_ode_field_data_residual(const kb_ode_field *f, const double *z, size_t state, double *r)
{
    size_t n = f->record->n_rows, rank = f->level->rank;
    const double *y = f->record->value + state * n, *measured = f->record->measured + state * n;
    kb_gemv(KB_PLAIN, n, rank, 1, f->level->rows, n, z + state * rank, 0, r);
    for (size_t row = 0; row < n; row++) r[row] = measured[row] * (r[row] - y[row]);
}

/* The gradient needs the residual divided by h: once more by its root. */
static void weigh(const kb_record *record, size_t state, double *r)
{
    const double *measured = record->measured + state * record->n_rows;
    for (size_t row = 0; record->has_error_bars && row < record->n_rows; row++) r[row] *= measured[row];
}

double kb_ode_field_objective(kb_ode_field *f, const kb_support *support, const double *z, const double *w)
{
    size_t nz = f->n_states * f->level->rank, n = f->record->n_rows;
    double J = 0.5 * kb_dot(nz, z, z), *r = f->residual;
    list_used_terms(f, support);
    evaluate_terms(f, z);
    for (size_t i = 0; i < f->n_states; i++) {
        kb_ode_field_data_residual(f, z, i, r);
        J += 0.5 * kb_dot(n, r, r) / f->v[i];
        if (!f->dictionary->has_equation[i]) continue;
        equation_residual(f, support, w, i, r);
        J += 0.5 * equation_weight(f, i) * kb_dot(f->n_mesh, r, r);
    }
    return J;
}

double kb_ode_field_slab_penalty(const kb_ode_field *f, const kb_support *support, const double *w)
{
    double sum = 0;
    for (size_t q = 0; q < support->n; q++) {
        size_t column = support->column[q];
        sum += 0.5 * w[column] * w[column] / f->columns->slab[column];
    }
    return sum;
}

/* ---------------------------------------------------------------- the Gauss-Newton system */

/* D_ij = d(Phi w)_i / dq_j on the mesh */
static void add_slopes(kb_ode_field *f, size_t term, size_t state, double weight, bool *nonzero, double *slope)
{
    size_t m = f->n_mesh, n = f->n_states;
    for (size_t j = 0; j < n; j++) {
        if (!kb_dictionary_depends(f->dictionary, term, j) || is_input(f, j)) continue;
        kb_dictionary_slopes(f->dictionary, term, j, m, f->points, m, slope, f->work + m);
        kb_axpy(m, weight * f->record->sd[j], slope, f->D + (state + j * n) * m);
        nonzero[state + j * n] = true;
    }
}

static void evaluate_slopes(kb_ode_field *f, const kb_support *support, bool *nonzero)
{
    const kb_columns *c = f->columns;
    memset(f->D, 0, f->n_mesh * f->n_states * f->n_states * sizeof *f->D);
    memset(nonzero, 0, f->n_states * f->n_states * sizeof *nonzero);
    for (size_t q = 0; q < c->n_fixed; q++)
        add_slopes(f, c->fixed_term[q], c->fixed_equation[q], c->fixed_weight[q], nonzero, f->work);
    for (size_t q = 0; q < support->n; q++) {
        size_t column = support->column[q];
        if (f->w[column] == 0) continue;
        add_slopes(f, c->term[column], c->equation[column], f->w[column] / c->scale[column], nonzero, f->work);
    }
}

/* Jz, block j: [i = j] phi' - D_ij phi; blocks that vanish are left alone */
static void fill_jacobian(kb_ode_field *f, size_t state, const bool *nonzero)
{
    size_t m = f->n_mesh, r = f->level->rank, n = f->n_states;
    double stretch = f->record->stretch;
    for (size_t j = 0; j < n; j++) {
        double *block = f->Jz + j * r * m;
        const double *D = f->D + (state + j * n) * m;
        if (j != state && !nonzero[state + j * n]) continue;
        for (size_t q = 0; q < r; q++)
            for (size_t p = 0; p < m; p++)
                block[p + q * m] =
                    (j == state ? stretch * f->level->slope[p + q * m] : 0) - D[p] * f->level->mesh[p + q * m];
    }
}

static size_t gather_columns(kb_ode_field *f, const kb_support *support, size_t state, size_t *first)
{
    size_t m = f->n_mesh, k = 0;
    for (size_t q = 0; q < support->n; q++) {
        size_t column = support->column[q];
        if (f->columns->equation[column] != state) continue;
        if (!k) *first = q;
        const double *value = term_values(f, f->columns->term[column]);
        double *X = f->X + k++ * m, scale = 1 / f->columns->scale[column];
        for (size_t p = 0; p < m; p++) X[p] = scale * value[p];
        f->rms[q] = sqrt(kb_dot(m, X, X) / (double)m) + 1e-12;
    }
    return k;
}

static void add_equation(kb_ode_field *f, const kb_support *support, size_t state, const bool *nonzero)
{
    size_t m = f->n_mesh, r = f->level->rank, nz = f->nz, n = f->n_states, first = 0;
    double weight = equation_weight(f, state), *e = f->residual;
    equation_residual(f, support, f->w, state, e);
    fill_jacobian(f, state, nonzero);
    size_t k = gather_columns(f, support, state, &first);
    for (size_t j = 0; j < n; j++) {
        const double *block = f->Jz + j * r * m;
        if (j != state && !nonzero[state + j * n]) continue;
        for (size_t i = j; i < n; i++)
            if (i == state || nonzero[state + i * n])
                kb_gemm(KB_TRANSPOSED, KB_PLAIN, r, r, m, weight, f->Jz + i * r * m, m, block, m, 1,
                        f->Hzz + i * r + j * r * nz, nz);
        kb_gemm(KB_TRANSPOSED, KB_PLAIN, r, k, m, -weight, block, m, f->X, m, 0, f->Hzw + j * r + first * nz, nz);
        kb_gemv(KB_TRANSPOSED, m, r, weight, block, m, e, 1, f->gz + j * r);
    }
    kb_gram(k, m, weight, f->X, m, 0, f->Hww + first + first * f->k, f->k);
    kb_gemv(KB_TRANSPOSED, m, k, -weight, f->X, m, e, 0, f->gw + first);
    f->objective += 0.5 * weight * kb_dot(m, e, e);
}

static void add_prior(kb_ode_field *f)
{
    for (size_t i = 0; i < f->nz; i++) f->Hzz[i + i * f->nz] += 1;
    kb_axpy(f->nz, 1, f->z, f->gz);
    f->objective += 0.5 * kb_dot(f->nz, f->z, f->z);
}

static void add_data(kb_ode_field *f)
{
    size_t n = f->record->n_rows, r = f->level->rank, nz = f->nz;
    for (size_t i = 0; i < f->n_states; i++) {
        const double *gram = f->gram + i * r * r;
        double *block = f->Hzz + i * r * (nz + 1), *res = f->residual;
        kb_ode_field_data_residual(f, f->z, i, res);
        f->objective += 0.5 * kb_dot(n, res, res) / f->v[i];
        weigh(f->record, i, res);
        for (size_t q = 0; q < r; q++)
            for (size_t p = q; p < r; p++) block[p + q * nz] += gram[p + q * r] / f->v[i];
        kb_gemv(KB_TRANSPOSED, n, r, 1 / f->v[i], f->level->rows, n, res, 1, f->gz + i * r);
    }
}

/* Everything but the data. */
void kb_ode_field_assemble_prior(kb_ode_field *f, const kb_support *support)
{
    bool *nonzero = f->nonzero;
    f->nz = f->n_states * f->level->rank;
    f->k = support->n;
    memset(f->Hzz, 0, f->nz * f->nz * sizeof *f->Hzz);
    memset(f->Hzw, 0, f->nz * f->k * sizeof *f->Hzw);
    memset(f->Hww, 0, f->k * f->k * sizeof *f->Hww);
    memset(f->gz, 0, f->nz * sizeof *f->gz);
    memset(f->gw, 0, f->k * sizeof *f->gw);
    f->objective = 0;
    list_used_terms(f, support);
    evaluate_terms(f, f->z);
    evaluate_slopes(f, support, nonzero);
    for (size_t i = 0; i < f->n_states; i++)
        if (f->dictionary->has_equation[i]) add_equation(f, support, i, nonzero);
    add_prior(f);
    kb_symmetrise(f->k, f->Hww, f->k);
}

void kb_ode_field_assemble(kb_ode_field *f, const kb_support *support)
{
    kb_ode_field_assemble_prior(f, support);
    add_data(f);
}

/* gz_i += c phi'^T e_i,  gz_j -= c phi^T (D_ij e_i) */
static void pull_by_equation(kb_ode_field *f, size_t state, const bool *nonzero, const double *e)
{
    size_t m = f->n_mesh, r = f->level->rank, n = f->n_states;
    double weight = equation_weight(f, state);
    kb_gemv(KB_TRANSPOSED, m, r, weight * f->record->stretch, f->level->slope, m, e, 1, f->gz + state * r);
    for (size_t j = 0; j < n; j++) {
        double *D = f->D + (state + j * n) * m;
        if (!nonzero[state + j * n]) continue;
        for (size_t p = 0; p < m; p++) D[p] *= e[p];
        kb_gemv(KB_TRANSPOSED, m, r, -weight, f->level->mesh, m, D, 1, f->gz + j * r);
    }
}

double kb_ode_field_gradient(kb_ode_field *f, const kb_support *support)
{
    size_t n = f->n_states, r = f->level->rank, rows = f->record->n_rows;
    bool *nonzero = f->nonzero;
    double J = 0.5 * kb_dot(n * r, f->z, f->z), *e = f->residual;
    memcpy(f->gz, f->z, n * r * sizeof *f->gz);
    list_used_terms(f, support);
    evaluate_terms(f, f->z);
    evaluate_slopes(f, support, nonzero);
    for (size_t i = 0; i < n; i++) {
        kb_ode_field_data_residual(f, f->z, i, e);
        J += 0.5 * kb_dot(rows, e, e) / f->v[i];
        weigh(f->record, i, e);
        kb_gemv(KB_TRANSPOSED, rows, r, 1 / f->v[i], f->level->rows, rows, e, 1, f->gz + i * r);
        if (!f->dictionary->has_equation[i]) continue;
        equation_residual(f, support, f->w, i, e);
        J += 0.5 * equation_weight(f, i) * kb_dot(f->n_mesh, e, e);
        pull_by_equation(f, i, nonzero, e);
    }
    return J;
}

/* G = Hww - Hwz Hzz^{-1} Hzw,  b = G w - (gw - Hwz Hzz^{-1} gz); w is added by the caller who knows the support */
bool kb_ode_field_marginalise(kb_ode_field *f)
{
    size_t nz = f->nz, k = f->k;
    for (size_t i = 0; i < nz; i++) f->Hzz[i + i * nz] += 1e-9;
    if (!kb_cholesky(nz, f->Hzz, nz)) return false;
    kb_lower_solve(nz, k, f->Hzz, nz, f->Hzw, nz);
    kb_lower_solve(nz, 1, f->Hzz, nz, f->gz, nz);
    memcpy(f->G, f->Hww, k * k * sizeof *f->G);
    kb_gram(k, nz, -1, f->Hzw, nz, 1, f->G, k);
    kb_symmetrise(k, f->G, k);
    for (size_t q = 0; q < k; q++) f->b[q] = -f->gw[q];
    kb_gemv(KB_TRANSPOSED, nz, k, 1, f->Hzw, nz, f->gz, 1, f->b);
    return true;
}

void kb_ode_field_step(kb_ode_field *f, const double *dw)
{
    memcpy(f->trial_z, f->gz, f->nz * sizeof *f->gz);
    kb_gemv(KB_PLAIN, f->nz, f->k, 1, f->Hzw, f->nz, dw, 1, f->trial_z);
    kb_lower_transposed_solve(f->nz, 1, f->Hzz, f->nz, f->trial_z, f->nz);
    kb_axpy(f->nz, -1, f->trial_z, f->z);
}
