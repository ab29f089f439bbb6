#include "search/refine.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/status.h"

typedef struct {
    kb_pool all;     /* models at the resolution where all were fitted last */
    kb_pool best;    /* the best of them at the last resolution that it was not still at */
    double *weights; /* of it there, by column */
    double still;    /* standard deviations */
} refinement;

/* The best model, alone in the pool, at the next resolution: does it stay where it is? */
static kbass_status try_finer(kb_pass *p, const refinement *r, bool *is_still, kbass_error *error)
{
    p->is_over = false;
    kbass_status status = p->task->refine(p, error);
    *is_still = p->is_over;
    if (status != KBASS_OK || p->is_over) return status;
    status = kb_pass_fit(p, (int)p->task->schedule->fit_iterations, error);
    *is_still = !kb_pass_has_model(p) || kb_run_stopped(p->search.run) ||
                (kb_weights_moved(p->search.pool->fits[0], r->weights) < r->still && !kb_pass_floor_matters(p));
    return status;
}

/* The best model to the first resolution that it is still at. *moved: that is another than before. */
static kbass_status refine_best(kb_pass *p, refinement *r, bool *moved, kbass_error *error)
{
    kb_pool *pool = p->search.pool;
    kbass_status status = KBASS_OK;
    bool is_still = false;
    *moved = false;
    kb_pool_trim(pool, 1);
    while (status == KBASS_OK && !is_still) {
        memcpy(r->weights, pool->fits[0]->w, pool->n_columns * sizeof *r->weights);
        status = kb_pool_copy(pool, &r->best, error);
        if (status == KBASS_OK) status = try_finer(p, r, &is_still, error);
        *moved = *moved || !is_still;
    }
    return status == KBASS_OK && !p->is_over ? p->task->step_back(p, error) : status;
}

/* The other models at the best one's new resolution. *is_best: it is the best there, too. */
static kbass_status follow(kb_pass *p, refinement *r, bool *is_best, kbass_error *error)
{
    kb_pool *pool = p->search.pool;
    double most = p->task->schedule->refined;
    kb_fit_copy(r->best.fits[0], pool->fits[0], pool->n_columns, pool->n_start);
    if (most > 0) kb_pool_trim(pool, (size_t)most);
    kbass_status status = kb_pass_fit(p, (int)p->task->schedule->fit_iterations, error);
    *is_best = kb_support_equal(&pool->fits[0]->support, &r->best.fits[0]->support);
    return status;
}

static kbass_status refine_once(kb_pass *p, refinement *r, bool *is_best, kbass_error *error)
{
    kb_pool *pool = p->search.pool;
    bool moved = false;
    kbass_status status = kb_pool_copy(pool, &r->all, error);
    if (status == KBASS_OK) status = refine_best(p, r, &moved, error);
    if (status != KBASS_OK) return status;
    kb_pool_swap(pool, &r->all);
    *is_best = true;
    if (moved) return follow(p, r, is_best, error);
    if (!p->is_over && p->task->raise_floor) p->task->raise_floor(p);
    return KBASS_OK;
}

kbass_status kb_refine_resolution(kb_pass *p, double still, kbass_error *error)
{
    const kb_pool *pool = p->search.pool;
    refinement r = {.weights = KB_NEW(double, pool->n_columns), .still = still};
    kbass_status status = r.weights ? KBASS_OK : kb_out_of_memory(error, "the search");
    bool is_best = false;
    kb_pool_init(&r.all, pool->n_columns, pool->n_start, pool->max_windows);
    kb_pool_init(&r.best, pool->n_columns, pool->n_start, pool->max_windows);
    while (status == KBASS_OK && !is_best && kb_pass_has_model(p) && !kb_run_stopped(p->search.run))
        status = refine_once(p, &r, &is_best, error);
    kb_pool_clear(&r.all);
    kb_pool_clear(&r.best);
    kb_free(r.weights);
    return status;
}
