#include "search/refine.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/status.h"

typedef struct {
    kb_pool before;  /* all models at the resolution before */
    double *weights; /* of the best of them, by column */
    double still;    /* standard deviations */
    double explored; /* evidence of the best model where neighbours were last proposed */
} refinement;

/* The best model alone at the next resolution: does it stay where it is? */
static kbass_status try_finer(kb_pass *p, const refinement *r, bool *is_still, kbass_error *error)
{
    kb_pool *pool = p->search.pool;
    kb_pool_trim(pool, 1);
    p->is_over = false;
    kbass_status status = p->task->refine(p, error);
    *is_still = p->is_over;
    if (status != KBASS_OK || p->is_over) return status;
    status = kb_pass_fit(p, (int)p->task->schedule->fit_iterations, error);
    *is_still = !kb_pass_has_model(p) || kb_run_stopped(p->search.run) ||
                (kb_weights_moved(pool->fits[0], r->weights) < r->still && !kb_pass_floor_matters(p));
    return status;
}

/* The other models at the best one's new resolution, and their neighbours where that is another comparison. */
static kbass_status follow(kb_pass *p, refinement *r, kbass_error *error)
{
    const kb_schedule *s = p->task->schedule;
    kb_pool *pool = p->search.pool;
    if (s->refined > 0) kb_pool_trim(pool, (size_t)s->refined);
    kbass_status status = kb_pass_fit(p, (int)s->fit_iterations, error);
    if (status != KBASS_OK || !kb_pass_has_model(p) || !(s->final_rounds > 0)) return status;
    if (fabs(pool->fits[0]->log_evidence - r->explored) < s->same_evidence) return KBASS_OK;
    status = kb_pass_explore(p, (size_t)s->final_beam, (int)s->final_rounds, error);
    r->explored = kb_pass_has_model(p) ? pool->fits[0]->log_evidence : r->explored;
    return status;
}

/* To the resolution where all models were fitted last, and to its floor. */
static kbass_status step_back(kb_pass *p, kbass_error *error)
{
    kbass_status status = p->task->step_back(p, error);
    if (status == KBASS_OK && p->task->raise_floor) p->task->raise_floor(p);
    return status;
}

static kbass_status refine_once(kb_pass *p, refinement *r, bool *is_still, kbass_error *error)
{
    kb_pool *pool = p->search.pool;
    size_t n = pool->n_columns;
    memcpy(r->weights, pool->fits[0]->w, n * sizeof *r->weights);
    kbass_status status = kb_pool_copy(pool, &r->before, error);
    if (status == KBASS_OK) status = try_finer(p, r, is_still, error);
    if (status != KBASS_OK) return status;
    kb_pool_swap(pool, &r->before);
    if (*is_still) return p->is_over ? KBASS_OK : step_back(p, error);
    kb_fit_copy(r->before.fits[0], pool->fits[0], n, pool->n_start);
    return follow(p, r, error);
}

kbass_status kb_refine_resolution(kb_pass *p, double still, kbass_error *error)
{
    const kb_pool *pool = p->search.pool;
    refinement r = {.weights = KB_NEW(double, pool->n_columns), .still = still};
    kbass_status status = r.weights ? KBASS_OK : kb_out_of_memory(error, "the search");
    bool is_still = false;
    kb_pool_init(&r.before, pool->n_columns, pool->n_start, pool->max_windows);
    r.explored = kb_pass_has_model(p) ? pool->fits[0]->log_evidence : -INFINITY;
    while (status == KBASS_OK && !is_still && kb_pass_has_model(p) && !kb_run_stopped(p->search.run))
        status = refine_once(p, &r, &is_still, error);
    kb_pool_clear(&r.before);
    kb_free(r.weights);
    return status;
}
