/* Evidence and moves of structures with constraints: every move is made, completed and weighed. */
#include <math.h>
#include <string.h>

#include "base/linalg.h"
#include "base/memory.h"
#include "dictionary/constraints.h"
#include "weights/constraints.h"
#include "weights/message.h"

enum { SQUARES = 8 }; /* k x k matrices of a workspace */

/* Mean (k) and, unless NULL, covariance (k x k); room: SQUARES k^2 + k */
static double weigh(const kb_message *message, const kb_columns *columns, const kb_support *support, double *mean,
                    double *covariance, double *room)
{
    size_t k = support->n, square = k * k;
    double *A = room, *C = room + square, *work = room + 2 * square, *x = room + SQUARES * square;
    double *V = room + 7 * square, quadratic = 0;
    if (!k) return 0;
    size_t f = kb_constraints_basis(columns, support, NULL, C);
    memset(mean, 0, k * sizeof *mean);
    kb_constraints_project(columns, support, mean); /* w0: nearest to nothing */
    kb_message_restrict(message, columns, support, A, x);
    kb_gemv(KB_PLAIN, k, k, -1, A, k, mean, 1, x);
    for (size_t q = 0; q < k; q++) quadratic += mean[q] * (message->b[support->column[q]] + x[q]);
    memcpy(work, x, k * sizeof *x);
    double half_logdet = kb_constrained_factorise(columns, support, f, C, A, work + k);
    if (!isfinite(half_logdet)) return -INFINITY;
    kb_constrained_solve(k, f, C, A, 1, x, work + k);
    quadratic += kb_dot(k, work, x);
    kb_axpy(k, 1, x, mean);
    if (!kb_constrained_inverse(k, f, C, A, work)) return -INFINITY;
    memcpy(V, A, square * sizeof *V);
    if (covariance) memcpy(covariance, A, square * sizeof *A);
    double mass = kb_constrained_mass(columns, support, f, C, mean, V, work);
    kb_constraints_project(columns, support, mean);
    double evidence = 0.5 * quadratic - half_logdet + mass + kb_support_log_prior(support, columns);
    return isfinite(evidence) ? evidence : -INFINITY;
}

static size_t room_of(size_t k) { return SQUARES * k * k + 2 * k + 16; }

double kb_message_constrained_evidence(const kb_message *message, const kb_columns *columns, const kb_support *support,
                                       double *mean)
{
    size_t k = support->n;
    double *room = KB_NEW(double, room_of(k) + k);
    if (!room) return -INFINITY;
    double *own = room + room_of(k), evidence = weigh(message, columns, support, own, NULL, room);
    if (mean) memcpy(mean, own, k * sizeof *mean);
    kb_free(room);
    return evidence;
}

/* ---------------------------------------------------------------- moves */

typedef struct {
    const kb_message *message;
    const kb_columns *columns;
    const kb_support *support;
    kb_support trial;
    double *room, *mean, *covariance, evidence;
    unsigned kinds;
    size_t most, n;
    kb_move *moves;
} study;

static size_t n_in_equation(const kb_columns *columns, const kb_support *support, size_t equation)
{
    size_t n = 0;
    for (size_t i = 0; i < support->n; i++) n += columns->equation[support->column[i]] == equation;
    return n;
}

/* Equations keep a term unless they may lose all, and required ones stay. */
static bool is_allowed(const study *s)
{
    for (size_t i = 0; i < s->support->n; i++) {
        size_t column = s->support->column[i];
        bool is_left = n_in_equation(s->columns, &s->trial, s->columns->equation[column]) > 0;
        if (!is_left && !(s->kinds & KB_TO_NOTHING)) return false;
        if (s->columns->required[column] && !kb_support_has(&s->trial, column)) return false;
    }
    return true;
}

static void consider(study *s, size_t add, size_t drop, size_t also)
{
    kb_move move = {.add = add, .drop = drop, .also = also};
    kb_support_copy(s->support, &s->trial);
    kb_move_apply(&move, s->columns, &s->trial);
    if (!is_allowed(s) || kb_support_equal(&s->trial, s->support)) return;
    move.gain = weigh(s->message, s->columns, &s->trial, s->mean, s->covariance, s->room) - s->evidence;
    for (size_t q = 0; q < s->trial.n; q++)
        if (s->trial.column[q] == add) {
            move.mean = s->mean[q];
            move.variance = s->covariance[q + q * s->trial.n];
        }
    kb_moves_insert(move, s->most, s->moves, &s->n);
}

/* A column whose constraints ask for more is added with each that would do. */
static void consider_add(study *s, size_t add, size_t drop)
{
    const kb_constraints *c = s->columns->constraints;
    size_t component = c->component[add];
    for (size_t also = 0; component != KB_NO_COMPONENT && also < s->columns->n; also++) {
        if (also == add || c->component[also] != component || kb_support_has(s->support, also)) continue;
        kb_support_copy(s->support, &s->trial);
        kb_support_add(&s->trial, add);
        kb_support_add(&s->trial, also);
        size_t n = s->trial.n;
        kb_constraints_complete(s->columns, &s->trial);
        if (s->trial.n == n) consider(s, add, drop, also);
    }
    kb_support_copy(s->support, &s->trial);
    kb_support_add(&s->trial, add);
    size_t n = s->trial.n;
    kb_constraints_complete(s->columns, &s->trial);
    if (component == KB_NO_COMPONENT || s->trial.n <= n + 1) consider(s, add, drop, KB_NO_COLUMN);
}

static void consider_all(study *s)
{
    for (size_t add = 0; add < s->columns->n; add++)
        if (!kb_support_has(s->support, add)) consider_add(s, add, KB_NO_COLUMN);
    for (size_t i = 0; i < s->support->n; i++) {
        size_t drop = s->support->column[i];
        if (s->columns->required[drop]) continue;
        consider(s, KB_NO_COLUMN, drop, KB_NO_COLUMN);
        for (size_t add = 0; s->kinds & KB_SWAPS && add < s->columns->n; add++)
            if (!kb_support_has(s->support, add) && s->columns->equation[add] == s->columns->equation[drop])
                consider_add(s, add, drop);
    }
}

size_t kb_message_constrained_moves(const kb_message *message, const kb_columns *columns, const kb_support *support,
                                    unsigned kinds, size_t most, kb_move *moves)
{
    size_t n = columns->n, largest = support->n + 2 + KB_MOST_TIED < n ? support->n + 2 + KB_MOST_TIED : n;
    study s = {
        .message = message, .columns = columns, .support = support, .kinds = kinds, .most = most, .moves = moves};
    s.room = KB_NEW(double, room_of(largest) + largest * largest + largest);
    s.mean = s.room ? s.room + room_of(largest) : NULL;
    s.covariance = s.room ? s.mean + largest : NULL;
    if (s.room && kb_support_create(n, &s.trial, NULL) == KBASS_OK) {
        s.evidence = weigh(message, columns, support, s.mean, NULL, s.room);
        if (isfinite(s.evidence)) consider_all(&s);
    }
    kb_support_clear(&s.trial);
    kb_free(s.room);
    return s.n;
}
