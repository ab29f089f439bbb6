/* The semi-discrete equation of a line and its step. */
#include <math.h>
#include <string.h>

#include "base/band.h"
#include "base/linalg.h"
#include "base/wide.h"
#include "forward/pde1d/method_of_lines.h"

enum { HALO = KB_STENCIL / 2 }; /* room: nodes beyond an end */
enum { NEWTON_STEPS = 12 };     /* iterations: of a stage at most */
/* Newton: a fresh matrix is quadratic, so a step of 1e-5 leaves about its square; an old one is linear, and what it
   leaves is the step times the ratio of steps. */
static const double tolerance = 1e-7; /* of the field's sd: what a stage may leave */
static const double slow_ratio = 0.1; /* of one step to the next: above it the matrix is made anew */
static const double most_growth = 20; /* e-folds a record, of the grid's shortest wave: more, and it is ill-posed */

/* SDIRK3 (Alexander): gamma is the root of x^3 - 3x^2 + 3x/2 - 1/6 near 0.436 */
static const double g = 0.43586652150845967; /* exact */
static double tableau(int i, int j)
{
    if (i == 1) return (1 - g) / 2;
    return j == 0 ? -(6 * g * g - 16 * g + 1) / 4 : (6 * g * g - 20 * g + 5) / 4;
}
static double abscissa(int i) { return i == 0 ? g : i == 1 ? (1 + g) / 2 : 1; }

/* ---------------------------------------------------------------- fields and derivatives at the nodes */

/* Scaled boundary value of a field on a side (0 left, 1 right). */
static double boundary_value(const kb_pde1d *l, size_t field, size_t side)
{
    const double *z = l->start + l->n_fields * l->n_modes + (2 * field + side) * l->n_boundary;
    return kb_dot(l->n_boundary, l->boundary_basis, z);
}

/* Fields with HALO nodes beyond each end, in the data's units: periodic copies; mirror images; or, where a boundary has
   a value, images turned about it: 2 b - u, which leaves no kink that derivatives would see. */
static void extend(kb_pde1d *l, const double *q)
{
    size_t n = l->n, F = l->n_fields, stride = n + 2 * HALO;
    bool turned = !l->settings.periodic && l->settings.ends != KB_ENDS_MIRRORED;
    for (size_t f = 0; f < F; f++) {
        double *left = l->extended + f * stride + HALO, *right = left + n - 1, mean = l->samples->mean[f],
               sd = l->samples->sd[f];
        double first = turned ? mean + sd * boundary_value(l, f, 0) : 0,
               last = turned ? mean + sd * boundary_value(l, f, 1) : 0;
        for (size_t i = 0; i < n; i++) left[i] = mean + sd * q[i * F + f];
        for (long k = 1; k <= HALO; k++) {
            left[-k] = l->settings.periodic ? right[1 - k] : turned ? 2 * first - left[k] : left[k];
            right[k] = l->settings.periodic ? left[k - 1] : turned ? 2 * last - right[-k] : right[-k];
        }
    }
}

KB_WIDE static void apply_stencil(size_t n, const double *stencil, const double *extended, double *restrict out)
{
    for (size_t i = 0; i < n; i++) {
        double sum = 0;
        for (size_t m = 0; m < KB_STENCIL; m++) sum += stencil[m] * extended[i + m];
        out[i] = sum;
    }
}

static void evaluate_variables(kb_pde1d *l, const double *q, double s)
{
    size_t n = l->n, stride = n + 2 * HALO;
    extend(l, q);
    for (size_t v = 0; v < l->dictionary->n_variables; v++) {
        const kb_variable *variable = &l->dictionary->variables[v];
        double *out = l->points + v * n;
        if (variable->axis < 0)
            apply_stencil(n, l->stencil[variable->order[1]], l->extended + variable->field * stride, out);
        else if (variable->axis == 0)
            for (size_t i = 0; i < n; i++) out[i] = l->samples->first[0] + l->span * s;
    }
}

/* u^{p+1}/(p+1) on the extended nodes */
static void fill_flux(kb_pde1d *l, size_t slot)
{
    size_t stride = l->n + 2 * HALO;
    const double *e = l->extended + l->flux_field[slot] * stride;
    int p = l->flux_power[slot];
    for (size_t i = 0; i < stride; i++) {
        double power = e[i];
        for (int k = 0; k < p; k++) power *= e[i];
        l->flux[i] = power / (p + 1);
    }
}

/* Values of the first `n_terms` terms in use; fluxes by differences of u^{p+1}/(p+1). */
static void evaluate_terms(kb_pde1d *l, size_t n_terms)
{
    kb_dictionary_values(l->dictionary, n_terms, l->rhs.terms, l->n, l->points, l->n, l->values, l->work);
    for (size_t slot = 0; slot < n_terms; slot++) {
        if (l->flux_power[slot] < 0) continue;
        fill_flux(l, slot);
        apply_stencil(l->n, l->stencil[1], l->flux, l->values + slot * l->n);
    }
}

static size_t terms_of_model(const kb_pde1d *l)
{
    size_t n = 0;
    for (size_t e = 0; e < l->rhs.n_entries; e++)
        if (l->rhs.entry_slot[e] + 1 > n) n = l->rhs.entry_slot[e] + 1;
    return n;
}

/* dq/ds at the nodes; terms must be evaluated */
static void rate(const kb_pde1d *l, double *out)
{
    size_t n = l->n, F = l->n_fields;
    memset(out, 0, l->size * sizeof *out);
    for (size_t e = 0; e < l->rhs.n_entries; e++) {
        const double *value = l->values + l->rhs.entry_slot[e] * n;
        double *to = out + l->rhs.entry_equation[e], coefficient = l->rhs.entry_coefficient[e];
        for (size_t i = 0; i < n; i++) to[i * F] += coefficient * value[i];
    }
}

/* ---------------------------------------------------------------- the Newton matrix */

/* gain[(v, equation)][i] = d rate_equation / d variable v at node i, in the variables' (data's) units */
static double *gain_of(const kb_pde1d *l, size_t variable, size_t equation)
{
    return l->gain + (equation * l->dictionary->n_variables + variable) * l->n;
}

static void evaluate_gains(kb_pde1d *l)
{
    size_t n = l->n;
    memset(l->gain, 0, n * l->n_fields * l->dictionary->n_variables * sizeof *l->gain);
    memset(l->has_gain, 0, l->n_fields * l->dictionary->n_variables * sizeof *l->has_gain);
    for (size_t e = 0; e < l->rhs.n_entries; e++) {
        size_t slot = l->rhs.entry_slot[e];
        if (l->flux_power[slot] >= 0) continue;
        for (size_t v = 0; v < l->dictionary->n_variables; v++) {
            if (l->dictionary->variables[v].axis >= 0 || !kb_dictionary_depends(l->dictionary, l->rhs.terms[slot], v))
                continue;
            kb_dictionary_slopes(l->dictionary, l->rhs.terms[slot], v, n, l->points, n, l->slope, l->work);
            kb_axpy(n, l->rhs.entry_coefficient[e], l->slope, gain_of(l, v, l->rhs.entry_equation[e]));
            l->has_gain[l->rhs.entry_equation[e] * l->dictionary->n_variables + v] = true;
        }
    }
}

/* Growth rate of the shortest wave k = pi/dx of each field by its own even derivatives: -c2 k^2 + c4 k^4 - c6 k^6. */
static bool is_ill_posed(const kb_pde1d *l)
{
    double wave[KB_HIGHEST_ORDER + 1] = {1};
    for (int order = 1; order <= KB_HIGHEST_ORDER; order++) wave[order] = wave[order - 1] * M_PI / l->dx;
    for (size_t f = 0; f < l->n_fields; f++)
        for (size_t i = 0; i < l->n; i++) {
            double growth = 0;
            for (size_t v = 0; v < l->dictionary->n_variables; v++) {
                const kb_variable *variable = &l->dictionary->variables[v];
                int order = variable->order[1];
                if (variable->axis >= 0 || variable->field != f || order == 0 || order % 2) continue;
                growth += (order % 4 == 2 ? -1 : 1) * gain_of(l, v, f)[i] * wave[order];
            }
            if (!(growth * l->samples->sd[f] <= most_growth)) return true;
        }
    return false;
}

/* coupling[m][i] = d rate_equation(node i) / d field(node i + m - HALO), in the data's units of the field */
static double *coupling_of(const kb_pde1d *l, size_t equation, size_t field)
{
    return l->coupling + (equation * l->n_fields + field) * KB_STENCIL * l->n;
}

KB_WIDE static void couple_gains(kb_pde1d *l, size_t equation)
{
    size_t n = l->n;
    for (size_t v = 0; v < l->dictionary->n_variables; v++) {
        const kb_variable *variable = &l->dictionary->variables[v];
        if (variable->axis >= 0 || !l->has_gain[equation * l->dictionary->n_variables + v]) continue;
        const double *restrict gain = gain_of(l, v, equation), *stencil = l->stencil[variable->order[1]];
        for (size_t m = 0; m < KB_STENCIL; m++) {
            double *restrict to = coupling_of(l, equation, variable->field) + m * n;
            for (size_t i = 0; stencil[m] != 0 && i < n; i++) to[i] += stencil[m] * gain[i];
        }
    }
}

KB_WIDE static void couple_flux(kb_pde1d *l, size_t entry)
{
    size_t n = l->n, stride = n + 2 * HALO, slot = l->rhs.entry_slot[entry], field = l->flux_field[slot];
    const double *u = l->extended + field * stride;
    for (size_t i = 0; i < stride; i++) {
        l->flux[i] = l->rhs.entry_coefficient[entry];
        for (int k = 0; k < l->flux_power[slot]; k++) l->flux[i] *= u[i];
    }
    for (size_t m = 0; m < KB_STENCIL; m++) {
        double *restrict to = coupling_of(l, l->rhs.entry_equation[entry], field) + m * n;
        for (size_t i = 0; i < n; i++) to[i] += l->stencil[1][m] * l->flux[i + m];
    }
}

/* Puts one coupling into the matrix; what lies beyond an open end depends on its image and, turned, on the boundary. */
static void place(kb_pde1d *l, double factor, size_t equation, size_t field)
{
    size_t n = l->n, F = l->n_fields, shift = equation * 2 * l->band + field;
    bool turned = l->settings.ends != KB_ENDS_MIRRORED;
    double sd = l->samples->sd[field];
    const double *coupling = coupling_of(l, equation, field);
    for (size_t i = 0; i < n; i++)
        for (size_t m = 0; m < KB_STENCIL; m++) {
            double value = sd * coupling[m * n + i];
            bool imaged = turned && kb_pde1d_is_beyond(l, i, m);
            l->matrix[l->place[i * KB_STENCIL + m] + shift] -= factor * (imaged ? -value : value);
            if (imaged) l->boundary_gain[((2 * field + (m < HALO ? 0 : 1)) * n + i) * F + equation] += 2 * value;
        }
}

/* I - factor J at the fields last evaluated, factorised. */
static bool newton_matrix(kb_pde1d *l, double factor)
{
    size_t F = l->n_fields, width = 2 * l->band + 1;
    l->factor = 0;
    memset(l->matrix, 0, l->size * width * sizeof *l->matrix);
    memset(l->boundary_gain, 0, 2 * F * l->size * sizeof *l->boundary_gain);
    memset(l->coupling, 0, F * F * KB_STENCIL * l->n * sizeof *l->coupling);
    evaluate_gains(l);
    if (is_ill_posed(l)) return false;
    for (size_t f = 0; f < F; f++) couple_gains(l, f);
    for (size_t e = 0; e < l->rhs.n_entries; e++)
        if (l->flux_power[l->rhs.entry_slot[e]] >= 0) couple_flux(l, e);
    for (size_t e = 0; e < F * F; e++) place(l, factor, e / F, e % F);
    for (size_t i = 0; i < l->size; i++) l->matrix[i * width + l->band] += 1;
    if (!kb_band_factorise(l->size, l->band, l->matrix)) return false;
    l->factor = factor;
    return true;
}

/* ---------------------------------------------------------------- stages */

/* q += residual; the largest step, or infinity when the state escapes. */
static double move(const kb_pde1d *l, double *q)
{
    double largest = 0;
    for (size_t k = 0; k < l->size; k++) {
        double step = fabs(l->residual[k]);
        size_t i = l->row[k];
        q[i] += l->residual[k];
        if (!(fabs(q[i]) <= l->bound[i % l->n_fields])) return INFINITY;
        if (!(step <= largest)) largest = step;
    }
    return largest;
}

/* q - factor rate(q) = known. The matrix at hand serves as long as it brings q on quickly; a fresh one is Newton's, and
   starts anew where the old one led astray. */
static bool newton(kb_pde1d *l, double s, double factor, const double *known, double *q)
{
    size_t n_terms = terms_of_model(l);
    double last = 0; /* no ratio yet */
    int n_fresh = 0;
    bool slow = false;
    memcpy(l->guess, q, l->size * sizeof *q);
    for (int iteration = 0; iteration < NEWTON_STEPS; iteration++) {
        evaluate_variables(l, q, s);
        evaluate_terms(l, n_terms);
        rate(l, l->slopes);
        bool fresh = slow || l->factor != factor;
        if (fresh && !newton_matrix(l, factor)) return false;
        for (size_t k = 0; k < l->size; k++)
            l->residual[k] = known[l->row[k]] + factor * l->slopes[l->row[k]] - q[l->row[k]];
        kb_band_solve_one(l->size, l->band, l->matrix, l->residual);
        double largest = move(l, q), ratio = largest / last;
        if (fresh && !(largest < INFINITY)) return false;
        if (fresh ? largest < 1e-5 : largest * fmin(ratio, 1) < tolerance) return true;
        if (fresh && ++n_fresh > 4 && !(ratio < 0.5)) return false;
        if (!fresh && !(largest < INFINITY && (iteration == 0 || ratio < 1))) memcpy(q, l->guess, l->size * sizeof *q);
        slow = slow || iteration >= 4 || !(largest < INFINITY) || (iteration && !(ratio <= slow_ratio));
        last = largest;
    }
    return false;
}

/* d/d(boundary unknowns) of the stage: h g times the boundary's gain times the basis */
static void add_boundary_forcing(kb_pde1d *l, double factor, double *out)
{
    size_t first = l->rhs.n_tangents + l->n_fields * l->n_modes;
    for (size_t side = 0; side < 2 * l->n_fields; side++)
        for (size_t i = 0; i < l->size; i++) {
            double gain = factor * l->boundary_gain[side * l->size + i];
            if (gain != 0)
                kb_axpy(l->n_boundary, gain, l->boundary_basis, out + i * l->stride + first + side * l->n_boundary);
        }
}

/* known = X = tangent + h sum_j a_ij K_j */
KB_WIDE static void begin_tangents(const kb_pde1d *l, double h, int stage)
{
    size_t size = l->size * l->stride;
    double first = stage > 0 ? h * tableau(stage, 0) : 0, second = stage > 1 ? h * tableau(stage, 1) : 0;
    const double *tangent = l->tangent, *K0 = l->tangent_rate, *K1 = K0 + size;
    double *restrict known = l->tangent_known, *restrict X = l->tangent_stage;
    if (stage == 0) memcpy(known, tangent, size * sizeof *known);
    else if (stage == 1)
        for (size_t i = 0; i < size; i++) known[i] = tangent[i] + first * K0[i];
    else
        for (size_t i = 0; i < size; i++) known[i] = tangent[i] + first * K0[i] + second * K1[i];
    memcpy(X, known, size * sizeof *X);
}

KB_WIDE static void rate_of_tangents(const kb_pde1d *l, double factor, double *restrict K)
{
    const double *X = l->tangent_stage, *known = l->tangent_known;
    for (size_t i = 0; i < l->size * l->stride; i++) K[i] = (X[i] - known[i]) * (1 / factor);
}

static bool tangent_stage(kb_pde1d *l, double s, double h, int stage)
{
    size_t P = l->stride, n = l->n, F = l->n_fields;
    double *X = l->tangent_stage;
    begin_tangents(l, h, stage);
    evaluate_variables(l, l->stage, s);
    evaluate_terms(l, l->rhs.n_terms);
    if (!newton_matrix(l, h * g)) return false;
    for (size_t p = 0; p < l->rhs.n_tangents; p++) {
        const double *value = l->values + l->rhs.tangent_slot[p] * n;
        double factor = h * g * l->rhs.tangent_scale[p];
        for (size_t i = 0; i < n; i++) X[(i * F + l->rhs.tangent_equation[p]) * P + p] += factor * value[i];
    }
    if (!l->settings.periodic) add_boundary_forcing(l, h * g, X);
    kb_band_solve(l->size, l->band, l->matrix, l->row, P, X);
    if (stage + 1 < KB_PDE1D_STAGES) rate_of_tangents(l, h * g, l->tangent_rate + (size_t)stage * l->size * P);
    return true;
}

bool kb_pde1d_step(kb_pde1d *l, double s, double h, bool first, bool with_tangents)
{
    for (int stage = 0; stage < KB_PDE1D_STAGES; stage++) {
        double time = s + abscissa(stage) * h, *K = l->rate + (size_t)stage * l->size;
        const double *recent = stage ? K - l->size : l->rate + (KB_PDE1D_STAGES - 1) * l->size;
        if (!l->settings.periodic) kb_pde1d_boundary(l, time, l->boundary_basis);
        memcpy(l->known, l->state, l->size * sizeof *l->known);
        for (int j = 0; j < stage; j++)
            kb_axpy(l->size, h * tableau(stage, j), l->rate + (size_t)j * l->size, l->known);
        memcpy(l->stage, l->known, l->size * sizeof *l->stage);
        if (!first || stage) kb_axpy(l->size, h * g, recent, l->stage);
        if (!newton(l, time, h * g, l->known, l->stage)) return false;
        for (size_t i = 0; i < l->size; i++) K[i] = (l->stage[i] - l->known[i]) / (h * g);
        if (with_tangents && !tangent_stage(l, time, h, stage)) return false;
    }
    memcpy(l->state, l->stage, l->size * sizeof *l->state);
    if (with_tangents) { /* stiffly accurate: the last stage is the new state */
        double *stage = l->tangent_stage;
        l->tangent_stage = l->tangent;
        l->tangent = stage;
    }
    return true;
}
