#include "search/neighbours.h"

#include <math.h>
#include <omp.h>
#include <stdint.h>
#include <string.h>

#include "base/larger.h"
#include "base/memory.h"
#include "base/status.h"
#include "search/fits.h"
#include "search/trace.h"
#include "weights/sweep.h"
#include "weights/constraints.h"

enum { MOST_PARENTS = 4 };   /* room: schedules have less or as many */
enum { MOST_MOVES = 16 };    /* room: likewise */
enum { MOST_SCREENED = 40 }; /* room: likewise */
enum { MOST_PATTERNS = 2 };  /* right-hand sides that many equations have; not measured */

/* ---------------------------------------------------------------- proposing */

/* A neighbour proposed by a parent; its weights and starts are the quadratic's means, and so is the evidence it
 * promises. */
typedef struct {
    kb_support support;
    double *w, *start, promised;
    const kb_fit *parent;
    bool was_known; /* the pool had this structure before */
} proposal;

/* A start that is a state is followed from the first; many modes of a profile may go astray and are followed last. */
static bool starts_are_states(const kb_search *a) { return a->workers.list[0]->likelihood->starts_are_states; }

/* The parent's starts, moved as its message supposes when the weights become those of the proposal. */
static void follow(const kb_columns *columns, kb_search_worker *e, const kb_fit *parent, proposal *p)
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
                                         const kb_support *support, proposal *out, kbass_error *error);

/* The parent's starts, no weights yet and no promise. */
static kbass_status begin_proposal(kb_search_worker *w, const kb_fit *parent, const kb_support *support, proposal *out,
                                   kbass_error *error)
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
                                  const kb_support *support, proposal *out, kbass_error *error)
{
    double *mean = w->work;
    kbass_status status = begin_proposal(w, parent, support, out, error);
    if (status != KBASS_OK) return status;
    kb_message_evidence(w->message, columns, support, mean, w->work + support->n);
    memcpy(out->w, mean, support->n * sizeof *mean);
    return KBASS_OK;
}

static kbass_status propose(const kb_columns *columns, kb_search_worker *w, const kb_fit *parent,
                            const kb_support *support, proposal *out, kbass_error *error)
{
    kbass_status status = propose_along(columns, w, parent, support, out, error);
    if (status != KBASS_OK) return status;
    double other = kb_message_evidence(w->message, columns, support, NULL, w->work);
    out->promised =
        parent->log_evidence + other - kb_message_evidence(w->message, columns, &parent->support, NULL, w->work);
    follow(columns, w, parent, out);
    return KBASS_OK;
}

static size_t n_equations(const kb_columns *columns)
{
    size_t n = 0;
    for (size_t first = 0; first < columns->n; first = kb_columns_end(columns, first)) n++;
    return n;
}

/* Of many equations: how many terms three quarters of them have at most. */
static size_t usual_terms(const kb_columns *columns, const kb_support *support)
{
    size_t n = n_equations(columns), terms = 0, no_longer = 0;
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

/* The best of all small right-hand sides of one equation on the quadratic, wherever the parent stands. */
static kbass_status propose_screened(kb_search *a, kb_search_worker *w, const kb_fit *parent, size_t first,
                                     size_t n_columns, size_t best, propose_function how, proposal *out, size_t *n,
                                     kbass_error *error)
{
    kb_support supports[MOST_SCREENED];
    size_t largest = (size_t)a->schedule->screened_size, n_supports = best + largest;
    size_t most = a->columns->n, *columns = KB_NEW(size_t, n_supports * most);
    if ((double)n_columns > a->schedule->screened_columns) largest--;
    kbass_status status = columns ? KBASS_OK : kb_out_of_memory(error, "the search");
    if (status != KBASS_OK) return status;
    for (size_t i = 0; i < n_supports; i++) supports[i] = (kb_support){0, columns + i * most};
    size_t found = kb_message_screen(w->message, a->columns, &parent->support, a->columns->equation[first], largest,
                                     best, supports, w->work);
    for (size_t i = 0; status == KBASS_OK && i < found; i++)
        status = how(a->columns, w, parent, &supports[i], &out[(*n)++], error);
    kb_free(columns);
    return status;
}

/* Equations of `from` terms or more. */
static kbass_status propose_all_screened(kb_search *a, kb_search_worker *w, const kb_fit *parent, size_t from,
                                         propose_function how, proposal *out, size_t *n, kbass_error *error)
{
    const kb_schedule *s = a->schedule;
    kbass_status status = KBASS_OK;
    for (size_t first = 0, last; status == KBASS_OK && first < a->columns->n; first = last) {
        last = kb_columns_end(a->columns, first);
        size_t terms = kb_support_count(&parent->support, first, last);
        if (terms < from) continue;
        bool is_long = terms >= long_from(a, parent) && (double)(last - first) <= s->screened_columns;
        double best = is_long ? kb_larger(s->screened, s->screened_long) : s->screened;
        status = propose_screened(a, w, parent, first, last - first, (size_t)best, how, out, n, error);
    }
    return status;
}

/* All equations by pairs of columns, too. */
static kbass_status propose_swept(kb_search *a, kb_search_worker *w, const kb_fit *parent, propose_function how,
                                  proposal *out, size_t *n, kbass_error *error)
{
    bool changed = false;
    kb_support_copy(&parent->support, &w->trial);
    kbass_status status = kb_message_sweep(w->message, a->columns, &w->trial, &changed, error);
    if (a->columns->constraints) kb_constraints_complete(a->columns, &w->trial);
    return status == KBASS_OK && changed ? how(a->columns, w, parent, &w->trial, &out[(*n)++], error) : status;
}

/* Equations each for itself along the parent's solution: where the message of its tangents holds only nearby. */
static kbass_status propose_integrals(kb_search *a, kb_search_worker *w, const kb_fit *parent, proposal *out, size_t *n,
                                      kbass_error *error)
{
    kb_likelihood *l = w->likelihood;
    kbass_status status = KBASS_OK;
    if (!l->integrals || a->columns->constraints) return KBASS_OK;
    if (a->screened && l->integrals(l, parent, false, w->message))
        status = propose_all_screened(a, w, parent, long_from(a, parent), propose_along, out, n, error);
    if (status == KBASS_OK && a->schedule->sweeps > 0 && l->integrals(l, parent, true, w->message))
        status = propose_swept(a, w, parent, propose_along, out, n, error);
    return status;
}

/* Of many like states: what most equations have, for the others too. */
static kbass_status propose_analogous(kb_search *a, kb_search_worker *w, const kb_fit *parent, proposal *out, size_t *n,
                                      kbass_error *error)
{
    kbass_status status = KBASS_OK;
    double *weights = w->work;
    for (size_t i = 0; a->analogies && status == KBASS_OK && i < KB_ANALOGIES * MOST_PATTERNS; i++) {
        const kb_analogy *analogy = a->analogies[i % KB_ANALOGIES];
        if (!analogy ||
            !kb_analogy_apply(analogy, a->columns, &parent->support, parent->w, i / KB_ANALOGIES, &w->trial, weights))
            continue;
        proposal *p = &out[(*n)++];
        status = begin_proposal(w, parent, &w->trial, p, error);
        for (size_t q = 0; status == KBASS_OK && q < w->trial.n; q++) p->w[q] = weights[w->trial.column[q]];
    }
    return status;
}

/* The neighbours of one model that are worth a fit: best single moves, and the end of a climb on the quadratic. */
static kbass_status propose_from(kb_search *a, kb_search_worker *w, const kb_fit *parent, proposal *out, size_t *n,
                                 kbass_error *error)
{
    const kb_columns *columns = a->columns;
    kb_move moves[MOST_MOVES];
    kbass_status status = KBASS_OK;
    w->likelihood->windows = a->windows;
    if (!w->likelihood->message(w->likelihood, parent, a->all, w->message)) return KBASS_OK;
    size_t most = (size_t)a->schedule->most_moves;
    size_t found =
        kb_message_moves(w->message, columns, &parent->support, KB_SWAPS | KB_TO_NOTHING, most, moves, w->work);
    for (size_t i = 0; status == KBASS_OK && i < found; i++) {
        if (!(moves[i].gain > -a->schedule->worth_fitting)) break;
        kb_support_copy(&parent->support, &w->trial);
        kb_move_apply(&moves[i], columns, &w->trial);
        status = propose(columns, w, parent, &w->trial, &out[(*n)++], error);
    }
    if (status == KBASS_OK && a->screened)
        status = propose_all_screened(a, w, parent, a->schedule->sweeps > 0 ? long_from(a, parent) : 0, propose, out, n,
                                      error);
    kb_support_copy(&parent->support, &w->trial);
    if (status == KBASS_OK &&
        kb_message_climb(w->message, columns, &w->trial, (size_t)a->schedule->climb_moves, w->work))
        status = propose(columns, w, parent, &w->trial, &out[(*n)++], error);
    if (status == KBASS_OK && a->schedule->sweeps > 0) status = propose_swept(a, w, parent, propose, out, n, error);
    if (status == KBASS_OK) status = propose_integrals(a, w, parent, out, n, error);
    if (status == KBASS_OK) status = propose_analogous(a, w, parent, out, n, error);
    return status;
}

static size_t find(const kb_pool *pool, const kb_support *support)
{
    size_t i = 0;
    while (i < pool->n && !kb_support_equal(&pool->fits[i]->support, support)) i++;
    return i < pool->n ? i : KB_NOT_KNOWN;
}

static void prepare(const kb_search *a, const proposal *p, bool follows, kb_fit *fit)
{
    kb_fit_begin(fit, p->parent, a->columns->n, a->pool->n_start);
    for (size_t q = 0; q < p->support.n; q++) fit->w[p->support.column[q]] = p->w[q];
    if (follows) memcpy(fit->start, p->start, p->parent->n_windows * a->pool->n_start * sizeof *p->start);
}

/* The first fit of a structure that is new to the pool. */
static kbass_status fit_first(kb_search *a, size_t n, proposal *proposals, kb_fit_job *jobs, kbass_error *error)
{
    kbass_status status = KBASS_OK;
    size_t n_jobs = 0;
    for (size_t i = 0; i < n; i++) proposals[i].was_known = find(a->pool, &proposals[i].support) != KB_NOT_KNOWN;
    for (size_t i = 0; status == KBASS_OK && i < n; i++) {
        proposal *p = &proposals[i];
        if (find(a->pool, &p->support) != KB_NOT_KNOWN) continue;
        kb_fit_job *j = &jobs[n_jobs++];
        *j = (kb_fit_job){NULL, p->parent, KB_NOT_KNOWN};
        status = kb_pool_add(a->pool, &p->support, &j->fit, error);
        if (status == KBASS_OK) prepare(a, p, starts_are_states(a), j->fit);
    }
    if (status == KBASS_OK) status = kb_search_fit_all(a, n_jobs, jobs, (int)a->schedule->neighbour_iterations, error);
    return status;
}

/* A second fit replaces the first where it is better, and its neighbours are looked at anew. */
static void settle_second(kb_pool *pool, kb_fit_job *j)
{
    kb_fit *first = pool->fits[j->known];
    if (j->fit->valid && j->fit->log_evidence > first->log_evidence) {
        kb_fit_copy(j->fit, first, pool->n_columns, pool->n_start);
        pool->explored[j->known] = false;
    }
    kb_fit_destroy(j->fit);
}

static bool is_worth_again(const kb_search *a, const proposal *p)
{
    const kb_fit *known = a->pool->fits[find(a->pool, &p->support)];
    if (starts_are_states(a) && !p->was_known) return false;
    return known->valid && p->promised > known->log_evidence + a->schedule->worth_again;
}

/* Another fit beside one that holds less than is promised, from starts that follow the promise. */
static kbass_status fit_again(kb_search *a, size_t n, const proposal *proposals, kb_fit_job *jobs, kbass_error *error)
{
    const kb_pool *pool = a->pool;
    kbass_status status = KBASS_OK;
    size_t n_jobs = 0;
    for (size_t i = 0; status == KBASS_OK && i < n; i++) {
        const proposal *p = &proposals[i];
        if (!is_worth_again(a, p)) continue;
        kb_fit_job *j = &jobs[n_jobs];
        *j = (kb_fit_job){NULL, p->parent, find(pool, &p->support)};
        status = kb_fit_create(pool->n_columns, pool->n_start, pool->max_windows, p->support.n, &j->fit, error);
        if (status != KBASS_OK) break;
        n_jobs++;
        kb_support_copy(&p->support, &j->fit->support);
        prepare(a, p, true, j->fit);
    }
    if (status == KBASS_OK) status = kb_search_fit_all(a, n_jobs, jobs, (int)a->schedule->neighbour_iterations, error);
    for (size_t i = 0; i < n_jobs; i++) settle_second(a->pool, &jobs[i]);
    return status;
}

static kbass_status fit_proposals(kb_search *a, size_t n, proposal *proposals, kbass_error *error)
{
    kb_fit_job *jobs = KB_NEW(kb_fit_job, n);
    kbass_status status = jobs ? fit_first(a, n, proposals, jobs, error) : kb_out_of_memory(error, "the search");
    if (status == KBASS_OK) status = fit_again(a, n, proposals, jobs, error);
    kb_free(jobs);
    return status;
}

static size_t choose_unexplored(kb_search *a, size_t beam, size_t *chosen)
{
    size_t n = 0;
    const kb_pool *pool = a->pool;
    for (size_t i = 0; i < pool->n && i < beam && n < (size_t)a->schedule->parents; i++)
        if (pool->fits[i]->valid && !pool->explored[i] &&
            pool->fits[i]->log_evidence > pool->fits[0]->log_evidence - a->schedule->worth_exploring)
            chosen[n++] = i;
    return n;
}

/* One round: the neighbours of the best unexplored models. False in *more when there is nothing left to explore. */
static kbass_status explore(kb_search *a, size_t beam, bool *more, kbass_error *error)
{
    size_t chosen[MOST_PARENTS], n = choose_unexplored(a, beam, chosen), total = 0;
    size_t counts[MOST_PARENTS] = {0},
           each = MOST_MOVES + 3 + KB_ANALOGIES * MOST_PATTERNS + 2 * MOST_SCREENED * n_equations(a->columns);
    kbass_status statuses[MOST_PARENTS] = {KBASS_OK}, status = KBASS_OK;
    proposal *proposals = KB_NEW(proposal, MOST_PARENTS * each);
    if (!proposals) return kb_out_of_memory(error, "the search");
    *more = n > 0;
#pragma omp parallel for schedule(dynamic) num_threads(a->workers.n)
    for (size_t i = 0; i < n; i++)
        statuses[i] = propose_from(a, a->workers.list[omp_get_thread_num()], a->pool->fits[chosen[i]],
                                   proposals + i * each, &counts[i], NULL);
    for (size_t i = 0; i < n; i++) {
        a->pool->explored[chosen[i]] = true;
        if (statuses[i] != KBASS_OK) status = kb_out_of_memory(error, "the search");
        memmove(proposals + total, proposals + i * each, counts[i] * sizeof *proposals);
        total += counts[i];
    }
    if (status == KBASS_OK) status = fit_proposals(a, total, proposals, error);
    for (size_t i = 0; i < total; i++) {
        kb_support_clear(&proposals[i].support);
        kb_free(proposals[i].w);
        kb_free(proposals[i].start);
    }
    kb_free(proposals);
    kb_pool_sort(a->pool);
    return status;
}

/* A stopped run still has what it is granted. */
static bool may_go_on(const kb_search *a)
{
    return a->deadline > 0 ? kb_clock() < a->deadline : !kb_run_stopped(a->run);
}

kbass_status kb_search_explore(kb_search *a, size_t beam, int rounds, bool *settled, kbass_error *error)
{
    kbass_status status = KBASS_OK;
    *settled = false;
    for (int round = 0; status == KBASS_OK && round < rounds && !*settled && may_go_on(a); round++) {
        bool more = false;
        status = explore(a, beam, &more, error);
        *settled = !more;
        if (a->pool->n && a->pool->fits[0]->valid) a->run->log_evidence = a->pool->fits[0]->log_evidence;
    }
    kb_trace_pool(a, *settled ? "explored all" : "explored");
    return status;
}
