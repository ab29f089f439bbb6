#include "forward/pde1d/method_of_lines.h"

#include <math.h>
#include <string.h>

#include "base/band.h"
#include "base/linalg.h"
#include "base/memory.h"
#include "base/status.h"

enum { MOST_BOUNDARY = 17 }; /* modes: in time, of the values at an open end */
enum { INTERPOLATION = 6 };  /* nodes: from which a value between them is read */

/* Central differences on seven points: sixth order for u_x and u_xx, fourth for u_xxx and u_xxxx, second above. */
static const double unit_stencil[KB_HIGHEST_ORDER + 1][KB_STENCIL] = {
    {0, 0, 0, 1, 0, 0, 0},
    {-1.0 / 60, 9.0 / 60, -45.0 / 60, 0, 45.0 / 60, -9.0 / 60, 1.0 / 60},
    {2.0 / 180, -27.0 / 180, 270.0 / 180, -490.0 / 180, 270.0 / 180, -27.0 / 180, 2.0 / 180},
    {1.0 / 8, -1, 13.0 / 8, 0, -13.0 / 8, 1, -1.0 / 8},
    {-1.0 / 6, 2, -39.0 / 6, 56.0 / 6, -39.0 / 6, 2, -1.0 / 6},
    {-0.5, 2, -2.5, 0, 2.5, -2, 0.5},
    {1, -6, 15, -20, 15, -6, 1}};

/* ---------------------------------------------------------------- dynamics */

/* Is the term u^p u_x of one field? Then its power, else -1. */
static int flux_power(const kb_dictionary *dictionary, size_t term, size_t *field)
{
    int power = 0, slopes = 0;
    size_t n = 0;
    const kb_power *factors = NULL;
    if (!kb_expression_powers(dictionary->terms[term], &n, &factors)) return -1;
    for (size_t i = 0; i < n; i++) {
        const kb_variable *variable = &dictionary->variables[factors[i].variable];
        if (variable->axis >= 0) return -1;
        if (i && variable->field != *field) return -1;
        *field = variable->field;
        if (variable->order[1] == 0) power += factors[i].power;
        else if (variable->order[1] == 1 && factors[i].power == 1) slopes++;
        else return -1;
    }
    return slopes == 1 ? power : -1;
}

static size_t whole_lanes(size_t n) { return (n + KB_BAND_LANES - 1) / KB_BAND_LANES * KB_BAND_LANES; }

static void set_model(kb_dynamics *self, const kb_support *support, const double *w, const kb_support *tangents)
{
    kb_pde1d *l = (kb_pde1d *)self;
    kb_rhs_set(&l->rhs, support, w, tangents);
    kb_rhs_keep_run(&l->rhs, l->run);
    l->n_parameters = l->rhs.n_tangents + l->dynamics.n_start;
    l->stride = whole_lanes(l->n_parameters);
    for (size_t slot = 0; slot < l->rhs.n_terms; slot++)
        l->flux_power[slot] = flux_power(l->dictionary, l->rhs.terms[slot], &l->flux_field[slot]);
}

void kb_pde1d_boundary(const kb_pde1d *l, double s, double *basis)
{
    if (l->settings.ends == KB_ENDS_HELD) s = fmin(s, l->samples->extent[0]);
    for (size_t j = 0; j < l->n_boundary; j++)
        basis[j] = l->boundary_scale[j] * (j % 2 || j == 0 ? cos(l->wave[j] * s) : sin(l->wave[j] * s));
}

static void set_start(kb_pde1d *l, const double *start, bool with_tangents)
{
    size_t F = l->n_fields, M = l->n_modes, P = l->stride;
    l->start = start;
    l->factor = 0; /* nothing of an earlier run */
    for (size_t i = 0; i < l->n; i++)
        for (size_t f = 0; f < F; f++) l->state[i * F + f] = kb_dot(M, l->modes + i * M, start + f * M);
    if (!with_tangents) return;
    memset(l->tangent, 0, l->size * P * sizeof *l->tangent);
    for (size_t i = 0; i < l->n; i++)
        for (size_t f = 0; f < F; f++)
            memcpy(l->tangent + (i * F + f) * P + l->rhs.n_tangents + f * M, l->modes + i * M, M * sizeof *l->modes);
}

/* Observations of a row from the present state; returns how many. */
static size_t observe(const kb_pde1d *l, size_t row, double *predicted, double *tangents)
{
    const kb_dynamics *d = &l->dynamics;
    size_t begin = d->observation_start[row], n = d->observation_start[row + 1] - begin, P = l->n_parameters;
    for (size_t k = 0; k < n; k++) {
        size_t o = begin + k, field = d->group[o];
        predicted[k] = 0;
        if (tangents) memset(tangents + k * P, 0, P * sizeof *tangents);
        for (size_t m = 0; m < INTERPOLATION; m++) {
            size_t unknown = ((l->node[o] + m) % l->n) * l->n_fields + field;
            double weight = l->weight[o * INTERPOLATION + m];
            predicted[k] += weight * l->state[unknown];
            if (tangents) kb_axpy(P, weight, l->tangent + unknown * l->stride, tangents + k * P);
        }
    }
    return n;
}

static bool advance(kb_pde1d *l, size_t row, bool first, bool with_tangents)
{
    double from = l->row_time[row - 1], h = (l->row_time[row] - from) / (double)l->row_steps[row];
    for (size_t step = 0; step < l->row_steps[row]; step++)
        if (!kb_pde1d_step(l, from + (double)step * h, h, first && step == 0, with_tangents)) return false;
    return true;
}

static bool predict(kb_dynamics *self, size_t first, size_t last, const double *start, double *predicted,
                    double *tangents)
{
    kb_pde1d *l = (kb_pde1d *)self;
    size_t done = 0;
    set_start(l, start, tangents != NULL);
    for (size_t row = first; row <= last; row++) {
        if (row > first && !advance(l, row, row == first + 1, tangents != NULL)) return false;
        done += observe(l, row, predicted + done, tangents ? tangents + done * l->n_parameters : NULL);
    }
    return true;
}

bool kb_pde1d_continue(kb_pde1d *l, const double *state, const double *start, double *predicted)
{
    size_t done = 0;
    l->start = start;
    l->factor = 0;
    memcpy(l->state, state, l->size * sizeof *l->state);
    for (size_t row = 0; row < l->dynamics.n_rows; row++) {
        if (row && !advance(l, row, row == 1, false)) return false;
        done += observe(l, row, predicted + done, NULL);
    }
    return true;
}

/* Profile of a state in the modes: (B'B + ridge) z = B'q, field by field. */
static void project(const kb_pde1d *l, const double *state, double *z)
{
    size_t F = l->n_fields, M = l->n_modes;
    for (size_t f = 0; f < F; f++) {
        memset(z + f * M, 0, M * sizeof *z);
        for (size_t i = 0; i < l->n; i++) kb_axpy(M, state[i * F + f], l->modes + i * M, z + f * M);
        kb_cholesky_solve(M, 1, l->gram, M, z + f * M, M);
    }
}

static bool carry(kb_dynamics *self, size_t first, size_t row, const double *start, double *carried)
{
    kb_pde1d *l = (kb_pde1d *)self;
    size_t profile = l->n_fields * l->n_modes;
    set_start(l, start, false);
    for (size_t r = first + 1; r <= row; r++)
        if (!advance(l, r, r == first + 1, false)) return false;
    project(l, l->state, carried);
    memcpy(carried + profile, start + profile, (l->dynamics.n_start - profile) * sizeof *carried);
    return true;
}

static void destroy(kb_dynamics *self)
{
    kb_pde1d *l = (kb_pde1d *)self;
    if (!l) return;
    void *arrays[] = {self->relative,
                      self->start_variance,
                      self->observation_start,
                      self->observed,
                      self->group,
                      l->row_time,
                      l->row_steps,
                      l->modes,
                      l->gram,
                      l->node,
                      l->weight,
                      l->bound,
                      l->flux_power,
                      l->flux_field,
                      l->row,
                      l->place,
                      l->coupling,
                      l->has_gain,
                      l->points,
                      l->values,
                      l->slope,
                      l->work,
                      l->extended,
                      l->flux,
                      l->gain,
                      l->boundary_gain,
                      l->state,
                      l->stage,
                      l->rate,
                      l->known,
                      l->guess,
                      l->slopes,
                      l->residual,
                      l->matrix,
                      l->tangent,
                      l->tangent_rate,
                      l->tangent_known,
                      l->tangent_stage,
                      l->boundary_basis,
                      l->wave,
                      l->boundary_scale};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++) kb_free(arrays[i]);
    kb_rhs_clear(&l->rhs);
    kb_free(l);
}

/* ---------------------------------------------------------------- making one */

/* Observations row by row, with their interpolation: Lagrange on the six nodes around. */
static void list_observations(kb_pde1d *l)
{
    const kb_field_samples *c = l->samples;
    kb_dynamics *d = &l->dynamics;
    size_t o = 0, row = 0;
    double nodes_per_span = l->settings.periodic ? (double)l->n / l->settings.period : (double)(l->n - 1);
    for (size_t p = 0; p < c->n_points; p++) {
        while (c->point[p] > c->grid[0][row]) d->observation_start[++row] = o;
        for (size_t f = 0; f < c->n_fields; f++) {
            if (c->measured[p + f * c->n_points] == 0 || !l->dictionary->has_equation[f]) continue;
            double x = c->point[p + c->n_points] * nodes_per_span, base = floor(x + 1e-9) - 2;
            if (!l->settings.periodic) base = fmin(fmax(base, 0), (double)l->n - INTERPOLATION);
            l->node[o] = (size_t)(base < 0 ? base + (double)l->n : base);
            for (int a = 0; a < INTERPOLATION; a++) {
                double weight = 1;
                for (int b = 0; b < INTERPOLATION; b++)
                    if (b != a) weight *= (x - base - b) / (a - b);
                l->weight[o * INTERPOLATION + (size_t)a] = weight;
            }
            d->observed[o] = c->value[p + f * c->n_points];
            if (d->relative) d->relative[o] = c->relative[p + f * c->n_points];
            d->group[o++] = f;
        }
    }
    for (size_t r = row + 1; r <= d->n_rows; r++) d->observation_start[r] = o;
}

static void set_steps(kb_pde1d *l)
{
    const kb_field_samples *c = l->samples;
    for (size_t row = 0; row < l->dynamics.n_rows; row++) {
        l->row_time[row] = c->grid[0][row];
        double gap = row ? l->row_time[row] - l->row_time[row - 1] : 0;
        l->row_steps[row] = (size_t)fmax(1, ceil((double)l->settings.steps * gap / c->spacing[0] - 1e-6));
    }
}

/* Position of a node in the matrix: 0, n - 1, 1, n - 2, ... keeps a periodic band a band. */
static size_t position(const kb_pde1d *l, size_t i)
{
    size_t n = l->n;
    return !l->settings.periodic ? i : i < (n + 1) / 2 ? 2 * i : 2 * (n - 1 - i) + 1;
}

static void number_nodes(kb_pde1d *l)
{
    size_t n = l->n, F = l->n_fields, half = KB_STENCIL / 2;
    for (size_t i = 0; i < n; i++) {
        for (size_t f = 0; f < F; f++) l->row[position(l, i) * F + f] = i * F + f;
        for (size_t m = 0; m < KB_STENCIL; m++) {
            size_t image = i + m < half ? half - m - i : 2 * (n - 1) + half - i - m;
            size_t j = kb_pde1d_is_beyond(l, i, m) ? image : (i + m + n - half) % n;
            l->place[i * KB_STENCIL + m] = position(l, i) * F * 2 * l->band + position(l, j) * F + l->band;
        }
    }
}

static kbass_status make_modes(kb_pde1d *l, const kb_profile *profile, kbass_error *error)
{
    size_t n = l->n, M = profile->n_modes;
    double step = l->settings.periodic ? l->settings.period / (double)n : 1.0 / (double)(n - 1);
    l->n_modes = M;
    l->amplitude = profile->amplitude;
    l->noise = profile->noise;
    l->modes = KB_NEW(double, n *M);
    l->gram = KB_NEW(double, M *M);
    if (!l->modes || !l->gram) return kb_out_of_memory(error, "the profile's modes");
    for (size_t i = 0; i < n; i++) kb_profile_modes(profile, (double)i * step, l->modes + i * M);
    kb_gemm(KB_PLAIN, KB_TRANSPOSED, M, M, n, 1, l->modes, M, l->modes, M, 0, l->gram, M);
    for (size_t i = 0; i < M; i++) l->gram[i + i * M] += 1e-6;
    return kb_cholesky(M, l->gram, M) ? KBASS_OK
                                      : kb_fail(error, KBASS_ERROR_NUMERICAL, "the profile's modes are dependent");
}

/* Boundary values: Matern-5/2 in time of length 1/6 on modes of period 1.5, amplitude that of the outermost samples. */
static kbass_status make_boundary(kb_pde1d *l, kbass_error *error)
{
    const kb_field_samples *c = l->samples;
    kb_profile profile = {.period = 1.5, .length = 1.0 / 6, .amplitude = 1, .n_modes = MOST_BOUNDARY};
    double squares = 0, n = 0, first[MOST_BOUNDARY];
    l->n_boundary = l->settings.periodic ? 0 : MOST_BOUNDARY;
    l->wave = KB_NEW(double, MOST_BOUNDARY);
    l->boundary_scale = KB_NEW(double, MOST_BOUNDARY);
    l->boundary_basis = KB_NEW(double, MOST_BOUNDARY);
    if (!l->wave || !l->boundary_scale || !l->boundary_basis) return kb_out_of_memory(error, "the boundary");
    for (size_t p = 0; p < c->n_points; p++) {
        double x = c->point[p + c->n_points];
        for (size_t f = 0; f < c->n_fields; f++) {
            double root = kb_field_samples_root(c, p + f * c->n_points), value = root * c->value[p + f * c->n_points];
            if (x < 0.5 * c->spacing[1] || x > 1 - 0.5 * c->spacing[1]) squares += value * value, n += root * root;
        }
    }
    profile.amplitude = fmax(n > 0 ? sqrt(squares / n) : 1, 0.02);
    kb_profile_modes(&profile, 0, first); /* cosines at 0 show the amplitudes */
    for (size_t j = 0; j < MOST_BOUNDARY; j++) {
        l->wave[j] = 2 * M_PI * (double)((j + 1) / 2) / profile.period;
        l->boundary_scale[j] = first[j % 2 || j == 0 ? j : j - 1];
    }
    return KBASS_OK;
}

static bool allocate_nodes(kb_pde1d *l, size_t max_tangents)
{
    size_t n = l->n, F = l->n_fields, N = l->size, variables = l->dictionary->n_variables, halo = n + KB_STENCIL;
    size_t P = whole_lanes(max_tangents + l->dynamics.n_start);
    l->flux_power = KB_NEW(int, l->dictionary->n_terms);
    l->flux_field = KB_NEW(size_t, l->dictionary->n_terms);
    l->row = KB_NEW(size_t, N);
    l->place = KB_NEW(size_t, n * KB_STENCIL);
    l->coupling = KB_NEW(double, F *F *KB_STENCIL *n);
    l->has_gain = KB_NEW(bool, F *variables);
    l->points = KB_NEW(double, n *variables);
    l->values = KB_NEW(double, n * l->dictionary->n_terms);
    l->slope = KB_NEW(double, n);
    l->work = KB_NEW(double, kb_dictionary_work(l->dictionary, n));
    l->extended = KB_NEW(double, halo *F);
    l->flux = KB_NEW(double, halo);
    l->gain = KB_NEW(double, n *F *variables);
    l->boundary_gain = KB_NEW(double, 2 * F * N);
    l->state = KB_NEW(double, N);
    l->stage = KB_NEW(double, N);
    l->known = KB_NEW(double, N);
    l->slopes = KB_NEW(double, N);
    l->guess = KB_NEW(double, N);
    l->residual = KB_NEW(double, N);
    l->rate = KB_NEW(double, KB_PDE1D_STAGES *N);
    l->matrix = KB_NEW(double, N *(2 * l->band + 1));
    l->tangent = KB_NEW(double, N *P);
    l->tangent_known = KB_NEW(double, N *P);
    l->tangent_stage = KB_NEW(double, N *P);
    l->tangent_rate = KB_NEW(double, (KB_PDE1D_STAGES - 1) * N * P);
    return l->flux_power && l->flux_field && l->row && l->place && l->coupling && l->has_gain && l->points &&
           l->values && l->slope && l->work && l->extended && l->flux && l->gain && l->boundary_gain && l->state &&
           l->stage && l->known && l->guess && l->slopes && l->residual && l->rate && l->matrix && l->tangent &&
           l->tangent_known && l->tangent_stage && l->tangent_rate;
}

static bool allocate_observations(kb_pde1d *l)
{
    kb_dynamics *d = &l->dynamics;
    size_t most = l->samples->n_values;
    d->observation_start = KB_NEW(size_t, d->n_rows + 1);
    d->observed = KB_NEW(double, most);
    if (l->samples->relative) d->relative = KB_NEW(double, most);
    d->group = KB_NEW(size_t, most);
    l->node = KB_NEW(size_t, most);
    l->weight = KB_NEW(double, most *INTERPOLATION);
    l->row_time = KB_NEW(double, d->n_rows);
    l->row_steps = KB_NEW(size_t, d->n_rows);
    l->bound = KB_NEW(double, l->n_fields);
    return (d->relative || !l->samples->relative) && d->observation_start && d->observed && d->group && l->node &&
           l->weight && l->row_time && l->row_steps && l->bound;
}

static void set_geometry(kb_pde1d *l)
{
    const kb_field_samples *c = l->samples;
    double width = c->span[1] * (l->settings.periodic ? l->settings.period : 1), power = 1;
    l->dx = width / (double)(l->settings.periodic ? l->n : l->n - 1);
    l->span = c->span[0];
    for (int order = 0; order <= KB_HIGHEST_ORDER; order++, power *= l->dx)
        for (int m = 0; m < KB_STENCIL; m++) l->stencil[order][m] = unit_stencil[order][m] / power;
    /* +-3 nodes; interleaving a periodic axis doubles the distance */
    l->band = ((l->settings.periodic ? 6 : 3) + 1) * l->n_fields - 1;
}

static void set_axis_and_bounds(kb_pde1d *l)
{
    const kb_field_samples *c = l->samples;
    for (size_t v = 0; v < l->dictionary->n_variables; v++)
        for (size_t i = 0; l->dictionary->variables[v].axis == 1 && i < l->n; i++)
            l->points[v * l->n + i] = c->first[1] + l->dx * (double)i;
    for (size_t f = 0; f < c->n_fields; f++)
        for (size_t p = 0; p < c->n_points; p++)
            l->bound[f] = fmax(l->bound[f], 4 * fabs(c->value[p + f * c->n_points]) + 2);
}

static kbass_status build(kb_pde1d *l, const kb_profile *profile, size_t max_tangents, kbass_error *error)
{
    kb_dynamics *d = &l->dynamics;
    set_geometry(l);
    kbass_status status = make_modes(l, profile, error);
    if (status == KBASS_OK) status = make_boundary(l, error);
    if (status != KBASS_OK) return status;
    d->n_start = l->n_fields * (l->n_modes + 2 * l->n_boundary);
    d->start_variance = KB_NEW(double, d->n_start);
    if (!d->start_variance || !allocate_nodes(l, max_tangents) || !allocate_observations(l))
        return kb_out_of_memory(error, "the method of lines");
    status = kb_rhs_create(l->dictionary, l->columns, max_tangents, &l->rhs, error);
    if (status != KBASS_OK) return status;
    for (size_t i = 0; i < d->n_start; i++) d->start_variance[i] = 1;
    number_nodes(l);
    set_steps(l);
    set_axis_and_bounds(l);
    list_observations(l);
    return KBASS_OK;
}

kbass_status kb_pde1d_create(const kb_field_samples *samples, const kb_dictionary *dictionary,
                             const kb_columns *columns, const kb_pde1d_settings *settings, const kb_profile *profile,
                             size_t max_tangents, kb_pde1d **out, kbass_error *error)
{
    kb_pde1d *l = KB_NEW(kb_pde1d, 1);
    if (!l) return kb_out_of_memory(error, "the method of lines");
    l->samples = samples;
    l->dictionary = dictionary;
    l->columns = columns;
    l->settings = *settings;
    l->n = settings->n_nodes;
    l->n_fields = samples->n_fields;
    l->size = l->n * l->n_fields;
    l->dynamics = (kb_dynamics){.n_rows = samples->n_grid[0],
                                .n_groups = samples->n_fields,
                                .mean = samples->mean,
                                .sd = samples->sd,
                                .noise_model = samples->noise_model,
                                .known_variance = samples->known_variance,
                                .noise_floor = KB_LEAST_NOISE,
                                .set_model = set_model,
                                .predict = predict,
                                .carry = carry,
                                .destroy = destroy};
    kbass_status status = build(l, profile, max_tangents, error);
    if (status == KBASS_OK) *out = l;
    else destroy(&l->dynamics);
    return status;
}

/* ---------------------------------------------------------------- first guess */

/* Ridge regression z = (R'R + v I)^{-1} R'y, rows weighted by their precisions */
static bool ridge(size_t k, double *gram, double *z, double v)
{
    for (size_t i = 0; i < k; i++) gram[i + i * k] += v;
    if (!kb_cholesky(k, gram, k)) return false;
    kb_cholesky_solve(k, 1, gram, k, z, k);
    return true;
}

static void add_observation(size_t k, const double *features, double y, double precision, double *gram, double *z)
{
    kb_axpy(k, precision * y, features, z);
    for (size_t j = 0; j < k; j++) kb_axpy(k, precision * features[j], features, gram + j * k);
}

/* Modes at an observation: the interpolation of the nodes' modes. */
static void observation_modes(const kb_pde1d *l, size_t o, double *features)
{
    memset(features, 0, l->n_modes * sizeof *features);
    for (size_t m = 0; m < INTERPOLATION; m++)
        kb_axpy(l->n_modes, l->weight[o * INTERPOLATION + m], l->modes + ((l->node[o] + m) % l->n) * l->n_modes,
                features);
}

static bool guess_profile(const kb_pde1d *l, size_t row, size_t field, double *z, double *gram)
{
    const kb_dynamics *d = &l->dynamics;
    size_t M = l->n_modes, used = 0, begin = d->observation_start[row];
    size_t wanted = 2 * (d->observation_start[row + 1] - begin) / l->n_fields;
    double features[KB_PDE1D_MOST_MODES];
    if (wanted < 12) wanted = 12;
    memset(gram, 0, M * M * sizeof *gram);
    memset(z, 0, M * sizeof *z);
    for (size_t o = begin; o < d->observation_start[d->n_rows] && used < wanted; o++) {
        if (d->group[o] != field) continue;
        observation_modes(l, o, features);
        add_observation(M, features, d->observed[o], d->relative ? 1 / d->relative[o] : 1, gram, z);
        used++;
    }
    return ridge(M, gram, z, fmax(l->noise, 1e-4 * l->amplitude * l->amplitude));
}

static bool guess_boundary(const kb_pde1d *l, size_t field, bool right, double *z, double *gram)
{
    const kb_field_samples *c = l->samples;
    size_t k = l->n_boundary;
    double features[MOST_BOUNDARY];
    memset(gram, 0, k * k * sizeof *gram);
    memset(z, 0, k * sizeof *z);
    for (size_t p = 0; p < c->n_points; p++) {
        double x = c->point[p + c->n_points];
        bool outermost = right ? x > 1 - 0.5 * c->spacing[1] : x < 0.5 * c->spacing[1];
        if (!outermost || c->measured[p + field * c->n_points] == 0) continue;
        kb_pde1d_boundary(l, c->point[p], features);
        double root = kb_field_samples_root(c, p + field * c->n_points);
        add_observation(k, features, c->value[p + field * c->n_points], root * root, gram, z);
    }
    return ridge(k, gram, z, fmax(l->noise, 1e-4 * l->amplitude * l->amplitude));
}

bool kb_pde1d_guess(const kb_pde1d *l, size_t row, double *start)
{
    size_t F = l->n_fields, M = l->n_modes, B = l->n_boundary;
    double gram[KB_PDE1D_MOST_MODES * KB_PDE1D_MOST_MODES];
    for (size_t f = 0; f < F; f++) {
        if (!guess_profile(l, row, f, start + f * M, gram)) return false;
        for (size_t side = 0; B && side < 2; side++)
            if (!guess_boundary(l, f, side, start + F * M + (2 * f + side) * B, gram)) return false;
    }
    return true;
}
