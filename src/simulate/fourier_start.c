/* The first coefficients: Fourier's integrals of the initial condition by sums over many nodes, the same at every
 * resolution, so that a profile whose ends do not meet is the same problem for all.
 */
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/status.h"
#include "simulate/fourier.h"

static const double ROUGH = 1e-11; /* share of the largest coefficient that counts */

static size_t initial_nodes(const kb_series *s)
{
    size_t usual = s->pde->n_space == 1 ? 16384 : s->pde->n_space == 2 ? 256 : 64;
    size_t needed = s->n * (s->pde->n_space == 1 ? 4 : 2);
    if (s->pde->initial_nodes) return s->pde->initial_nodes;
    if (s->pde->table) return s->pde->table->axes[0].n;
    return usual > needed ? usual : needed;
}

/* Gregory's weights near an end of an integral. */
static double end_weight(size_t k)
{
    enum { ORDER = 7 };
    static const double gregory[ORDER + 1] = {0,         1.0 / 12,      1.0 / 24,      19.0 / 720,
                                              3.0 / 160, 863.0 / 60480, 275.0 / 24192, 33953.0 / 3628800};
    double weight = k ? 1 : 0.5, binomial = 1;
    if (k > ORDER) return 1;
    for (size_t m = k; m <= ORDER; m++) {
        weight += (k % 2 ? 1 : -1) * gregory[m] * binomial;
        binomial *= (double)(m + 1) / (double)(m + 1 - k);
    }
    return weight;
}

/* Of node k along an axis in Fourier's integrals. The node at the seam counts at the near and at the far end. Equal
   weights are best for a periodic function; one whose ends do not meet `has_ends`. */
static double node_weight(const kb_series *s, size_t k, size_t fine, bool is_far, bool has_ends)
{
    if (k && is_far) return 0;
    if (s->pde->initial_nodes) return k || is_far;
    if (!has_ends) return k ? 1 : 0.5;
    return k ? end_weight(k) * end_weight(fine - k) : end_weight(0);
}

/* The initial condition at n nodes along each axis and in all. */
typedef struct {
    size_t n, total;
    kb_fft fft;
    double *places, *value;
    kb_complex *table;
} profile;

static bool create_profile(const kb_series *s, profile *p)
{
    p->n = initial_nodes(s);
    p->total = 1;
    for (size_t d = 0; d < s->pde->n_space; d++) p->total *= p->n;
    p->places = KB_NEW(double, p->total * s->pde->n_space);
    p->value = KB_NEW(double, p->total);
    p->table = KB_NEW(kb_complex, p->total);
    return kb_fft_create(&p->fft, p->n, s->pde->n_space) && p->places && p->value && p->table;
}

static void clear_profile(profile *p)
{
    kb_fft_clear(&p->fft);
    kb_free(p->places);
    kb_free(p->value);
    kb_free(p->table);
}

/* Adds the weighted values, nodes at the seam at the far end of axis d when bit d of `far` is set. */
static kbass_status add_values(const kb_series *s, size_t state, unsigned far, bool has_ends, profile *p,
                               kbass_error *error)
{
    const double *columns[KB_MOST_SPACE];
    for (size_t d = 0; d < s->pde->n_space; d++) {
        const kb_nodes *axis = &s->axes[d];
        columns[d] = p->places + d * p->total;
        for (size_t i = 0; i < p->total; i++) {
            size_t k = kb_index_along(i, p->n, d);
            double share = k == 0 && (far >> d & 1) ? 1 : (double)k / (double)p->n;
            p->places[i + d * p->total] = axis->low + (axis->high - axis->low) * share;
        }
    }
    kbass_status status = kb_pde_initial(s->pde, state, p->total, columns, p->value, error);
    for (size_t i = 0; i < p->total && status == KBASS_OK; i++) {
        double weight = 1;
        for (size_t d = 0; d < s->pde->n_space; d++)
            weight *= node_weight(s, kb_index_along(i, p->n, d), p->n, far >> d & 1, has_ends);
        p->table[i] += weight * p->value[i];
    }
    return status;
}

/* The profile's Fourier coefficients. */
static kbass_status transform_profile(const kb_series *s, size_t state, bool has_ends, profile *p, kbass_error *error)
{
    kbass_status status = KBASS_OK;
    memset(p->table, 0, p->total * sizeof *p->table);
    for (unsigned far = 0; far < 1u << s->pde->n_space && status == KBASS_OK; far++)
        status = add_values(s, state, far, has_ends, p, error);
    if (status == KBASS_OK) kb_fft_forward(&p->fft, p->table);
    return status;
}

/* Whether the highest third of the coefficients counts beside the largest. */
static bool is_rough(size_t n, size_t n_axes, size_t total, const kb_complex *table)
{
    double largest = 0, high = 0;
    for (size_t i = 0; i < total; i++) {
        double size = cabs(table[i]);
        bool is_high = false;
        for (size_t d = 0; d < n_axes; d++) {
            size_t k = kb_index_along(i, n, d);
            is_high |= 3 * k > n && 3 * (n - k) > n;
        }
        largest = fmax(largest, size);
        if (is_high) high = fmax(high, size);
    }
    return high > ROUGH * largest;
}

/* Copies the coefficients that both resolutions have. */
static void take_coefficients(const kb_series *s, const profile *p, kb_complex *to)
{
    for (size_t i = 0; i < s->total; i++) {
        size_t at = 0, stride = 1;
        bool is_shared = true;
        for (size_t d = 0; d < s->pde->n_space; d++, stride *= p->n) {
            size_t k = kb_index_along(i, s->n, d);
            is_shared &= p->n == s->n || 2 * k != s->n;
            size_t mirrored = 2 * k < s->n ? k : s->n - k;
            is_shared &= 2 * mirrored < p->n || p->n >= s->n;
            at += stride * (!is_shared ? 0 : 2 * k < s->n ? k : p->n - mirrored);
        }
        to[i] = is_shared ? p->table[at] : 0;
    }
}

kbass_status kb_series_start(kb_series *s, size_t state, kbass_error *error)
{
    profile p = {0};
    size_t n_axes = s->pde->n_space;
    kbass_status status = create_profile(s, &p) ? KBASS_OK : kb_out_of_memory(error, "the initial condition");
    if (status == KBASS_OK) status = transform_profile(s, state, false, &p, error);
    if (status == KBASS_OK && !s->pde->initial_nodes && !s->pde->table && is_rough(p.n, n_axes, p.total, p.table))
        status = transform_profile(s, state, true, &p, error);
    if (status == KBASS_OK) {
        take_coefficients(s, &p, s->v + state * s->total);
        s->is_rough |= is_rough(s->n, n_axes, s->total, s->v + state * s->total);
    }
    clear_profile(&p);
    return status;
}
