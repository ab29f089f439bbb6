#include "discover/expanse.h"

#include <math.h>
#include <string.h>

#include "base/linalg.h"
#include "base/memory.h"
#include "base/status.h"
#include "discover/crossing.h"
#include "discover/em.h"
#include "propose/sources.h"

/* Through the integrated equation, from the proposals. */
static kbass_status cross(const kb_pde_nd_problem *e, kb_run *run, kb_search_result *result, kbass_error *error)
{
    double clock = kb_run_stage(run, KBASS_STAGE_ARBITRATE, 0.05, 0.5);
    kb_pool pool;
    kb_proposals proposals = {.problem = e, .n_runs = e->n_runs, .run = run, .pool = &pool};
    kb_pool_init(&pool, e->columns->n, e->run_samples[0]->n_fields, 0);
    kbass_status status = kb_propose(kb_sources_of_axes, KB_AT_FIRST, &proposals, error);
    for (size_t i = 0; i < pool.n; i++) pool.fits[i]->valid = true;
    if (status == KBASS_OK) status = kb_crossing_search(e, &pool, run, result, error);
    result->seconds[KBASS_STAGE_ARBITRATE] = kb_clock() - clock;
    kb_pool_clear(&pool);
    return status;
}

kbass_status kb_expanse_search(const kb_pde_nd_problem *e, kb_run *run, kb_search_result *result, kbass_error *error)
{
    memset(result, 0, sizeof *result);
    kbass_status status = kb_crossing_is_possible(e) ? cross(e, run, result, error) : KBASS_OK;
    return status == KBASS_OK && !result->fourier ? kb_em_search(e, run, result, error) : status;
}
