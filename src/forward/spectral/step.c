/* Steps of the Fourier model: an integrating factor for what is linear and even, Runge-Kutta for the rest
 * (docs/math.md, eqs 60 and 61). */
#include <math.h>
#include <string.h>

#include "forward/spectral/fourier_model.h"
#include "forward/spectral/mirrored.h"

static const double most_growth = 10; /* of the shortest waves, e-folds per record */

/* ---------------------------------------------------------------- the model's linear part */

/* Is the term one even derivative of this field, and nothing else? */
static bool is_even_derivative(const kb_fourier_model *p, size_t term, size_t field, const kb_variable **out)
{
    size_t n = 0;
    const kb_power *factors = NULL;
    if (!kb_expression_powers(p->dictionary->terms[term], &n, &factors) || n != 1 || factors[0].power != 1)
        return false;
    const kb_variable *variable = *out = &p->dictionary->variables[factors[0].variable];
    bool is_even = variable->axis < 0 && variable->field == field && kb_variable_order(variable) > 0;
    for (size_t a = 0; a < p->n_axes; a++) is_even = is_even && variable->order[a + 1] % 2 == 0;
    return is_even;
}

/* Frequency along an axis of a coefficient: 1, cos, sin, cos, sin ... */
static size_t frequency(const kb_fourier_model *p, size_t coefficient, size_t axis)
{
    for (size_t a = 0; a < axis; a++) coefficient /= p->m[a];
    return (coefficient % p->m[axis] + 1) / 2;
}

/* D^o cos(kx) = (-k^2)^(o/2) cos(kx) */
static void add_decay(kb_fourier_model *p, size_t field, const kb_variable *variable, double coefficient)
{
    for (size_t i = 0; i < p->n_coefficients; i++) {
        double symbol = coefficient * p->samples->sd[field];
        for (size_t a = 0; a < p->n_axes; a++) {
            double k = p->wave[a] * (double)frequency(p, i, a);
            symbol *= variable->order[a + 1] ? pow(-k * k, variable->order[a + 1] / 2) : 1;
        }
        p->decay[field * p->n_coefficients + i] += symbol;
    }
}

static bool grows_at_the_end(const kb_fourier_model *p)
{
    for (size_t i = 0; i < p->size; i++) {
        bool is_outermost = false;
        for (size_t a = 0; a < p->n_axes; a++)
            is_outermost = is_outermost || frequency(p, i % p->n_coefficients, a) == p->settings.n_waves[a];
        if (is_outermost && !(p->decay[i] <= most_growth)) return true;
    }
    return false;
}

static void list_used(kb_fourier_model *p)
{
    const kb_dictionary *d = p->dictionary;
    p->n_used = 0;
    for (size_t v = 0; v < d->n_variables; v++) {
        bool is_used = false;
        for (size_t q = 0; q < p->rhs.n_terms && !is_used; q++) is_used = kb_dictionary_depends(d, p->rhs.terms[q], v);
        if (is_used) p->used[p->n_used++] = v;
    }
    memset(p->has_gain, 0, p->n_fields * d->n_variables * sizeof *p->has_gain);
    for (size_t e = 0; e < p->rhs.n_entries; e++)
        for (size_t u = 0; u < p->n_used && !p->is_linear[e]; u++)
            if (d->variables[p->used[u]].axis < 0 &&
                kb_dictionary_depends(d, p->rhs.terms[p->rhs.entry_slot[e]], p->used[u]))
                p->has_gain[p->rhs.entry_equation[e] * d->n_variables + p->used[u]] = true;
}

void kb_fourier_model_set_terms(kb_fourier_model *p)
{
    const kb_variable *variable = NULL;
    memset(p->decay, 0, p->size * sizeof *p->decay);
    for (size_t e = 0; e < p->rhs.n_entries; e++) {
        size_t field = p->rhs.entry_equation[e];
        p->is_linear[e] = is_even_derivative(p, p->rhs.terms[p->rhs.entry_slot[e]], field, &variable);
        if (p->is_linear[e]) add_decay(p, field, variable, p->rhs.entry_coefficient[e]);
    }
    p->is_ill_posed = grows_at_the_end(p);
    p->step = 0;
    list_used(p);
}

static void set_step(kb_fourier_model *p, double h)
{
    if (p->step == h) return;
    p->step = h;
    for (size_t i = 0; i < p->size; i++) {
        p->half_factor[i] = exp(0.5 * h * p->decay[i]);
        p->factor[i] = p->half_factor[i] * p->half_factor[i];
    }
}

/* ---------------------------------------------------------------- between coefficients and nodes */

/* Axis after axis; lanes are fastest. work: two tensors of lanes x nodes, and what mirroring needs */
static void to_nodes(const kb_fourier_model *p, size_t lanes, const kb_variable *variable, const double *coefficients,
                     double *values, double *work)
{
    size_t left = lanes, right = p->n_coefficients, half = lanes * p->n_nodes;
    const double *from = coefficients;
    for (size_t a = 0; a < p->n_axes; a++) {
        int order = variable->order[a + 1];
        kb_mirrored M = {p->settings.n_waves[a], p->n[a], order, p->basis[a][order]};
        double *next = a + 1 == p->n_axes ? values : work + (a % 2) * half;
        right /= p->m[a];
        kb_mirrored_to_nodes(&M, left, right, from, next, work + 2 * half);
        left *= p->n[a];
        from = next;
    }
}

static void to_coefficients(const kb_fourier_model *p, size_t lanes, const double *values, double *coefficients,
                            double *work)
{
    size_t left = lanes, right = p->n_nodes, half = lanes * p->n_nodes;
    const double *from = values;
    for (size_t a = 0; a < p->n_axes; a++) {
        kb_mirrored M = {p->settings.n_waves[a], p->n[a], 0, p->basis[a][0]};
        double *next = a + 1 == p->n_axes ? coefficients : work + (a % 2) * half;
        right /= p->n[a];
        kb_mirrored_to_waves(&M, left, right, from, next, work + 2 * half);
        left *= p->m[a];
        from = next;
    }
}

/* ---------------------------------------------------------------- rates */

/* The variables in use at the nodes, in the data's units; false when a field escapes. */
static bool look(kb_fourier_model *p, const double *q, double s)
{
    const kb_field_samples *c = p->samples;
    for (size_t u = 0; u < p->n_used; u++) {
        const kb_variable *variable = &p->dictionary->variables[p->used[u]];
        double *x = p->points + p->used[u] * p->n_nodes;
        if (variable->axis > 0) continue; /* places do not move */
        if (variable->axis == 0) {
            for (size_t i = 0; i < p->n_nodes; i++) x[i] = c->first[0] + c->span[0] * s;
            continue;
        }
        size_t f = variable->field;
        bool is_field = kb_variable_order(variable) == 0;
        to_nodes(p, 1, variable, q + f * p->n_coefficients, x, p->tangent_work);
        for (size_t i = 0; i < p->n_nodes; i++) {
            if (is_field && !(fabs(x[i]) <= p->bound[f])) return false;
            x[i] = (is_field ? c->mean[f] : 0) + c->sd[f] * x[i];
        }
    }
    return true;
}

/* d rate_f / d (D q_g) at the nodes, for the variables in use */
static void find_gains(kb_fourier_model *p, double *gain)
{
    const kb_dictionary *d = p->dictionary;
    size_t N = p->n_nodes;
    for (size_t u = 0; u < p->n_used; u++)
        for (size_t f = 0; f < p->n_fields; f++) {
            size_t v = p->used[u];
            double *g = gain + (f * p->n_used + u) * N, sd = p->samples->sd[d->variables[v].field];
            if (!p->has_gain[f * d->n_variables + v]) continue;
            memset(g, 0, N * sizeof *g);
            for (size_t e = 0; e < p->rhs.n_entries; e++) {
                size_t term = p->rhs.terms[p->rhs.entry_slot[e]];
                if (p->is_linear[e] || p->rhs.entry_equation[e] != f || !kb_dictionary_depends(d, term, v)) continue;
                kb_dictionary_slopes(d, term, v, N, p->points, N, p->slope, p->work);
                double coefficient = p->rhs.entry_coefficient[e] * sd;
                for (size_t i = 0; i < N; i++) g[i] += coefficient * p->slope[i];
            }
        }
}

/* Rates of all but the linear part at the coefficients q, at a stage of a step; gains and forces are kept for tangents.
 */
static bool find_rates(kb_fourier_model *p, const double *q, double s, int stage, bool with_tangents, double *rate)
{
    size_t N = p->n_nodes, n_terms = p->rhs.n_terms;
    double *values = with_tangents ? p->force + (size_t)stage * p->dictionary->n_terms * N : p->values;
    if (!look(p, q, s)) return false;
    kb_dictionary_values(p->dictionary, n_terms, p->rhs.terms, N, p->points, N, values, p->work);
    for (size_t f = 0; f < p->n_fields; f++) {
        memset(p->slope, 0, N * sizeof *p->slope);
        for (size_t e = 0; e < p->rhs.n_entries; e++) {
            const double *value = values + p->rhs.entry_slot[e] * N;
            if (p->is_linear[e] || p->rhs.entry_equation[e] != f) continue;
            for (size_t i = 0; i < N; i++) p->slope[i] += p->rhs.entry_coefficient[e] * value[i];
        }
        to_coefficients(p, 1, p->slope, rate + f * p->n_coefficients, p->tangent_work);
    }
    if (with_tangents) find_gains(p, p->gain + (size_t)stage * p->n_fields * p->dictionary->n_variables * N);
    return true;
}

/* nodes[lane, i] += gain[i] X[lane, i] */
static void add_scaled(size_t N, const double *gain, const double *X, double *nodes)
{
    for (size_t i = 0; i < N; i++)
        for (size_t lane = 0; lane < KB_FOURIER_LANES; lane++)
            nodes[i * KB_FOURIER_LANES + lane] += gain[i] * X[i * KB_FOURIER_LANES + lane];
}

/* What the weights do by themselves: scale P_j[u] in their equation. */
static void add_forces(const kb_fourier_model *p, size_t chunk, const double *force, double *nodes)
{
    size_t N = p->n_nodes, first = chunk * KB_FOURIER_LANES;
    for (size_t q = first; q < p->rhs.n_tangents && q < first + KB_FOURIER_LANES; q++) {
        const double *value = force + p->rhs.tangent_slot[q] * N;
        double *rate = nodes + p->rhs.tangent_equation[q] * N * KB_FOURIER_LANES + q - first;
        for (size_t i = 0; i < N; i++) rate[i * KB_FOURIER_LANES] += p->rhs.tangent_scale[q] * value[i];
    }
}

/* Rates of a chunk of tangents at a stage. */
static void find_tangent_rates(kb_fourier_model *p, size_t chunk, int stage, const double *T, double *rate)
{
    const kb_dictionary *d = p->dictionary;
    size_t N = p->n_nodes, L = KB_FOURIER_LANES, m = p->n_coefficients;
    const double *gain = p->gain + (size_t)stage * p->n_fields * d->n_variables * N;
    memset(p->tangent_rates, 0, p->n_fields * N * L * sizeof *p->tangent_rates);
    for (size_t u = 0; u < p->n_used; u++) {
        const kb_variable *variable = &d->variables[p->used[u]];
        bool is_needed = false;
        for (size_t f = 0; f < p->n_fields; f++) is_needed = is_needed || p->has_gain[f * d->n_variables + p->used[u]];
        if (!is_needed) continue;
        to_nodes(p, L, variable, T + variable->field * m * L, p->tangent_nodes, p->tangent_work);
        for (size_t f = 0; f < p->n_fields; f++)
            if (p->has_gain[f * d->n_variables + p->used[u]])
                add_scaled(N, gain + (f * p->n_used + u) * N, p->tangent_nodes, p->tangent_rates + f * N * L);
    }
    add_forces(p, chunk, p->force + (size_t)stage * d->n_terms * N, p->tangent_rates);
    for (size_t f = 0; f < p->n_fields; f++)
        to_coefficients(p, L, p->tangent_rates + f * N * L, rate + f * m * L, p->tangent_work);
}

/* ---------------------------------------------------------------- one step */

/* With E = exp(decay h) and e = exp(decay h/2), from x and the stage's rate k:
       next stage   e x + e h/2 k,   e x + h/2 k,    E x + e h k
       sum          E x + E h/6 k,   + e h/3 k,      + e h/3 k,     and x becomes it + h/6 k */
static void combine(const kb_fourier_model *p, size_t lanes, int stage, double h, double *x, const double *k,
                    double *next, double *sum)
{
    for (size_t i = 0; i < p->size; i++) {
        double E = p->factor[i], e = p->half_factor[i];
        double of_x = stage == 2 ? E : e, of_k = stage == 0 ? e * h / 2 : stage == 1 ? h / 2 : e * h;
        double to_sum = stage == 0 ? E * h / 6 : stage == 3 ? h / 6 : e * h / 3;
        for (size_t l = i * lanes; l < (i + 1) * lanes; l++) {
            sum[l] = (stage ? sum[l] : E * x[l]) + to_sum * k[l];
            if (stage < 3) next[l] = of_x * x[l] + of_k * k[l];
            else x[l] = sum[l];
        }
    }
}

bool kb_fourier_model_step(kb_fourier_model *p, double s, double h, bool with_tangents)
{
    static const double at[KB_FOURIER_STAGES] = {0, 0.5, 0.5, 1};
    set_step(p, h);
    for (int stage = 0; stage < KB_FOURIER_STAGES; stage++) {
        const double *q = stage ? p->stage : p->state;
        if (!find_rates(p, q, s + at[stage] * h, stage, with_tangents, p->rate)) return false;
        combine(p, 1, stage, h, p->state, p->rate, p->stage, p->sum);
    }
    for (size_t chunk = 0; with_tangents && chunk < p->n_chunks; chunk++) {
        double *T = p->tangent + chunk * KB_FOURIER_LANES * p->size;
        for (int stage = 0; stage < KB_FOURIER_STAGES; stage++) {
            find_tangent_rates(p, chunk, stage, stage ? p->tangent_stage : T, p->tangent_rate);
            combine(p, KB_FOURIER_LANES, stage, h, T, p->tangent_rate, p->tangent_stage, p->tangent_sum);
        }
    }
    return true;
}
