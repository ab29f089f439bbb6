#include "propose/kernel/proposals.h"

#include <string.h>

#include "problem/pde1d.h"
#include "problem/pde_nd.h"
#include "propose/kernel/search.h"

enum { MOST_PROPOSALS = 8 };                    /* structures: best first; not measured */
static const double thresholds[] = {0.5, 0.05}; /* probability: columns above it are one more proposal each */

static kbass_status add(kb_pool *pool, const kb_support *support, const double *w, size_t n_fields,
                        const double *variance, kbass_error *error)
{
    kb_fit *fit = NULL;
    if (kb_pool_find(pool, support)) return KBASS_OK;
    kbass_status status = kb_pool_add(pool, support, &fit, error);
    if (status != KBASS_OK) return status;
    memcpy(fit->w, w, pool->n_columns * sizeof *fit->w);
    memcpy(fit->variance, variance, n_fields * sizeof *fit->variance);
    return KBASS_OK;
}

static kbass_status ask_patches(const kb_proposals *p, bool is_quick, kb_kernel_fit *found, size_t *n,
                                kbass_error *error)
{
    const kb_pde1d_problem *l = p->problem;
    kb_patched_domain *domain = NULL;
    kb_scope scope = kb_kernel_scope;
    scope.is_quick = is_quick;
    kbass_status status = kb_patched_domain_create(p->n_runs, l->run_samples + p->first_run, l->dictionary, l->settings,
                                                   scope, l->threads, &domain, error);
    if (status == KBASS_OK) status = kb_kernel_propose(domain, l->columns, p->run, MOST_PROPOSALS, found, n, error);
    kb_patched_domain_destroy(domain);
    return status;
}

kbass_status kb_propose_on_patches(kb_proposals *p, kbass_error *error)
{
    const kb_pde1d_problem *l = p->problem;
    kb_kernel_fit found[MOST_PROPOSALS] = {0};
    size_t n = 0;
    kbass_status status = ask_patches(p, true, found, &n, error);
    if (status == KBASS_OK && !n && !kb_run_stopped(p->run)) status = ask_patches(p, false, found, &n, error);
    for (size_t i = 0; status == KBASS_OK && i < n; i++)
        status = add(p->pool, &found[i].support, found[i].w, l->run_samples[0]->n_fields, found[i].variance, error);
    p->n_starts += n;
    for (size_t i = 0; i < n; i++) kb_kernel_fit_clear(&found[i]);
    return status;
}

kbass_status kb_propose_on_bare_field(kb_proposals *p, kbass_error *error)
{
    const kb_pde_nd_problem *e = p->problem;
    kb_kernel_search *s = NULL;
    kbass_status status = kb_kernel_search_create(e->domain, e->columns, p->run, &s, error);
    if (status != KBASS_OK) return status;
    s->has_many_data = true;
    kb_kernel_state *state = s->spare[0];
    bool is_there = kb_kernel_search_begin(s, state);
    for (size_t i = 0; status == KBASS_OK && is_there && i < sizeof thresholds / sizeof *thresholds; i++) {
        is_there = kb_kernel_search_propose(s, thresholds[i], state);
        if (is_there) status = add(p->pool, &state->support, state->w, s->solver->n_fields, state->variance, error);
    }
    p->n_starts++;
    kb_kernel_search_destroy(s);
    return status;
}
