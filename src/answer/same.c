#include "answer/same.h"

#include <math.h>

#include "base/memory.h"
#include "base/status.h"

bool kb_is_at_rest(const kb_frame *frame, const kb_search_result *found, size_t state)
{
    const kb_dictionary *d = frame->dictionary;
    const kb_columns *c = frame->columns;
    const kb_support *law = &found->pool.fits[0]->support;
    bool is_sought = false;
    if (!frame->starts_with_states || frame->n_runs != 1 || found->windows->n != 1) return false;
    if (!law->n || !d->has_equation[state] || d->is_known[state]) return false;
    for (size_t q = 0; q < law->n; q++)
        if (c->equation[law->column[q]] == state) return false;
    for (size_t i = 0; i < c->n; i++) is_sought = is_sought || c->equation[i] == state;
    for (size_t q = 0; q < c->n_fixed; q++)
        if (c->fixed_equation[q] == state) return false;
    return is_sought;
}

/* Power of a variable in a term that is a monomial. */
static unsigned power_of(const kb_dictionary *d, size_t term, size_t variable)
{
    for (size_t i = d->factor_start[term]; i < d->factor_start[term + 1]; i++)
        if (d->factors[i].variable == variable) return d->factors[i].power;
    return 0;
}

/* a over b: b knows no state at rest, and all other powers are equal. *ratio: the product of the states at rest. */
static bool is_multiple(const kb_dictionary *d, const bool *rests, const double *value, size_t a, size_t b,
                        double *ratio)
{
    *ratio = 1;
    if (!d->is_monomial[a] || !d->is_monomial[b]) return false;
    for (size_t v = 0; v < d->n_variables; v++) {
        unsigned own = power_of(d, a, v), other = power_of(d, b, v);
        bool is_still = v < d->n_states && rests[v];
        if (is_still ? other > 0 : own != other) return false;
        if (is_still) *ratio *= pow(value[v], own);
    }
    return true;
}

static void find_columns(const kb_frame *frame, const bool *rests, const double *value, kb_same *out)
{
    const kb_columns *c = frame->columns;
    for (size_t a = 0; a < c->n; a++)
        for (size_t b = 0; b < c->n && !c->required[a]; b++) {
            double ratio;
            if (a == b || c->equation[a] != c->equation[b]) continue;
            if (!is_multiple(frame->dictionary, rests, value, c->term[a], c->term[b], &ratio)) continue;
            out->column[a] = b;
            out->ratio[a] = ratio * c->unit[a] / c->unit[b];
        }
}

/* Where the law has y*z and not y, y*z stands for the others. */
static void prefer_chosen(const kb_support *law, size_t n, kb_same *s)
{
    for (size_t q = 0; q < law->n; q++) {
        size_t chosen = law->column[q], stood = s->column[chosen];
        double ratio = s->ratio[chosen];
        if (stood == chosen || kb_support_has(law, stood)) continue;
        for (size_t c = 0; c < n; c++)
            if (s->column[c] == stood) s->column[c] = chosen, s->ratio[c] /= ratio;
    }
}

kbass_status kb_same_find(const kb_frame *frame, const kb_search_result *found, kb_same *out, kbass_error *error)
{
    size_t n = frame->columns->n, states = frame->dictionary->n_states, n_still = 0;
    bool *rests = KB_NEW(bool, states);
    double *value = KB_NEW(double, states);
    *out = (kb_same){KB_NEW(size_t, n), KB_NEW(double, n)};
    bool complete = rests && value && out->column && out->ratio;
    for (size_t c = 0; complete && c < n; c++) out->column[c] = c, out->ratio[c] = 1;
    for (size_t i = 0; complete && !frame->columns->constraints && i < states; i++) {
        rests[i] = kb_is_at_rest(frame, found, i);
        if (rests[i]) value[i] = frame->mean[i] + frame->sd[i] * found->pool.fits[0]->start[i];
        n_still += rests[i];
    }
    if (complete && n_still) find_columns(frame, rests, value, out);
    if (complete && n_still) prefer_chosen(&found->pool.fits[0]->support, n, out);
    kb_free(rests);
    kb_free(value);
    if (complete) return KBASS_OK;
    kb_same_clear(out);
    return kb_out_of_memory(error, "the answer");
}

void kb_same_clear(kb_same *same)
{
    kb_free(same->column);
    kb_free(same->ratio);
    *same = (kb_same){0};
}
