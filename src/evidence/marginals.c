#include "evidence/marginals.h"

#include <math.h>
#include <stdbool.h>

#include "base/memory.h"
#include "base/status.h"

/* Where a model differs from the first: one equation's number, or one of these. */
#define NOWHERE ((size_t)-1)
#define SEVERAL ((size_t)-2)

typedef struct {
    const kb_marginals *models;
    size_t *differs; /* n: where each model does */
    double *rest;    /* equations: 1 / (1 + a), a the odds of all other right-hand sides of an equation */
    double *first; /* equations: share of all laws with the first model's right-hand side, but those fitted jointly, */
    double *other; /* n: and with a model's own in the only equation where it differs */
    double none;   /* prod of rest: share of the first model among all products */
} work;

static uint64_t side(const kb_marginals *m, size_t model, size_t e) { return m->side[e + model * m->equations]; }

static bool is_first(const kb_marginals *m, size_t model, size_t e) { return side(m, model, e) == side(m, 0, e); }

static size_t where_differs(const kb_marginals *m, size_t model)
{
    size_t found = NOWHERE;
    for (size_t e = 0; e < m->equations; e++)
        if (!is_first(m, model, e)) found = found == NOWHERE ? e : SEVERAL;
    return found;
}

/* Shares of single right-hand sides, as if all products of them were laws. */
static void weigh_sides(work *w)
{
    const kb_marginals *m = w->models;
    w->none = 1;
    for (size_t e = 0; e < m->equations; e++) {
        double others = 0;
        for (size_t i = 0; i < m->n; i++)
            if (w->differs[i] == e) others += m->odds[i];
        w->first[e] = w->rest[e] = 1 / (1 + others);
        w->none *= w->rest[e];
    }
    for (size_t i = 0; i < m->n; i++)
        if (w->differs[i] < m->equations) w->other[i] = m->odds[i] * w->rest[w->differs[i]];
}

/* The model with the same right-hand side of an equation that differs from the first in nothing else; n: none. */
static size_t find_single(const work *w, size_t model, size_t e)
{
    const kb_marginals *m = w->models;
    size_t i = 0;
    while (i < m->n && !(w->differs[i] == e && side(m, i, e) == side(m, model, e))) i++;
    return i;
}

/* The share that the product of a model's right-hand sides has; 0 where one of them stands in no other model. */
static double share_of_product(const work *w, size_t model)
{
    const kb_marginals *m = w->models;
    double share = 1;
    for (size_t e = 0; e < m->equations && share > 0; e++) {
        size_t single = is_first(m, model, e) ? m->n : find_single(w, model, e);
        share *= is_first(m, model, e) ? w->rest[e] : single < m->n ? m->odds[single] * w->rest[e] : 0;
    }
    return share;
}

/* A model that was fitted with several other right-hand sides stands for itself, and not as their product. */
static void take_product(work *w, size_t model, double product)
{
    const kb_marginals *m = w->models;
    for (size_t e = 0; e < m->equations && product > 0; e++) {
        if (is_first(m, model, e)) w->first[e] -= product;
        else w->other[find_single(w, model, e)] -= product;
    }
}

/* The share of an equation's right-hand side that a model stands for: what the first model's has is shared with those
   that differ elsewhere, so that its weights spread as theirs do. */
static double marginal(const work *w, size_t model, size_t e, double elsewhere)
{
    const kb_marginals *m = w->models;
    if (w->differs[model] == SEVERAL) return m->odds[model] * w->none;
    if (w->differs[model] == e) return w->other[model];
    return w->first[e] * m->odds[model] / elsewhere;
}

static void fill(work *w)
{
    const kb_marginals *m = w->models;
    double total = 1;
    weigh_sides(w);
    for (size_t i = 0; i < m->n; i++) {
        if (w->differs[i] != SEVERAL) continue;
        double product = share_of_product(w, i);
        total += m->odds[i] * w->none - product;
        take_product(w, i, product);
    }
    for (size_t e = 0; e < m->equations; e++) {
        double elsewhere = 0;
        for (size_t i = 0; i < m->n; i++)
            if (w->differs[i] != SEVERAL && w->differs[i] != e) elsewhere += m->odds[i];
        for (size_t i = 0; i < m->n; i++)
            m->marginal[e + i * m->equations] = fmax(marginal(w, i, e, elsewhere), 0) / total;
    }
    for (size_t i = 0; i < m->n; i++) m->share[i] = m->odds[i] * w->none / total;
}

kbass_status kb_marginals_fill(const kb_marginals *m, kbass_error *error)
{
    work w = {.models = m,
              .differs = KB_NEW(size_t, m->n + 1),
              .rest = KB_NEW(double, m->equations + 1),
              .first = KB_NEW(double, m->equations + 1),
              .other = KB_NEW(double, m->n + 1)};
    bool complete = w.differs && w.rest && w.first && w.other;
    for (size_t i = 0; complete && i < m->n; i++) w.differs[i] = where_differs(m, i);
    if (complete) fill(&w);
    kb_free(w.differs);
    kb_free(w.rest);
    kb_free(w.first);
    kb_free(w.other);
    return complete ? KBASS_OK : kb_out_of_memory(error, "the average over models");
}
