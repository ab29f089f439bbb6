#include "weights/message.h"

#include <math.h>
#include <string.h>

#include "base/linalg.h"
#include "base/memory.h"
#include "base/status.h"
#include "weights/constraints.h"

kbass_status kb_message_create(size_t n, kb_message **out, kbass_error *error)
{
    kb_message *message = KB_NEW(kb_message, 1);
    if (message) {
        message->n = n;
        message->G = KB_NEW(double, n *n);
        message->b = KB_NEW(double, n);
    }
    if (!message || !message->G || !message->b) {
        kb_message_destroy(message);
        return kb_out_of_memory(error, "a message about the weights");
    }
    *out = message;
    return KBASS_OK;
}

void kb_message_destroy(kb_message *message)
{
    if (!message) return;
    kb_free(message->G);
    kb_free(message->b);
    kb_free(message);
}

void kb_message_zero(kb_message *message)
{
    memset(message->G, 0, message->n * message->n * sizeof *message->G);
    memset(message->b, 0, message->n * sizeof *message->b);
}

void kb_message_restrict(const kb_message *message, const kb_columns *columns, const kb_support *support, double *A,
                         double *x)
{
    size_t k = support->n;
    for (size_t j = 0; j < k; j++) {
        size_t column = support->column[j];
        for (size_t i = 0; i < k; i++) A[i + j * k] = message->G[support->column[i] + column * message->n];
        A[j + j * k] += 1 / kb_constraints_slab(columns, support, column) + 1e-12 * A[j + j * k];
        x[j] = message->b[column];
    }
}

double kb_message_evidence(const kb_message *message, const kb_columns *columns, const kb_support *support,
                           double *mean, double *work)
{
    size_t k = support->n;
    double *A = work, *x = work + k * k, log_slabs = 0;
    if (columns->constraints) return kb_message_constrained_evidence(message, columns, support, mean);
    kb_message_restrict(message, columns, support, A, x);
    if (!kb_cholesky(k, A, k)) return -INFINITY;
    kb_lower_solve(k, 1, A, k, x, k);
    for (size_t j = 0; j < k; j++) log_slabs += log(columns->slab[support->column[j]]);
    double quadratic = kb_dot(k, x, x);
    if (mean) {
        memcpy(mean, x, k * sizeof *x);
        kb_lower_transposed_solve(k, 1, A, k, mean, k);
    }
    return 0.5 * quadratic - 0.5 * (kb_cholesky_logdet(k, A, k) + log_slabs) + kb_support_log_prior(support, columns);
}

/* ---------------------------------------------------------------- moves */

/* The support's posterior: inverse M (k x k), mean (k). */
typedef struct {
    size_t k;
    double *M, *mean;
} posterior;

static bool condition(const kb_message *message, const kb_columns *columns, const kb_support *support, posterior *p)
{
    p->k = support->n;
    kb_message_restrict(message, columns, support, p->M, p->mean);
    if (!kb_cholesky(p->k, p->M, p->k)) return false;
    kb_cholesky_solve(p->k, 1, p->M, p->k, p->mean, p->k);
    return kb_cholesky_inverse(p->k, p->M, p->k);
}

static bool may_drop(const kb_columns *columns, const kb_support *support, size_t column, unsigned kinds)
{
    size_t n = 0;
    for (size_t i = 0; i < support->n; i++) n += columns->equation[support->column[i]] == columns->equation[column];
    return n > 1 || kinds & KB_TO_NOTHING;
}

/* Savage-Dickey: the gain of dropping the support's i-th column. */
static double drop_gain(const kb_columns *columns, const kb_support *support, const posterior *p, size_t i)
{
    size_t column = support->column[i];
    double variance = p->M[i + i * p->k], mean = p->mean[i];
    return -0.5 * mean * mean / variance + 0.5 * log(columns->slab[column] / variance) - columns->log_odds[column];
}

void kb_moves_insert(kb_move move, size_t most, kb_move *moves, size_t *n)
{
    if (!isfinite(move.gain) || (*n == most && !(move.gain > moves[most - 1].gain))) return;
    size_t i = *n < most ? (*n)++ : most - 1;
    for (; i > 0 && moves[i - 1].gain < move.gain; i--) moves[i] = moves[i - 1];
    moves[i] = move;
}

/* Rank-one update: adding a column, given its product with M and its mean residual; `base` is the gain of the drop that
   led there. */
static void insert_add(const kb_message *message, const kb_columns *columns, size_t column, double explained,
                       double residual, size_t dropped, double base, size_t most, kb_move *moves, size_t *n)
{
    double own = message->G[column + column * message->n], odds = columns->log_odds[column];
    double precision = fmax(own - explained, 1e-12 * own + 1e-300), slab = columns->slab[column];
    double variance = 1 / (precision + 1 / slab), gain = 0.5 * residual * residual * variance;
    if (*n == most && !(gain + odds + base > moves[most - 1].gain)) return; /* already without its width's cost */
    gain = gain - 0.5 * log1p(slab * precision) + odds;
    kb_move move = {.add = column,
                    .drop = dropped,
                    .also = KB_NO_COLUMN,
                    .gain = gain + base,
                    .mean = residual * variance,
                    .variance = variance};
    kb_moves_insert(move, most, moves, n);
}

/* Adds from the support described by p; `base` is the gain of the drop that led there, `equation` limits swaps to one.
 */
static void consider_adds(const kb_message *message, const kb_columns *columns, const kb_support *support,
                          const posterior *p, size_t dropped, double base, size_t most, kb_move *moves, size_t *n)
{
    size_t k = p->k, stride = message->n;
    for (size_t c = 0; c < message->n; c++) {
        if (c == dropped || kb_support_has(support, c)) continue;
        if (dropped != KB_NO_COLUMN && columns->equation[c] != columns->equation[dropped]) continue;
        double explained = 0, residual = message->b[c];
        for (size_t j = 0; j < k; j++) {
            double g = message->G[c + support->column[j] * stride], mg = 0;
            for (size_t i = 0; i < k; i++) mg += p->M[i + j * k] * message->G[c + support->column[i] * stride];
            explained += g * mg;
            residual -= g * p->mean[j];
        }
        insert_add(message, columns, c, explained, residual, dropped, base, most, moves, n);
    }
}

/* Moves need the first part; the rest is for screening very few columns. */
size_t kb_message_work(size_t n) { return 2 * (n * n + 2 * n) + n + 40; }

/* ---------------------------------------------------------------- moves from many columns */

enum { MANY_COLUMNS = 33 };     /* columns of a support: from here one product serves all moves; speed */
enum { MANY_CANDIDATES = 300 }; /* columns of the message: likewise */

typedef struct {
    const kb_message *message;
    const kb_columns *columns;
    const kb_support *support;
    posterior p;
    double *drop;  /* k: gains */
    double *g, *t; /* k: of one column c outside, G_Sc and M G_Sc */
} many;

/* All moves that bring column c in. Without the i-th column of S its inverse is M - m_i m_i'/M_ii, its mean
   mean - m_i mean_i/M_ii: a swap costs no more than an addition. */
static void consider_column(const many *m, size_t c, bool swaps, size_t most, kb_move *moves, size_t *n)
{
    size_t k = m->p.k;
    for (size_t j = 0; j < k; j++) m->g[j] = m->message->G[m->support->column[j] + c * m->message->n];
    kb_gemv(KB_PLAIN, k, k, 1, m->p.M, k, m->g, 0, m->t);
    double explained = kb_dot(k, m->g, m->t), residual = m->message->b[c] - kb_dot(k, m->g, m->p.mean);
    insert_add(m->message, m->columns, c, explained, residual, KB_NO_COLUMN, 0, most, moves, n);
    for (size_t i = 0; swaps && i < k; i++) {
        size_t column = m->support->column[i];
        if (m->columns->required[column] || m->columns->equation[column] != m->columns->equation[c]) continue;
        double t = m->t[i], own = m->p.M[i + i * k];
        insert_add(m->message, m->columns, c, explained - t * t / own, residual + t * m->p.mean[i] / own, column,
                   m->drop[i], most, moves, n);
    }
}

static size_t moves_from_many(const kb_message *message, const kb_columns *columns, const kb_support *support,
                              unsigned kinds, size_t most, kb_move *moves, double *work)
{
    size_t k = support->n, found = 0;
    double *rest = work + k * k + k;
    many m = {message, columns, support, {k, work, work + k * k}, rest, rest + k, rest + 2 * k};
    if (!condition(message, columns, support, &m.p)) return 0;
    for (size_t i = 0; i < k; i++) {
        size_t column = support->column[i];
        m.drop[i] = drop_gain(columns, support, &m.p, i);
        if (!columns->required[column] && may_drop(columns, support, column, kinds))
            kb_moves_insert((kb_move){.add = KB_NO_COLUMN, .drop = column, .also = KB_NO_COLUMN, .gain = m.drop[i]},
                            most, moves, &found);
    }
    for (size_t c = 0; c < message->n; c++)
        if (!kb_support_has(support, c)) consider_column(&m, c, kinds & KB_SWAPS, most, moves, &found);
    return found;
}

size_t kb_message_moves(const kb_message *message, const kb_columns *columns, const kb_support *support, unsigned kinds,
                        size_t most, kb_move *moves, double *work)
{
    size_t k = support->n, found = 0;
    posterior whole = {k, work, work + k * k};
    double *rest_work = work + k * k + k;
    posterior rest = {0, rest_work, rest_work + k * k};
    size_t *columns_left = (size_t *)(rest_work + k * k + k);

    if (columns->constraints) return kb_message_constrained_moves(message, columns, support, kinds, most, moves);
    if (k >= MANY_COLUMNS || message->n >= MANY_CANDIDATES)
        return moves_from_many(message, columns, support, kinds, most, moves, work);
    if (!condition(message, columns, support, &whole)) return 0;
    consider_adds(message, columns, support, &whole, KB_NO_COLUMN, 0, most, moves, &found);
    for (size_t i = 0; i < k; i++) {
        size_t column = support->column[i];
        if (columns->required[column]) continue;
        double gain = drop_gain(columns, support, &whole, i);
        if (may_drop(columns, support, column, kinds))
            kb_moves_insert((kb_move){.add = KB_NO_COLUMN, .drop = column, .also = KB_NO_COLUMN, .gain = gain}, most,
                            moves, &found);
        if (!(kinds & KB_SWAPS)) continue;
        kb_support left = {0, columns_left};
        kb_support_copy(support, &left);
        kb_support_remove(&left, column);
        if (condition(message, columns, &left, &rest))
            consider_adds(message, columns, &left, &rest, column, gain, most, moves, &found);
    }
    return found;
}

bool kb_message_shifts(const kb_message *message, const kb_columns *columns, const kb_support *support, size_t n_added,
                       const size_t *added, double *shifts, double *work)
{
    size_t k = support->n;
    posterior p = {k, work, work + k * k};
    double *g = work + k * k + k;
    if (!condition(message, columns, support, &p)) return false;
    for (size_t i = 0; i < n_added; i++) {
        for (size_t j = 0; j < k; j++) g[j] = message->G[support->column[j] + added[i] * message->n];
        kb_gemv(KB_PLAIN, k, k, 1, p.M, k, g, 0, shifts + i * k);
    }
    return true;
}

void kb_move_apply(const kb_move *move, const kb_columns *columns, kb_support *support)
{
    if (move->drop != KB_NO_COLUMN) kb_support_remove(support, move->drop);
    if (columns->constraints) kb_constraints_prune(columns, support);
    if (move->add != KB_NO_COLUMN) kb_support_add(support, move->add);
    if (move->also != KB_NO_COLUMN) kb_support_add(support, move->also);
    if (columns->constraints) kb_constraints_complete(columns, support);
}

bool kb_message_climb(const kb_message *message, const kb_columns *columns, kb_support *support, size_t max_moves,
                      double *work)
{
    static const double least_gain = 1e-9;
    bool changed = false;
    for (size_t i = 0; i < max_moves; i++) {
        kb_move move;
        size_t found = kb_message_moves(message, columns, support, KB_SINGLE_MOVES, 1, &move, work);
        if (!found || !(move.gain > least_gain))
            found = kb_message_moves(message, columns, support, KB_SWAPS, 1, &move, work);
        if (!found || !(move.gain > least_gain)) break;
        kb_move_apply(&move, columns, support);
        changed = true;
    }
    return changed;
}
