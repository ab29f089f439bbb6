#include "weights/ties.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/status.h"
#include "dictionary/constraints.h"
#include "weights/constraints.h"

static bool is_homogeneous(const kb_constraints *s, size_t component)
{
    for (size_t i = 0; i < s->n; i++)
        if (s->equalities[i].component == component && s->equalities[i].right != 0) return false;
    return true;
}

/* The columns of a component as a group, where one free number is left to them and none can but be 0. */
static bool tie(const kb_columns *c, size_t component, kb_ties *t)
{
    size_t columns[KB_MOST_TIED];
    double C[KB_MOST_TIED * KB_MOST_TIED];
    kb_support all = {0, columns};
    for (size_t j = 0; j < c->n; j++)
        if (c->constraints->component[j] == component) columns[all.n++] = j;
    if (all.n < 2 || !is_homogeneous(c->constraints, component)) return false;
    if (kb_constraints_basis(c, &all, NULL, C) != 1) return false;
    for (size_t q = 0; q < all.n; q++)
        if (C[q] == 0) return false;
    for (size_t q = 0; q < all.n; q++) {
        t->lead[columns[q]] = columns[0];
        t->factor[columns[q]] = C[q] / C[0];
    }
    return true;
}

kbass_status kb_ties_create(const kb_columns *c, kb_ties **out, kbass_error *error)
{
    bool any = false;
    *out = NULL;
    kb_ties *t = KB_NEW(kb_ties, 1);
    if (t) t->lead = KB_NEW(size_t, c->n), t->factor = KB_NEW(double, c->n);
    if (!t || !t->lead || !t->factor) {
        kb_ties_destroy(t);
        return kb_out_of_memory(error, "the constraints");
    }
    for (size_t j = 0; j < c->n; j++) t->lead[j] = j, t->factor[j] = 1;
    for (size_t i = 0; i < c->constraints->n_components; i++) any = tie(c, i, t) || any;
    if (any) *out = t;
    else kb_ties_destroy(t);
    return KBASS_OK;
}

void kb_ties_destroy(kb_ties *t)
{
    if (!t) return;
    kb_free(t->lead);
    kb_free(t->factor);
    kb_free(t);
}

static size_t place_of(const kb_support *support, size_t column)
{
    size_t q = 0;
    while (q < support->n && support->column[q] != column) q++;
    return q;
}

static const kb_ties *ties_of(const kb_columns *c) { return c->constraints ? c->constraints->ties : NULL; }

double kb_ties_factor(const kb_columns *c, const kb_support *support, const double *scale, size_t place)
{
    const kb_ties *t = ties_of(c);
    if (!t) return 1;
    size_t column = support->column[place], lead = place_of(support, t->lead[column]);
    return t->factor[column] * (scale ? scale[place] / scale[lead] : 1);
}

size_t kb_ties_number(const kb_columns *c, const kb_support *support, size_t *group)
{
    const kb_ties *t = ties_of(c);
    size_t n = 0;
    for (size_t q = 0; q < support->n; q++) {
        size_t lead = t ? t->lead[support->column[q]] : support->column[q];
        group[q] = lead == support->column[q] ? n++ : group[place_of(support, lead)];
    }
    return n;
}

/* G <- M'GM, b <- M'b with M (k x n) the factors of each place in its group's column; out: k x k */
static void merge_message(const kb_columns *c, const kb_support *support, const double *scale, const size_t *group,
                          size_t n, double *G, double *b, double *out)
{
    size_t k = support->n;
    memset(out, 0, n * n * sizeof *out);
    for (size_t j = 0; j < k; j++) {
        double f = kb_ties_factor(c, support, scale, j);
        for (size_t i = 0; i < k; i++)
            out[group[i] + group[j] * n] += kb_ties_factor(c, support, scale, i) * G[i + j * k] * f;
        double sum = f * b[j]; /* leads come before the others of their group */
        b[group[j]] = support->column[j] == ties_of(c)->lead[support->column[j]] ? sum : b[group[j]] + sum;
    }
    memcpy(G, out, n * n * sizeof *out);
}

/* Said once of each group: the mean of its members' precisions and log odds; a required one is that. */
static void merge_priors(const kb_columns *c, const kb_support *support, const double *scale, const size_t *group,
                         size_t n, double *slab, double *log_odds)
{
    for (size_t g = 0; g < n; g++) {
        double members = 0, precision = 0, odds = 0, required = -INFINITY;
        for (size_t q = g; q < support->n; q++) {
            double f = group[q] == g ? kb_ties_factor(c, support, scale, q) : 0;
            if (group[q] != g) continue;
            members++;
            precision += f * f / slab[q];
            odds += log_odds[q];
            if (c->required[support->column[q]]) required = log_odds[q];
        }
        slab[g] = members / precision;
        log_odds[g] = required > -INFINITY ? required : odds / members;
    }
}

size_t kb_ties_merge(const kb_columns *c, const kb_support *support, const double *scale, double *G, double *b,
                     double *slab, double *log_odds, size_t *group, double *work)
{
    size_t n = kb_ties_number(c, support, group);
    if (!ties_of(c)) return n;
    merge_message(c, support, scale, group, n, G, b, work);
    merge_priors(c, support, scale, group, n, slab, log_odds);
    return n;
}
