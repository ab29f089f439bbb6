#include "search/neighbours.h"

#include <omp.h>
#include <string.h>

#include "base/memory.h"
#include "base/status.h"
#include "search/fits.h"
#include "search/proposals.h"
#include "search/standing.h"
#include "search/trace.h"

enum { MOST_PARENTS = 4 }; /* room: schedules have less or as many */

/* A start that is a state is followed from the first; many modes of a profile may go astray and are followed last, but
   not from a model at convergence. */
static bool follows_at_first(const kb_search *a)
{
    return a->settles || a->workers.list[0]->likelihood->starts_are_states;
}

static size_t find(const kb_pool *pool, const kb_support *support)
{
    size_t i = 0;
    while (i < pool->n && !kb_support_equal(&pool->fits[i]->support, support)) i++;
    return i < pool->n ? i : KB_NOT_KNOWN;
}

static void prepare(const kb_search *a, const kb_proposal *p, bool follows, kb_fit *fit)
{
    kb_fit_begin(fit, p->parent, a->columns->n, a->pool->n_start);
    for (size_t q = 0; q < p->support.n; q++) fit->w[p->support.column[q]] = p->w[q];
    if (follows) memcpy(fit->start, p->start, p->parent->n_windows * a->pool->n_start * sizeof *p->start);
}

/* The first fit of a structure that is new to the pool. */
static kbass_status fit_first(kb_search *a, size_t n, kb_proposal *proposals, kb_fit_job *jobs, kbass_error *error)
{
    kbass_status status = KBASS_OK;
    size_t n_jobs = 0;
    for (size_t i = 0; i < n; i++) proposals[i].was_known = find(a->pool, &proposals[i].support) != KB_NOT_KNOWN;
    for (size_t i = 0; status == KBASS_OK && i < n; i++) {
        kb_proposal *p = &proposals[i];
        if (find(a->pool, &p->support) != KB_NOT_KNOWN) continue;
        kb_fit_job *j = &jobs[n_jobs++];
        *j = (kb_fit_job){NULL, p->parent, KB_NOT_KNOWN};
        status = kb_pool_add(a->pool, &p->support, &j->fit, error);
        if (status == KBASS_OK) prepare(a, p, follows_at_first(a), j->fit);
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

static bool is_worth_again(const kb_search *a, const kb_proposal *p)
{
    const kb_fit *known = a->pool->fits[find(a->pool, &p->support)];
    if (follows_at_first(a) && !p->was_known) return false;
    return known->valid && p->promised > known->log_evidence + a->schedule->worth_again;
}

/* Another fit beside one that holds less than is promised, from starts that follow the promise. */
static kbass_status fit_again(kb_search *a, size_t n, const kb_proposal *proposals, kb_fit_job *jobs,
                              kbass_error *error)
{
    const kb_pool *pool = a->pool;
    kbass_status status = KBASS_OK;
    size_t n_jobs = 0;
    for (size_t i = 0; status == KBASS_OK && i < n; i++) {
        const kb_proposal *p = &proposals[i];
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

static kbass_status fit_proposals(kb_search *a, size_t n, kb_proposal *proposals, kbass_error *error)
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
    size_t counts[MOST_PARENTS] = {0}, each = kb_proposals_room(a->columns);
    kbass_status statuses[MOST_PARENTS] = {KBASS_OK}, status = KBASS_OK;
    kb_proposal *proposals = KB_NEW(kb_proposal, MOST_PARENTS * each);
    if (!proposals) return kb_out_of_memory(error, "the search");
    *more = n > 0;
    bool is_shared = n && kb_search_share_windows(a, a->columns->n);
#pragma omp parallel for schedule(dynamic) num_threads(is_shared ? 1 : a->workers.n)
    for (size_t i = 0; i < n; i++)
        statuses[i] = kb_propose_neighbours(a, a->workers.list[omp_get_thread_num()], a->pool->fits[chosen[i]],
                                            proposals + i * each, &counts[i], NULL);
    if (is_shared) kb_search_share_no_windows(a);
    for (size_t i = 0; i < n; i++) {
        a->pool->explored[chosen[i]] = true;
        if (statuses[i] != KBASS_OK) status = kb_out_of_memory(error, "the search");
        memmove(proposals + total, proposals + i * each, counts[i] * sizeof *proposals);
        total += counts[i];
    }
    if (status == KBASS_OK) status = fit_proposals(a, total, proposals, error);
    for (size_t i = 0; i < total; i++) kb_proposal_clear(&proposals[i]);
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
        kb_standing_note(a);
    }
    kb_trace_pool(a, *settled ? "explored all" : "explored");
    return status;
}
