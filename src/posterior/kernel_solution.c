#include "posterior/kernel_solution.h"

#include <math.h>
#include <string.h>

#include "base/linalg.h"
#include "base/memory.h"
#include "base/status.h"

static const double leading_tau[] = {
    0.3, 0.05};             /* variances of the scaled equation: by which fields are led from the bare one */
enum { LEADING_STEPS = 3 }; /* steps: Gauss-Newton, at each */
enum { FINAL_STEPS = 6 };   /* steps: Gauss-Newton, at the end */
enum { BATCH = 64 };        /* room: values at a time */

/* What the points need of one patch; n_points x ... */
typedef struct {
    const kb_patched_domain *domain;
    const kb_field_samples *samples; /* of the run */
    const kb_columns *columns;
    kb_patch_solver *solver;
    kb_kernel_state *state;
    double *basis, *row, *variables, *term, *work;
    size_t *patch;  /* of each point */
    size_t longest; /* mesh of an axis */
    size_t n_points, most_unknowns;
    double *means;
    double *kept; /* of each value whose covariance is wanted: its projection, and on which patch */
    size_t *kept_patch;
} query;

/* ---------------------------------------------------------------- the proposal on all patches */

/* From the bare field: weights held near. */
static bool lead_fields(query *p, const kb_kernel_fit *o)
{
    kb_kernel_state *s = p->state;
    s->freedom = 0;
    if (!kb_patch_solver_regress(p->solver, s)) return false;
    for (size_t i = 0; i < sizeof leading_tau / sizeof *leading_tau; i++) {
        kb_solve_options options = {LEADING_STEPS, false, false, NULL};
        s->tau = fmax(leading_tau[i], o->tau);
        memcpy(s->w, o->w, p->columns->n * sizeof *s->w);
        if (!kb_patch_solver_iterate(p->solver, s, &options)) return false;
    }
    return true;
}

/* The state on all patches: the field that was kept, or one led there; then free at the proposal's own tau. */
static bool restore_state(query *p, const kb_kernel_fit *o)
{
    kb_kernel_state *s = p->state;
    s->steps = o->steps;
    kb_support_copy(&o->support, &s->support);
    memcpy(s->variance, o->variance, p->solver->n_fields * sizeof *s->variance);
    if (kb_kernel_fit_has_field(p->solver, o)) memcpy(s->z, o->z, p->solver->n_z * sizeof *s->z);
    else if (!lead_fields(p, o)) return false;
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
            p->variables[v] = kb_variable_unit(d, patch, v) * kb_dot(patch->n, p->row, z + variable->field * patch->n);
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
typedef struct {
    const kb_patch *patch;
    size_t index, nz, n;            /* unknowns; values in hand */
    size_t value[BATCH];            /* which they are */
    double unit[BATCH];             /* of the value in the data's units */
    double *projections, *products; /* nz and k numbers of each */
} batch;

/* What is to become of a batch: value v of the field varies as product v (of the weights) and projection v. */
typedef void batch_end(const query *p, const batch *b, void *context);

static void finish_batch(query *p, batch *b, batch_end *end, void *context)
{
    size_t k = p->state->support.n;
    const double *response = p->solver->messages[b->index]->response;
    kb_gemm(KB_TRANSPOSED, KB_PLAIN, k, b->n, b->nz, 1, response, b->nz, b->projections, b->nz, 0, b->products, k);
    kb_lower_solve(k, b->n, p->solver->A, k, b->products, k);
    kb_lower_solve(b->nz, b->n, p->solver->workspaces[0]->H, b->nz, b->projections, b->nz);
    end(p, b, context);
    b->n = 0;
}

/* One patch's values, batch by batch: those of all points in it, and of n_orders derivatives in time. */
static void walk_patch(query *p, batch *b, size_t n_points, const double *points, size_t n_orders, batch_end *end,
                       void *context)
{
    size_t F = p->samples->n_fields;
    for (size_t order = 0; order < n_orders; order++)
        for (size_t i = 0; i < n_points; i++) {
            const int orders[KB_MAX_AXES] = {(int)order};
            double at[KB_SAMPLE_AXES];
            if (p->patch[i] != b->index) continue;
            scale_point(p->samples, n_points, points, i, at);
            feature_row(p, b->patch, at, orders);
            for (size_t f = 0; f < F; f++) {
                double *own = b->projections + b->n * b->nz;
                memset(own, 0, b->nz * sizeof *own);
                memcpy(own + f * b->patch->n, p->row, b->patch->n * sizeof *own);
                b->value[b->n] = (order * n_points + i) * F + f;
                b->unit[b->n++] = p->samples->sd[f] / (order ? p->samples->span[0] : 1);
                if (b->n == BATCH) finish_batch(p, b, end, context);
            }
        }
    if (b->n) finish_batch(p, b, end, context);
}

static kbass_status walk(query *p, size_t n_points, const double *points, size_t n_orders, batch_end *end,
                         void *context, kbass_error *error)
{
    kb_patch_solver *m = p->solver;
    kb_hyper hyper = {p->state->tau, m->slope_squares, p->state->variance, m->amplitude, p->state->freedom};
    batch b = {.projections = KB_NEW(double, BATCH * p->most_unknowns),
               .products = KB_NEW(double, BATCH *(p->columns->n + 1))};
    kbass_status status = b.projections && b.products ? KBASS_OK : kb_out_of_memory(error, "the band");
    for (size_t i = 0; status == KBASS_OK && i < p->domain->n_patches; i++) {
        b.index = i;
        b.patch = p->domain->patches[i];
        b.nz = b.patch->n * b.patch->n_fields;
        if (kb_normal_marginalise(m->workspaces[0], b.patch, &hyper, &p->state->support, p->state->z + m->offset[i],
                                  p->state->w, false, false, m->messages[i]))
            walk_patch(p, &b, n_points, points, n_orders, end, context);
        else status = kb_fail(error, KBASS_ERROR_NUMERICAL, "the field's covariance could not be factorised");
    }
    kb_free(b.projections);
    kb_free(b.products);
    return status;
}

static void end_with_sd(const query *p, const batch *b, void *context)
{
    double *sd = context;
    size_t k = p->state->support.n, F = p->samples->n_fields;
    for (size_t v = 0; v < b->n; v++) {
        const double *own = b->projections + v * b->nz, *product = b->products + v * k;
        sd[b->value[v] / F + b->value[v] % F * p->n_points] =
            b->unit[v] * sqrt(kb_dot(b->nz, own, own) + kb_dot(k, product, product));
    }
}

/* The field follows the weights by -response. */
static void end_with_spread(const query *p, const batch *b, void *context)
{
    kb_field_spread *s = context;
    for (size_t v = 0; v < b->n; v++) {
        const double *own = b->projections + v * b->nz;
        s->variance[b->value[v]] = b->unit[v] * b->unit[v] * kb_dot(b->nz, own, own);
        for (size_t q = 0; q < s->k; q++)
            s->by_weights[b->value[v] * s->k + q] = -b->unit[v] * b->products[v * s->k + q];
        if (!s->covariance) continue;
        double *kept = p->kept + b->value[v] * p->most_unknowns;
        memcpy(kept, own, b->nz * sizeof *kept);
        for (size_t i = 0; i < b->nz; i++) kept[i] *= b->unit[v];
        p->kept_patch[b->value[v]] = b->index;
    }
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
    p->n_points = n_points;
    p->most_unknowns = most * p->samples->n_fields;
    p->basis = KB_NEW(double, p->samples->n_axes * p->longest);
    p->row = KB_NEW(double, most);
    p->variables = KB_NEW(double, t->dictionary->n_variables);
    p->term = KB_NEW(double, 1);
    p->work = KB_NEW(double, p->longest + kb_dictionary_work(t->dictionary, 1));
    p->patch = KB_NEW(size_t, n_points);
    bool complete = p->basis && p->row && p->variables && p->term && p->work && p->patch;
    return status == KBASS_OK && !complete ? kb_out_of_memory(error, "the field") : status;
}

static void clear_query(query *p)
{
    double *arrays[] = {p->basis, p->row, p->variables, p->term, p->work, p->means, p->kept};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++) kb_free(arrays[i]);
    kb_free(p->patch);
    kb_free(p->kept_patch);
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
    if (status == KBASS_OK && !restore_state(&p, proposal))
        status = kb_fail(error, KBASS_ERROR_NUMERICAL, "the field could not be fitted to data and equation");
    for (size_t i = 0; status == KBASS_OK && i < n_points; i++) {
        scale_point(p.samples, n_points, points, i, at);
        p.patch[i] = find_patch(&p, at);
        describe_point(&p, n_points, i, at, mean, residual);
        if (residual) subtract_terms(&p, n_points, i, residual);
    }
    if (status == KBASS_OK && sd) status = walk(&p, n_points, points, 1, end_with_sd, sd, error);
    clear_query(&p);
    return status;
}

/* ---------------------------------------------------------------- linearised about the model */

static void fill_means(query *p, size_t n_points, const double *points, kb_field_spread *out)
{
    size_t F = p->samples->n_fields;
    static const int rate[KB_MAX_AXES] = {1};
    for (size_t i = 0; i < n_points; i++) {
        double at[KB_SAMPLE_AXES];
        const kb_patch *patch = p->domain->patches[p->patch[i]];
        const double *z = p->state->z + p->solver->offset[p->patch[i]];
        scale_point(p->samples, n_points, points, i, at);
        describe_point(p, n_points, i, at, p->means, NULL);
        for (size_t f = 0; f < F; f++) out->mean[i * F + f] = p->means[i + f * n_points];
        if (!out->has_rates) continue;
        feature_row(p, patch, at, rate);
        for (size_t f = 0; f < F; f++)
            out->mean[(n_points + i) * F + f] =
                p->samples->sd[f] / p->samples->span[0] * kb_dot(patch->n, p->row, z + f * patch->n);
    }
}

/* Patches know nothing of each other once the weights are known. */
static void fill_covariance(const query *p, kb_field_spread *out)
{
    for (size_t j = 0; j < out->n; j++)
        for (size_t i = 0; i <= j; i++) {
            size_t nz = p->domain->patches[p->kept_patch[i]]->n * p->samples->n_fields;
            const double *a = p->kept + i * p->most_unknowns, *b = p->kept + j * p->most_unknowns;
            double sum = p->kept_patch[i] == p->kept_patch[j] ? kb_dot(nz, a, b) : 0;
            out->covariance[i + j * out->n] = out->covariance[j + i * out->n] = sum;
        }
}

/* weights = L^{-T}, where L L' is their posterior precision */
static void fill_weights(const query *p, kb_field_spread *out)
{
    size_t k = out->k;
    memset(out->weights, 0, k * k * sizeof *out->weights);
    for (size_t q = 0; q < k; q++) out->weights[q + q * k] = 1;
    kb_lower_solve(k, k, p->solver->A, k, out->weights, k); /* column-major L^{-1} is row-major L^{-T} */
}

kbass_status kb_kernel_spread(const kb_patched_domain *domain, const kb_columns *columns, const kb_kernel_fit *proposal,
                              size_t run, size_t n_points, const double *points, kb_field_spread *out,
                              kbass_error *error)
{
    query p = {.domain = domain, .samples = domain->run_domains[run].samples, .columns = columns};
    double at[KB_SAMPLE_AXES];
    kbass_status status = create_query(&p, n_points, error);
    if (status == KBASS_OK) {
        p.means = KB_NEW(double, n_points *p.samples->n_fields);
        p.kept = out->covariance ? KB_NEW(double, out->n *p.most_unknowns) : NULL;
        p.kept_patch = KB_NEW(size_t, out->n);
        if (!p.means || !p.kept_patch || (out->covariance && !p.kept))
            status = kb_out_of_memory(error, "the posterior");
    }
    if (status == KBASS_OK && !restore_state(&p, proposal))
        status = kb_fail(error, KBASS_ERROR_NUMERICAL, "the field could not be fitted to data and equation");
    for (size_t i = 0; status == KBASS_OK && i < n_points; i++) {
        scale_point(p.samples, n_points, points, i, at);
        p.patch[i] = find_patch(&p, at);
    }
    if (status == KBASS_OK) {
        fill_means(&p, n_points, points, out);
        status = walk(&p, n_points, points, out->has_rates ? 2 : 1, end_with_spread, out, error);
    }
    if (status == KBASS_OK && out->covariance) fill_covariance(&p, out);
    if (status == KBASS_OK) fill_weights(&p, out);
    clear_query(&p);
    return status;
}
