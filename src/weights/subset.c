#include "weights/subset.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "base/linalg.h"
#include "base/memory.h"
#include "base/status.h"

enum { ROUNDS = 24 };                       /* rounds: of moves and noise in turn */
enum { CLIMB = 4 };                         /* moves: between two estimates of the noise */
enum { LONG_CLIMB = 40 };                   /* moves: of a climb to a rival */
enum { SEARCHES = 12 };                     /* rounds: of pairs */
enum { NOISE_STEPS = 4 };                   /* steps: of the noise at fixed terms */
enum { BLOCK = 32 };                        /* columns of a reduced message at a time: they stay in the cache */
static const double settled = 0.02;         /* change of the log of the noise variance */
static const double least_variance = 1e-12; /* of the noise, as a share of the left-hand side's */
static const double least_gain = 1e-3;      /* nats */
static const double most_share = 0.5;       /* of the rows that a set may have columns */

static kbass_status allocate(kb_subset *s, size_t n, kbass_error *error)
{
    s->columns.n = n;
    s->work = KB_NEW(double, kb_message_work(n));
    s->mean = KB_NEW(double, n);
    s->reduced = KB_NEW(double, n *(BLOCK + 3));
    s->required = KB_NEW(bool, n);
    s->numbers = KB_NEW(double, 4 * n);
    s->places = KB_NEW(size_t, 2 * n);
    kbass_status status = kb_message_create(n, &s->unit, error);
    if (status == KBASS_OK) status = kb_support_create(n, &s->trial, error);
    if (status == KBASS_OK) status = kb_support_create(n, &s->kept, error);
    bool complete = s->work && s->mean && s->reduced && s->required && s->numbers && s->places;
    if (complete && status == KBASS_OK) s->message = (kb_message){n, s->unit->G, s->numbers + 3 * n};
    return complete ? status : kb_out_of_memory(error, "the regression of an equation");
}

static double *own_slab(const kb_subset *s) { return s->numbers + 2 * s->columns.n; }

/* A view of columns of its own: those of `from` that `which` names, from `first` on. */
static void view(kb_subset *s, const kb_columns *from, size_t first, const size_t *which)
{
    kb_columns *c = &s->columns;
    c->equation = s->places;
    c->term = s->places + c->n;
    c->log_odds = s->numbers;
    c->slab = s->numbers + c->n;
    c->required = s->required;
    for (size_t j = 0; j < c->n; j++) {
        size_t column = first + (which ? which[j] : j);
        c->equation[j] = from->equation[column];
        c->term[j] = from->term[column];
        c->log_odds[j] = from->log_odds[column];
        c->slab[j] = own_slab(s)[j] = from->slab[column];
        c->required[j] = from->required[column];
    }
}

kbass_status kb_subset_create(const kb_columns *columns, size_t first, size_t n, kb_subset **out, kbass_error *error)
{
    kb_subset *s = KB_NEW(kb_subset, 1);
    if (!s) return kb_out_of_memory(error, "the regression of an equation");
    kbass_status status = allocate(s, n, error);
    if (status == KBASS_OK) {
        view(s, columns, first, NULL);
        *out = s;
    } else kb_subset_destroy(s);
    return status;
}

kbass_status kb_subset_restrict(const kb_subset *from, size_t n, const size_t *which, kb_subset **out,
                                kbass_error *error)
{
    kb_subset *s = KB_NEW(kb_subset, 1);
    if (!s) return kb_out_of_memory(error, "the regression of an equation");
    kbass_status status = allocate(s, n, error);
    if (status != KBASS_OK) {
        kb_subset_destroy(s);
        return status;
    }
    view(s, &from->columns, 0, which);
    for (size_t j = 0; j < n; j++) {
        own_slab(s)[j] = own_slab(from)[which[j]];
        s->unit->b[j] = from->unit->b[which[j]];
        for (size_t i = 0; i < n; i++) s->unit->G[i + j * n] = from->unit->G[which[i] + which[j] * from->columns.n];
    }
    s->squares = from->squares;
    s->n = from->n;
    *out = s;
    return KBASS_OK;
}

void kb_subset_destroy(kb_subset *s)
{
    if (!s) return;
    kb_message_destroy(s->unit);
    kb_support_clear(&s->trial);
    kb_support_clear(&s->kept);
    kb_free(s->work);
    kb_free(s->mean);
    kb_free(s->reduced);
    kb_free(s->required);
    kb_free(s->numbers);
    kb_free(s->places);
    kb_free(s);
}

void kb_subset_set(kb_subset *s, size_t n_rows, const double *X, const size_t *which, const double *y, double n_counted)
{
    size_t n = s->columns.n;
    for (size_t j = 0; j < n; j++) {
        const double *x = X + which[j] * n_rows;
        for (size_t i = 0; i <= j; i++)
            s->unit->G[i + j * n] = s->unit->G[j + i * n] = kb_dot(n_rows, X + which[i] * n_rows, x);
        s->unit->b[j] = kb_dot(n_rows, x, y);
    }
    s->squares = kb_dot(n_rows, y, y);
    s->n = n_counted;
}

void kb_subset_set_products(kb_subset *s, const double *G, size_t ld, const size_t *which, const double *b,
                            double squares, double n_rows, double share)
{
    size_t n = s->columns.n;
    for (size_t j = 0; j < n; j++) {
        for (size_t i = 0; i < n; i++) s->unit->G[i + j * n] = share * G[which[i] + which[j] * ld];
        s->unit->b[j] = share * b[which[j]];
    }
    s->squares = share * squares;
    s->n = share * n_rows;
}

/* ---------------------------------------------------------------- noise */

/* At noise v the message is G/v, b/v. Weights in units of sqrt(v) have slabs S/v, the message G, b/sqrt(v), and the
   same evidence: no matrix is touched. */
static void set_variance(kb_subset *s, double variance)
{
    size_t n = s->columns.n;
    if (s->noise_is_known) return;
    s->variance = variance;
    for (size_t i = 0; i < n; i++) {
        s->columns.slab[i] = own_slab(s)[i] / variance;
        s->message.b[i] = s->unit->b[i] / sqrt(variance);
    }
}

/* Evidence at the present noise, and the set's weights in s->mean. */
static double weigh(kb_subset *s, const kb_support *support)
{
    double evidence = kb_message_evidence(&s->message, &s->columns, support, s->mean, s->work);
    for (size_t i = 0; i < support->n; i++) s->mean[i] *= sqrt(s->variance);
    return evidence;
}

/* RSS / (n - k) at the means of a set at the present noise. */
static double residual_variance(kb_subset *s, const kb_support *support)
{
    size_t k = support->n, n = s->columns.n;
    double left = s->squares;
    if (s->noise_is_known) return s->variance;
    if (!isfinite(weigh(s, support))) return NAN;
    for (size_t j = 0; j < k; j++) {
        double product = 0;
        for (size_t i = 0; i < k; i++) product += s->mean[i] * s->unit->G[support->column[i] + support->column[j] * n];
        left += s->mean[j] * (product - 2 * s->unit->b[support->column[j]]);
    }
    return fmax(left, least_variance * s->squares) / fmax(s->n - (double)k, 1);
}

double kb_subset_evidence(kb_subset *s, const kb_support *support)
{
    for (int step = 0; step < NOISE_STEPS; step++) {
        double variance = residual_variance(s, support);
        if (!isfinite(variance) || !(variance > 0)) return -INFINITY;
        bool is_settled = fabs(log(variance / s->variance)) < settled;
        set_variance(s, variance);
        if (is_settled) break;
    }
    return weigh(s, support) - 0.5 * s->n * log(s->variance) - 0.5 * s->squares / s->variance;
}

/* Moves and the noise in turn. */
static double settle(kb_subset *s, kb_support *support)
{
    for (int round = 0; round < ROUNDS; round++) {
        double variance = support->n || s->noise_is_known ? residual_variance(s, support) : s->squares / s->n;
        bool is_too_large = !s->noise_is_known && (double)support->n > most_share * s->n;
        if (!isfinite(variance) || is_too_large) return -INFINITY;
        bool is_settled = fabs(log(variance / s->variance)) < settled;
        set_variance(s, variance);
        if (!kb_message_climb(&s->message, &s->columns, support, CLIMB, s->work) && is_settled) break;
    }
    return support->n ? kb_subset_evidence(s, support) : -INFINITY;
}

/* ---------------------------------------------------------------- pairs */

/* The message about all columns given that those of a set are in: G - R'R, b - R'x with R = L^{-1} G_S, x = L^{-1} b_S,
   and what every pair asks of it. */
typedef struct {
    size_t k;
    double *R;         /* k x n */
    double *b;         /* n */
    double *precision; /* n: p_i = G_ii + 1/S_i */
    double *gain;      /* n: c_i = log odds - log(p_i S_i) / 2 */
    double *G;         /* n x BLOCK */
} reduced;

static bool reduce(kb_subset *s, const kb_support *support, reduced *r)
{
    size_t n = s->columns.n, k = support->n;
    double *A = s->work, *x = A + k * k;
    *r = (reduced){k, x + k, s->reduced, s->reduced + n, s->reduced + 2 * n, s->reduced + 3 * n};
    kb_message_restrict(&s->message, &s->columns, support, A, x);
    if (!kb_cholesky(k, A, k)) return false;
    for (size_t c = 0; c < n; c++)
        for (size_t j = 0; j < k; j++) r->R[j + c * k] = s->message.G[support->column[j] + c * n];
    kb_lower_solve(k, n + 1, A, k, x, k); /* R follows x */
    for (size_t c = 0; c < n; c++) {
        const double *own = r->R + c * k;
        r->b[c] = s->message.b[c] - kb_dot(k, own, x);
        r->precision[c] = fmax(s->message.G[c + c * n] - kb_dot(k, own, own), 0) + 1 / s->columns.slab[c];
        r->gain[c] = s->columns.log_odds[c] - 0.5 * log(r->precision[c] * s->columns.slab[c]);
    }
    return true;
}

/* Columns first to end of the reduced G, down to the diagonal. */
static void reduce_block(const kb_subset *s, const reduced *r, size_t first, size_t end)
{
    size_t n = s->columns.n;
    for (size_t j = first; j < end; j++) memcpy(r->G + (j - first) * n, s->message.G + j * n, end * sizeof *r->G);
    kb_gemm(KB_TRANSPOSED, KB_PLAIN, end, end - first, r->k, -1, r->R, r->k, r->R + first * r->k, r->k, 1, r->G, n);
}

/* Evidence that two columns add together if that may be more than `most`, else -INFINITY. With the determinant
   d = p_i p_j - g^2 and the explained square e it is e/(2d) - log(d / (p_i p_j)) / 2 + c_i + c_j, and
   -log x <= 1/x - 1: most pairs need no logarithm. */
static double pair_gain(const reduced *r, size_t i, size_t j, double g, double most)
{
    double p = r->precision[i], q = r->precision[j], own = r->gain[i] + r->gain[j];
    double determinant = p * q - g * g;
    double explained = q * r->b[i] * r->b[i] - 2 * g * r->b[i] * r->b[j] + p * r->b[j] * r->b[j];
    if (!(explained + p * q > (2 * (most - own) + 1) * determinant) || !(determinant > 1e-10 * p * q)) return -INFINITY;
    return 0.5 * explained / determinant - 0.5 * log(determinant / (p * q)) + own;
}

typedef struct {
    size_t first, second;
    double gain;
} pair;

/* Pairs whose second column is j, whose products with those before are `G`. */
static void consider_pairs(const reduced *r, const kb_support *support, size_t j, const double *G, pair *best)
{
    if (kb_support_has(support, j)) return;
    for (size_t i = 0; i < j; i++) {
        double gain = pair_gain(r, i, j, G[i], best->gain);
        if (gain > best->gain && !kb_support_has(support, i)) *best = (pair){i, j, gain};
    }
}

/* Adds the pair that gains most to `support`, at the present noise. */
static bool add_best_pair(kb_subset *s, kb_support *support)
{
    size_t n = s->columns.n;
    reduced r;
    pair best = {n, n, -DBL_MAX};
    if (!reduce(s, support, &r)) return false;
    for (size_t first = 0; first < n; first += BLOCK) {
        size_t end = first + BLOCK < n ? first + BLOCK : n;
        reduce_block(s, &r, first, end);
        for (size_t j = first; j < end; j++) consider_pairs(&r, support, j, r.G + (j - first) * n, &best);
    }
    if (best.first == n) return false;
    kb_support_add(support, best.first);
    kb_support_add(support, best.second);
    return true;
}

/* Takes the column that says least out of a set, at the present noise; false when all are required. */
static bool drop_weakest(kb_subset *s, kb_support *support)
{
    size_t n = s->columns.n, weakest = KB_NO_COLUMN;
    double most = -INFINITY;
    for (size_t q = 0; q < support->n; q++) {
        size_t column = support->column[q];
        if (s->columns.required[column]) continue;
        kb_support_remove(support, column);
        double left = support->n ? kb_message_evidence(&s->message, &s->columns, support, NULL, s->work) : 0;
        kb_support_add(support, column);
        if (left > most) most = left, weakest = column;
    }
    if (weakest == KB_NO_COLUMN || !n) return false;
    kb_support_remove(support, weakest);
    return true;
}

/* Pairs in place of ever more of the least sure columns; true when one led to a better set. */
static bool try_pairs(kb_subset *s, kb_support *support, double *evidence)
{
    double own = s->variance;
    kb_support_copy(support, &s->kept);
    do {
        kb_support_copy(&s->kept, &s->trial);
        if (!add_best_pair(s, &s->trial)) return false;
        double found = settle(s, &s->trial);
        if (found > *evidence + least_gain) {
            *evidence = found;
            kb_support_copy(&s->trial, support);
            return true;
        }
        set_variance(s, own);
    } while (s->kept.n && drop_weakest(s, &s->kept));
    return false;
}

double kb_subset_search(kb_subset *s, kb_support *support)
{
    for (size_t c = 0; c < s->columns.n; c++)
        if (s->columns.required[c]) kb_support_add(support, c);
    s->variance = s->squares / s->n;
    set_variance(s, s->variance);
    double evidence = settle(s, support);
    for (int i = 0; i < SEARCHES && !s->is_hasty && try_pairs(s, support, &evidence);) i++;
    return support->n ? kb_subset_evidence(s, support) : -INFINITY;
}

/* ---------------------------------------------------------------- rivals */

/* Puts a set in its place among the n before it, unless it is one of them. */
static size_t rank(kb_support *supports, double *evidence, size_t n, kb_support *own, double own_evidence)
{
    for (size_t i = 0; i < n; i++)
        if (kb_support_equal(&supports[i], own)) return n;
    kb_support kept = *own;
    *own = supports[n];
    size_t to = n;
    for (; to > 0 && evidence[to - 1] < own_evidence; to--) {
        supports[to] = supports[to - 1];
        evidence[to] = evidence[to - 1];
    }
    supports[to] = kept;
    evidence[to] = own_evidence;
    return n + 1;
}

size_t kb_subset_rivals(kb_subset *s, const kb_support *best, size_t largest, size_t most, kb_support *supports,
                        double *evidence)
{
    kb_support nothing = {0, NULL};
    double own = s->variance;
    size_t n = 0, screened = kb_message_screen(&s->message, &s->columns, &nothing, s->columns.equation[0], largest,
                                               most, supports, s->work);
    kb_support_copy(best, &supports[screened++]);
    for (size_t i = 0; i < screened; i++) {
        set_variance(s, own);
        kb_message_climb(&s->message, &s->columns, &supports[i], LONG_CLIMB, s->work);
        double found = kb_subset_evidence(s, &supports[i]);
        if (isfinite(found)) n = rank(supports, evidence, n, &supports[i], found);
    }
    return n;
}

void kb_subset_take(kb_subset *s, const double *G, const double *b)
{
    size_t n = s->columns.n;
    memcpy(s->message.G, G, n * n * sizeof *G);
    memcpy(s->message.b, b, n * sizeof *b);
    s->noise_is_known = true;
    s->variance = s->n = 1;
    s->squares = 0;
}

bool kb_subset_improve(kb_subset *s, kb_support *support)
{
    static const double worth = 0.1; /* nats */
    double before = kb_subset_evidence(s, support), evidence = settle(s, support);
    for (int i = 0; i < SEARCHES && try_pairs(s, support, &evidence);) i++;
    return evidence > before + worth;
}
