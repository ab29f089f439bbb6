/* Exhaustive screening: every support up to a few columns, by the evidence of the quadratic (docs/math.md, eq. 16). */
#include <math.h>

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

static void hand_out(const candidate *c, kb_support *out)
{
    out->n = c->n;
    for (size_t i = 0; i < c->n; i++) out->column[i] = c->column[i];
}

size_t kb_message_screen(const kb_message *message, const kb_columns *columns, size_t largest, size_t most,
                         kb_support *supports, double *work)
{
    tally t = {.most = most < MOST_KEPT ? most : MOST_KEPT};
    candidate c = {0};
    size_t n = 0;
    if (largest > MOST_SIZE) largest = MOST_SIZE;
    for (size_t i = 0; i <= MOST_SIZE; i++) t.of_size[i].evidence = -INFINITY;
    extend(message, columns, largest, 0, &c, &t, work);
    for (size_t i = 0; i < t.n; i++) hand_out(&t.kept[i], &supports[n++]);
    for (size_t i = 1; i <= largest; i++)
        if (isfinite(t.of_size[i].evidence)) hand_out(&t.of_size[i], &supports[n++]);
    return n;
}
