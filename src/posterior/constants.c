/* Uncertain constants inside the terms of a belief.
 *
 * w P(u; K) is, one standard deviation s to either side of the constant's estimate, w P(u; K) + d (P(u; K + s) -
 * P(u; K - s)) with d = w (K' - K) / 2 s: two more terms of weight 0 whose weights vary with those of the law and its
 * starts. Whoever draws from the belief need not know of constants (docs/math.md, eq. 89).
 */
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/status.h"
#include "dictionary/constants.h"
#include "posterior/posterior.h"

typedef struct {
    const kb_frame *frame;
    const kb_fit *fit;
    const kb_constants_spread *spread;
    size_t n_start, first_window; /* of the fit: unknowns of a window's start; the run's first window */
    kbass_posterior *posterior;
} setting;

static const double least = 1e-5; /* share of a range, so that its ends differ in the digits that terms have */

/* The two shares of a constant's range, about a standard deviation to either side. */
static void sides(const kb_constants_spread *s, size_t a, double share[2])
{
    double sd = fmax(sqrt(s->C[a + a * s->n]), least);
    share[0] = fmin(s->share[a] + sd, 1);
    share[1] = fmax(s->share[a] - sd, 0);
}

/* Does the term change with the constant? Delays of inputs are not in it, a factor K is in its weight. */
static bool is_in_form(const setting *s, size_t term, size_t a)
{
    const kb_dictionary *d = s->frame->dictionary;
    size_t constant = s->spread->constant[a];
    char *names[2] = {NULL, NULL};
    double share[2];
    bool is_delay = false;
    for (size_t i = 0; i < d->n_states; i++) is_delay = is_delay || d->delay_constant[i] == constant;
    if (is_delay || !kb_dictionary_form(d, term) || !kb_dictionary_names_constant(d, term, constant)) return false;
    sides(s->spread, a, share);
    for (int side = 0; side < 2; side++)
        (void)kb_dictionary_name_at(d, term, constant, share[side], &names[side], NULL);
    bool changes = names[0] && names[1] && strcmp(names[0], names[1]) != 0;
    kb_free(names[0]);
    kb_free(names[1]);
    return changes;
}

static size_t count(const setting *s)
{
    size_t n = 0;
    for (size_t q = 0; q < s->fit->support.n; q++)
        for (size_t a = 0; a < s->spread->n; a++)
            n += 2 * is_in_form(s, s->frame->columns->term[s->fit->support.column[q]], a);
    return n;
}

/* The old belief's terms, then the new ones; g: gradients by share of all weights, n_terms x n. */
static kbass_status add_terms(const setting *s, const kb_belief *old, kb_belief *b, double *g, kbass_error *error)
{
    const kb_columns *c = s->frame->columns;
    const kb_constants_spread *spread = s->spread;
    size_t at = old->n_terms, n = b->n_terms;
    for (size_t i = 0; i < old->n_terms; i++) {
        b->term[i] = kb_strdup(old->term[i]);
        b->equation[i] = old->equation[i];
        b->weight[i] = old->weight[i];
        if (!b->term[i]) return kb_out_of_memory(error, "the posterior");
    }
    for (size_t q = 0; q < s->fit->support.n; q++) {
        size_t column = s->fit->support.column[q], own = c->n_fixed + q;
        for (size_t a = 0; a < spread->n; a++) {
            double share[2];
            g[own + a * n] = c->unit[column] * spread->weights[q + a * spread->n_weights];
            if (!is_in_form(s, c->term[column], a)) continue;
            sides(spread, a, share);
            for (size_t side = 0; side < 2; side++, at++) {
                kbass_status status = kb_dictionary_name_at(s->frame->dictionary, c->term[column], spread->constant[a],
                                                            share[side], &b->term[at], error);
                if (status != KBASS_OK) return status;
                b->equation[at] = old->equation[own];
                g[at + a * n] = (side ? -1 : 1) * old->weight[own] / (share[0] - share[1]);
            }
        }
    }
    return KBASS_OK;
}

/* d start / d share of a window's unknowns, in the belief's units. */
static void add_starts(const setting *s, size_t window, size_t k, size_t stride, double *g)
{
    const kb_dictionary *d = s->frame->dictionary;
    const kbass_posterior *p = s->posterior;
    for (size_t a = 0; a < s->spread->n; a++) {
        const double *from = s->spread->starts + a * s->spread->n_starts + window * s->n_start;
        for (size_t i = 0, state = 0; i < p->n_start; i++, state++) {
            while (p->n_axes == 1 && !d->has_equation[state]) state++;
            g[k + i + a * stride] = (p->n_axes == 1 ? s->frame->sd[state] : 1) * from[state];
        }
    }
}

/* V = V given the constants, with rows of zeros for the new terms, + g C g' */
static void widen(const kb_constants_spread *s, size_t n_old, size_t n_new, size_t n_start, const double *old,
                  const double *g, double *V)
{
    size_t before = n_old + n_start, size = n_new + n_start;
    for (size_t j = 0; j < before; j++)
        for (size_t i = 0; i < before; i++) {
            size_t to_i = i < n_old ? i : i + n_new - n_old, to_j = j < n_old ? j : j + n_new - n_old;
            V[to_i + to_j * size] = old[i + j * before];
        }
    for (size_t j = 0; j < size; j++)
        for (size_t i = 0; i < size; i++)
            for (size_t a = 0; a < s->n; a++)
                for (size_t b = 0; b < s->n; b++)
                    V[i + j * size] += g[i + a * size] * s->C[a + b * s->n] * g[j + b * size];
}

static kbass_status widen_windows(const setting *s, const kb_belief *old, kb_belief *b, const double *terms,
                                  kbass_error *error)
{
    size_t k = b->n_terms, n_start = s->posterior->n_start, size = k + n_start, n = s->spread->n;
    double *g = KB_NEW(double, size *n);
    if (!g) return kb_out_of_memory(error, "the posterior");
    for (size_t a = 0; a < n; a++) memcpy(g + a * size, terms + a * k, k * sizeof *g);
    for (size_t w = 0; w < b->n_windows; w++) {
        b->windows[w].first = old->windows[w].first;
        b->windows[w].last = old->windows[w].last;
        memcpy(b->windows[w].start, old->windows[w].start, n_start * sizeof *g);
        add_starts(s, s->first_window + w, k, size, g);
        widen(s->spread, old->n_terms, k, n_start, old->windows[w].covariance, g, b->windows[w].covariance);
    }
    kb_free(g);
    return KBASS_OK;
}

kbass_status kb_posterior_add_constants(kbass_posterior *p, const kb_frame *frame, const kb_fit *fit, size_t n_start,
                                        size_t first_window, const kb_constants_spread *spread, kbass_error *error)
{
    const setting s = {frame, fit, spread, n_start, first_window, p};
    kb_belief *old = &p->models[0], wide;
    size_t added = count(&s);
    if (!added || spread->n_weights != fit->support.n || old->n_terms != frame->columns->n_fixed + fit->support.n)
        return KBASS_OK;
    kbass_status status = kb_belief_allocate(p, old->n_terms + added, old->n_windows, &wide, error);
    if (status != KBASS_OK) return status;
    double *g = KB_NEW(double, wide.n_terms * spread->n);
    wide.n_constant_terms = added;
    wide.log_odds = old->log_odds;
    memcpy(wide.noise, old->noise, p->n_states * sizeof *wide.noise);
    status = g ? add_terms(&s, old, &wide, g, error) : kb_out_of_memory(error, "the posterior");
    if (status == KBASS_OK) status = widen_windows(&s, old, &wide, g, error);
    kb_free(g);
    if (status != KBASS_OK) {
        kb_belief_clear(&wide);
        return status;
    }
    kb_belief_clear(old);
    *old = wide;
    return KBASS_OK;
}
