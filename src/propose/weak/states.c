#include "propose/weak/states.h"

#include <math.h>
#include <string.h>

#include "base/linalg.h"
#include "base/memory.h"
#include "base/status.h"
#include "propose/weak/bump.h"

enum { POWER = 4 };                        /* power of (1 - s^2): a smooth bump; not measured */
enum { BLOCK_QUERIES = 64 };               /* bumps: at a time; the cache */
enum { BLOCK_ROWS = 1024 };                /* rows: at a time; the cache */
enum { FEWEST_ROWS = 6 };                  /* rows: under a bump, fewer do not integrate */
enum { FEWEST_QUERIES = 4 };               /* bumps: fewer say nothing */
static const double largest_gap = 0.5;     /* of the half width, that a bump may bridge */
static const double counted_once = 1 / 3.; /* of the bumps: neighbours overlap by three quarters of their length */
static const double most_counted = 150;    /* bumps: what more would tell is less than attenuation hides */

/* ---------------------------------------------------------------- terms */

static void use_term(kb_weak_states *w, size_t term, double scale)
{
    if (w->slot[term] == w->dictionary->n_terms) {
        w->slot[term] = w->n_terms;
        w->term[w->n_terms++] = term;
    }
    w->scale[w->slot[term]] = scale;
}

static void list_terms(kb_weak_states *w)
{
    const kb_columns *c = w->columns;
    for (size_t i = 0; i < w->dictionary->n_terms; i++) w->slot[i] = w->dictionary->n_terms;
    for (size_t i = 0; i < c->n_fixed; i++) use_term(w, c->fixed_term[i], 1);
    for (size_t i = 0; i < c->n; i++) use_term(w, c->term[i], c->scale[i]);
}

/* He_p(y; v), of which noise of variance v leaves the mean x^p (docs/math.md, eq. 66) */
static double hermite(unsigned power, double y, double v)
{
    double before = 0, value = 1;
    for (unsigned k = 0; k < power; k++) {
        double next = y * value - k * v * before;
        before = value;
        value = next;
    }
    return value;
}

static double noise_at(const kb_weak_states *w, size_t state, size_t row)
{
    const kb_record *r = w->record;
    double root = r->measured[row + state * r->n_rows];
    return w->variance[state] * r->sd[state] * r->sd[state] / (root > 0 ? root * root : 1);
}

static void monomial_values(const kb_weak_states *w, size_t term, size_t first, size_t n, double *out)
{
    const kb_dictionary *d = w->dictionary;
    for (size_t i = 0; i < n; i++) out[i] = 1;
    for (size_t f = d->factor_start[term]; f < d->factor_start[term + 1]; f++) {
        size_t variable = d->factors[f].variable;
        const double *y = w->point + variable * w->record->n_rows + first;
        bool is_noisy = variable < d->n_states && !d->is_input[variable];
        for (size_t i = 0; i < n; i++)
            out[i] *= hermite(d->factors[f].power, y[i], is_noisy ? noise_at(w, variable, first + i) : 0);
    }
}

/* All terms in use at rows, over their scales, in w->values. */
static void evaluate(kb_weak_states *w, size_t first, size_t n)
{
    for (size_t j = 0; j < w->n_terms; j++) {
        double *out = w->values + j * w->block_rows;
        if (w->dictionary->is_monomial[w->term[j]]) monomial_values(w, w->term[j], first, n, out);
        else kb_dictionary_values(w->dictionary, 1, &w->term[j], n, w->point + first, w->record->n_rows, out, w->work);
        for (size_t i = 0; i < n; i++) out[i] /= w->scale[j];
    }
}

/* ---------------------------------------------------------------- samples */

/* Cells between two measured rows of a state (or before the first, after the last: `end`) lie on the line between. */
static void fill_between(kb_weak_states *w, size_t state, size_t first, size_t end, size_t left, size_t right)
{
    const kb_record *r = w->record;
    const double *q = r->value + state * r->n_rows;
    double low = r->time[left < end ? left : first], high = r->time[right < end ? right : end - 1];
    for (size_t k = left < end ? left + 1 : first; k < right; k++) {
        double share = left >= end ? 1 : right >= end || !(high > low) ? 0 : (r->time[k] - low) / (high - low);
        double value = (left < end ? (1 - share) * q[left] : 0) + (right < end ? share * q[right] : 0);
        w->point[k + state * r->n_rows] = r->mean[state] + r->sd[state] * value;
        w->gap[k] = fmax(w->gap[k], high - low);
    }
}

static void take_state(kb_weak_states *w, size_t run, size_t state)
{
    const kb_record *r = w->record;
    size_t first = r->run_start[run], end = r->run_start[run + 1], left = end;
    for (size_t row = first; row < end; row++) {
        if (!(r->measured[row + state * r->n_rows] > 0)) continue;
        fill_between(w, state, first, end, left, row);
        w->point[row + state * r->n_rows] = r->mean[state] + r->sd[state] * r->value[row + state * r->n_rows];
        left = row;
    }
    fill_between(w, state, first, end, left, end);
}

static void take_samples(kb_weak_states *w)
{
    const kb_record *r = w->record;
    for (size_t run = 0; run < r->n_runs; run++) {
        for (size_t i = 0; i < r->n_states; i++)
            if (!w->dictionary->is_input[i]) take_state(w, run, i);
        for (size_t row = r->run_start[run]; row < r->run_start[run + 1]; row++) {
            w->point[row + r->n_states * r->n_rows] = r->origin[run] + r->span * r->time[row];
            for (size_t i = 0; i < r->n_states; i++)
                if (w->dictionary->is_input[i])
                    w->point[row + i * r->n_rows] =
                        r->mean[i] + r->sd[i] * kb_record_input(r, run, i, r->time[row], NULL);
        }
    }
}

/* ---------------------------------------------------------------- workspace */

kbass_status kb_weak_states_create(const kb_record *record, const kb_dictionary *dictionary, const kb_columns *columns,
                                   const double *variance, kb_weak_states **out, kbass_error *error)
{
    size_t rows = record->n_rows, n = record->n_states, all = dictionary->n_terms;
    kb_weak_states *w = KB_NEW(kb_weak_states, 1);
    if (!w) return kb_out_of_memory(error, "the weak form");
    *w = (kb_weak_states){.record = record, .dictionary = dictionary, .columns = columns, .variance = variance};
    w->term = KB_NEW(size_t, all);
    w->slot = KB_NEW(size_t, all);
    w->scale = KB_NEW(double, all);
    w->point = KB_NEW(double, rows * dictionary->n_variables);
    w->gap = KB_NEW(double, rows);
    w->bump = KB_NEW(double, rows);
    w->slope = KB_NEW(double, rows);
    w->shift = KB_NEW(double, rows);
    bool complete = w->term && w->slot && w->scale && w->point && w->gap && w->bump && w->slope && w->shift;
    if (complete) list_terms(w);
    w->G = KB_NEW(double, w->n_terms * w->n_terms);
    w->b = KB_NEW(double, w->n_terms *n);
    w->squares = KB_NEW(double, n);
    w->X = KB_NEW(double, BLOCK_QUERIES * w->n_terms);
    w->H = KB_NEW(double, BLOCK_QUERIES *n);
    if (!complete || !w->G || !w->b || !w->squares || !w->X || !w->H) {
        kb_weak_states_destroy(w);
        return kb_out_of_memory(error, "the weak form");
    }
    take_samples(w);
    *out = w;
    return KBASS_OK;
}

void kb_weak_states_destroy(kb_weak_states *w)
{
    if (!w) return;
    void *arrays[] = {w->term,   w->slot, w->scale, w->point, w->gap,   w->G,     w->b,   w->squares,
                      w->values, w->X,    w->H,     w->bump,  w->slope, w->shift, w->work};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++) kb_free(arrays[i]);
    kb_free(w);
}

/* ---------------------------------------------------------------- bumps */

/* A bump: its centre, and the rows within a half width of it. */
typedef struct {
    double centre;
    size_t first, end;
} query;

/* Samples enough, and no gap that the bump would have to guess over. */
static bool is_covered(const kb_weak_states *w, const query *q, double h)
{
    const double *time = w->record->time;
    double before = q->centre - h;
    if (q->end < q->first + FEWEST_ROWS) return false;
    for (size_t row = q->first; row < q->end; row++) {
        if (time[row] - before > largest_gap * h || w->gap[row] > largest_gap * h) return false;
        before = time[row];
    }
    return q->centre + h - before <= largest_gap * h;
}

/* The next covered bump of a run with its centre at or after *centre, which moves on; false at the run's end. */
static bool next_query(const kb_weak_states *w, size_t run, double h, double *centre, query *q)
{
    const kb_record *r = w->record;
    for (; *centre <= r->duration[run] - h * (1 - 1e-9); *centre += 0.5 * h) {
        q->centre = *centre;
        while (q->first < r->run_start[run + 1] && r->time[q->first] <= q->centre - h) q->first++;
        if (q->end < q->first) q->end = q->first;
        while (q->end < r->run_start[run + 1] && r->time[q->end] < q->centre + h) q->end++;
        if (!is_covered(w, q, h)) continue;
        *centre += 0.5 * h;
        return true;
    }
    return false;
}

static kbass_status reserve(kb_weak_states *w, size_t rows, kbass_error *error)
{
    if (rows <= w->block_rows) return KBASS_OK;
    kb_free(w->values);
    kb_free(w->work);
    w->values = KB_NEW(double, rows * w->n_terms);
    w->work = KB_NEW(double, kb_dictionary_work(w->dictionary, rows));
    w->block_rows = w->values && w->work ? rows : 0;
    return w->block_rows ? KBASS_OK : kb_out_of_memory(error, "the weak form");
}

/* One row of X and of H: int phi P / scale, and (-1)^m int phi^(m) q less the fixed part, m the order in time. */
static void integrate_bump(kb_weak_states *w, const query *q, double h, size_t block_first, size_t i)
{
    const kb_record *r = w->record;
    size_t n = q->end - q->first, order = (size_t)w->dictionary->time_order;
    const double *values = w->values + (q->first - block_first);
    double unit = pow(-1 / h, (double)order);
    for (size_t k = 0; k < n; k++) w->shift[k] = (r->time[q->first + k] - q->centre) / h;
    kb_bump_derivative(POWER, 0, n, w->shift, w->bump);
    kb_bump_derivative(POWER, order, n, w->shift, w->slope);
    kb_bump_quadrature(n, r->time + q->first, q->centre - h, q->centre + h, w->shift);
    for (size_t k = 0; k < n; k++) w->bump[k] *= w->shift[k] / h, w->slope[k] *= unit * w->shift[k] / h;
    for (size_t j = 0; j < w->n_terms; j++)
        w->X[i + j * BLOCK_QUERIES] = kb_dot(n, values + j * w->block_rows, w->bump);
    for (size_t e = 0; e < r->n_states; e++) {
        const double *u = w->point + e * r->n_rows + q->first;
        double sum = 0;
        for (size_t k = 0; k < n; k++) sum += w->slope[k] * (u[k] - r->mean[e]) / r->sd[e];
        w->H[i + e * BLOCK_QUERIES] = sum;
    }
    for (size_t f = 0; f < w->columns->n_fixed; f++) {
        size_t slot = w->slot[w->columns->fixed_term[f]];
        w->H[i + w->columns->fixed_equation[f] * BLOCK_QUERIES] -=
            w->columns->fixed_weight[f] * w->scale[slot] * w->X[i + slot * BLOCK_QUERIES];
    }
}

/* X'X, X'H and H'H of a block. */
static void add_products(kb_weak_states *w, size_t n)
{
    size_t T = w->n_terms;
    kb_gram(T, n, 1, w->X, BLOCK_QUERIES, 1, w->G, T);
    kb_gemm(KB_TRANSPOSED, KB_PLAIN, T, w->record->n_states, n, 1, w->X, BLOCK_QUERIES, w->H, BLOCK_QUERIES, 1, w->b,
            T);
    for (size_t e = 0; e < w->record->n_states; e++)
        w->squares[e] += kb_dot(n, w->H + e * BLOCK_QUERIES, w->H + e * BLOCK_QUERIES);
    w->n_queries += n;
}

static void forget(kb_weak_states *w)
{
    size_t n = w->record->n_states, T = w->n_terms;
    memset(w->G, 0, T * T * sizeof *w->G);
    memset(w->b, 0, T * n * sizeof *w->b);
    memset(w->squares, 0, n * sizeof *w->squares);
    w->n_queries = 0;
}

static kbass_status add_block(kb_weak_states *w, size_t n, const query *queries, double h, kbass_error *error)
{
    size_t first = queries[0].first, rows = queries[n - 1].end - first;
    kbass_status status = reserve(w, rows, error);
    if (status != KBASS_OK) return status;
    evaluate(w, first, rows);
    for (size_t i = 0; i < n; i++) integrate_bump(w, &queries[i], h, first, i);
    add_products(w, n);
    return KBASS_OK;
}

static kbass_status integrate_run(kb_weak_states *w, size_t run, double h, kbass_error *error)
{
    query queries[BLOCK_QUERIES], next = {0, w->record->run_start[run], w->record->run_start[run]};
    size_t n = 0;
    double centre = h;
    kbass_status status = KBASS_OK;
    while (status == KBASS_OK && next_query(w, run, h, &centre, &next)) {
        if (n == BLOCK_QUERIES || (n && next.end - queries[0].first > BLOCK_ROWS)) {
            status = add_block(w, n, queries, h, error);
            n = 0;
        }
        queries[n++] = next;
    }
    return status == KBASS_OK && n ? add_block(w, n, queries, h, error) : status;
}

kbass_status kb_weak_states_integrate(kb_weak_states *w, double half_width, kbass_error *error)
{
    kbass_status status = KBASS_OK;
    forget(w);
    for (size_t run = 0; status == KBASS_OK && run < w->record->n_runs; run++)
        status = integrate_run(w, run, half_width, error);
    kb_symmetrise(w->n_terms, w->G, w->n_terms);
    if (w->n_queries < FEWEST_QUERIES) w->n_queries = 0;
    w->counted = counted_once;
    return status;
}

/* ---------------------------------------------------------------- messages */

kbass_status kb_weak_states_regression(const kb_weak_states *w, size_t first, kb_subset *subset, kbass_error *error)
{
    size_t n = subset->columns.n, equation = w->columns->equation[first], *slot = KB_NEW(size_t, n);
    double n_bumps = (double)w->n_queries, share = fmin(w->counted, most_counted / n_bumps);
    if (!slot) return kb_out_of_memory(error, "the weak form");
    for (size_t j = 0; j < n; j++) slot[j] = w->slot[w->columns->term[first + j]];
    kb_subset_set_products(subset, w->G, w->n_terms, slot, w->b + equation * w->n_terms, w->squares[equation], n_bumps,
                           share);
    kb_free(slot);
    return KBASS_OK;
}
