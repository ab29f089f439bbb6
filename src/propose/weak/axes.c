#include "propose/weak/axes.h"

#include <string.h>

#include "problem/pde_nd.h"
#include "propose/weak/fields.h"

enum { MOST_PROPOSALS = 3 }; /* structures: beside those of the bare field; a fit over several axes costs seconds */

static kbass_status add(kb_pool *pool, const kb_field_proposal *proposal, size_t n_fields, const double *noise,
                        kbass_error *error)
{
    kb_fit *fit = NULL;
    if (kb_pool_find(pool, &proposal->support)) return KBASS_OK;
    kbass_status status = kb_pool_add(pool, &proposal->support, &fit, error);
    if (status != KBASS_OK) return status;
    memcpy(fit->w, proposal->w, pool->n_columns * sizeof *fit->w);
    memcpy(fit->variance, noise, n_fields * sizeof *noise);
    return KBASS_OK;
}

kbass_status kb_propose_weak_fields(kb_proposals *p, kbass_error *error)
{
    const kb_pde_nd_problem *e = p->problem;
    kb_field_proposals found = {0};
    const kb_weak_whole whole = {.tiles = e->tiles, .run = p->run, .threads = e->threads};
    kbass_status status = kb_weak_fields_propose(e->n_runs, e->run_samples, &whole, e->dictionary, e->columns,
                                                 MOST_PROPOSALS, &found, error);
    for (size_t i = 0; status == KBASS_OK && i < found.n; i++)
        status = add(p->pool, &found.proposals[i], e->run_samples[0]->n_fields, found.noise, error);
    p->n_starts += found.n;
    kb_field_proposals_clear(&found);
    return status;
}
