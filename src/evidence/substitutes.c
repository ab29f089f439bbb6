#include "evidence/substitutes.h"

#include <math.h>
#include <string.h>

#include "base/linalg.h"
#include "base/memory.h"
#include "base/status.h"
#include "evidence/thresholds.h"
#include "weights/constraints.h"

/* Candidates of one equation given the law without one of its terms. */
typedef struct {
    size_t n, *column; /* the term first, then all candidates outside the law */
    size_t *others;    /* the law's other columns */
    double *R;         /* n x n: their precisions, the law's other weights adapted */
    double *factor, *rows;
} rest;

static kbass_status rest_create(size_t n, size_t k, rest *r, kbass_error *error)
{
    r->column = KB_NEW(size_t, n);
    r->others = KB_NEW(size_t, k);
    r->R = KB_NEW(double, n *n);
    r->factor = KB_NEW(double, k *k);
    r->rows = KB_NEW(double, k *n);
    return r->column && r->others && r->R && r->factor && r->rows ? KBASS_OK
                                                                  : kb_out_of_memory(error, "terms that are alike");
}

static void rest_clear(rest *r)
{
    kb_free(r->column);
    kb_free(r->others);
    kb_free(r->R);
    kb_free(r->factor);
    kb_free(r->rows);
}

/* A weight that constraints tie to others does not go alone. */
static bool is_tied(const kb_columns *columns, size_t column)
{
    return columns->constraints && columns->constraints->component[column] != KB_NO_COMPONENT;
}

/* R = G_xx - G_xs G_ss^{-1} G_sx: x the term and the candidates of its equation, s the law without the term */
static bool condition(const kb_message *m, const kb_columns *columns, const kb_support *law, size_t term, rest *r)
{
    size_t k = 0, n = m->n, *s = r->others;
    for (size_t q = 0; q < law->n; q++)
        if (law->column[q] != term) s[k++] = law->column[q];
    r->n = 0;
    r->column[r->n++] = term;
    for (size_t c = 0; c < columns->n; c++)
        if (columns->equation[c] == columns->equation[term] && !kb_support_has(law, c) && !is_tied(columns, c))
            r->column[r->n++] = c;
    for (size_t j = 0; j < k; j++)
        for (size_t i = 0; i < k; i++)
            r->factor[i + j * k] = m->G[s[i] + s[j] * n] * (i == j ? 1 + kb_threshold.collinear : 1);
    if (k && !kb_cholesky(k, r->factor, k)) return false;
    for (size_t j = 0; j < r->n; j++)
        for (size_t i = 0; i < k; i++) r->rows[i + j * k] = m->G[s[i] + r->column[j] * n];
    if (k) kb_lower_solve(k, r->n, r->factor, k, r->rows, k);
    for (size_t j = 0; j < r->n; j++)
        for (size_t i = 0; i < r->n; i++) {
            double own = m->G[r->column[i] + r->column[j] * n];
            r->R[i + j * r->n] = own - kb_dot(k, r->rows + i * k, r->rows + j * k);
            if (i == j && r->R[i + j * r->n] <= kb_threshold.collinear * own)
                r->R[i + j * r->n] = 0; /* in the span of the law */
        }
    return r->R[0] > 0;
}

/* What one or two columns leave of the term's precision; their weights for a weight of 1. */
static double left_over(const rest *r, size_t a, size_t b, double weight[2])
{
    size_t n = r->n;
    double aa = r->R[a + a * n], ca = r->R[a];
    if (!(aa > 0)) return INFINITY;
    weight[0] = ca / aa;
    weight[1] = 0;
    if (a == b) return r->R[0] - ca * ca / aa;
    double ab = r->R[a + b * n], bb = r->R[b + b * n], cb = r->R[b], determinant = aa * bb - ab * ab;
    if (!(determinant > kb_threshold.collinear * aa * bb)) return INFINITY;
    weight[0] = (bb * ca - ab * cb) / determinant;
    weight[1] = (aa * cb - ab * ca) / determinant;
    return r->R[0] - weight[0] * ca - weight[1] * cb;
}

/* The best column (pair: the best two) to stand for the term; false when none does within the noise. */
static bool search(const rest *r, bool pairs, double w, kb_substitute *out)
{
    double best = INFINITY, weight[2];
    for (size_t a = 1; a < r->n; a++)
        for (size_t b = pairs ? a + 1 : a; b < (pairs ? r->n : a + 1); b++) {
            double left = fmax(left_over(r, a, b, weight), 0);
            if (!(left < best)) continue;
            best = left;
            *out = (kb_substitute){.column = r->column[0],
                                   .n = pairs ? 2 : 1,
                                   .other = {r->column[a], r->column[b]},
                                   .weight = {w * weight[0], w * weight[1]},
                                   .loss = 0.5 * w * w * left,
                                   .share = left / r->R[0]};
        }
    return isfinite(best) && out->loss <= kb_threshold.within_noise && out->share <= kb_threshold.hardly_any;
}

kbass_status kb_substitutes_find(const kb_message *message, const kb_columns *columns, const kb_support *support,
                                 const double *w, kb_substitute *substitutes, size_t *n, kbass_error *error)
{
    rest r = {0};
    kbass_status status = rest_create(columns->n + 1, support->n, &r, error);
    *n = 0;
    for (size_t q = 0; status == KBASS_OK && q < support->n; q++) {
        size_t term = support->column[q];
        if (columns->required[term] || is_tied(columns, term) || !condition(message, columns, support, term, &r))
            continue;
        if (search(&r, false, w[term], &substitutes[*n]) || search(&r, true, w[term], &substitutes[*n])) ++*n;
    }
    rest_clear(&r);
    return status;
}

/* ---------------------------------------------------------------- fitted models */

/* What a fitted model has in place of a column of the law; false unless that is one to three columns of its equation.
 */
static bool replaces(const kb_fit *fit, const kb_fit *law, const kb_columns *columns, size_t column, kb_substitute *out)
{
    out->n = 0;
    if (kb_support_has(&fit->support, column) || fit->support.n > law->support.n + KB_MOST_SUBSTITUTED - 1)
        return false;
    for (size_t q = 0; q < law->support.n; q++)
        if (law->support.column[q] != column && !kb_support_has(&fit->support, law->support.column[q])) return false;
    for (size_t q = 0; q < fit->support.n; q++) {
        size_t c = fit->support.column[q];
        if (kb_support_has(&law->support, c)) continue;
        if (out->n == KB_MOST_SUBSTITUTED || columns->equation[c] != columns->equation[column]) return false;
        out->other[out->n] = c;
        out->weight[out->n++] = fit->w[c];
    }
    return out->n > 0;
}

/* log evidence without what is paid for the weights: 1/2 log|slab / covariance| and their prior odds. NaN: no memory.
 */
static double quality(const kb_fit *fit, const kb_columns *columns)
{
    size_t k = fit->support.n;
    double *factor = KB_NEW(double, k *k), price = NAN;
    if (factor) {
        memcpy(factor, fit->covariance, k * k * sizeof *factor);
        if (kb_cholesky(k, factor, k))
            price = -0.5 * kb_cholesky_logdet(k, factor, k) - kb_support_log_prior(&fit->support, columns);
        for (size_t q = 0; q < k; q++) price += 0.5 * log(columns->slab[fit->support.column[q]]);
    }
    kb_free(factor);
    return fit->log_evidence + price;
}

bool kb_substitute_in_pool(const kb_pool *pool, const kb_columns *columns, size_t column, kb_substitute *out)
{
    const kb_fit *law = pool->fits[0];
    double explained = 0.5 * law->w[column] * law->w[column] / kb_fit_variance(law, column);
    double own = quality(law, columns);
    if (columns->required[column] || !(kb_threshold.within_noise <= kb_threshold.hardly_any * explained)) return false;
    for (size_t i = 1; i < pool->n && pool->fits[i]->valid; i++) {
        const kb_fit *fit = pool->fits[i];
        *out = (kb_substitute){.column = column};
        if (fit->n_rows != law->n_rows || !replaces(fit, law, columns, column, out)) continue;
        out->loss = fmax(own - quality(fit, columns), 0);
        out->share = out->loss / explained;
        if (out->loss <= kb_threshold.within_noise) return true;
    }
    return false;
}
