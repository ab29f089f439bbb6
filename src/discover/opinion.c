#include <math.h>
#include <string.h>

#include "base/linalg.h"
#include "base/memory.h"
#include "base/status.h"
#include "discover/homotopy.h"

/* tau at which the fields are led from the bare one to the opinion's */
static const double leading_tau[] = {0.3, 0.05};
enum { LEADING_STEPS = 3, FINAL_STEPS = 6 };

/* What the points need of one patch; n_points x ... */
typedef struct {
    const kb_terrain *terrain;
    const kb_cloud *cloud; /* of the run */
    const kb_columns *columns;
    kb_mosaic *mosaic;
    kb_state *state;
    double *basis, *row, *projection, *variables, *term, *work, *product;
    size_t *patch;  /* of each point */
    size_t longest; /* mesh of an axis */
} portrait;

/* ---------------------------------------------------------------- the opinion on all patches */

/* The state on all patches: weights held near, then free at the opinion's own tau. */
static bool lead_fields(portrait *p, const kb_opinion *o)
{
    kb_state *s = p->state;
    s->steps = o->steps;
    s->freedom = 0;
    kb_support_copy(&o->support, &s->support);
    memcpy(s->variance, o->variance, p->mosaic->n_fields * sizeof *s->variance);
    if (!kb_mosaic_regress(p->mosaic, s)) return false;
    for (size_t i = 0; i < sizeof leading_tau / sizeof *leading_tau; i++) {
        kb_solve_options options = {LEADING_STEPS, false, false, NULL};
        s->tau = fmax(leading_tau[i], o->tau);
        memcpy(s->w, o->w, p->columns->n * sizeof *s->w);
        if (!kb_mosaic_solve(p->mosaic, s, &options)) return false;
    }
    kb_solve_options options = {FINAL_STEPS, false, false, NULL};
    s->tau = o->tau;
    s->freedom = o->freedom;
    memcpy(s->w, o->w, p->columns->n * sizeof *s->w);
    return kb_mosaic_solve(p->mosaic, s, &options);
}

/* The run's patch nearest to a point: 0 away when inside. */
static size_t find_patch(const portrait *p, const double *at)
{
    const kb_terrain *t = p->terrain;
    size_t best = 0;
    double least = INFINITY;
    for (size_t i = 0; i < t->n_patches; i++) {
        double away = 0;
        if (t->patches[i]->cloud != p->cloud) continue;
        for (size_t a = 0; a < p->cloud->n_axes; a++)
            away += fmax(0, fmax(t->patches[i]->lo[a] - at[a], at[a] - t->patches[i]->hi[a]));
        if (away < least) least = away, best = i;
    }
    return best;
}

static void scale_point(const kb_cloud *cloud, size_t n_points, const double *points, size_t i, double *at)
{
    for (size_t a = 0; a < cloud->n_axes; a++) at[a] = (points[i + a * n_points] - cloud->first[a]) / cloud->span[a];
}

/* row (n) = products of the axes' features with derivative orders at a scaled point */
static void feature_row(portrait *p, const kb_patch *patch, const double *at, const int *order)
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

static void describe_point(portrait *p, size_t n_points, size_t i, const double *at, double *mean, double *residual)
{
    const kb_terrain *t = p->terrain;
    const kb_dictionary *d = t->dictionary;
    const kb_patch *patch = t->patches[p->patch[i]];
    const double *z = p->state->z + p->mosaic->offset[p->patch[i]];
    int slope_order[KB_MAX_AXES] = {d->time_order};
    for (size_t v = 0; v < d->n_variables; v++) {
        const kb_variable *variable = &d->variables[v];
        if (variable->axis >= 0) {
            p->variables[v] = p->cloud->first[variable->axis] + p->cloud->span[variable->axis] * at[variable->axis];
        } else if (residual || v < d->n_states) { /* the fields themselves come first */
            feature_row(p, patch, at, variable->order);
            p->variables[v] = kb_variable_unit(patch, v) * kb_dot(patch->n, p->row, z + variable->field * patch->n);
            if (v < d->n_states) p->variables[v] += p->cloud->mean[v];
        }
    }
    for (size_t f = 0; f < d->n_states; f++) mean[i + f * n_points] = p->variables[f];
    if (!residual) return;
    feature_row(p, patch, at, slope_order);
    for (size_t f = 0; f < d->n_states; f++) {
        double unit = p->cloud->sd[f] / pow(p->cloud->span[0], d->time_order);
        residual[i + f * n_points] = unit * kb_dot(patch->n, p->row, z + f * patch->n);
    }
}

/* residual -= weights times terms, at the point last described */
static void subtract_terms(portrait *p, size_t n_points, size_t i, double *residual)
{
    const kb_columns *c = p->columns;
    const kb_terrain *t = p->terrain;
    for (size_t q = 0; q < p->state->support.n; q++) {
        size_t column = p->state->support.column[q];
        kb_dictionary_values(t->dictionary, 1, &c->term[column], 1, p->variables, 1, p->term, p->work);
        residual[i + c->equation[column] * n_points] -= p->state->w[column] * c->unit[column] * p->term[0];
    }
    for (size_t q = 0; q < c->n_fixed; q++) {
        size_t f = c->fixed_equation[q];
        double unit = p->cloud->sd[f] / pow(p->cloud->span[0], t->dictionary->time_order);
        kb_dictionary_values(t->dictionary, 1, &c->fixed_term[q], 1, p->variables, 1, p->term, p->work);
        residual[i + f * n_points] -= unit * c->fixed_weight[q] * p->term[0];
    }
}

/* Covariance of z: Hzz^{-1} + R A^{-1} R', R = Hzz^{-1} Hzw, A the weights' posterior precision, whose Cholesky factor
   the mosaic holds; bench->H holds that of Hzz. */
static double point_variance(portrait *p, const kb_patch *patch, const kb_bench *bench, const kb_patch_message *message,
                             size_t field)
{
    size_t nz = patch->n * patch->n_fields, k = p->state->support.n;
    memset(p->projection, 0, nz * sizeof *p->projection);
    memcpy(p->projection + field * patch->n, p->row, patch->n * sizeof *p->row);
    kb_gemv(KB_TRANSPOSED, nz, k, 1, message->response, nz, p->projection, 0, p->product);
    kb_lower_solve(k, 1, p->mosaic->A, k, p->product, k);
    kb_lower_solve(nz, 1, bench->H, nz, p->projection, nz);
    return kb_dot(nz, p->projection, p->projection) + kb_dot(k, p->product, p->product);
}

static bool add_bands(portrait *p, size_t n_points, const double *points, double *sd)
{
    const kb_terrain *t = p->terrain;
    kb_mosaic *m = p->mosaic;
    static const int plain[KB_MAX_AXES] = {0};
    kb_hyper hyper = {p->state->tau, m->slope_squares, p->state->variance, m->amplitude, p->state->freedom};
    for (size_t patch = 0; patch < t->n_patches; patch++) {
        double at[KB_CLOUD_AXES], *z = p->state->z + m->offset[patch];
        if (!kb_normal_marginalise(m->benches[0], t->patches[patch], &hyper, &p->state->support, z, p->state->w, false,
                                   false, m->messages[patch]))
            return false;
        for (size_t i = 0; i < n_points; i++) {
            if (p->patch[i] != patch) continue;
            scale_point(p->cloud, n_points, points, i, at);
            feature_row(p, t->patches[patch], at, plain);
            for (size_t f = 0; f < m->n_fields; f++)
                sd[i + f * n_points] =
                    p->cloud->sd[f] * sqrt(point_variance(p, t->patches[patch], m->benches[0], m->messages[patch], f));
        }
    }
    return true;
}

/* ---------------------------------------------------------------- life */

static kbass_status create_portrait(portrait *p, size_t n_points, kbass_error *error)
{
    const kb_terrain *t = p->terrain;
    size_t most = 0;
    kbass_status status = kb_mosaic_create(t->n_patches, t->patches, t->dictionary, p->columns, t->amplitude,
                                           t->variance, t->threads, &p->mosaic, error);
    if (status == KBASS_OK) status = kb_state_create(p->mosaic, &p->state, error);
    for (size_t i = 0; i < t->n_patches; i++) {
        if (t->patches[i]->most > most) most = t->patches[i]->most;
        for (size_t a = 0; a < p->cloud->n_axes; a++)
            if (t->patches[i]->axis[a]->n_mesh > p->longest) p->longest = t->patches[i]->axis[a]->n_mesh;
    }
    p->basis = KB_NEW(double, p->cloud->n_axes * p->longest);
    p->row = KB_NEW(double, most);
    p->projection = KB_NEW(double, most * p->cloud->n_fields);
    p->product = KB_NEW(double, p->columns->n + 1);
    p->variables = KB_NEW(double, t->dictionary->n_variables);
    p->term = KB_NEW(double, 1);
    p->work = KB_NEW(double, p->longest + kb_dictionary_work(t->dictionary, 1));
    p->patch = KB_NEW(size_t, n_points);
    bool complete = p->basis && p->row && p->projection && p->product && p->variables && p->term && p->work && p->patch;
    return status == KBASS_OK && !complete ? kb_out_of_memory(error, "the field") : status;
}

static void clear_portrait(portrait *p)
{
    double *arrays[] = {p->basis, p->row, p->projection, p->variables, p->term, p->work, p->product};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++) kb_free(arrays[i]);
    kb_free(p->patch);
    kb_state_destroy(p->state);
    kb_mosaic_destroy(p->mosaic);
}

kbass_status kb_opinion_field(const kb_terrain *terrain, const kb_columns *columns, const kb_opinion *opinion,
                              size_t run, size_t n_points, const double *points, double *mean, double *sd,
                              double *residual, kbass_error *error)
{
    portrait p = {.terrain = terrain, .cloud = terrain->tracts[run].cloud, .columns = columns};
    double at[KB_CLOUD_AXES];
    kbass_status status = create_portrait(&p, n_points, error);
    if (status == KBASS_OK && !lead_fields(&p, opinion))
        status = kb_fail(error, KBASS_ERROR_NUMERICAL, "the field could not be fitted to data and equation");
    for (size_t i = 0; status == KBASS_OK && i < n_points; i++) {
        scale_point(p.cloud, n_points, points, i, at);
        p.patch[i] = find_patch(&p, at);
        describe_point(&p, n_points, i, at, mean, residual);
        if (residual) subtract_terms(&p, n_points, i, residual);
    }
    if (status == KBASS_OK && sd && !add_bands(&p, n_points, points, sd))
        status = kb_fail(error, KBASS_ERROR_NUMERICAL, "the field's covariance could not be factorised");
    clear_portrait(&p);
    return status;
}
