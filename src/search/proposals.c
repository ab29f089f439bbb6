#include "search/proposals.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

#include "base/larger.h"
#include "base/memory.h"
#include "base/status.h"
#include "weights/constraints.h"
#include "weights/sweep.h"

enum { MOST_MOVES = 16 };    /* room: schedules have less or as many */
enum { MOST_SCREENED = 40 }; /* room: likewise */
enum { MOST_PATTERNS = 2 };  /* right-hand sides that many equations have; not measured */

/* The parent's starts, moved as its message supposes when the weights become those of the proposal. */
static void follow(const kb_columns *columns, kb_search_worker *e, const kb_fit *parent, kb_proposal *p)
{
    double *dw = e->work;
    memset(dw, 0, columns->n * sizeof *dw);
    for (size_t q = 0; q < parent->support.n; q++)
        dw[parent->support.column[q]] -= parent->w[parent->support.column[q]];
    for (size_t q = 0; q < p->support.n; q++) dw[p->support.column[q]] += p->w[q];
    memcpy(p->start, parent->start, parent->n_windows * e->likelihood->n_start * sizeof *p->start);
    e->likelihood->follow(e->likelihood, dw, p->start);
}

/* How a structure becomes a proposal, its weights the means of w->message. */
typedef kbass_status (*propose_function)(const kb_columns *columns, kb_search_worker *w, const kb_fit *parent,
                                         const kb_support *support, kb_proposal *out, kbass_error *error);

/* The parent's starts, no weights yet and no promise. */
static kbass_status begin_proposal(kb_search_worker *w, const kb_fit *parent, const kb_support *support,
                                   kb_proposal *out, kbass_error *error)
{
    size_t n_starts = parent->n_windows * w->likelihood->n_start;
    kbass_status status = kb_support_create(support->n, &out->support, error);
    out->w = KB_NEW(double, support->n);
    out->start = KB_NEW(double, n_starts);
    if (status != KBASS_OK || !out->w || !out->start) return kb_out_of_memory(error, "a proposal");
    kb_support_copy(support, &out->support);
    memcpy(out->start, parent->start, n_starts * sizeof *out->start);
    out->parent = parent;
    out->promised = -INFINITY;
    return KBASS_OK;
}

/* Of a message that knows nothing of starts. */
static kbass_status propose_along(const kb_columns *columns, kb_search_worker *w, const kb_fit *parent,
                                  const kb_support *support, kb_proposal *out, kbass_error *error)
{
    double *mean = w->work;
    kbass_status status = begin_proposal(w, parent, support, out, error);
    if (status != KBASS_OK) return status;
    kb_message_evidence(w->message, columns, support, mean, w->work + support->n);
    memcpy(out->w, mean, support->n * sizeof *mean);
    return KBASS_OK;
}

static kbass_status propose(const kb_columns *columns, kb_search_worker *w, const kb_fit *parent,
                            const kb_support *support, kb_proposal *out, kbass_error *error)
{
    kbass_status status = propose_along(columns, w, parent, support, out, error);
    if (status != KBASS_OK) return status;
    double other = kb_message_evidence(w->message, columns, support, NULL, w->work);
    out->promised =
        parent->log_evidence + other - kb_message_evidence(w->message, columns, &parent->support, NULL, w->work);
    follow(columns, w, parent, out);
    return KBASS_OK;
}

/* Of many equations: how many terms three quarters of them have at most. */
static size_t usual_terms(const kb_columns *columns, const kb_support *support)
{
    size_t n = kb_columns_equations(columns), terms = 0, no_longer = 0;
    for (; 4 * no_longer < 3 * n; terms++) {
        no_longer = 0;
        for (size_t first = 0, last; first < columns->n; first = last) {
            last = kb_columns_end(columns, first);
            no_longer += kb_support_count(support, first, last) <= terms;
        }
    }
    return terms - 1;
}

/* Terms from which an equation is long: more than most of many equations have; else as the schedule says. */
static size_t long_from(const kb_search *a, const kb_fit *parent)
{
    if (a->schedule->sweeps > 0) return usual_terms(a->columns, &parent->support) + 1;
    return a->schedule->screened_from > 0 ? (size_t)a->schedule->screened_from : SIZE_MAX;
}

/* Nats that a neighbour may be behind by a parent's message and still be worth a fit. The message holds the noise;
   where f degrees of freedom estimate it, a model that is behind by d there is behind by f/2 log(1 + 2d/f). */
static double worth_fitting(const kb_search *a, const kb_fit *parent)
{
    static const double may_gain = 2; /* nats: behind by as much a neighbour was ahead once fitted; Nagumo's equation */
    double worth = a->settles ? fmin(may_gain, a->schedule->worth_fitting) : a->schedule->worth_fitting;
    double f = (parent->values - parent->effective) / (double)a->workers.list[0]->likelihood->n_groups;
    return parent->values > 0 ? fmax(f, 1) / 2 * expm1(2 * worth / fmax(f, 1)) : worth;
}

/* Which equations have their small right-hand sides tried on a quadratic, and which of these are proposed. */
typedef struct {
    size_t from;          /* terms of an equation from which on */
    double best;          /* supports that are proposed of one that is not long, */
    double within;        /* if they are no more nats behind the parent's own */
    propose_function how; /* the quadratic knows */
} screening;

/* The best of all small right-hand sides of one equation on the quadratic, wherever the parent stands. */
static kbass_status propose_screened(kb_search *a, kb_search_worker *w, const kb_fit *parent, size_t first, size_t best,
                                     double within, propose_function how, kb_proposal *out, size_t *n,
                                     kbass_error *error)
{
    kb_support supports[MOST_SCREENED];
    size_t largest = (size_t)a->schedule->screened_size, n_supports = best + largest;
    size_t most = a->columns->n, *columns = KB_NEW(size_t, n_supports * most);
    if ((double)(kb_columns_end(a->columns, first) - first) > a->schedule->screened_columns) largest--;
    kbass_status status = columns ? KBASS_OK : kb_out_of_memory(error, "the search");
    if (status != KBASS_OK) return status;
    for (size_t i = 0; i < n_supports; i++) supports[i] = (kb_support){0, columns + i * most};
    size_t found = kb_message_screen(w->message, a->columns, &parent->support, a->columns->equation[first], largest,
                                     best, supports, w->work);
    double least = kb_message_evidence(w->message, a->columns, &parent->support, NULL, w->work) - within;
    for (size_t i = 0; status == KBASS_OK && i < found; i++)
        if (kb_message_evidence(w->message, a->columns, &supports[i], NULL, w->work) >= least)
            status = how(a->columns, w, parent, &supports[i], &out[(*n)++], error);
    kb_free(columns);
    return status;
}

static kbass_status propose_all_screened(kb_search *a, kb_search_worker *w, const kb_fit *parent,
                                         const screening *which, kb_proposal *out, size_t *n, kbass_error *error)
{
    const kb_schedule *s = a->schedule;
    kbass_status status = KBASS_OK;
    for (size_t first = 0, last; status == KBASS_OK && first < a->columns->n; first = last) {
        last = kb_columns_end(a->columns, first);
        size_t terms = kb_support_count(&parent->support, first, last);
        if (terms < which->from) continue;
        bool is_long = terms >= long_from(a, parent) && (double)(last - first) <= s->screened_columns;
        double best = is_long ? kb_larger(s->screened, s->screened_long) : which->best;
        status = propose_screened(a, w, parent, first, (size_t)best, is_long ? INFINITY : which->within, which->how,
                                  out, n, error);
    }
    return status;
}

/* All equations by pairs of columns, too. */
static kbass_status propose_swept(kb_search *a, kb_search_worker *w, const kb_fit *parent, propose_function how,
                                  kb_proposal *out, size_t *n, kbass_error *error)
{
    bool changed = false;
    kb_support_copy(&parent->support, &w->trial);
    kbass_status status = kb_message_sweep(w->message, a->columns, &w->trial, &changed, error);
    if (a->columns->constraints) kb_constraints_complete(a->columns, &w->trial);
    return status == KBASS_OK && changed ? how(a->columns, w, parent, &w->trial, &out[(*n)++], error) : status;
}

/* Equations each for itself along the parent's solution: where the message of its tangents holds only nearby. */
static kbass_status propose_integrals(kb_search *a, kb_search_worker *w, const kb_fit *parent, kb_proposal *out,
                                      size_t *n, kbass_error *error)
{
    kb_likelihood *l = w->likelihood;
    kbass_status status = KBASS_OK;
    if (!l->integrals || a->columns->constraints) return KBASS_OK;
    if (a->screened && l->integrals(l, parent, false, w->message)) {
        const kb_schedule *s = a->schedule;
        screening near = {s->screened_near > 0 ? 0 : long_from(a, parent), s->screened_near, worth_fitting(a, parent),
                          propose_along};
        status = propose_all_screened(a, w, parent, &near, out, n, error);
    }
    if (status == KBASS_OK && a->schedule->sweeps > 0 && l->integrals(l, parent, true, w->message))
        status = propose_swept(a, w, parent, propose_along, out, n, error);
    return status;
}

/* Of many like states: what most equations have, for the others too. */
static kbass_status propose_analogous(kb_search *a, kb_search_worker *w, const kb_fit *parent, kb_proposal *out,
                                      size_t *n, kbass_error *error)
{
    kbass_status status = KBASS_OK;
    double *weights = w->work;
    for (size_t i = 0; a->analogies && status == KBASS_OK && i < KB_ANALOGIES * MOST_PATTERNS; i++) {
        const kb_analogy *analogy = a->analogies[i % KB_ANALOGIES];
        if (!analogy ||
            !kb_analogy_apply(analogy, a->columns, &parent->support, parent->w, i / KB_ANALOGIES, &w->trial, weights))
            continue;
        kb_proposal *p = &out[(*n)++];
        status = begin_proposal(w, parent, &w->trial, p, error);
        for (size_t q = 0; status == KBASS_OK && q < w->trial.n; q++) p->w[q] = weights[w->trial.column[q]];
    }
    return status;
}

/* The best single moves on the quadratic. */
static kbass_status propose_moves(kb_search *a, kb_search_worker *w, const kb_fit *parent, kb_proposal *out, size_t *n,
                                  kbass_error *error)
{
    kb_move moves[MOST_MOVES];
    kbass_status status = KBASS_OK;
    double least = -worth_fitting(a, parent);
    size_t found = kb_message_moves(w->message, a->columns, &parent->support, KB_SWAPS | KB_TO_NOTHING,
                                    (size_t)a->schedule->most_moves, moves, w->work);
    for (size_t i = 0; status == KBASS_OK && i < found && moves[i].gain > least; i++) {
        kb_support_copy(&parent->support, &w->trial);
        kb_move_apply(&moves[i], a->columns, &w->trial);
        status = propose(a->columns, w, parent, &w->trial, &out[(*n)++], error);
    }
    return status;
}

kbass_status kb_propose_neighbours(kb_search *a, kb_search_worker *w, const kb_fit *parent, kb_proposal *out, size_t *n,
                                   kbass_error *error)
{
    const kb_columns *columns = a->columns;
    screening best = {a->schedule->sweeps > 0 ? long_from(a, parent) : 0, a->schedule->screened,
                      a->settles ? worth_fitting(a, parent) : INFINITY, propose};
    w->likelihood->windows = a->windows;
    if (!w->likelihood->message(w->likelihood, parent, a->all, w->message)) return KBASS_OK;
    kbass_status status = propose_moves(a, w, parent, out, n, error);
    if (status == KBASS_OK && a->screened) status = propose_all_screened(a, w, parent, &best, out, n, error);
    kb_support_copy(&parent->support, &w->trial);
    if (status == KBASS_OK &&
        kb_message_climb(w->message, columns, &w->trial, (size_t)a->schedule->climb_moves, w->work))
        status = propose(columns, w, parent, &w->trial, &out[(*n)++], error);
    if (status == KBASS_OK && a->schedule->sweeps > 0) status = propose_swept(a, w, parent, propose, out, n, error);
    if (status == KBASS_OK) status = propose_integrals(a, w, parent, out, n, error);
    if (status == KBASS_OK) status = propose_analogous(a, w, parent, out, n, error);
    return status;
}

size_t kb_proposals_room(const kb_columns *columns)
{
    return MOST_MOVES + 3 + KB_ANALOGIES * MOST_PATTERNS + 2 * MOST_SCREENED * kb_columns_equations(columns);
}

void kb_proposal_clear(kb_proposal *p)
{
    kb_support_clear(&p->support);
    kb_free(p->w);
    kb_free(p->start);
}
