/* The fourth-order exponential Runge-Kutta method of Cox and Matthews; its coefficients are means over circles (Kassam
 * and Trefethen), exact also where L h is small. N is evaluated at the nodes. Samples between steps come from the
 * polynomial through eight of them.
 */
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/status.h"
#include "simulate/fourier.h"

enum { CIRCLE = 32, HALVINGS = 20, MOST_KNOWN = 1 << 19 /* weights */ };

static const double FARTHEST = 1e30; /* times the initial state: no solution is followed beyond */

/* ---------------------------------------------------------------- which PDEs */

/* The highest order of derivative in a term. */
static int order_of(const kb_pde *pde, const kb_expression *term)
{
    int highest = 0;
    for (size_t v = 0; v < pde->n_derivatives; v++)
        if (pde->derivatives[v].total > highest && kb_expression_depends(term, v)) highest = pde->derivatives[v].total;
    return highest;
}

/* N is explicit: its derivatives must be low beside those of L, unless they belong to a wave. */
bool kb_fourier_suits(const kb_pde *pde)
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
            else rest = order > rest ? order : rest;
        }
        if (rest > 1 && rest > linear - 2) return false;
    }
    return true;
}

/* ---------------------------------------------------------------- life */

static void finish(kb_series *s)
{
    kb_complex *all[] = {s->e, s->half, s->q, s->f1, s->f2, s->f3, s->v, s->a, s->scratch};
    kb_fft_clear(&s->fft);
    for (size_t d = 0; d < KB_MOST_SPACE; d++) kb_nodes_clear(&s->axes[d]);
    for (size_t v = 0; s->symbols && v < s->pde->n_derivatives; v++) kb_free(s->symbols[v]);
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) kb_free(all[i]);
    for (size_t i = 0; i < KB_SERIES_STAGES; i++) kb_free(s->rate[i]);
    for (size_t i = 0; i < KB_SERIES_KEPT; i++) kb_free(s->kept[i]);
    kb_free(s->symbols);
    kb_free(s->partner);
    kb_free(s->table);
    kb_free(s->sum);
    kb_free(s->value);
    kb_free(s->work);
    kb_free(s->known);
    kb_free(s->place);
    kb_free(s->lines);
}

static bool create_arrays(kb_series *s)
{
    kb_complex **all[] = {&s->e, &s->half, &s->q, &s->f1, &s->f2, &s->f3, &s->v, &s->a};
    bool fine = true;
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) fine &= (*all[i] = KB_NEW(kb_complex, s->size)) != NULL;
    for (size_t i = 0; i < KB_SERIES_STAGES; i++) fine &= (s->rate[i] = KB_NEW(kb_complex, s->size)) != NULL;
    for (size_t i = 0; i < KB_SERIES_KEPT; i++) fine &= (s->kept[i] = KB_NEW(kb_complex, s->size)) != NULL;
    s->scratch = KB_NEW(kb_complex, s->total);
    s->symbols = KB_NEW(kb_complex *, s->pde->n_derivatives);
    s->partner = KB_NEW(size_t, s->total);
    s->table = KB_NEW(double, s->total * s->pde->n_variables);
    s->sum = KB_NEW(double, s->size);
    s->value = KB_NEW(double, s->total);
    s->work = KB_NEW(double, kb_pde_work(s->pde, s->total));
    s->n_known = s->pde->n_space == 1 ? MOST_KNOWN / s->n : 0;
    s->known = KB_NEW(double, s->n_known * s->n);
    s->place = KB_NEW(double, s->n_known);
    for (size_t i = 0; s->place && i < s->n_known; i++) s->place[i] = (double)NAN;
    s->lines = KB_NEW(double, s->size);
    fine &= s->known && s->place && s->lines;
    return fine && s->scratch && s->symbols && s->partner && s->table && s->sum && s->value && s->work;
}

static void fill_table(kb_series *s)
{
    const kb_pde *pde = s->pde;
    for (size_t i = 0; i < s->total; i++) {
        size_t stride = 1;
        for (size_t d = 0; d < pde->n_space; d++, stride *= s->n) {
            size_t k = kb_index_along(i, s->n, d);
            s->partner[i] += stride * ((s->n - k) % s->n);
            s->table[i + (pde->n_derivatives + 1 + d) * s->total] = s->axes[d].at[k];
        }
        s->table[i + (pde->n_variables - 1) * s->total] = M_PI;
    }
}

/* ---------------------------------------------------------------- symbols */

static double wave_number(const kb_series *s, size_t k, size_t d)
{
    double turn = 2 * M_PI / (s->axes[d].high - s->axes[d].low);
    return turn * (2 * k <= s->n ? (double)k : (double)k - (double)s->n);
}

/* prod_d (i k_d)^order_d; odd derivatives of the highest coefficient, a cosine without its sine, are 0. */
static kb_complex symbol(const kb_series *s, const kb_derivative *derivative, size_t i)
{
    kb_complex product = 1;
    for (size_t d = 0; d < s->pde->n_space; d++) {
        size_t k = kb_index_along(i, s->n, d);
        if (derivative->order[d] % 2 && 2 * k == s->n) return 0;
        for (int o = 0; o < derivative->order[d]; o++)
            product = kb_times(product, kb_complex_of(0, wave_number(s, k, d)));
    }
    return product;
}

static bool create_symbols(kb_series *s)
{
    const kb_pde *pde = s->pde;
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

static kb_complex linear_part(const kb_series *s, size_t state, size_t i)
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
static void set_coefficient(kb_series *s, double h, size_t at, kb_complex linear)
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

static void set_coefficients(kb_series *s, double h)
{
    for (size_t k = 0; k < s->pde->n_states; k++)
        for (size_t i = 0; i < s->total; i++) set_coefficient(s, h, k * s->total + i, linear_part(s, k, i));
}

/* ---------------------------------------------------------------- begin */

static kbass_status begin(kb_series *s, kbass_error *error)
{
    kbass_status status = KBASS_OK;
    for (size_t d = 0; d < s->pde->n_space; d++) {
        const kbass_axis *axis = &s->pde->axes[d + 1];
        if (!kb_nodes_create(&s->axes[d], s->n, true, axis->low, axis->high))
            return kb_out_of_memory(error, "the nodes");
    }
    if (!kb_fft_create(&s->fft, s->n, s->pde->n_space) || !create_arrays(s))
        return kb_out_of_memory(error, "the Fourier series");
    fill_table(s);
    if (!create_symbols(s)) return kb_out_of_memory(error, "the Fourier series");
    for (size_t k = 0; k < s->pde->n_states && status == KBASS_OK; k++) status = kb_series_start(s, k, error);
    for (size_t i = 0; i < s->size; i++) s->largest = fmax(s->largest, cabs(s->v[i]));
    return status;
}

/* ---------------------------------------------------------------- N */

/* Two real tables from one transform: the coefficients of the first plus i times those of the second. */
static void unpack(kb_series *s, double *first, double *second)
{
    kb_fft_backward(&s->fft, s->scratch);
    for (size_t i = 0; i < s->total; i++) first[i] = creal(s->scratch[i]);
    for (size_t i = 0; second && i < s->total; i++) second[i] = cimag(s->scratch[i]);
}

static void put(kb_series *s, size_t derivative, const kb_complex *v, bool is_second)
{
    const kb_complex *symbols = s->symbols[derivative];
    v += s->pde->derivatives[derivative].state * s->total;
    for (size_t i = 0; i < s->total; i++) {
        kb_complex product = kb_times(symbols[i], v[i]);
        if (is_second) s->scratch[i] += kb_complex_of(-cimag(product), creal(product));
        else s->scratch[i] = product;
    }
}

static void fill_columns(kb_series *s, const kb_complex *v, double t)
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
static bool add_terms(kb_series *s, size_t state, double *sum)
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

static void nonlinear(kb_series *s, const kb_complex *v, double t, kb_complex *rate)
{
    fill_columns(s, v, t);
    for (size_t k = 0; k < s->pde->n_states; k++) {
        kb_complex *own = rate + k * s->total;
        if (!add_terms(s, k, s->sum)) continue;
        for (size_t i = 0; i < s->total; i++) own[i] = s->sum[i];
        kb_fft_forward(&s->fft, own);
    }
}

/* ---------------------------------------------------------------- steps */

/* Coefficients of real fields: what rounding takes away from that would grow unseen. */
static void make_real(kb_series *s)
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

static void step(kb_series *s, double t, double h)
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
static void first_step(kb_series *s)
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
static bool is_within(const kb_series *s, kb_journey *journey)
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

/* s->sum <- the fields at time t, from the polynomial through steps newest - KB_SERIES_KEPT + 1 ... newest. */
static void fields_at(kb_series *s, double t, size_t newest)
{
    double weight[KB_SERIES_KEPT], x = (t - s->start) / s->step - (double)(newest + 1 - KB_SERIES_KEPT);
    for (size_t r = 0; r < KB_SERIES_KEPT; r++) {
        weight[r] = 1;
        for (size_t k = 0; k < KB_SERIES_KEPT; k++)
            if (k != r) weight[r] *= (x - (double)k) / ((double)r - (double)k);
    }
    for (size_t f = 0; f < s->pde->n_fields; f++) {
        memset(s->scratch, 0, s->total * sizeof *s->scratch);
        for (size_t r = 0; r < KB_SERIES_KEPT; r++) {
            const kb_complex *from = s->kept[(newest + 1 - KB_SERIES_KEPT + r) % KB_SERIES_KEPT] + f * s->total;
            for (size_t i = 0; fabs(weight[r]) > 1e-12 && i < s->total; i++) s->scratch[i] += weight[r] * from[i];
        }
        unpack(s, s->sum + f * s->total, NULL);
    }
}

/* All fields contracted along the first axis of space: neighbours in a row of samples share it. */
static void contract_lines(kb_series *s, const double *weights)
{
    for (size_t i = 0; i < s->total * s->pde->n_fields; i += s->n) {
        double line = 0;
        for (size_t k = 0; k < s->n; k++) line += weights[k] * s->sum[i + k];
        s->lines[i / s->n] = line;
    }
}

/* Contracts the lines along the other axes. */
static double value_at(const kb_series *s, const double *lines, const double *weights)
{
    double sum = 0;
    for (size_t i = 0; i < s->total; i += s->n) {
        double outer = 1;
        for (size_t d = 1; d < s->pde->n_space; d++) outer *= weights[d * s->n + kb_index_along(i, s->n, d)];
        sum += outer * lines[i / s->n];
    }
    return sum;
}

/* `index`: of the point among those of its time. */
static void deliver(kb_series *s, const double *point, size_t index, double *weights, double *values)
{
    bool is_kept = index < s->n_known;
    if (is_kept) weights = s->known + index * s->n;
    for (size_t d = 0; d < s->pde->n_space && !(is_kept && s->place[index] == point[1]); d++)
        kb_nodes_weights(&s->axes[d], point[d + 1], weights + d * s->n);
    if (is_kept) s->place[index] = point[1];
    if (!index || s->line_place != point[1]) contract_lines(s, weights);
    s->line_place = point[1];
    for (size_t f = 0; f < s->pde->n_fields; f++) values[f] = value_at(s, s->lines + f * (s->total / s->n), weights);
}

/* Delivers the samples that lie in the middle of the kept steps, all of them at the end; returns how many are done. */
static size_t deliver_until(kb_series *s, const kb_samples *samples, size_t done, size_t newest, bool is_last,
                            double *weights, double *values)
{
    double limit = is_last ? INFINITY : s->start + s->step * (double)(newest - KB_SERIES_KEPT / 2 + 1), before = NAN;
    for (size_t index = 0; done < samples->n; done++) {
        size_t row = samples->list[done].row;
        double t = samples->list[done].t;
        if (!(t <= limit)) break;
        if (t != before) fields_at(s, t, newest);
        index = t == before ? index + 1 : 0;
        before = t;
        deliver(s, samples->points + row * s->pde->n_axes, index, weights, values + row * s->pde->n_fields);
    }
    return done;
}

static void follow(kb_series *s, const kb_samples *samples, size_t n_steps, double *weights, double *values,
                   kb_journey *journey)
{
    size_t done = 0;
    memcpy(s->kept[0], s->v, s->size * sizeof *s->v);
    for (size_t j = 1; j <= n_steps && is_within(s, journey); j++) {
        journey->t = s->start + s->step * (double)(j - 1);
        if (j == 1) first_step(s);
        else step(s, journey->t, s->step);
        memcpy(s->kept[j % KB_SERIES_KEPT], s->v, s->size * sizeof *s->v);
        if (j + 1 >= KB_SERIES_KEPT) done = deliver_until(s, samples, done, j, j == n_steps, weights, values);
    }
    is_within(s, journey);
}

kbass_status kb_fourier_run(const kb_pde *pde, const kb_samples *samples, size_t n, size_t n_steps, double *values,
                            kb_journey *journey, kbass_error *error)
{
    kb_series s = {.pde = pde, .n = n, .total = 1, .start = pde->axes[0].low};
    double last = samples->list[samples->n - 1].t;
    if (n_steps < KB_SERIES_KEPT) n_steps = KB_SERIES_KEPT;
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
