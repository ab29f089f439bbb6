#include "discover/expanse.h"

#include <math.h>
#include <string.h>

#include "base/linalg.h"
#include "base/memory.h"
#include "base/status.h"
#include "discover/crossing.h"
#include "propose/kernel/search.h"
#include "propose/sources.h"
#include "propose/kernel/trace.h"
#include "posterior/band.h"
#include "posterior/fourier_solution.h"
#include "posterior/kernel_solution.h"

static const double nats_reported = 12; /* below the best: what the answer still averages over */

/* ---------------------------------------------------------------- states as fits */

/* The weights' covariance from the message at the state as it is. */
static bool measure_covariance(kb_patch_solver *m, kb_kernel_state *state, double *covariance)
{
    size_t k = state->support.n;
    if (!kb_patch_solver_message(m, state, &state->support)) return false;
    memcpy(covariance, m->G, k * k * sizeof *covariance);
    for (size_t q = 0; q < k; q++) covariance[q + q * k] += 1 / m->slab[state->support.column[q]];
    return kb_cholesky(k, covariance, k) && kb_cholesky_inverse(k, covariance, k);
}

static kbass_status enter(kb_kernel_search *s, kb_kernel_state *state, kb_pool *pool, kbass_error *error)
{
    kb_fit *fit = NULL;
    kbass_status status = kb_pool_add(pool, &state->support, &fit, error);
    if (status != KBASS_OK) return status;
    memcpy(fit->w, state->w, s->columns->n * sizeof *fit->w);
    memcpy(fit->variance, state->variance, s->solver->n_fields * sizeof *fit->variance);
    fit->log_evidence = state->log_evidence;
    fit->valid = measure_covariance(s->solver, state, fit->covariance);
    fit->converged = state->is_tuned && state->is_at_rest;
    fit->misfit = kb_patch_solver_misfit(s->solver, state);
    return KBASS_OK;
}

static kbass_status form_result(kb_kernel_search *s, kb_search_result *result, kbass_error *error)
{
    kbass_status status = KBASS_OK;
    kb_pool_init(&result->pool, s->columns->n, s->solver->n_fields, 0);
    for (size_t i = 0; status == KBASS_OK && i < s->pool.n; i++)
        if (s->pool.states[i]->log_evidence > s->pool.states[0]->log_evidence - nats_reported)
            status = enter(s, s->pool.states[i], &result->pool, error);
    result->n_starts = 1;
    result->n_models = s->n_weighed;
    result->n_patches = s->domain->n_patches;
    if (status != KBASS_OK || !result->pool.n || !result->pool.fits[0]->valid) return status;
    status = kb_kernel_fit_create(s->solver, s->pool.states[0], &result->proposal, error);
    if (status == KBASS_OK && kb_patch_solver_message(s->solver, s->pool.states[0], &s->solver->all)) {
        kb_kernel_search_take_message(s);
        status = kb_search_result_measure(result, s->message, &s->view, s->work, error);
    }
    return status;
}

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

/* The kernel engine's own answer. */
static kbass_status answer_by_kernel(const kb_pde_nd_problem *e, kb_run *run, kb_search_result *result,
                                     kbass_error *error)
{
    kb_kernel_search *s = NULL;
    double clock = kb_run_stage(run, KBASS_STAGE_SEARCH, fmax(run->fraction, 0.05), 0.95);
    kbass_status status = kb_kernel_search_create(e->domain, e->columns, run, &s, error);
    if (status != KBASS_OK) return status;
    s->has_many_data = true;
    status = kb_kernel_search_descend(s, error);
    if (status == KBASS_OK) status = kb_kernel_search_ascend(s, error);
    kb_kernel_search_align(s, nats_reported);
    kb_trace_kernel_pool(s, "levelled");
    result->seconds[KBASS_STAGE_SEARCH] = kb_clock() - clock;
    clock = kb_run_stage(run, KBASS_STAGE_POLISH, 0.95, 1);
    if (status == KBASS_OK) status = form_result(s, result, error);
    result->seconds[KBASS_STAGE_POLISH] = kb_clock() - clock;
    result->settled = true;
    kb_kernel_search_destroy(s);
    return status;
}

kbass_status kb_expanse_search(const kb_pde_nd_problem *e, kb_run *run, kb_search_result *result, kbass_error *error)
{
    memset(result, 0, sizeof *result);
    kbass_status status = kb_crossing_is_possible(e) ? cross(e, run, result, error) : KBASS_OK;
    return status == KBASS_OK && !result->fourier ? answer_by_kernel(e, run, result, error) : status;
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
