/* The semi-discrete equation of a line and its step. */
#include <math.h>
#include <string.h>

#include "base/linalg.h"
#include "forward/line.h"

enum { HALO = KB_STENCIL / 2, NEWTON_STEPS = 8 };
static const double most_growth = 20; /* over the record, of the grid's shortest wave: above it the equation is ill-posed */

/* SDIRK3 (Alexander): gamma is the root of x^3 - 3x^2 + 3x/2 - 1/6 near 0.436 */
static const double g = 0.43586652150845967;
static double tableau(int i, int j)
{
    if (i == 1) return (1 - g) / 2;
    return j == 0 ? -(6 * g * g - 16 * g + 1) / 4 : (6 * g * g - 20 * g + 5) / 4;
}
static double abscissa(int i) { return i == 0 ? g : i == 1 ? (1 + g) / 2 : 1; }

/* ---------------------------------------------------------------- fields and derivatives at the nodes */

/* Scaled boundary value of a field on a side (0 left, 1 right). */
static double boundary_value(const kb_line *l, size_t field, size_t side)
{
    const double *z = l->start + l->n_fields * l->n_modes + (2 * field + side) * l->n_boundary;
    return kb_dot(l->n_boundary, l->boundary_basis, z);
}

/* Fields with HALO nodes beyond each end, in the data's units: periodic copies or the boundary's value. */
static void extend(kb_line *l, const double *q)
{
    size_t n = l->n, F = l->n_fields, stride = n + 2 * HALO;
    for (size_t f = 0; f < F; f++) {
        double *e = l->extended + f * stride, mean = l->cloud->mean[f], sd = l->cloud->sd[f];
        for (size_t i = 0; i < n; i++) e[i + HALO] = mean + sd * q[i * F + f];
        for (size_t i = 0; i < HALO; i++) {
            e[i] = l->settings.periodic ? e[n + i] : mean + sd * boundary_value(l, f, 0);
            e[n + HALO + i] = l->settings.periodic ? e[HALO + i] : mean + sd * boundary_value(l, f, 1);
        }
    }
}

static void apply_stencil(size_t n, const double *stencil, const double *extended, double *out)
{
    for (size_t i = 0; i < n; i++) {
        double sum = 0;
        for (size_t m = 0; m < KB_STENCIL; m++) sum += stencil[m] * extended[i + m];
        out[i] = sum;
    }
}

static void evaluate_variables(kb_line *l, const double *q, double s)
{
    size_t n = l->n, stride = n + 2 * HALO;
    extend(l, q);
    for (size_t v = 0; v < l->dictionary->n_variables; v++) {
        const kb_variable *variable = &l->dictionary->variables[v];
        double *out = l->points + v * n;
        if (variable->axis < 0) apply_stencil(n, l->stencil[variable->order[1]], l->extended + variable->field * stride, out);
        else if (variable->axis == 0)
            for (size_t i = 0; i < n; i++) out[i] = l->cloud->first[0] + l->span * s;
    }
}

/* u^{p+1}/(p+1) on the extended nodes */
static void fill_flux(kb_line *l, size_t slot)
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
static void evaluate_terms(kb_line *l, size_t n_terms)
{
    kb_dictionary_values(l->dictionary, n_terms, l->rhs.terms, l->n, l->points, l->n, l->values, l->work);
    for (size_t slot = 0; slot < n_terms; slot++) {
        if (l->flux_power[slot] < 0) continue;
        fill_flux(l, slot);
        apply_stencil(l->n, l->stencil[1], l->flux, l->values + slot * l->n);
    }
}

static size_t terms_of_model(const kb_line *l)
{
    size_t n = 0;
    for (size_t e = 0; e < l->rhs.n_entries; e++)
        if (l->rhs.entry_slot[e] + 1 > n) n = l->rhs.entry_slot[e] + 1;
    return n;
}

/* dq/ds at the nodes; terms must be evaluated */
static void rate(const kb_line *l, double *out)
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
static double *gain_of(const kb_line *l, size_t variable, size_t equation)
{
    return l->gain + (equation * l->dictionary->n_variables + variable) * l->n;
}

static void evaluate_gains(kb_line *l)
{
    size_t n = l->n;
    memset(l->gain, 0, n * l->n_fields * l->dictionary->n_variables * sizeof *l->gain);
    for (size_t e = 0; e < l->rhs.n_entries; e++) {
        size_t slot = l->rhs.entry_slot[e];
        if (l->flux_power[slot] >= 0) continue;
        for (size_t v = 0; v < l->dictionary->n_variables; v++) {
            if (l->dictionary->variables[v].axis >= 0 || !kb_dictionary_depends(l->dictionary, l->rhs.terms[slot], v)) continue;
            kb_dictionary_slopes(l->dictionary, l->rhs.terms[slot], v, n, l->points, n, l->slope, l->work);
            kb_axpy(n, l->rhs.entry_coefficient[e], l->slope, gain_of(l, v, l->rhs.entry_equation[e]));
        }
    }
}

/* Growth rate of the shortest wave k = pi/dx of each field by its own even derivatives: -c2 k^2 + c4 k^4 - c6 k^6. */
static bool is_ill_posed(const kb_line *l)
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
            if (!(growth * l->cloud->sd[f] <= most_growth)) return true;
        }
    return false;
}

/* Adds d rate(node i, equation) / d u(node i + m, field) = value to the matrix, or to the boundary's gain. */
static void scatter(kb_line *l, double factor, size_t i, size_t equation, long m, size_t field, double value)
{
    size_t n = l->n, F = l->n_fields, width = 2 * l->band + 1, row = l->position[i] * F + equation;
    long j = (long)i + m;
    double scaled = value * l->cloud->sd[field];
    if (j < 0 || j >= (long)n) {
        if (!l->settings.periodic) {
            l->boundary_gain[((2 * field + (j < 0 ? 0 : 1)) * n + i) * F + equation] += scaled;
            return;
        }
        j += j < 0 ? (long)n : -(long)n;
    }
    size_t column = l->position[j] * F + field;
    l->matrix[row * width + column + l->band - row] -= factor * scaled;
}

static void scatter_gains(kb_line *l, double factor, size_t equation)
{
    for (size_t v = 0; v < l->dictionary->n_variables; v++) {
        const kb_variable *variable = &l->dictionary->variables[v];
        if (variable->axis >= 0) continue;
        const double *gain = gain_of(l, v, equation), *stencil = l->stencil[variable->order[1]];
        for (size_t i = 0; i < l->n; i++) {
            if (gain[i] == 0) continue;
            for (size_t m = 0; m < KB_STENCIL; m++)
                if (stencil[m] != 0) scatter(l, factor, i, equation, (long)m - HALO, variable->field, gain[i] * stencil[m]);
        }
    }
}

static void scatter_fluxes(kb_line *l, double factor)
{
    size_t stride = l->n + 2 * HALO;
    for (size_t e = 0; e < l->rhs.n_entries; e++) {
        size_t slot = l->rhs.entry_slot[e], field = l->flux_field[slot];
        if (l->flux_power[slot] < 0) continue;
        const double *u = l->extended + field * stride;
        for (size_t i = 0; i < stride; i++) {
            l->flux[i] = l->rhs.entry_coefficient[e];
            for (int k = 0; k < l->flux_power[slot]; k++) l->flux[i] *= u[i];
        }
        for (size_t i = 0; i < l->n; i++)
            for (size_t m = 0; m < KB_STENCIL; m++)
                if (m != HALO)
                    scatter(l, factor, i, l->rhs.entry_equation[e], (long)m - HALO, field, l->stencil[1][m] * l->flux[i + m]);
    }
}

/* Banded LU without pivoting: I - h g J is dominated by its diagonal at the steps that Newton accepts. */
static bool factorise(const kb_line *l)
{
    size_t N = l->size, b = l->band, width = 2 * b + 1;
    for (size_t k = 0; k < N; k++) {
        double *pivot = l->matrix + k * width + b;
        if (!(fabs(pivot[0]) > 1e-12)) return false;
        pivot[0] = 1 / pivot[0];
        size_t rows = b < N - 1 - k ? b : N - 1 - k;
        for (size_t m = 1; m <= rows; m++) {
            double *row = l->matrix + (k + m) * width + b - m, factor = row[0] * pivot[0];
            row[0] = factor;
            if (factor != 0)
                for (size_t j = 1; j <= b; j++) row[j] -= factor * pivot[j];
        }
    }
    return true;
}

/* I - factor J at the fields last evaluated, factorised. */
static bool newton_matrix(kb_line *l, double factor, bool check)
{
    size_t width = 2 * l->band + 1;
    memset(l->matrix, 0, l->size * width * sizeof *l->matrix);
    memset(l->boundary_gain, 0, 2 * l->n_fields * l->size * sizeof *l->boundary_gain);
    evaluate_gains(l);
    if (check && is_ill_posed(l)) return false;
    for (size_t f = 0; f < l->n_fields; f++) scatter_gains(l, factor, f);
    scatter_fluxes(l, factor);
    for (size_t i = 0; i < l->size; i++) l->matrix[i * width + l->band] += 1;
    return factorise(l);
}

/* x (unknown x P, the last fastest, nodes in natural order) <- matrix^{-1} x */
static void solve(const kb_line *l, size_t P, double *x)
{
    size_t N = l->size, F = l->n_fields, b = l->band, width = 2 * b + 1;
    for (size_t k = 0; k < N; k++) {
        const double *row = l->matrix + k * width + b;
        double *to = x + (l->at[k / F] * F + k % F) * P;
        for (size_t m = b < k ? b : k; m >= 1; m--) {
            double factor = row[-(long)m];
            const double *from = x + (l->at[(k - m) / F] * F + (k - m) % F) * P;
            if (factor != 0)
                for (size_t p = 0; p < P; p++) to[p] -= factor * from[p];
        }
    }
    for (size_t k = N; k-- > 0;) {
        const double *row = l->matrix + k * width + b;
        double *to = x + (l->at[k / F] * F + k % F) * P;
        for (size_t m = 1; m <= b && k + m < N; m++) {
            const double *from = x + (l->at[(k + m) / F] * F + (k + m) % F) * P;
            if (row[m] != 0)
                for (size_t p = 0; p < P; p++) to[p] -= row[m] * from[p];
        }
        for (size_t p = 0; p < P; p++) to[p] *= row[0];
    }
}

/* ---------------------------------------------------------------- stages */

static bool newton(kb_line *l, double s, double factor, const double *known, double *q, bool check)
{
    size_t n_terms = terms_of_model(l);
    double last = INFINITY;
    for (int iteration = 0; iteration < NEWTON_STEPS; iteration++) {
        double largest = 0;
        evaluate_variables(l, q, s);
        evaluate_terms(l, n_terms);
        rate(l, l->residual);
        if (!newton_matrix(l, factor, check && iteration == 0)) return false;
        for (size_t i = 0; i < l->size; i++) l->residual[i] = known[i] + factor * l->residual[i] - q[i];
        solve(l, 1, l->residual);
        for (size_t i = 0; i < l->size; i++) {
            double step = fabs(l->residual[i]);
            q[i] += l->residual[i];
            if (!(fabs(q[i]) <= l->bound[i % l->n_fields])) return false;
            if (!(step <= largest)) largest = step;
        }
        if (largest < 1e-5) return true; /* quadratic: the next step would be about its square */
        if (iteration > 3 && !(largest < 0.5 * last)) return false;
        last = largest;
    }
    return false;
}

/* d/d(boundary unknowns) of the stage: h g times the boundary's gain times the basis */
static void add_boundary_forcing(kb_line *l, double factor, double *out)
{
    size_t P = l->n_parameters, first = l->rhs.n_tangents + l->n_fields * l->n_modes;
    for (size_t side = 0; side < 2 * l->n_fields; side++)
        for (size_t i = 0; i < l->size; i++) {
            double gain = l->boundary_gain[side * l->size + i];
            if (gain != 0) kb_axpy(l->n_boundary, factor * gain, l->boundary_basis, out + i * P + first + side * l->n_boundary);
        }
}

static bool tangent_stage(kb_line *l, double s, double h, int stage)
{
    size_t P = l->n_parameters, size = l->size * P, n = l->n, F = l->n_fields;
    double *known = l->tangent_known, *X = l->tangent_stage, *K = l->tangent_rate + (size_t)stage * size;
    memcpy(known, l->tangent, size * sizeof *known);
    for (int j = 0; j < stage; j++) kb_axpy(size, h * tableau(stage, j), l->tangent_rate + (size_t)j * size, known);
    evaluate_variables(l, l->stage, s);
    evaluate_terms(l, l->rhs.n_terms);
    if (!newton_matrix(l, h * g, false)) return false;
    memcpy(X, known, size * sizeof *X);
    for (size_t p = 0; p < l->rhs.n_tangents; p++) {
        const double *value = l->values + l->rhs.tangent_slot[p] * n;
        double factor = h * g * l->rhs.tangent_scale[p];
        for (size_t i = 0; i < n; i++) X[(i * F + l->rhs.tangent_equation[p]) * P + p] += factor * value[i];
    }
    if (!l->settings.periodic) add_boundary_forcing(l, h * g, X);
    solve(l, P, X);
    for (size_t i = 0; i < size; i++) K[i] = (X[i] - known[i]) / (h * g);
    return true;
}

bool kb_line_step(kb_line *l, double s, double h, bool first, bool with_tangents)
{
    for (int stage = 0; stage < KB_LINE_STAGES; stage++) {
        double time = s + abscissa(stage) * h, *K = l->rate + (size_t)stage * l->size;
        const double *recent = stage ? K - l->size : l->rate + (KB_LINE_STAGES - 1) * l->size;
        if (!l->settings.periodic) kb_line_boundary(l, time, l->boundary_basis);
        memcpy(l->known, l->state, l->size * sizeof *l->known);
        for (int j = 0; j < stage; j++) kb_axpy(l->size, h * tableau(stage, j), l->rate + (size_t)j * l->size, l->known);
        memcpy(l->stage, l->known, l->size * sizeof *l->stage);
        if (!first || stage) kb_axpy(l->size, h * g, recent, l->stage);
        if (!newton(l, time, h * g, l->known, l->stage, stage == 0)) return false;
        for (size_t i = 0; i < l->size; i++) K[i] = (l->stage[i] - l->known[i]) / (h * g);
        if (with_tangents && !tangent_stage(l, time, h, stage)) return false;
    }
    memcpy(l->state, l->stage, l->size * sizeof *l->state);
    if (with_tangents) memcpy(l->tangent, l->tangent_stage, l->size * l->n_parameters * sizeof *l->tangent);
    return true;
}
