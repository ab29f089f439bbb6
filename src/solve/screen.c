/* Exhaustive screening: every support up to a few columns, by the evidence of the quadratic (docs/math.md, eq. 16). */
#include <math.h>

#include "base/linalg.h"
#include "solve/message.h"

enum { MOST_KEPT = 16, MOST_SIZE = 4 };

typedef struct {
    double evidence;
    size_t n, column[MOST_SIZE];
} candidate;

typedef struct {
    size_t n, most;
    candidate kept[MOST_KEPT];         /* best first */
    candidate of_size[MOST_SIZE + 1];  /* best of each size */
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

/* Columns first to first + n of one equation, and the message about them with the others' weights marginalised. */
typedef struct {
    size_t first;
    kb_message message;
    kb_columns columns;
    double *work;
} part;

static bool is_held(const kb_columns *columns, size_t column, size_t equation) { return columns->equation[column] != equation; }

/* G_ee - G_eo (G_oo + 1/S_o)^{-1} G_oe and b_e - G_eo (G_oo + 1/S_o)^{-1} b_o, o: the held columns of the support */
static bool marginalise(const kb_message *message, const kb_columns *columns, const kb_support *support, size_t equation,
                        part *p)
{
    size_t n = p->message.n, m = message->n, k = 0;
    double *A = p->work, *Z;
    for (size_t i = 0; i < support->n; i++) k += is_held(columns, support->column[i], equation);
    Z = A + k * k; /* k x (n + 1): G_oe and b_o, then L^{-1} of them */
    for (size_t i = 0, row = 0; i < support->n; i++) {
        size_t held = support->column[i];
        if (!is_held(columns, held, equation)) continue;
        for (size_t j = 0, column = 0; j < support->n; j++)
            if (is_held(columns, support->column[j], equation)) A[row + k * column++] = message->G[held + support->column[j] * m];
        A[row + k * row] += 1 / columns->slab[held] + 1e-12 * A[row + k * row];
        for (size_t j = 0; j < n; j++) Z[row + j * k] = message->G[held + (p->first + j) * m];
        Z[row + n * k] = message->b[held];
        row++;
    }
    if (k && !kb_cholesky(k, A, k)) return false;
    if (k) kb_lower_solve(k, n + 1, A, k, Z, k);
    for (size_t j = 0; j < n; j++) {
        for (size_t i = 0; i < n; i++)
            p->message.G[i + j * n] = message->G[p->first + i + (p->first + j) * m] - kb_dot(k, Z + i * k, Z + j * k);
        p->message.b[j] = message->b[p->first + j] - kb_dot(k, Z + j * k, Z + n * k);
    }
    return true;
}

/* The equation's columns are neighbours. */
static part part_of(const kb_columns *columns, size_t equation, double *work)
{
    part p = {.columns = *columns};
    size_t n = 0;
    while (p.first < columns->n && columns->equation[p.first] != equation) p.first++;
    while (p.first + n < columns->n && columns->equation[p.first + n] == equation) n++;
    p.message = (kb_message){.n = n, .G = work, .b = work + n * n};
    p.work = work + n * n + n;
    p.columns.n = n;
    p.columns.slab += p.first;
    p.columns.log_odds += p.first;
    p.columns.required += p.first;
    return p;
}

static void hand_out(const part *p, const kb_columns *columns, const kb_support *support, size_t equation, const candidate *c,
                     kb_support *out)
{
    out->n = 0;
    for (size_t i = 0; i < support->n; i++)
        if (is_held(columns, support->column[i], equation)) kb_support_add(out, support->column[i]);
    for (size_t i = 0; i < c->n; i++) kb_support_add(out, p->first + c->column[i]);
}

size_t kb_message_screen(const kb_message *message, const kb_columns *columns, const kb_support *support, size_t equation,
                         size_t largest, size_t most, kb_support *supports, double *work)
{
    tally t = {.most = most < MOST_KEPT ? most : MOST_KEPT};
    part p = part_of(columns, equation, work);
    candidate c = {0};
    size_t n = 0;
    if (largest > MOST_SIZE) largest = MOST_SIZE;
    for (size_t i = 0; i <= MOST_SIZE; i++) t.of_size[i].evidence = -INFINITY;
    if (!marginalise(message, columns, support, equation, &p)) return 0;
    extend(&p.message, &p.columns, largest, 0, &c, &t, p.work);
    for (size_t i = 0; i < t.n; i++) hand_out(&p, columns, support, equation, &t.kept[i], &supports[n++]);
    for (size_t i = 1; i <= largest; i++)
        if (isfinite(t.of_size[i].evidence)) hand_out(&p, columns, support, equation, &t.of_size[i], &supports[n++]);
    return n;
}
