#include "discover/expanse.h"

#include <math.h>
#include <string.h>

#include "base/linalg.h"
#include "base/memory.h"
#include "base/status.h"
#include "discover/crossing.h"
#include "discover/em.h"
#include "propose/sources.h"
#include "posterior/band.h"
#include "posterior/fourier_solution.h"
#include "posterior/kernel_solution.h"

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

/* ---------------------------------------------------------------- the solution */

/* The kernel engine's own field. */
static kbass_status solution_of_kernel(const kb_pde_nd_problem *e, const kb_search_result *found, size_t run, size_t n,
                                       const double *times, const double *positions, double *mean, double *sd,
                                       kbass_error *error)
{
    size_t axes = e->run_samples[run]->n_axes, fields = e->run_samples[run]->n_fields;
    double *points = KB_NEW(double, n *axes), *u = KB_NEW(double, n *fields), *band = KB_NEW(double, n *fields);
    kbass_status status = points && u && band ? KBASS_OK : kb_out_of_memory(error, "the solution");
    if (status == KBASS_OK) {
        for (size_t i = 0; i < n; i++) {
            points[i] = times[i];
            for (size_t a = 1; a < axes; a++) points[i + a * n] = positions[i * (axes - 1) + a - 1];
        }
        status = kb_kernel_solution(e->domain, e->columns, &found->proposal, run, n, points, u, band, NULL, error);
    }
    for (size_t i = 0; status == KBASS_OK && i < n; i++)
        for (size_t f = 0; f < fields; f++) {
            mean[i * fields + f] = u[i + f * n];
            if (sd) sd[i * fields + f] = band[i + f * n];
        }
    kb_free(points);
    kb_free(u);
    kb_free(band);
    return status;
}

typedef struct {
    const kb_pde_nd_problem *problem;
    const kb_search_result *found;
    size_t n;
    const double *times, *positions;
} whereabouts;

static kbass_status solution_of(const void *context, const kb_fit *fit, double *mean, double *sd, kbass_error *error)
{
    const whereabouts *at = context;
    const kb_pde_nd_problem *e = at->problem;
    return kb_fourier_solution(e->run_samples[0], e->dictionary, e->columns, at->found->fourier, at->found->windows,
                               fit, at->n, at->times, at->positions, mean, sd, error);
}

kbass_status kb_pde_nd_solution(const kb_pde_nd_problem *e, const kb_search_result *found, size_t run, size_t n,
                                const double *times, const double *positions, double *mean, double *sd,
                                kbass_error *error)
{
    whereabouts at = {e, found, n, times, positions};
    if (!found->fourier) return solution_of_kernel(e, found, run, n, times, positions, mean, sd, error);
    if (!sd) return solution_of(&at, found->pool.fits[0], mean, NULL, error);
    return kb_band(found->pool.n, found->pool.fits, KB_RIVALS_OF_FIELDS, n * e->run_samples[0]->n_fields, solution_of,
                   &at, mean, sd, error);
}
