#include "propose/weak/regression.h"

#include <math.h>
#include <string.h>

#include "base/linalg.h"
#include "base/memory.h"
#include "base/status.h"
#include "search/schedule.h"

enum { POOL = 64 };    /* structures: kept, the best; not measured */
enum { PARENTS = 10 }; /* structures: whose neighbours are tried in a round; not measured */
enum { ROUNDS = 5 };   /* rounds: of neighbours */
enum { SIZES = 4 };    /* terms: up to which the best of each size is proposed */
static const kb_schedule *const schedule = &kb_schedule_of_weak_fields.value;
static const double least_left = 1e-10; /* share below which nothing can be told from rounding */

typedef struct {
    size_t n, *column; /* candidates of the equation */
    const kb_columns *columns;
    double *R, *r, *length; /* n x n, n, n; length: of the integrals */
    double left_length;     /* of the left-hand side */
    double m;
    size_t n_pool;
    kb_weak_support pool[POOL]; /* best first; w: not yet set. Here columns are places in `column` */
    kb_weak_support of_size[SIZES + 1];
} regression;

/* ---------------------------------------------------------------- evidence of a support */

static double evidence(const regression *g, const size_t *place, size_t k, double *weights, double *left)
{
    double A[KB_WEAK_MOST_TERMS * KB_WEAK_MOST_TERMS], x[KB_WEAK_MOST_TERMS], log_prior = 0, explained = 0;
    for (size_t j = 0; j < k; j++) {
        for (size_t i = 0; i < k; i++) A[i + j * k] = g->R[place[i] + place[j] * g->n];
        A[j + j * k] += 1e-10;
        x[j] = g->r[place[j]];
        log_prior += g->columns->log_odds[g->column[place[j]]];
    }
    if (!kb_cholesky(k, A, k)) return -INFINITY;
    kb_cholesky_solve(k, 1, A, k, x, k);
    for (size_t j = 0; j < k; j++) explained += x[j] * g->r[place[j]];
    double s = fmax(1 - explained, least_left), scale = schedule->weak_slab * g->m / s;
    if (weights) memcpy(weights, x, k * sizeof *x);
    *left = s;
    for (size_t j = 0; j < k; j++) {
        for (size_t i = 0; i < k; i++) A[i + j * k] = scale * g->R[place[i] + place[j] * g->n];
        A[j + j * k] += 1;
    }
    if (!kb_cholesky(k, A, k)) return -INFINITY;
    return -0.5 * g->m * log(s) - 0.5 * kb_cholesky_logdet(k, A, k) + log_prior;
}

static bool has_required(const regression *g, const kb_weak_support *s)
{
    size_t next = 0;
    for (size_t i = 0; i < g->n; i++) {
        bool is_in = next < s->n && s->column[next] == i;
        if (g->columns->required[g->column[i]] && !is_in) return false;
        next += is_in;
    }
    return true;
}

static bool is_known(const regression *g, const kb_weak_support *s)
{
    for (size_t i = 0; i < g->n_pool; i++)
        if (g->pool[i].n == s->n && !memcmp(g->pool[i].column, s->column, s->n * sizeof *s->column)) return true;
    return false;
}

static void consider(regression *g, kb_weak_support *s)
{
    s->evidence = evidence(g, s->column, s->n, NULL, &s->left);
    if (!isfinite(s->evidence) || !has_required(g, s)) return;
    if (s->n <= SIZES && !(g->of_size[s->n].evidence >= s->evidence)) g->of_size[s->n] = *s;
    if (g->n_pool == POOL && !(s->evidence > g->pool[POOL - 1].evidence)) return;
    if (is_known(g, s)) return;
    size_t at = g->n_pool < POOL ? g->n_pool++ : POOL - 1;
    for (; at > 0 && g->pool[at - 1].evidence < s->evidence; at--) g->pool[at] = g->pool[at - 1];
    g->pool[at] = *s;
}

/* ---------------------------------------------------------------- all small supports, then neighbours of the best */

static void extend(regression *g, kb_weak_support *s, size_t from, size_t largest)
{
    for (size_t i = from; i < g->n; i++) {
        s->column[s->n++] = i;
        consider(g, s);
        if (s->n < largest) extend(g, s, i + 1, largest);
        s->n--;
    }
}

/* Adds the place, or takes it out; false when there is no room. */
static bool toggle(kb_weak_support *s, size_t place)
{
    size_t i = 0;
    while (i < s->n && s->column[i] < place) i++;
    if (i < s->n && s->column[i] == place) {
        memmove(s->column + i, s->column + i + 1, (--s->n - i) * sizeof *s->column);
        return s->n > 0;
    }
    if (s->n == KB_WEAK_MOST_TERMS) return false;
    memmove(s->column + i + 1, s->column + i, (s->n++ - i) * sizeof *s->column);
    s->column[i] = place;
    return true;
}

static void explore(regression *g)
{
    kb_weak_support parents[PARENTS];
    size_t n = g->n_pool < PARENTS ? g->n_pool : PARENTS;
    memcpy(parents, g->pool, n * sizeof *parents);
    for (size_t p = 0; p < n; p++)
        for (size_t i = 0; i < g->n; i++) {
            kb_weak_support trial = parents[p];
            if (toggle(&trial, i)) consider(g, &trial);
        }
}

static void search(regression *g)
{
    kb_weak_support s = {0};
    double n = (double)g->n;
    for (size_t i = 0; i <= SIZES; i++) g->of_size[i].evidence = -INFINITY;
    extend(g, &s, 0, n * (n - 1) * (n - 2) / 6 <= schedule->weak_triples ? 3 : 2);
    for (int round = 0; round < ROUNDS; round++) explore(g);
}

/* ---------------------------------------------------------------- one equation */

static size_t left_hand_side(const kb_weak_form *f, size_t equation) { return f->dictionary->n_terms + equation; }

/* The product of integral i with the left-hand side less the terms whose weights are given. */
static double product_with_left(const kb_weak_form *f, const kb_weak_message *m, size_t equation, size_t i)
{
    const kb_dictionary *d = f->dictionary;
    double product = m->gram[i + left_hand_side(f, equation) * m->n];
    for (size_t term = 0; term < d->n_terms; term++) {
        size_t at = term + equation * d->n_terms;
        if (d->roles[at] == KB_FIXED) product -= d->fixed_weights[at] * m->gram[i + term * m->n];
    }
    return product;
}

static double squared_left(const kb_weak_form *f, const kb_weak_message *m, size_t equation)
{
    const kb_dictionary *d = f->dictionary;
    double sum = product_with_left(f, m, equation, left_hand_side(f, equation));
    for (size_t term = 0; term < d->n_terms; term++) {
        size_t at = term + equation * d->n_terms;
        if (d->roles[at] == KB_FIXED) sum -= d->fixed_weights[at] * product_with_left(f, m, equation, term);
    }
    return sum;
}

static void list_candidates(regression *g, const kb_weak_form *f, const kb_weak_message *m, size_t equation,
                            bool impure)
{
    for (size_t c = 0; c < g->columns->n; c++) {
        size_t term = g->columns->term[c];
        if (g->columns->equation[c] != equation || !(m->gram[term + term * m->n] > 0)) continue;
        if (f->integral[term].is_pure || impure) g->column[g->n++] = c;
    }
}

static void fill(regression *g, const kb_weak_form *f, const kb_weak_message *m, size_t equation)
{
    const size_t *term = g->columns->term;
    g->m = m->count / schedule->weak_overlap;
    g->left_length = sqrt(fmax(squared_left(f, m, equation), 0));
    for (size_t i = 0; i < g->n; i++) g->length[i] = sqrt(m->gram[term[g->column[i]] + term[g->column[i]] * m->n]);
    for (size_t j = 0; j < g->n; j++) {
        size_t t = term[g->column[j]];
        for (size_t i = 0; i < g->n; i++)
            g->R[i + j * g->n] = m->gram[term[g->column[i]] + t * m->n] / (g->length[i] * g->length[j]);
        g->r[j] = product_with_left(f, m, equation, t) / (g->length[j] * g->left_length);
    }
}

/* From places to columns, with weights. */
static void hand_out(const regression *g, const kb_weak_support *from, kb_weak_support *to)
{
    double x[KB_WEAK_MOST_TERMS];
    *to = *from;
    to->evidence = evidence(g, from->column, from->n, x, &to->left);
    for (size_t q = 0; q < from->n; q++) {
        size_t place = from->column[q], column = to->column[q] = g->column[place];
        to->w[q] = x[q] * g->left_length / g->length[place] / g->columns->unit[column];
    }
}

static size_t hand_out_best(const regression *g, size_t most, kb_weak_support *supports)
{
    size_t found = 0;
    for (size_t i = 0; i < g->n_pool && i < most; i++) hand_out(g, &g->pool[i], &supports[found++]);
    for (size_t size = 1; size <= SIZES; size++) {
        const kb_weak_support *s = &g->of_size[size];
        bool is_new = isfinite(s->evidence);
        for (size_t i = 0; is_new && i < g->n_pool && i < most; i++)
            is_new = g->pool[i].n != s->n || memcmp(g->pool[i].column, s->column, s->n * sizeof *s->column);
        if (is_new) hand_out(g, s, &supports[found++]);
    }
    return found;
}

kbass_status kb_weak_regress(const kb_weak_form *form, const kb_weak_message *message, const kb_columns *columns,
                             size_t equation, bool with_impure, size_t most, kb_weak_support *supports, size_t *found,
                             kbass_error *error)
{
    size_t n = columns->n;
    regression *g = KB_NEW(regression, 1);
    *found = 0;
    if (!g) return kb_out_of_memory(error, "the weak form");
    g->columns = columns;
    g->column = KB_NEW(size_t, n);
    g->r = KB_NEW(double, n);
    g->length = KB_NEW(double, n);
    if (g->column) list_candidates(g, form, message, equation, with_impure);
    g->R = KB_NEW(double, g->n * g->n);
    bool done = g->column && g->R && g->r && g->length;
    if (done) fill(g, form, message, equation);
    if (done && g->left_length > 0 && g->n) {
        search(g);
        *found = hand_out_best(g, most, supports);
    }
    kb_free(g->column);
    kb_free(g->R);
    kb_free(g->r);
    kb_free(g->length);
    kb_free(g);
    return done ? KBASS_OK : kb_out_of_memory(error, "the weak form");
}
