/* Exhaustive screening: every support up to a few columns, by the evidence of the quadratic (docs/math.md, eq. 16). */
#include <math.h>
#include <string.h>

#include "base/linalg.h"
#include "weights/constraints.h"
#include "weights/message.h"

enum { MOST_KEPT = 32 }; /* room: structures */
enum { MOST_SIZE = 4 };  /* room: terms of a structure */

typedef struct {
    double evidence;
    size_t n, column[MOST_SIZE];
} candidate;

typedef struct {
    size_t n, most;
    candidate kept[MOST_KEPT];        /* best first */
    candidate of_size[MOST_SIZE + 1]; /* best of each size */
} tally;

static void consider(tally *t, const candidate *c)
{
    if (!isfinite(c->evidence)) return;
    if (!(t->of_size[c->n].evidence >= c->evidence)) t->of_size[c->n] = *c;
    if (t->n == t->most && !(c->evidence > t->kept[t->most - 1].evidence)) return;
    size_t i = t->n < t->most ? t->n++ : t->most - 1;
    for (; i > 0 && t->kept[i - 1].evidence < c->evidence; i--) t->kept[i] = t->kept[i - 1];
    t->kept[i] = *c;
}

static bool has_required(const kb_columns *columns, size_t n, const candidate *c)
{
    size_t next = 0;
    for (size_t column = 0; column < n; column++) {
        bool is_in = next < c->n && c->column[next] == column;
        if (columns->required[column] && !is_in) return false;
        next += is_in;
    }
    return true;
}

static void extend(const kb_message *message, const kb_columns *columns, size_t largest, size_t from, candidate *c,
                   tally *t, double *work)
{
    for (size_t column = from; column < message->n; column++) {
        c->column[c->n++] = column;
        kb_support support = {c->n, c->column};
        if (has_required(columns, message->n, c)) {
            c->evidence = kb_message_evidence(message, columns, &support, NULL, work);
            consider(t, c);
        }
        if (c->n < largest) extend(message, columns, largest, column + 1, c, t, work);
        c->n--;
    }
}

/* ---------------------------------------------------------------- one equation, the others held */

/* Columns first to first + n of one equation, and the message about them with the held columns' weights marginalised.
 */
typedef struct {
    size_t first;
    kb_message message;
    kb_columns columns;
    kb_support held; /* the support's columns of the other equations */
    double *work;
} part;

/* G_ee - G_eo (G_oo + 1/S_o)^{-1} G_oe and b_e - G_eo (G_oo + 1/S_o)^{-1} b_o, o: the held columns */
static bool marginalise(const kb_message *message, const kb_columns *columns, part *p)
{
    size_t n = p->message.n, m = message->n, k = p->held.n;
    double *A = p->work, *Z = A + k * k, *x = Z + k * n; /* Z: k x n, G_oe; both become L^{-1} of themselves */
    for (size_t j = 0; j < n; j++)
        memcpy(p->message.G + j * n, message->G + p->first + (p->first + j) * m, n * sizeof *A);
    memcpy(p->message.b, message->b + p->first, n * sizeof *x);
    if (!k) return true;
    kb_message_restrict(message, columns, &p->held, A, x);
    for (size_t j = 0; j < n; j++)
        for (size_t i = 0; i < k; i++) Z[i + j * k] = message->G[p->held.column[i] + (p->first + j) * m];
    if (!kb_cholesky(k, A, k)) return false;
    kb_lower_solve(k, n + 1, A, k, Z, k); /* x follows Z */
    kb_gemm(KB_TRANSPOSED, KB_PLAIN, n, n, k, -1, Z, k, Z, k, 1, p->message.G, n);
    kb_gemv(KB_TRANSPOSED, k, n, -1, Z, k, x, 1, p->message.b);
    return true;
}

static part part_of(const kb_columns *columns, const kb_support *support, size_t equation, double *work)
{
    part p = {.columns = *columns};
    while (p.first < columns->n && columns->equation[p.first] != equation) p.first++;
    size_t n = kb_columns_end(columns, p.first) - p.first;
    p.message = (kb_message){.n = n, .G = work, .b = work + n * n};
    p.held.column = (size_t *)(work + n * n + n);
    p.work = work + n * n + n + columns->n;
    for (size_t i = 0; i < support->n; i++)
        if (columns->equation[support->column[i]] != equation) p.held.column[p.held.n++] = support->column[i];
    p.columns.constraints = NULL; /* of other columns; what is handed out obeys them again */
    p.columns.n = n;
    p.columns.slab += p.first;
    p.columns.log_odds += p.first;
    p.columns.required += p.first;
    return p;
}

static void hand_out(const kb_columns *columns, const part *p, const candidate *c, kb_support *out)
{
    kb_support_copy(&p->held, out);
    for (size_t i = 0; i < c->n; i++) kb_support_add(out, p->first + c->column[i]);
    if (columns->constraints) kb_constraints_complete(columns, out);
}

size_t kb_message_screen(const kb_message *message, const kb_columns *columns, const kb_support *support,
                         size_t equation, size_t largest, size_t most, kb_support *supports, double *work)
{
    tally t = {.most = most < MOST_KEPT ? most : MOST_KEPT};
    part p = part_of(columns, support, equation, work);
    candidate c = {0};
    size_t n = 0;
    if (largest > MOST_SIZE) largest = MOST_SIZE;
    for (size_t i = 0; i <= MOST_SIZE; i++) t.of_size[i].evidence = -INFINITY;
    if (!marginalise(message, columns, &p)) return 0;
    extend(&p.message, &p.columns, largest, 0, &c, &t, p.work);
    for (size_t i = 0; i < t.n; i++) hand_out(columns, &p, &t.kept[i], &supports[n++]);
    for (size_t i = 1; i <= largest; i++)
        if (isfinite(t.of_size[i].evidence)) hand_out(columns, &p, &t.of_size[i], &supports[n++]);
    return n;
}
