#include <math.h>

#include "em/states.h"
#include "forward/shoot.h"
#include "posterior/band.h"

enum { ITERATIONS = 60 }; /* iterations: as --explain has them; the model begins near its best */

/* Weights, starts and noise as the integrated equation wants them; its own where that cannot be had. */
static kbass_status follow(kb_shooter *shooter, const kb_search_result *result, size_t which, kb_pool *pool,
                           size_t n_columns, kbass_error *error)
{
    const kb_fit *fit = result->pool.fits[which];
    kb_fit *followed = NULL;
    kbass_status status = kb_pool_add(pool, &fit->support, &followed, error);
    if (status != KBASS_OK) return status;
    kb_fit_copy(fit, followed, n_columns, pool->n_start);
    kb_shooter_fit(shooter, followed, ITERATIONS, -INFINITY);
    if (!followed->valid) kb_fit_copy(fit, followed, n_columns, pool->n_start);
    return KBASS_OK;
}

kbass_status kb_em_states_follow(const kb_ode_problem *p, kb_search_result *result, kbass_error *error)
{
    size_t near = kb_count_near(result->pool.n, result->pool.fits), most = 0;
    kb_shooter *shooter = NULL;
    if (near > KB_RIVALS_OF_STATES) near = KB_RIVALS_OF_STATES;
    for (size_t i = 0; i < near; i++)
        if (result->pool.fits[i]->support.n > most) most = result->pool.fits[i]->support.n;
    kb_pool_init(&result->engine.followed, p->columns->n, p->record->n_states, result->windows->n);
    kbass_status status =
        kb_shooter_create(p->record, p->dictionary, p->columns, result->windows->n, most, &shooter, error);
    if (status != KBASS_OK) return status;
    shooter->likelihood.windows = result->windows;
    shooter->flow->follow = kb_ode_problem_follow(p);
    for (size_t i = 0; status == KBASS_OK && i < near; i++)
        status = follow(shooter, result, i, &result->engine.followed, p->columns->n, error);
    if (status == KBASS_OK)
        status = kb_residual_tests_run(shooter, result->engine.followed.fits[0], &result->residual_tests, error);
    kb_shooter_destroy(shooter);
    return status;
}
