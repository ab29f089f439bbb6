#include "propose/kernel/search.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/status.h"
#include "weights/ties.h"

enum { SWEEPS = 200 }; /* sweeps: of EP at most; it converges in 5 to 30 */

static bool merged_create(size_t n, kb_merged *m)
{
    m->G = KB_NEW(double, 2 * n * n + 3 * n);
    m->group = KB_NEW(size_t, n);
    if (!m->G || !m->group) return false;
    m->work = m->G + n * n;
    m->b = m->work + n * n;
    m->slab = m->b + n;
    m->log_odds = m->slab + n;
    return true;
}

static kbass_status create_parts(kb_kernel_search *s, kbass_error *error)
{
    const kb_patched_domain *t = s->domain;
    size_t n = s->columns->n;
    kbass_status status = kb_patch_solver_create(t->n_searched, t->patches, t->dictionary, s->columns, t->amplitude,
                                                 t->variance, t->threads, &s->solver, error);
    if (status == KBASS_OK) status = kb_ep_create(n, &s->ep, error);
    if (status == KBASS_OK) status = kb_message_create(n, &s->message, error);
    if (status == KBASS_OK) status = kb_support_create(n, &s->trial, error);
    if (status == KBASS_OK) status = kb_support_create(n, &s->chosen, error);
    for (size_t i = 0; status == KBASS_OK && i < KB_KERNEL_SEARCH_SPARES; i++)
        status = kb_kernel_state_create(s->solver, &s->spare[i], error);
    s->view = *s->columns;
    s->view.slab = KB_NEW(double, n);
    s->log_odds = KB_NEW(double, n);
    s->work = KB_NEW(double, kb_message_work(n) + n);
    s->probability = KB_NEW(double, n);
    s->mean = KB_NEW(double, n);
    bool complete = merged_create(n, &s->merged) && s->probability && s->mean && s->view.slab && s->log_odds && s->work;
    if (status == KBASS_OK && !complete) status = kb_out_of_memory(error, "the search");
    for (size_t j = 0; status == KBASS_OK && j < n; j++)
        s->log_odds[j] = s->columns->required[j] ? KB_EP_CERTAIN : s->columns->log_odds[j];
    return status;
}

kbass_status kb_kernel_search_create(const kb_patched_domain *domain, const kb_columns *columns, kb_run *run,
                                     kb_kernel_search **out, kbass_error *error)
{
    kb_kernel_search *s = KB_NEW(kb_kernel_search, 1);
    if (!s) return kb_out_of_memory(error, "the search");
    s->domain = domain;
    s->columns = columns;
    s->run = run;
    s->coarsest = (kb_steps){KB_LADDER_FIRST, KB_LADDER_FIRST};
    kbass_status status = create_parts(s, error);
    if (status == KBASS_OK) s->solver->clock = run;
    if (status == KBASS_OK) *out = s;
    else kb_kernel_search_destroy(s);
    return status;
}

void kb_kernel_search_destroy(kb_kernel_search *s)
{
    if (!s) return;
    kb_kernel_pool_clear(&s->pool);
    for (size_t i = 0; i < KB_KERNEL_SEARCH_SPARES; i++) kb_kernel_state_destroy(s->spare[i]);
    kb_patch_solver_destroy(s->solver);
    kb_ep_destroy(s->ep);
    kb_message_destroy(s->message);
    kb_support_clear(&s->trial);
    kb_support_clear(&s->chosen);
    kb_free(s->view.slab);
    kb_free(s->log_odds);
    kb_free(s->work);
    kb_free(s->merged.G);
    kb_free(s->merged.group);
    kb_free(s->probability);
    kb_free(s->mean);
    kb_free(s);
}

/* ---------------------------------------------------------------- the pool */

const kb_kernel_state *kb_kernel_pool_find(const kb_kernel_pool *pool, const kb_support *support)
{
    for (size_t i = 0; i < pool->n; i++)
        if (kb_support_equal(&pool->states[i]->support, support)) return pool->states[i];
    return NULL;
}

void kb_kernel_pool_clear(kb_kernel_pool *pool)
{
    for (size_t i = 0; i < pool->n; i++) kb_kernel_state_destroy(pool->states[i]);
    pool->n = 0;
}

static int by_falling_evidence(const void *a, const void *b)
{
    double x = (*(kb_kernel_state *const *)a)->log_evidence, y = (*(kb_kernel_state *const *)b)->log_evidence;
    return (x < y) - (x > y);
}

void kb_kernel_pool_sort(kb_kernel_pool *pool)
{
    qsort(pool->states, pool->n, sizeof *pool->states, by_falling_evidence);
}

void kb_kernel_pool_keep(kb_kernel_search *s, const kb_kernel_state *state)
{
    kb_kernel_pool *pool = &s->pool;
    kb_kernel_state *place = (kb_kernel_state *)kb_kernel_pool_find(pool, &state->support);
    if (!(state->log_evidence > -INFINITY) || place == state) return;
    if (!place && pool->n < KB_KERNEL_POOL_STATES) {
        kbass_status status = kb_kernel_state_create(s->solver, &place, NULL);
        if (status != KBASS_OK) s->status = status;
        if (status != KBASS_OK) return;
        pool->states[pool->n++] = place;
        s->solver->run = s->run; /* with something to answer with, solves may be interrupted */
    }
    if (!place) {
        kb_kernel_pool_sort(pool);
        place = pool->states[pool->n - 1];
    }
    if (state->log_evidence > place->log_evidence) kb_kernel_state_copy(s->solver, state, place);
}

kbass_status kb_kernel_search_status(const kb_kernel_search *s, kbass_error *error)
{
    return s->status == KBASS_OK ? KBASS_OK : kb_out_of_memory(error, "the search");
}

/* ---------------------------------------------------------------- the message about all columns */

void kb_kernel_search_take_message(kb_kernel_search *s)
{
    size_t n = s->columns->n;
    memcpy(s->message->G, s->solver->G, n * n * sizeof *s->message->G);
    memcpy(s->message->b, s->solver->b, n * sizeof *s->message->b);
    memcpy(s->view.slab, s->solver->slab, n * sizeof *s->view.slab);
}

static void add_likeliest(const kb_kernel_search *s, size_t equation, kb_support *selected)
{
    size_t n = s->columns->n, best = n;
    const double *probability = s->probability;
    for (size_t j = 0; j < n; j++)
        if (s->columns->equation[j] == equation && (best == n || probability[j] > probability[best])) best = j;
    if (best < n) kb_support_add(selected, best);
}

/* On the message, those columns as one that constraints tie; probabilities and means of all. */
static bool run_ep(kb_kernel_search *s)
{
    size_t n = s->columns->n;
    const kb_message *m = s->message;
    kb_merged *e = &s->merged;
    memcpy(e->G, m->G, n * n * sizeof *e->G);
    memcpy(e->b, m->b, n * sizeof *e->b);
    memcpy(e->slab, s->view.slab, n * sizeof *e->slab);
    memcpy(e->log_odds, s->log_odds, n * sizeof *e->log_odds);
    s->ep->n = kb_ties_merge(s->columns, &s->solver->all, NULL, e->G, e->b, e->slab, e->log_odds, e->group, e->work);
    kb_ep_reset(s->ep, e->slab);
    if (!kb_ep_run(s->ep, e->G, e->b, e->slab, e->log_odds, SWEEPS)) return false;
    for (size_t j = 0; j < n; j++) {
        s->probability[j] = s->ep->probability[e->group[j]];
        s->mean[j] = kb_ties_factor(s->columns, &s->solver->all, NULL, j) * s->ep->mean[e->group[j]];
    }
    return true;
}

bool kb_kernel_search_select(kb_kernel_search *s, double threshold, kb_support *selected)
{
    if (!run_ep(s)) return false;
    selected->n = 0;
    for (size_t j = 0; j < s->columns->n; j++)
        if (s->probability[j] >= threshold || s->columns->required[j]) kb_support_add(selected, j);
    for (size_t i = 0; i < s->domain->dictionary->n_states; i++) add_likeliest(s, i, selected);
    return true;
}

void kb_kernel_search_weights(kb_kernel_search *s, const kb_support *support, double *w)
{
    double *mean = s->work + kb_message_work(s->columns->n);
    memset(w, 0, s->columns->n * sizeof *w);
    if (!isfinite(kb_message_evidence(s->message, &s->view, support, mean, s->work))) return;
    for (size_t q = 0; q < support->n; q++) w[support->column[q]] = mean[q];
}

double kb_kernel_search_evaluate(kb_kernel_search *s, kb_kernel_state *state, int iterations, bool all_columns)
{
    kb_solve_options options = {iterations, true, true, all_columns ? &s->solver->all : NULL};
    state->log_evidence = -INFINITY;
    state->freedom = s->freedom;
    if (!kb_run_continue(s->run, state->support.n) || !kb_patch_solver_iterate(s->solver, state, &options))
        return -INFINITY;
    s->n_weighed++;
    if (all_columns) kb_kernel_search_take_message(s);
    return state->log_evidence;
}
