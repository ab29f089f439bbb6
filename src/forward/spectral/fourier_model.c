#include "forward/spectral/fourier_model.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/linalg.h"
#include "base/memory.h"
#include "base/status.h"

/* A Gaussian kernel as long as this one would give the modes that are left out less than 1e-8. */
static const double spectrum_cut = 3e-4; /* of the first mode's variance: less, and a mode stays 0 */
enum { LEAST_GUESSED = 12 };             /* values: from which a row's modes are guessed, next rows' too if need be */

/* ---------------------------------------------------------------- dynamics */

static void set_model(kb_dynamics *self, const kb_support *support, const double *w, const kb_support *tangents)
{
    kb_fourier_model *p = (kb_fourier_model *)self;
    kb_rhs_set(&p->rhs, support, w, tangents);
    p->n_parameters = p->rhs.n_tangents + self->n_start;
    p->n_chunks = (p->n_parameters + KB_FOURIER_LANES - 1) / KB_FOURIER_LANES;
    kb_fourier_model_set_terms(p);
}

static void set_start(kb_fourier_model *p, const double *start, bool with_tangents)
{
    size_t M = p->n_modes, L = KB_FOURIER_LANES;
    memset(p->state, 0, p->size * sizeof *p->state);
    for (size_t i = 0; i < p->n_fields * M; i++)
        p->state[i / M * p->n_coefficients + p->mode[i % M]] = p->mode_scale[i % M] * start[i];
    if (!with_tangents) return;
    memset(p->tangent, 0, p->n_chunks * L * p->size * sizeof *p->tangent);
    for (size_t i = 0; i < p->n_fields * M; i++) {
        size_t parameter = p->rhs.n_tangents + i, at = i / M * p->n_coefficients + p->mode[i % M];
        p->tangent[(parameter / L * p->size + at) * L + parameter % L] = p->mode_scale[i % M];
    }
}

/* Products of the waves at a row's points: coefficients x points */
static void fill_features(const kb_fourier_model *p, size_t first, size_t n)
{
    for (size_t j = 0; j < n; j++) {
        double *column = p->features + j * p->n_coefficients;
        size_t filled = 1;
        column[0] = 1;
        for (size_t a = 0; a < p->n_axes; a++) {
            const double *waves = p->where[a] + (first + j) * p->m[a];
            for (size_t k = p->m[a]; k-- > 0;)
                for (size_t i = 0; i < filled; i++) column[k * filled + i] = waves[k] * column[i];
            filled *= p->m[a];
        }
    }
}

const double *kb_fourier_model_see(const kb_fourier_model *p, size_t lanes, const double *coefficients, double *work)
{
    size_t left = lanes, right = p->n_coefficients;
    const double *from = coefficients;
    for (size_t a = 0; a < p->n_axes; a++) {
        size_t n = p->samples->n_grid[a + 1];
        double *to = work + (a % 2) * lanes * p->sight_size;
        right /= p->m[a];
        kb_mode_product(&(kb_mode){n, p->m[a], n, p->sight[a]}, left, right, from, to);
        left *= n;
        from = to;
    }
    return from;
}

size_t kb_fourier_model_place(const kb_fourier_model *p, size_t j)
{
    size_t at = 0, stride = p->n_points_of_row;
    if (!stride) return j;
    for (size_t a = p->n_axes; a-- > 0; j /= p->samples->n_grid[a + 1]) {
        stride /= p->samples->n_grid[a + 1];
        at += j % p->samples->n_grid[a + 1] * stride;
    }
    return at;
}

/* seen (lanes x points) = coefficients of a field (lanes x coefficients) at the row's points, to the observations of
   that field, which lie `stride` apart */
static void observe_field(const kb_fourier_model *p, size_t row, size_t field, size_t lanes, size_t wanted,
                          const double *coefficients, size_t stride, double *out)
{
    const kb_dynamics *d = &p->dynamics;
    size_t first = p->row_point[row], n = p->row_point[row + 1] - first, m = p->n_coefficients,
           o = d->observation_start[row];
    const double *seen = p->seen;
    if (p->n_points_of_row) seen = kb_fourier_model_see(p, lanes, coefficients + field * m * lanes, p->sight_work);
    else
        kb_gemm(KB_PLAIN, KB_PLAIN, lanes, n, m, 1, coefficients + field * m * lanes, lanes, p->features, m, 0, p->seen,
                lanes);
    for (size_t j = 0; j < n; j++)
        for (size_t f = 0; f < p->n_fields; f++) {
            if (p->samples->measured[first + j + f * p->samples->n_points] == 0 || !p->dictionary->has_equation[f])
                continue;
            if (f == field)
                memcpy(out + (o - d->observation_start[row]) * stride, seen + kb_fourier_model_place(p, j) * lanes,
                       wanted * sizeof *out);
            o++;
        }
}

/* Observations of a row from the present state. */
static void observe(const kb_fourier_model *p, size_t row, double *predicted, double *tangents)
{
    size_t L = KB_FOURIER_LANES, P = p->n_parameters, first = p->row_point[row];
    if (!p->n_points_of_row) fill_features(p, first, p->row_point[row + 1] - first);
    for (size_t f = 0; f < p->n_fields; f++) {
        observe_field(p, row, f, 1, 1, p->state, 1, predicted);
        for (size_t chunk = 0; tangents && chunk < p->n_chunks; chunk++)
            observe_field(p, row, f, L, chunk + 1 < p->n_chunks ? L : P - chunk * L, p->tangent + chunk * L * p->size,
                          P, tangents + chunk * L);
    }
}

static bool advance(kb_fourier_model *p, size_t row, bool with_tangents)
{
    double from = p->row_time[row - 1], h = (p->row_time[row] - from) / (double)p->row_steps[row];
    for (size_t step = 0; step < p->row_steps[row]; step++)
        if (!kb_fourier_model_step(p, from + (double)step * h, h, with_tangents)) return false;
    return true;
}

bool kb_fourier_model_reach(kb_fourier_model *p, size_t first, size_t row, const double *start, double *predicted,
                            double *tangents)
{
    if (p->is_ill_posed) return false;
    if (row == first) set_start(p, start, tangents != NULL);
    else if (!advance(p, row, tangents != NULL)) return false;
    observe(p, row, predicted, tangents);
    return true;
}

bool kb_fourier_model_reach_turned(kb_fourier_model *p, size_t first, size_t row, const double *start,
                                   double *predicted)
{
    if (p->is_ill_posed) return false;
    if (row == first) set_start(p, start, true);
    else if (!advance(p, row, true)) return false;
    observe(p, row, predicted, NULL);
    return true;
}

static bool predict(kb_dynamics *self, size_t first, size_t last, const double *start, double *predicted,
                    double *tangents)
{
    kb_fourier_model *p = (kb_fourier_model *)self;
    for (size_t row = first; row <= last; row++) {
        size_t done = self->observation_start[row] - self->observation_start[first];
        double *own = tangents ? tangents + done * p->n_parameters : NULL;
        if (!kb_fourier_model_reach(p, first, row, start, predicted + done, own)) return false;
    }
    return true;
}

static bool carry(kb_dynamics *self, size_t first, size_t row, const double *start, double *carried)
{
    kb_fourier_model *p = (kb_fourier_model *)self;
    size_t M = p->n_modes;
    if (p->is_ill_posed) return false;
    set_start(p, start, false);
    for (size_t r = first + 1; r <= row; r++)
        if (!advance(p, r, false)) return false;
    for (size_t i = 0; i < p->n_fields * M; i++)
        carried[i] = p->state[i / M * p->n_coefficients + p->mode[i % M]] / p->mode_scale[i % M];
    return true;
}

/* Arrays of doubles with their sizes. */
enum { PLANE_ARRAYS = 23 }; /* room */
static void list_arrays(kb_fourier_model *p, size_t max_tangents, double **arrays[PLANE_ARRAYS],
                        size_t sizes[PLANE_ARRAYS])
{
    const kb_dictionary *d = p->dictionary;
    size_t N = p->n_nodes, F = p->n_fields, S = p->size, L = KB_FOURIER_LANES, V = d->n_variables, T = d->n_terms;
    bool has_tangents = max_tangents != KB_NO_TANGENTS;
    size_t folded = 0; /* work of mirroring along any axis */
    size_t lanes = has_tangents ? L : 1, stages = has_tangents ? KB_FOURIER_STAGES : 0, most_points = 1;
    size_t chunks = has_tangents ? (max_tangents + p->dynamics.n_start + L - 1) / L : 0;
    for (size_t row = 0; row < p->dynamics.n_rows; row++) {
        size_t n = p->row_point[row + 1] - p->row_point[row];
        if (n > most_points) most_points = n;
    }
    for (size_t a = 0; a < p->n_axes; a++) {
        size_t needed = lanes * N / p->n[a] * (p->n[a] + 2);
        if (needed > folded) folded = needed;
    }
    struct {
        double **array;
        size_t size;
    } list[PLANE_ARRAYS] = {{&p->decay, S},
                            {&p->factor, S},
                            {&p->half_factor, S},
                            {&p->points, N * V},
                            {&p->values, N * T},
                            {&p->slope, N},
                            {&p->work, kb_dictionary_work(d, N)},
                            {&p->gain, stages * F * V * N},
                            {&p->force, stages * T * N},
                            {&p->state, S},
                            {&p->stage, S},
                            {&p->rate, S},
                            {&p->sum, S},
                            {&p->tangent, chunks * L * S},
                            {&p->tangent_stage, lanes * S},
                            {&p->tangent_rate, lanes * S},
                            {&p->tangent_sum, lanes * S},
                            {&p->tangent_nodes, lanes * N},
                            {&p->tangent_rates, lanes * F * N},
                            {&p->tangent_work, 2 * lanes * N + folded},
                            {&p->features, p->n_points_of_row ? 0 : most_points * p->n_coefficients},
                            {&p->sight_work, 2 * lanes * p->sight_size},
                            {&p->seen, lanes * most_points}};
    for (int i = 0; i < PLANE_ARRAYS; i++) arrays[i] = list[i].array, sizes[i] = list[i].size;
}

static void destroy(kb_dynamics *self)
{
    kb_fourier_model *p = (kb_fourier_model *)self;
    if (!p) return;
    void *others[] = {self->relative,
                      self->start_variance,
                      self->observation_start,
                      self->observed,
                      self->group,
                      p->row_time,
                      p->row_steps,
                      p->row_point,
                      p->mode,
                      p->mode_scale,
                      p->bound,
                      p->is_linear,
                      p->used,
                      p->has_gain,
                      p->decay,
                      p->factor,
                      p->half_factor,
                      p->points,
                      p->values,
                      p->slope,
                      p->work,
                      p->gain,
                      p->force,
                      p->state,
                      p->stage,
                      p->rate,
                      p->sum,
                      p->tangent,
                      p->tangent_stage,
                      p->tangent_rate,
                      p->tangent_sum,
                      p->tangent_nodes,
                      p->tangent_rates,
                      p->tangent_work,
                      p->features,
                      p->sight_work,
                      p->seen};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) kb_free(others[i]);
    for (size_t a = 0; a < KB_FOURIER_AXES; a++) {
        for (size_t q = 0; q <= KB_HIGHEST_ORDER; q++) kb_free(p->basis[a][q]);
        kb_free(p->where[a]);
        kb_free(p->sight[a]);
    }
    kb_rhs_clear(&p->rhs);
    kb_free(p);
}

/* ---------------------------------------------------------------- waves */

/* d^order/dx^order of 1, cos(kx), sin(kx), ... of the box at x, in the data's units */
static void fill_waves(size_t m, double wave, double x, int order, size_t stride, double *out)
{
    for (size_t i = 0; i < m; i++) {
        double k = wave * (double)((i + 1) / 2), phase = k * x + order * M_PI_2;
        out[i * stride] = (order && !i ? 0 : 1) * pow(k, i ? order : 0) *
                          (i == 0  ? 1
                           : i % 2 ? cos(phase)
                                   : sin(phase));
    }
}

/* Coefficients along an axis that projected rows show; all where rows are measurements. */
static size_t shown(const kb_fourier_model *p, size_t a)
{
    size_t m = p->samples->n_grid[a + 1];
    return p->samples->noise_share < 1 && m < p->m[a] ? m : p->m[a];
}

static bool fill_axis(kb_fourier_model *p, size_t a)
{
    const kb_field_samples *c = p->samples;
    size_t n = p->n[a], m = p->m[a];
    double box = p->settings.period[a] * c->span[a + 1];
    p->where[a] = KB_NEW(double, c->n_points *m);
    if (!p->where[a]) return false;
    for (int q = 0; q <= p->highest[a]; q++) {
        if (!(p->basis[a][q] = KB_NEW(double, n *m))) return false;
        for (size_t i = 0; i < n; i++) fill_waves(m, p->wave[a], box * (double)i / (double)n, q, n, p->basis[a][q] + i);
    }
    for (size_t i = 0; i < c->n_points; i++)
        fill_waves(shown(p, a), p->wave[a], c->span[a + 1] * c->point[i + (a + 1) * c->n_points], 0, 1,
                   p->where[a] + i * m);
    return true;
}

/* Is every row the same full grid? */
static bool has_grid_rows(const kb_fourier_model *p)
{
    const kb_field_samples *c = p->samples;
    size_t row = 1;
    for (size_t a = 1; a < c->n_axes; a++) row *= c->n_grid[a];
    if (!c->gridded || c->n_points != row * c->n_grid[0]) return false;
    for (size_t i = 0; i < c->n_points; i++)
        for (size_t a = c->n_axes, rest = i; a-- > 0; rest /= c->n_grid[a])
            if (c->point[i + a * c->n_points] != c->grid[a][rest % c->n_grid[a]]) return false;
    return true;
}

/* The waves at the places of each axis, n_grid x m, where rows are seen axis after axis. */
static bool fill_sight(kb_fourier_model *p)
{
    const kb_field_samples *c = p->samples;
    if (!has_grid_rows(p)) return true;
    size_t stride = p->n_points_of_row = c->n_points / c->n_grid[0];
    for (size_t a = 0; a < p->n_axes; a++) {
        size_t n = c->n_grid[a + 1], shape = 1;
        stride /= n;
        if (!(p->sight[a] = KB_NEW(double, n * p->m[a]))) return false;
        for (size_t i = 0; i < n; i++)
            for (size_t k = 0; k < p->m[a]; k++) p->sight[a][i + k * n] = p->where[a][i * stride * p->m[a] + k];
        for (size_t b = 0; b < p->n_axes; b++) shape *= b <= a ? c->n_grid[b + 1] : p->m[b];
        if (shape > p->sight_size) p->sight_size = shape;
    }
    return true;
}

/* Coordinates of the nodes, for terms that ask for them; beyond the record of an open axis too. */
static void fill_places(kb_fourier_model *p)
{
    for (size_t v = 0; v < p->dictionary->n_variables; v++) {
        int axis = p->dictionary->variables[v].axis;
        if (axis <= 0) continue;
        size_t a = (size_t)axis - 1, stride = 1;
        for (size_t b = 0; b < a; b++) stride *= p->n[b];
        for (size_t i = 0; i < p->n_nodes; i++)
            p->points[v * p->n_nodes + i] = p->samples->first[axis] + p->settings.period[a] * p->samples->span[axis] *
                                                                          (double)(i / stride % p->n[a]) /
                                                                          (double)p->n[a];
    }
}

/* ---------------------------------------------------------------- the start */

typedef struct {
    size_t coefficient;
    double spectrum; /* of one coefficient */
} ranked;

static int by_falling_spectrum(const void *a, const void *b)
{
    const ranked *x = a, *y = b;
    if (x->spectrum != y->spectrum) return x->spectrum < y->spectrum ? 1 : -1;
    return (x->coefficient > y->coefficient) - (x->coefficient < y->coefficient);
}

/* (1 + sum_a (k_a l_a)^2)^-(5/2 + d/2), twice for each axis along which the wave can run both ways */
static double spectrum(const kb_fourier_model *p, size_t coefficient)
{
    double squares = 0, ways = 1;
    for (size_t a = 0; a < p->n_axes; a++) {
        size_t j = (coefficient % p->m[a] + 1) / 2;
        double k = 2 * M_PI * (double)j / p->settings.period[a];
        squares += k * k * p->settings.length[a] * p->settings.length[a];
        ways *= j ? 2 : 1;
        coefficient /= p->m[a];
    }
    return ways * pow(1 + squares, -0.5 * (5 + (double)p->n_axes));
}

/* The largest modes; together with those left out they have the amplitude's variance at any place. */
static kbass_status choose_modes(kb_fourier_model *p, kbass_error *error)
{
    size_t m = p->n_coefficients;
    double total = 0;
    ranked *modes = KB_NEW(ranked, m);
    p->mode = KB_NEW(size_t, m);
    p->mode_scale = KB_NEW(double, m);
    if (modes && p->mode && p->mode_scale) {
        for (size_t i = 0; i < m; i++) {
            modes[i] = (ranked){i, spectrum(p, i)};
            size_t rest = i, shares = 1; /* cosines and sines share the variance of their frequency */
            for (size_t a = 0; a < p->n_axes; rest /= p->m[a++]) shares *= rest % p->m[a] ? 2 : 1;
            total += modes[i].spectrum / (double)shares;
        }
        qsort(modes, m, sizeof *modes, by_falling_spectrum);
        for (size_t i = 0; i < m && i < p->settings.most_modes && modes[i].spectrum > spectrum_cut * modes[0].spectrum;
             i++) {
            p->mode[p->n_modes] = modes[i].coefficient;
            p->mode_scale[p->n_modes++] = p->settings.amplitude * sqrt(modes[i].spectrum / total);
        }
    }
    kb_free(modes);
    return p->n_modes ? KBASS_OK : kb_out_of_memory(error, "the start's modes");
}

/* ---------------------------------------------------------------- first guess */

/* Ridge regression of a field's modes on the values nearest in time, from the row on. gram: n_modes^2 */
static bool guess_field(const kb_fourier_model *p, size_t row, size_t field, double *gram, double *features, double *z)
{
    const kb_field_samples *c = p->samples;
    size_t M = p->n_modes, used = 0, first = p->row_point[row], wanted = p->row_point[row + 1] - first;
    if (wanted < LEAST_GUESSED) wanted = LEAST_GUESSED;
    memset(gram, 0, M * M * sizeof *gram);
    memset(z, 0, M * sizeof *z);
    for (size_t i = first; i < c->n_points && used < wanted; i++) {
        size_t at = i + field * c->n_points;
        double root = kb_field_samples_root(c, at);
        if (c->measured[at] == 0) continue;
        for (size_t j = 0; j < M; j++) {
            features[j] = root * p->mode_scale[j];
            for (size_t a = 0, rest = p->mode[j]; a < p->n_axes; rest /= p->m[a++])
                features[j] *= p->where[a][i * p->m[a] + rest % p->m[a]];
        }
        kb_axpy(M, root * c->value[at], features, z);
        for (size_t j = 0; j < M; j++) kb_axpy(M, features[j], features, gram + j * M);
        used++;
    }
    for (size_t j = 0; j < M; j++) gram[j + j * M] += fmax(p->settings.noise, 1e-4);
    if (!kb_cholesky(M, gram, M)) return false;
    kb_cholesky_solve(M, 1, gram, M, z, M);
    return true;
}

static kbass_status guess(kb_dynamics *d, size_t row, double *start, kbass_error *error)
{
    const kb_fourier_model *p = (const kb_fourier_model *)d;
    size_t M = p->n_modes;
    double *gram = KB_NEW(double, M *M), *features = KB_NEW(double, M);
    kbass_status status = gram && features ? KBASS_OK : kb_out_of_memory(error, "the start");
    for (size_t f = 0; status == KBASS_OK && f < p->n_fields; f++)
        if (!guess_field(p, row, f, gram, features, start + f * M))
            status = kb_fail(error, KBASS_ERROR_NUMERICAL, "the first rows of a window cannot be smoothed");
    kb_free(gram);
    kb_free(features);
    return status;
}

static double cost(const kb_dynamics *d, size_t n_tangents)
{
    const kb_fourier_model *p = (const kb_fourier_model *)d;
    double steps = 0, transform = 0, rows = 1, columns = (double)p->n_coefficients;
    for (size_t row = 1; row < p->dynamics.n_rows; row++) steps += (double)p->row_steps[row];
    for (size_t a = 0; a < p->n_axes; a++) { /* axis after axis */
        columns /= (double)p->m[a];
        transform += rows * (double)(p->m[a] * p->n[a]) * columns;
        rows *= (double)p->n[a];
    }
    double seen = 2 * (double)p->dynamics.observation_start[p->dynamics.n_rows] *
                  (double)p->n_coefficients; /* as of scattered points: what is dear was chosen so */
    return (double)(n_tangents + p->dynamics.n_start) *
           (2 * KB_FOURIER_STAGES * steps * (double)p->n_fields * transform + seen);
}

/* ---------------------------------------------------------------- making one */

static bool list_rows(kb_fourier_model *p)
{
    const kb_field_samples *c = p->samples;
    kb_dynamics *d = &p->dynamics;
    size_t o = 0, row = 0;
    d->observation_start = KB_NEW(size_t, d->n_rows + 1);
    d->observed = KB_NEW(double, c->n_values);
    d->group = KB_NEW(size_t, c->n_values);
    bool is_weighted = c->relative && c->noise_model == KB_NOISE_ADDITIVE; /* else the comparison has its own */
    if (is_weighted) d->relative = KB_NEW(double, c->n_values);
    p->row_point = KB_NEW(size_t, d->n_rows + 1);
    p->row_time = KB_NEW(double, d->n_rows);
    p->row_steps = KB_NEW(size_t, d->n_rows);
    p->bound = KB_NEW(double, p->n_fields);
    if (!d->observation_start || !d->observed || !d->group || (is_weighted && !d->relative) || !p->row_point ||
        !p->row_time || !p->row_steps || !p->bound)
        return false;
    for (size_t i = 0; i < c->n_points; i++) {
        while (c->point[i] > c->grid[0][row]) p->row_point[++row] = i, d->observation_start[row] = o;
        for (size_t f = 0; f < c->n_fields; f++) {
            size_t at = i + f * c->n_points;
            p->bound[f] = fmax(p->bound[f], 4 * fabs(c->value[at]) + 2);
            if (c->measured[at] == 0 || !p->dictionary->has_equation[f]) continue;
            d->observed[o] = c->value[at];
            if (d->relative) d->relative[o] = c->relative[at];
            d->group[o++] = f;
        }
    }
    for (size_t r = row + 1; r <= d->n_rows; r++) p->row_point[r] = c->n_points, d->observation_start[r] = o;
    for (size_t r = 0; r < d->n_rows; r++) {
        p->row_time[r] = c->grid[0][r];
        double gap = r ? p->row_time[r] - p->row_time[r - 1] : 0;
        p->row_steps[r] = (size_t)fmax(1, ceil((double)p->settings.steps * gap / c->spacing[0] - 1e-6));
    }
    return true;
}

static void measure_axes(kb_fourier_model *p)
{
    p->n_coefficients = p->n_nodes = 1;
    for (size_t a = 0; a < p->n_axes; a++) {
        p->m[a] = 2 * p->settings.n_waves[a] + 1;
        p->n[a] = (5 * p->settings.n_waves[a] / 2 + 2) / 2 * 2;
        p->wave[a] = 2 * M_PI / (p->settings.period[a] * p->samples->span[a + 1]);
        p->n_coefficients *= p->m[a];
        p->n_nodes *= p->n[a];
        for (size_t v = 0; v < p->dictionary->n_variables; v++)
            if (p->dictionary->variables[v].order[a + 1] > p->highest[a])
                p->highest[a] = p->dictionary->variables[v].order[a + 1];
    }
    p->size = p->n_coefficients * p->n_fields;
}

static kbass_status build(kb_fourier_model *p, const kb_columns *columns, size_t max_tangents, kbass_error *error)
{
    kb_dynamics *d = &p->dynamics;
    double **arrays[PLANE_ARRAYS];
    size_t sizes[PLANE_ARRAYS];
    measure_axes(p);
    kbass_status status = choose_modes(p, error);
    if (status == KBASS_OK)
        status =
            kb_rhs_create(p->dictionary, columns, max_tangents == KB_NO_TANGENTS ? 0 : max_tangents, &p->rhs, error);
    if (status != KBASS_OK) return status;
    d->n_start = p->n_fields * p->n_modes;
    d->start_variance = KB_NEW(double, d->n_start);
    p->is_linear = KB_NEW(bool, columns->n + columns->n_fixed);
    p->used = KB_NEW(size_t, p->dictionary->n_variables);
    p->has_gain = KB_NEW(bool, p->n_fields * p->dictionary->n_variables);
    bool complete = d->start_variance && p->is_linear && p->used && p->has_gain && list_rows(p);
    for (size_t a = 0; complete && a < p->n_axes; a++) complete = fill_axis(p, a);
    complete = complete && fill_sight(p);
    if (complete) list_arrays(p, max_tangents, arrays, sizes);
    for (int i = 0; complete && i < PLANE_ARRAYS; i++) complete = (*arrays[i] = KB_NEW(double, sizes[i])) != NULL;
    if (!complete) return kb_out_of_memory(error, "the fields' coefficients");
    for (size_t i = 0; i < d->n_start; i++) d->start_variance[i] = 1;
    fill_places(p);
    return KBASS_OK;
}

kbass_status kb_fourier_model_create(const kb_field_samples *samples, const kb_dictionary *dictionary,
                                     const kb_columns *columns, const kb_fourier_settings *settings,
                                     size_t max_tangents, kb_fourier_model **out, kbass_error *error)
{
    kb_fourier_model *p = KB_NEW(kb_fourier_model, 1);
    if (!p) return kb_out_of_memory(error, "the fields' coefficients");
    p->samples = samples;
    p->dictionary = dictionary;
    p->settings = *settings;
    p->n_axes = samples->n_axes - 1;
    p->n_fields = samples->n_fields;
    p->dynamics = (kb_dynamics){.n_rows = samples->n_grid[0],
                                .n_groups = samples->n_fields,
                                .mean = samples->mean,
                                .sd = samples->sd,
                                .noise_model = samples->noise_model,
                                .known_variance = samples->known_variance,
                                .noise_share = samples->noise_share,
                                .noise_floor = KB_LEAST_NOISE,
                                .tangents_are_dear = true,
                                .set_model = set_model,
                                .predict = predict,
                                .carry = carry,
                                .guess = guess,
                                .cost = cost,
                                .destroy = destroy};
    p->dynamics.resolution = kb_work_key_begin("closed axes");
    kb_work_key_add(&p->dynamics.resolution, &p->settings, sizeof p->settings);
    kbass_status status = build(p, columns, max_tangents, error);
    if (status == KBASS_OK) *out = p;
    else destroy(&p->dynamics);
    return status;
}

void kb_fourier_model_translate(const kb_fourier_model *from, const double *start, const kb_fourier_model *to,
                                double *translated)
{
    memset(translated, 0, to->dynamics.n_start * sizeof *translated);
    for (size_t j = 0; j < to->n_modes; j++) {
        size_t same = 0, stride = 1;
        for (size_t a = 0, rest = to->mode[j]; a < to->n_axes; rest /= to->m[a++]) {
            size_t along = rest % to->m[a];
            same = along < from->m[a] && same < from->n_coefficients ? same + stride * along : from->n_coefficients;
            stride *= from->m[a];
        }
        for (size_t i = 0; i < from->n_modes; i++)
            for (size_t f = 0; f < to->n_fields && from->mode[i] == same; f++)
                translated[f * to->n_modes + j] =
                    start[f * from->n_modes + i] * from->mode_scale[i] / to->mode_scale[j];
    }
}
