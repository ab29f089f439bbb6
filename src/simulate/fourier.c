/* Periodic PDEs: Fourier coefficients v of every state, v' = L v + N(v, t), L diagonal, by the fourth-order exponential
 * Runge-Kutta method of Cox and Matthews; its coefficients are means over circles (Kassam and Trefethen), exact also
 * where L h is small. N is evaluated at the nodes. Samples between steps come from the polynomial through eight of them.
 */
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/status.h"
#include "simulate/fft.h"
#include "simulate/nodes.h"
#include "simulate/pde.h"

enum { KEPT = 8, CIRCLE = 32, STAGES = 4, HALVINGS = 20 };

static const double ROUGH = 1e-11;   /* share of the largest coefficient that counts */
static const double FARTHEST = 1e30; /* times the initial state: no solution is followed beyond */

typedef struct {
    const kbass_pde *pde;
    size_t n, total, size; /* nodes along an axis, in all, times states */
    double start, step;
    kb_fft fft;
    kb_nodes axes[KB_MOST_SPACE];
    size_t *partner;       /* total: where the conjugate coefficient stands */
    kb_complex **symbols;  /* by derivative: of those that N uses */
    kb_complex *e, *half, *q, *f1, *f2, *f3; /* size each */
    kb_complex *v, *a, *rate[STAGES];        /* size each */
    kb_complex *kept[KEPT];                  /* the last states, in a ring by step */
    kb_complex *scratch;
    double *table, *sum, *value, *work;
    double largest; /* initial coefficient */
    bool is_rough;  /* the highest initial coefficients count */
} series;

/* ---------------------------------------------------------------- which PDEs */

/* The highest order of derivative in a term. */
static int order_of(const kbass_pde *pde, const kb_expression *term)
{
    int highest = 0;
    for (size_t v = 0; v < pde->n_derivatives; v++)
        if (pde->derivatives[v].total > highest && kb_expression_depends(term, v)) highest = pde->derivatives[v].total;
    return highest;
}

/* N is explicit: its derivatives must be low beside those of L, unless they belong to a wave. */
bool kb_fourier_suits(const kbass_pde *pde)
{
    size_t ignored = 0;
    for (size_t d = 0; d < pde->n_space; d++)
        if (pde->boundary[d] != KB_PERIODIC) return false;
    for (size_t s = 0; s < pde->n_fields; s++) {
        int linear = 0, rest = 0;
        for (size_t j = 0; j < pde->rates[s].n; j++) {
            const kb_expression *term = pde->rates[s].terms[j];
            int order = order_of(pde, term);
            if (kb_pde_is_plain(pde, s, term, &ignored)) linear = order > linear ? order : linear;
            else                                         rest = order > rest ? order : rest;
        }
        if (rest > 1 && rest > linear - 2) return false;
    }
    return true;
}

/* ---------------------------------------------------------------- life */

static void finish(series *s)
{
    kb_complex *all[] = {s->e, s->half, s->q, s->f1, s->f2, s->f3, s->v, s->a, s->scratch};
    kb_fft_clear(&s->fft);
    for (size_t d = 0; d < KB_MOST_SPACE; d++) kb_nodes_clear(&s->axes[d]);
    for (size_t v = 0; s->symbols && v < s->pde->n_derivatives; v++) kb_free(s->symbols[v]);
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) kb_free(all[i]);
    for (size_t i = 0; i < STAGES; i++) kb_free(s->rate[i]);
    for (size_t i = 0; i < KEPT; i++) kb_free(s->kept[i]);
    kb_free(s->symbols);
    kb_free(s->partner);
    kb_free(s->table);
    kb_free(s->sum);
    kb_free(s->value);
    kb_free(s->work);
}

static bool create_arrays(series *s)
{
    kb_complex **all[] = {&s->e, &s->half, &s->q, &s->f1, &s->f2, &s->f3, &s->v, &s->a};
    bool fine = true;
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) fine &= (*all[i] = KB_NEW(kb_complex, s->size)) != NULL;
    for (size_t i = 0; i < STAGES; i++) fine &= (s->rate[i] = KB_NEW(kb_complex, s->size)) != NULL;
    for (size_t i = 0; i < KEPT; i++) fine &= (s->kept[i] = KB_NEW(kb_complex, s->size)) != NULL;
    s->scratch = KB_NEW(kb_complex, s->total);
    s->symbols = KB_NEW(kb_complex *, s->pde->n_derivatives);
    s->partner = KB_NEW(size_t, s->total);
    s->table = KB_NEW(double, s->total * s->pde->n_variables);
    s->sum = KB_NEW(double, s->size);
    s->value = KB_NEW(double, s->total);
    s->work = KB_NEW(double, kb_pde_work(s->pde, s->total));
    return fine && s->scratch && s->symbols && s->partner && s->table && s->sum && s->value && s->work;
}

/* The index along axis d of node or coefficient i of a table with n along each axis. */
static size_t index_along(size_t i, size_t n, size_t d)
{
    for (; d; d--) i /= n;
    return i % n;
}

static void fill_table(series *s)
{
    const kbass_pde *pde = s->pde;
    for (size_t i = 0; i < s->total; i++) {
        size_t stride = 1;
        for (size_t d = 0; d < pde->n_space; d++, stride *= s->n) {
            size_t k = index_along(i, s->n, d);
            s->partner[i] += stride * ((s->n - k) % s->n);
            s->table[i + (pde->n_derivatives + 1 + d) * s->total] = s->axes[d].at[k];
        }
        s->table[i + (pde->n_variables - 1) * s->total] = M_PI;
    }
}

/* ---------------------------------------------------------------- symbols */

static double wave_number(const series *s, size_t k, size_t d)
{
    double turn = 2 * M_PI / (s->axes[d].high - s->axes[d].low);
    return turn * (2 * k <= s->n ? (double)k : (double)k - (double)s->n);
}

/* prod_d (i k_d)^order_d; odd derivatives of the highest coefficient, a cosine without its sine, are 0. */
static kb_complex symbol(const series *s, const kb_derivative *derivative, size_t i)
{
    kb_complex product = 1;
    for (size_t d = 0; d < s->pde->n_space; d++) {
        size_t k = index_along(i, s->n, d);
        if (derivative->order[d] % 2 && 2 * k == s->n) return 0;
        for (int o = 0; o < derivative->order[d]; o++)
            product = kb_times(product, kb_complex_of(0, wave_number(s, k, d)));
    }
    return product;
}

static bool create_symbols(series *s)
{
    const kbass_pde *pde = s->pde;
    size_t ignored = 0;
    for (size_t k = 0; k < pde->n_states; k++)
        for (size_t j = 0; j < pde->rates[k].n; j++) {
            const kb_expression *term = pde->rates[k].terms[j];
            if (kb_pde_is_plain(pde, k, term, &ignored)) continue;
            for (size_t v = 0; v < pde->n_derivatives; v++) {
                if (s->symbols[v] || !kb_expression_depends(term, v)) continue;
                s->symbols[v] = KB_NEW(kb_complex, s->total);
                if (!s->symbols[v]) return false;
                for (size_t i = 0; i < s->total; i++) s->symbols[v][i] = symbol(s, &pde->derivatives[v], i);
            }
        }
    return true;
}

static kb_complex linear_part(const series *s, size_t state, size_t i)
{
    kb_complex sum = 0;
    const kb_sum *rate = &s->pde->rates[state];
    size_t v = 0;
    for (size_t j = 0; j < rate->n; j++)
        if (kb_pde_is_plain(s->pde, state, rate->terms[j], &v))
            sum += rate->coefficients[j] * symbol(s, &s->pde->derivatives[v], i);
    return sum;
}

/* Q = h (e^(z/2) - 1)/z, f1 = h (-4 - z + e^z (4 - 3z + z^2))/z^3, f2 = h (2 + z + e^z (z - 2))/z^3,
   f3 = h (-4 - 3z - z^2 + e^z (4 - z))/z^3 with z = L h, each the mean over a circle around z unless z is large. */
static void set_coefficient(series *s, double h, size_t at, kb_complex linear)
{
    kb_complex centre = h * linear, q = 0, f1 = 0, f2 = 0, f3 = 0;
    size_t n = cabs(centre) > 8 ? 1 : CIRCLE;
    for (size_t c = 0; c < n; c++) {
        double angle = 2 * M_PI * ((double)c + 0.5) / CIRCLE;
        kb_complex z = n == 1 ? centre : centre + kb_complex_of(cos(angle), sin(angle));
        kb_complex half = cexp(z / 2), e = kb_times(half, half), square = kb_times(z, z);
        kb_complex scale = h / (double)n / kb_times(square, z);
        q += kb_times(scale, kb_times(square, half - 1));
        f1 += kb_times(scale, -4 - z + kb_times(e, 4 - 3 * z + square));
        f2 += kb_times(scale, 2 + z + kb_times(e, z - 2));
        f3 += kb_times(scale, -4 - 3 * z - square + kb_times(e, 4 - z));
    }
    s->e[at] = cexp(centre);
    s->half[at] = cexp(centre / 2);
    s->q[at] = q;
    s->f1[at] = f1;
    s->f2[at] = f2;
    s->f3[at] = f3;
}

static void set_coefficients(series *s, double h)
{
    for (size_t k = 0; k < s->pde->n_states; k++)
        for (size_t i = 0; i < s->total; i++) set_coefficient(s, h, k * s->total + i, linear_part(s, k, i));
}

/* ---------------------------------------------------------------- the initial state */

static size_t initial_nodes(const series *s)
{
    size_t usual = s->pde->n_space == 1 ? 16384 : s->pde->n_space == 2 ? 512 : 64;
    size_t needed = s->n * (s->pde->n_space == 1 ? 4 : 2);
    if (s->pde->initial_nodes) return s->pde->initial_nodes;
    return usual > needed ? usual : needed;
}

/* Weights of the sum that stands for the integral from end to end: Gregory's at the ends, 1 between. Values and slopes
   at the two ends of a period may differ: Fourier's integrals come out right all the same. */
static double end_weight(size_t k)
{
    enum { ORDER = 7 };
    static const double gregory[ORDER + 1] = {0, 1.0 / 12, 1.0 / 24, 19.0 / 720, 3.0 / 160, 863.0 / 60480,
                                              275.0 / 24192, 33953.0 / 3628800};
    double weight = k ? 1 : 0.5, binomial = 1;
    if (k > ORDER) return 1;
    for (size_t m = k; m <= ORDER; m++) {
        weight += (k % 2 ? 1 : -1) * gregory[m] * binomial;
        binomial *= (double)(m + 1) / (double)(m + 1 - k);
    }
    return weight;
}

/* Of node k along an axis; the seam's node counts at the near and at the far end. */
static double node_weight(const series *s, size_t k, size_t fine, bool is_far)
{
    if (s->pde->initial_nodes) return k || is_far;
    return k ? end_weight(k) * end_weight(fine - k) : end_weight(0);
}

/* Adds to `sum` the initial values at nodes k = 0, 1, ..., with the seam's node at the near or, by bit of `far`, at the
   far end of each axis; each with its weight. */
static kbass_status add_initial(const series *s, size_t state, size_t fine, size_t total, unsigned far, double *places,
                                double *value, kb_complex *sum, kbass_error *error)
{
    const double *columns[KB_MOST_SPACE];
    for (size_t d = 0; d < s->pde->n_space; d++) {
        const kb_nodes *axis = &s->axes[d];
        columns[d] = places + d * total;
        for (size_t i = 0; i < total; i++) {
            size_t k = index_along(i, fine, d);
            double share = k == 0 && (far >> d & 1) ? 1 : (double)k / (double)fine;
            places[i + d * total] = axis->low + (axis->high - axis->low) * share;
        }
    }
    kbass_status status = kb_pde_initial(s->pde, state, total, columns, value, error);
    for (size_t i = 0; i < total && status == KBASS_OK; i++) {
        double weight = 1;
        for (size_t d = 0; d < s->pde->n_space; d++) {
            size_t k = index_along(i, fine, d);
            bool is_far = far >> d & 1;
            weight *= k && is_far ? 0 : node_weight(s, k, fine, is_far);
        }
        sum[i] += weight * value[i];
    }
    return status;
}

/* Copies the coefficients that both resolutions have. */
static void take_coefficients(const series *s, size_t fine, const kb_complex *from, kb_complex *to)
{
    for (size_t i = 0; i < s->total; i++) {
        size_t at = 0, stride = 1;
        bool is_shared = true;
        for (size_t d = 0; d < s->pde->n_space; d++, stride *= fine) {
            size_t k = index_along(i, s->n, d);
            is_shared &= fine == s->n || 2 * k != s->n;
            at += stride * (2 * k < s->n ? k : k + fine - s->n);
        }
        to[i] = is_shared ? from[at] : 0;
    }
}

static kbass_status begin_state(series *s, size_t state, kbass_error *error)
{
    size_t fine = initial_nodes(s), total = 1;
    kb_fft fft = {0};
    for (size_t d = 0; d < s->pde->n_space; d++) total *= fine;
    double *places = KB_NEW(double, total * s->pde->n_space), *value = KB_NEW(double, total);
    kb_complex *table = KB_NEW(kb_complex, total);
    bool has_all = kb_fft_create(&fft, fine) && places && value && table;
    kbass_status status = has_all ? KBASS_OK : kb_out_of_memory(error, "the initial condition");

    for (unsigned far = 0; far < 1u << s->pde->n_space && status == KBASS_OK; far++)
        status = add_initial(s, state, fine, total, far, places, value, table, error);
    if (status == KBASS_OK) {
        kb_fft_forward(&fft, s->pde->n_space, table);
        take_coefficients(s, fine, table, s->v + state * s->total);
    }
    kb_free(table);
    kb_free(value);
    kb_free(places);
    kb_fft_clear(&fft);
    return status;
}

static bool is_high(const series *s, size_t i)
{
    for (size_t d = 0; d < s->pde->n_space; d++) {
        size_t k = index_along(i, s->n, d);
        if (3 * k > s->n && 3 * (s->n - k) > s->n) return true;
    }
    return false;
}

static kbass_status begin(series *s, kbass_error *error)
{
    kbass_status status = KBASS_OK;
    for (size_t d = 0; d < s->pde->n_space; d++) {
        const kbass_axis *axis = &s->pde->axes[d + 1];
        if (!kb_nodes_create(&s->axes[d], s->n, true, axis->low, axis->high))
            return kb_out_of_memory(error, "the nodes");
    }
    if (!kb_fft_create(&s->fft, s->n) || !create_arrays(s)) return kb_out_of_memory(error, "the Fourier series");
    fill_table(s);
    if (!create_symbols(s)) return kb_out_of_memory(error, "the Fourier series");
    for (size_t k = 0; k < s->pde->n_states && status == KBASS_OK; k++) status = begin_state(s, k, error);
    for (size_t i = 0; i < s->size; i++) s->largest = fmax(s->largest, cabs(s->v[i]));
    for (size_t i = 0; i < s->size; i++) s->is_rough |= is_high(s, i % s->total) && cabs(s->v[i]) > ROUGH * s->largest;
    return status;
}

/* ---------------------------------------------------------------- N */

/* Two real tables from one transform: the coefficients of the first plus i times those of the second. */
static void unpack(series *s, double *first, double *second)
{
    kb_fft_backward(&s->fft, s->pde->n_space, s->scratch);
    for (size_t i = 0; i < s->total; i++) first[i] = creal(s->scratch[i]);
    for (size_t i = 0; second && i < s->total; i++) second[i] = cimag(s->scratch[i]);
}

static void put(series *s, size_t derivative, const kb_complex *v, bool is_second)
{
    const kb_complex *symbols = s->symbols[derivative];
    v += s->pde->derivatives[derivative].state * s->total;
    for (size_t i = 0; i < s->total; i++) {
        kb_complex product = kb_times(symbols[i], v[i]);
        if (is_second) s->scratch[i] += kb_complex_of(-cimag(product), creal(product));
        else           s->scratch[i] = product;
    }
}

static void fill_columns(series *s, const kb_complex *v, double t)
{
    double *first = NULL;
    for (size_t d = 0; d < s->pde->n_derivatives; d++) {
        double *column = s->table + d * s->total;
        if (!s->symbols[d]) continue;
        put(s, d, v, first != NULL);
        if (first) unpack(s, first, column);
        first = first ? NULL : column;
    }
    if (first) unpack(s, first, NULL);
    double *times = s->table + s->pde->n_derivatives * s->total;
    for (size_t i = 0; i < s->total; i++) times[i] = t;
}

/* False when the state has no such terms. */
static bool add_terms(series *s, size_t state, double *sum)
{
    const kb_sum *rate = &s->pde->rates[state];
    size_t ignored = 0;
    bool any = false;
    memset(sum, 0, s->total * sizeof *sum);
    for (size_t j = 0; j < rate->n; j++) {
        if (kb_pde_is_plain(s->pde, state, rate->terms[j], &ignored)) continue;
        kb_expression_values(rate->terms[j], s->total, s->table, s->total, s->value, s->work);
        for (size_t i = 0; i < s->total; i++) sum[i] += rate->coefficients[j] * s->value[i];
        any = true;
    }
    return any;
}

static void nonlinear(series *s, const kb_complex *v, double t, kb_complex *rate)
{
    fill_columns(s, v, t);
    for (size_t k = 0; k < s->pde->n_states; k++) {
        kb_complex *own = rate + k * s->total;
        if (!add_terms(s, k, s->sum)) continue;
        for (size_t i = 0; i < s->total; i++) own[i] = s->sum[i];
        kb_fft_forward(&s->fft, s->pde->n_space, own);
    }
}

/* ---------------------------------------------------------------- steps */

/* Coefficients of real fields: what rounding takes away from that would grow unseen. */
static void make_real(series *s)
{
    for (size_t k = 0; k < s->pde->n_states; k++) {
        kb_complex *v = s->v + k * s->total;
        for (size_t i = 0; i < s->total; i++) {
            size_t other = s->partner[i];
            if (other < i) continue;
            v[i] = 0.5 * (v[i] + conj(v[other]));
            v[other] = conj(v[i]);
        }
    }
}

static void step(series *s, double t, double h)
{
    kb_complex *v = s->v, *a = s->a, **n = s->rate;
    nonlinear(s, v, t, n[0]);
    for (size_t i = 0; i < s->size; i++) a[i] = kb_times(s->half[i], v[i]) + kb_times(s->q[i], n[0][i]);
    nonlinear(s, a, t + h / 2, n[1]);
    for (size_t i = 0; i < s->size; i++) {
        kb_complex b = kb_times(s->half[i], v[i]) + kb_times(s->q[i], n[1][i]);
        n[3][i] = a[i]; /* kept for the last stage */
        a[i] = b;
    }
    nonlinear(s, a, t + h / 2, n[2]);
    for (size_t i = 0; i < s->size; i++)
        a[i] = kb_times(s->half[i], n[3][i]) + kb_times(s->q[i], 2 * n[2][i] - n[0][i]);
    memset(n[3], 0, s->size * sizeof *n[3]);
    nonlinear(s, a, t + h, n[3]);
    for (size_t i = 0; i < s->size; i++)
        v[i] = kb_times(s->e[i], v[i]) + kb_times(s->f1[i], n[0][i]) + kb_times(s->f2[i], 2 * (n[1][i] + n[2][i])) +
               kb_times(s->f3[i], n[3][i]);
    make_real(s);
}

/* A rough state smooths itself in no time: its first step is made of h/2^m, h/2^m, ..., h/4, h/2. */
static void first_step(series *s)
{
    double t = s->start, h = s->is_rough ? ldexp(s->step, -HALVINGS) : s->step;
    set_coefficients(s, h);
    step(s, t, h);
    for (int m = 0; s->is_rough && m < HALVINGS; m++) {
        t = s->start + h;
        set_coefficients(s, h);
        step(s, t, h);
        h *= 2;
    }
    if (s->is_rough) set_coefficients(s, s->step);
}

/* False when the state has left every bound. */
static bool is_within(const series *s, kb_journey *journey)
{
    double limit = FARTHEST * fmax(s->largest, 1);
    for (size_t i = 0; i < s->size; i++) {
        double size = fabs(creal(s->v[i])) + fabs(cimag(s->v[i]));
        if (size <= limit) continue;
        journey->is_lost = true;
        journey->growth = FARTHEST;
        journey->state = i / s->total;
        return false;
    }
    return true;
}

/* ---------------------------------------------------------------- samples */

/* s->sum <- the fields at time t, from the polynomial through steps newest - KEPT + 1 ... newest. */
static void fields_at(series *s, double t, size_t newest)
{
    double weight[KEPT], x = (t - s->start) / s->step - (double)(newest + 1 - KEPT);
    for (size_t r = 0; r < KEPT; r++) {
        weight[r] = 1;
        for (size_t k = 0; k < KEPT; k++)
            if (k != r) weight[r] *= (x - (double)k) / ((double)r - (double)k);
    }
    for (size_t f = 0; f < s->pde->n_fields; f++) {
        memset(s->scratch, 0, s->total * sizeof *s->scratch);
        for (size_t r = 0; r < KEPT; r++) {
            const kb_complex *from = s->kept[(newest + 1 - KEPT + r) % KEPT] + f * s->total;
            for (size_t i = 0; fabs(weight[r]) > 1e-12 && i < s->total; i++) s->scratch[i] += weight[r] * from[i];
        }
        unpack(s, s->sum + f * s->total, NULL);
    }
}

/* Contracts the table along its axes in turn, first the slowest. */
static double value_at(const series *s, const double *field, const double *weights)
{
    double sum = 0;
    for (size_t i = 0; i < s->total; i += s->n) {
        double outer = 1, line = 0;
        for (size_t d = 1; d < s->pde->n_space; d++) outer *= weights[d * s->n + index_along(i, s->n, d)];
        for (size_t k = 0; k < s->n; k++) line += weights[k] * field[i + k];
        sum += outer * line;
    }
    return sum;
}

static void deliver(series *s, const double *point, double *weights, double *values)
{
    for (size_t d = 0; d < s->pde->n_space; d++) kb_nodes_weights(&s->axes[d], point[d + 1], weights + d * s->n);
    for (size_t f = 0; f < s->pde->n_fields; f++) values[f] = value_at(s, s->sum + f * s->total, weights);
}

/* Delivers the samples that lie in the middle of the kept steps, all of them at the end; returns how many are done. */
static size_t deliver_until(series *s, const kb_samples *samples, size_t done, size_t newest, bool is_last,
                            double *weights, double *values)
{
    double limit = is_last ? INFINITY : s->start + s->step * (double)(newest - KEPT / 2 + 1), before = NAN;
    for (; done < samples->n; done++) {
        size_t row = samples->list[done].row;
        double t = samples->list[done].t;
        if (!(t <= limit)) break;
        if (t != before) fields_at(s, t, newest);
        before = t;
        deliver(s, samples->points + row * s->pde->n_axes, weights, values + row * s->pde->n_fields);
    }
    return done;
}

static void follow(series *s, const kb_samples *samples, size_t n_steps, double *weights, double *values,
                   kb_journey *journey)
{
    size_t done = 0;
    memcpy(s->kept[0], s->v, s->size * sizeof *s->v);
    for (size_t j = 1; j <= n_steps && is_within(s, journey); j++) {
        journey->t = s->start + s->step * (double)(j - 1);
        if (j == 1) first_step(s);
        else        step(s, journey->t, s->step);
        memcpy(s->kept[j % KEPT], s->v, s->size * sizeof *s->v);
        if (j + 1 >= KEPT) done = deliver_until(s, samples, done, j, j == n_steps, weights, values);
    }
    is_within(s, journey);
}

kbass_status kb_fourier_run(const kbass_pde *pde, const kb_samples *samples, size_t n, size_t n_steps, double *values,
                            kb_journey *journey, kbass_error *error)
{
    series s = {.pde = pde, .n = n, .total = 1, .start = pde->axes[0].low};
    double last = samples->list[samples->n - 1].t;
    if (n_steps < KEPT) n_steps = KEPT;
    for (size_t d = 0; d < pde->n_space; d++) s.total *= n;
    s.size = s.total * pde->n_states;
    s.step = (last - s.start) / (double)n_steps;
    *journey = (kb_journey){0};

    double *weights = KB_NEW(double, n * pde->n_space);
    kbass_status status = weights ? begin(&s, error) : kb_out_of_memory(error, "the samples");
    if (status == KBASS_OK) follow(&s, samples, n_steps, weights, values, journey);
    kb_free(weights);
    finish(&s);
    return status;
}
