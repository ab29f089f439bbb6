#include "posterior/kernel_solution.h"

#include <math.h>
#include <string.h>

#include "base/linalg.h"
#include "base/memory.h"
#include "base/status.h"

/* tau at which the fields are led from the bare one to the proposal's */
static const double leading_tau[] = {0.3, 0.05};
enum { LEADING_STEPS = 3, FINAL_STEPS = 6 };

/* What the points need of one patch; n_points x ... */
typedef struct {
    const kb_patched_domain *domain;
    const kb_field_samples *samples; /* of the run */
    const kb_columns *columns;
    kb_patch_solver *solver;
    kb_kernel_state *state;
    double *basis, *row, *projection, *variables, *term, *work, *product;
    size_t *patch;  /* of each point */
    size_t longest; /* mesh of an axis */
} query;

/* ---------------------------------------------------------------- the proposal on all patches */

/* The state on all patches: weights held near, then free at the proposal's own tau. */
static bool lead_fields(query *p, const kb_kernel_fit *o)
{
    kb_kernel_state *s = p->state;
    s->steps = o->steps;
    s->freedom = 0;
    kb_support_copy(&o->support, &s->support);
    memcpy(s->variance, o->variance, p->solver->n_fields * sizeof *s->variance);
    if (!kb_patch_solver_regress(p->solver, s)) return false;
    for (size_t i = 0; i < sizeof leading_tau / sizeof *leading_tau; i++) {
        kb_solve_options options = {LEADING_STEPS, false, false, NULL};
        s->tau = fmax(leading_tau[i], o->tau);
        memcpy(s->w, o->w, p->columns->n * sizeof *s->w);
        if (!kb_patch_solver_iterate(p->solver, s, &options)) return false;
    }
    kb_solve_options options = {FINAL_STEPS, false, false, NULL};
    s->tau = o->tau;
    s->freedom = o->freedom;
    memcpy(s->w, o->w, p->columns->n * sizeof *s->w);
    return kb_patch_solver_iterate(p->solver, s, &options);
}

/* The run's patch nearest to a point: 0 away when inside. */
static size_t find_patch(const query *p, const double *at)
{
    const kb_patched_domain *t = p->domain;
    size_t best = 0;
    double least = INFINITY;
    for (size_t i = 0; i < t->n_patches; i++) {
        double away = 0;
        if (t->patches[i]->samples != p->samples) continue;
        for (size_t a = 0; a < p->samples->n_axes; a++)
            away += fmax(0, fmax(t->patches[i]->lo[a] - at[a], at[a] - t->patches[i]->hi[a]));
        if (away < least) least = away, best = i;
    }
    return best;
}

static void scale_point(const kb_field_samples *samples, size_t n_points, const double *points, size_t i, double *at)
{
    for (size_t a = 0; a < samples->n_axes; a++)
        at[a] = (points[i + a * n_points] - samples->first[a]) / samples->span[a];
}

/* row (n) = products of the axes' features with derivative orders at a scaled point */
static void feature_row(query *p, const kb_patch *patch, const double *at, const int *order)
{
    const kb_products *kept = &patch->kept;
    for (size_t a = 0; a < patch->n_axes; a++)
        kb_basis_features(patch->level[a]->basis, 1, &at[a], order[a], p->basis + a * p->longest, p->work);
    for (size_t i = 0; i < kept->n_space; i++) {
        double space = 1;
        for (size_t a = 1; a < patch->n_axes; a++) space *= p->basis[a * p->longest + kb_products_index(kept, i, a)];
        for (size_t q = kept->first[i]; q < kept->first[i + 1]; q++) p->row[q] = p->basis[q - kept->first[i]] * space;
    }
}

/* ---------------------------------------------------------------- mean, residual, sd */

static void describe_point(query *p, size_t n_points, size_t i, const double *at, double *mean, double *residual)
{
    const kb_patched_domain *t = p->domain;
    const kb_dictionary *d = t->dictionary;
    const kb_patch *patch = t->patches[p->patch[i]];
    const double *z = p->state->z + p->solver->offset[p->patch[i]];
    int slope_order[KB_MAX_AXES] = {d->time_order};
    for (size_t v = 0; v < d->n_variables; v++) {
        const kb_variable *variable = &d->variables[v];
        if (variable->axis >= 0) {
            p->variables[v] = p->samples->first[variable->axis] + p->samples->span[variable->axis] * at[variable->axis];
        } else if (residual || v < d->n_states) { /* the fields themselves come first */
            feature_row(p, patch, at, variable->order);
            p->variables[v] = kb_variable_unit(patch, v) * kb_dot(patch->n, p->row, z + variable->field * patch->n);
            if (v < d->n_states) p->variables[v] += p->samples->mean[v];
        }
    }
    for (size_t f = 0; f < d->n_states; f++) mean[i + f * n_points] = p->variables[f];
    if (!residual) return;
    feature_row(p, patch, at, slope_order);
    for (size_t f = 0; f < d->n_states; f++) {
        double unit = p->samples->sd[f] / pow(p->samples->span[0], d->time_order);
        residual[i + f * n_points] = unit * kb_dot(patch->n, p->row, z + f * patch->n);
    }
}

/* residual -= weights times terms, at the point last described */
static void subtract_terms(query *p, size_t n_points, size_t i, double *residual)
{
    const kb_columns *c = p->columns;
    const kb_patched_domain *t = p->domain;
    for (size_t q = 0; q < p->state->support.n; q++) {
        size_t column = p->state->support.column[q];
        kb_dictionary_values(t->dictionary, 1, &c->term[column], 1, p->variables, 1, p->term, p->work);
        residual[i + c->equation[column] * n_points] -= p->state->w[column] * c->unit[column] * p->term[0];
    }
    for (size_t q = 0; q < c->n_fixed; q++) {
        size_t f = c->fixed_equation[q];
        double unit = p->samples->sd[f] / pow(p->samples->span[0], t->dictionary->time_order);
        kb_dictionary_values(t->dictionary, 1, &c->fixed_term[q], 1, p->variables, 1, p->term, p->work);
        residual[i + f * n_points] -= unit * c->fixed_weight[q] * p->term[0];
    }
}

/* Covariance of z: Hzz^{-1} + R A^{-1} R', R = Hzz^{-1} Hzw, A the weights' posterior precision, whose Cholesky factor
   the solver holds; workspace->H holds that of Hzz. */
static double point_variance(query *p, const kb_patch *patch, const kb_patch_workspace *workspace,
                             const kb_patch_message *message, size_t field)
{
    size_t nz = patch->n * patch->n_fields, k = p->state->support.n;
    memset(p->projection, 0, nz * sizeof *p->projection);
    memcpy(p->projection + field * patch->n, p->row, patch->n * sizeof *p->row);
    kb_gemv(KB_TRANSPOSED, nz, k, 1, message->response, nz, p->projection, 0, p->product);
    kb_lower_solve(k, 1, p->solver->A, k, p->product, k);
    kb_lower_solve(nz, 1, workspace->H, nz, p->projection, nz);
    return kb_dot(nz, p->projection, p->projection) + kb_dot(k, p->product, p->product);
}

static bool add_bands(query *p, size_t n_points, const double *points, double *sd)
{
    const kb_patched_domain *t = p->domain;
    kb_patch_solver *m = p->solver;
    static const int plain[KB_MAX_AXES] = {0};
    kb_hyper hyper = {p->state->tau, m->slope_squares, p->state->variance, m->amplitude, p->state->freedom};
    for (size_t patch = 0; patch < t->n_patches; patch++) {
        double at[KB_SAMPLE_AXES], *z = p->state->z + m->offset[patch];
        if (!kb_normal_marginalise(m->workspaces[0], t->patches[patch], &hyper, &p->state->support, z, p->state->w,
                                   false, false, m->messages[patch]))
            return false;
        for (size_t i = 0; i < n_points; i++) {
            if (p->patch[i] != patch) continue;
            scale_point(p->samples, n_points, points, i, at);
            feature_row(p, t->patches[patch], at, plain);
            for (size_t f = 0; f < m->n_fields; f++)
                sd[i + f * n_points] = p->samples->sd[f] * sqrt(point_variance(p, t->patches[patch], m->workspaces[0],
                                                                               m->messages[patch], f));
        }
    }
    return true;
}

/* ---------------------------------------------------------------- life */

static kbass_status create_query(query *p, size_t n_points, kbass_error *error)
{
    const kb_patched_domain *t = p->domain;
    size_t most = 0;
    kbass_status status = kb_patch_solver_create(t->n_patches, t->patches, t->dictionary, p->columns, t->amplitude,
                                                 t->variance, t->threads, &p->solver, error);
    if (status == KBASS_OK) status = kb_kernel_state_create(p->solver, &p->state, error);
    for (size_t i = 0; i < t->n_patches; i++) {
        if (t->patches[i]->most > most) most = t->patches[i]->most;
        for (size_t a = 0; a < p->samples->n_axes; a++)
            if (t->patches[i]->axis[a]->n_mesh > p->longest) p->longest = t->patches[i]->axis[a]->n_mesh;
    }
    p->basis = KB_NEW(double, p->samples->n_axes * p->longest);
    p->row = KB_NEW(double, most);
    p->projection = KB_NEW(double, most * p->samples->n_fields);
    p->product = KB_NEW(double, p->columns->n + 1);
    p->variables = KB_NEW(double, t->dictionary->n_variables);
    p->term = KB_NEW(double, 1);
    p->work = KB_NEW(double, p->longest + kb_dictionary_work(t->dictionary, 1));
    p->patch = KB_NEW(size_t, n_points);
    bool complete = p->basis && p->row && p->projection && p->product && p->variables && p->term && p->work && p->patch;
    return status == KBASS_OK && !complete ? kb_out_of_memory(error, "the field") : status;
}

static void clear_query(query *p)
{
    double *arrays[] = {p->basis, p->row, p->projection, p->variables, p->term, p->work, p->product};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++) kb_free(arrays[i]);
    kb_free(p->patch);
    kb_kernel_state_destroy(p->state);
    kb_patch_solver_destroy(p->solver);
}

kbass_status kb_kernel_solution(const kb_patched_domain *domain, const kb_columns *columns,
                                const kb_kernel_fit *proposal, size_t run, size_t n_points, const double *points,
                                double *mean, double *sd, double *residual, kbass_error *error)
{
    query p = {.domain = domain, .samples = domain->run_domains[run].samples, .columns = columns};
    double at[KB_SAMPLE_AXES];
    kbass_status status = create_query(&p, n_points, error);
    if (status == KBASS_OK && !lead_fields(&p, proposal))
        status = kb_fail(error, KBASS_ERROR_NUMERICAL, "the field could not be fitted to data and equation");
    for (size_t i = 0; status == KBASS_OK && i < n_points; i++) {
        scale_point(p.samples, n_points, points, i, at);
        p.patch[i] = find_patch(&p, at);
        describe_point(&p, n_points, i, at, mean, residual);
        if (residual) subtract_terms(&p, n_points, i, residual);
    }
    if (status == KBASS_OK && sd && !add_bands(&p, n_points, points, sd))
        status = kb_fail(error, KBASS_ERROR_NUMERICAL, "the field's covariance could not be factorised");
    clear_query(&p);
    return status;
}
