#include "constants/stepwise.h"

#include <math.h>
#include <string.h>

#include "base/linalg.h"

enum { MOST = KB_STEPWISE_MOST };       /* room: as there */
enum { MOST_CHANGES = 20 };             /* moves: at most */
static const double price = 2.5;        /* nats: of a term; not measured */
static const double independent = 1e-8; /* of a column's square: less is in the span of the others */

typedef struct {
    size_t n, column[MOST];
    double score;
} choice;

/* INFINITY where the columns depend on each other. */
static double score_of(const kb_stepwise *p, size_t n, const size_t *column)
{
    double A[MOST * MOST], w[MOST], rows = (double)p->n_rows, rss = p->yy;
    for (size_t j = 0; j < n; j++) {
        for (size_t i = 0; i < n; i++) A[i + j * n] = p->G[column[i] + column[j] * p->n];
        A[j + j * n] *= 1 + independent;
        w[j] = p->c[column[j]];
        if (!(A[j + j * n] > 0)) return INFINITY;
    }
    if (n && !kb_cholesky(n, A, n)) return INFINITY;
    if (n) kb_cholesky_solve(n, 1, A, n, w, n);
    for (size_t j = 0; j < n; j++) rss -= w[j] * p->c[column[j]];
    return rows * log(fmax(rss, 0) / rows + p->floor) + price * (double)n * log(rows);
}

static bool has(const choice *s, size_t column)
{
    for (size_t i = 0; i < s->n; i++)
        if (s->column[i] == column) return true;
    return false;
}

/* The best choice with `column` in place `at`: an exchange, or one more where that is the last place. */
static bool try_in(const kb_stepwise *p, const choice *s, size_t at, choice *best)
{
    bool is_better = false;
    choice trial = *s;
    if (at == s->n) trial.n++;
    for (size_t j = 0; j < p->n; j++) {
        if (!p->may[j] || has(s, j)) continue;
        trial.column[at] = j;
        trial.score = score_of(p, trial.n, trial.column);
        if (!(trial.score < best->score)) continue;
        *best = trial;
        is_better = true;
    }
    return is_better;
}

static bool try_without(const kb_stepwise *p, const choice *s, size_t at, choice *best)
{
    choice trial = *s;
    trial.column[at] = trial.column[--trial.n];
    trial.score = score_of(p, trial.n, trial.column);
    if (!(trial.score < best->score)) return false;
    *best = trial;
    return true;
}

/* Columns one by one, whether each pays or not: several may pay only together. Then out again, one by one. */
static choice forth_and_back(const kb_stepwise *p)
{
    choice s = {.score = score_of(p, 0, NULL)}, best = s;
    for (bool grows = true; grows && s.n < MOST;) {
        choice next = {.score = INFINITY};
        grows = try_in(p, &s, s.n, &next);
        if (grows) s = next;
        if (s.score < best.score) best = s;
    }
    while (s.n) {
        choice next = {.score = INFINITY};
        for (size_t at = 0; at < s.n; at++) try_without(p, &s, at, &next);
        if (!isfinite(next.score)) break;
        s = next;
        if (s.score < best.score) best = s;
    }
    return best;
}

double kb_stepwise_score(const kb_stepwise *p)
{
    choice s = forth_and_back(p);
    bool is_better = true;
    for (size_t change = 0; is_better && change < MOST_CHANGES; change++) {
        choice best = s;
        is_better = s.n < MOST && try_in(p, &s, s.n, &best);
        for (size_t at = 0; at < s.n; at++) is_better = try_without(p, &s, at, &best) || is_better;
        for (size_t at = 0; at < s.n; at++) is_better = try_in(p, &s, at, &best) || is_better;
        s = best;
    }
    return s.score;
}
