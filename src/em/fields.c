#include "em/fields.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/status.h"
#include "collocation/kernel_likelihood.h"
#include "posterior/band.h"
#include "propose/kernel/search.h"
#include "propose/kernel/trace.h"
#include "search/explain.h"

/* ---------------------------------------------------------------- states as fits */

static kbass_status enter(kb_kernel_search *s, kb_kernel_state *state, kb_pool *pool, kbass_error *error)
{
    kb_fit *fit = NULL;
    kbass_status status = kb_pool_add(pool, &state->support, &fit, error);
    if (status != KBASS_OK) return status;
    memcpy(fit->w, state->w, s->columns->n * sizeof *fit->w);
    memcpy(fit->variance, state->variance, s->solver->n_fields * sizeof *fit->variance);
    fit->log_evidence = state->log_evidence;
    fit->valid = kb_patch_solver_covariance(s->solver, state, fit->covariance);
    fit->converged = state->is_tuned && state->is_at_rest;
    fit->misfit = kb_patch_solver_misfit(s->solver, state);
    return KBASS_OK;
}

/* The models after the chosen one, by which its band and forecasts widen. */
static kbass_status keep_rivals(const kb_kernel_search *s, kb_search_result *result, kbass_error *error)
{
    size_t n = kb_count_near(result->pool.n, result->pool.fits);
    kbass_status status = KBASS_OK;
    if (n > KB_RIVALS_OF_FIELDS) n = KB_RIVALS_OF_FIELDS;
    if (n < 2) return KBASS_OK;
    result->engine.rivals = KB_NEW(kb_kernel_fit, n - 1);
    if (!result->engine.rivals) return kb_out_of_memory(error, "the rivals");
    for (size_t i = 1; status == KBASS_OK && i < n; i++) {
        status = kb_kernel_fit_create(s->solver, s->pool.states[i], &result->engine.rivals[i - 1], error);
        if (status == KBASS_OK) kb_kernel_fit_keep_field(s->solver, s->pool.states[i], &result->engine.rivals[i - 1]);
        if (status == KBASS_OK) result->engine.n_rivals++;
    }
    return status;
}

/* --explain, by the likelihood at the chosen model's hyperparameters, from its field. */
static kbass_status explain(kb_kernel_search *s, kb_search_result *result, kbass_error *error)
{
    kb_kernel_likelihood *likelihood = NULL;
    kbass_status status = kb_kernel_likelihood_create_on(s->solver, s->pool.states[0], &likelihood, error);
    if (status != KBASS_OK) return status;
    kb_search_worker worker = {&likelihood->likelihood, s->message, s->work, s->trial}, *workers[] = {&worker};
    kb_windows none = {0};
    kb_search search = {.columns = s->columns,
                        .workers = {.n = 1, .list = workers},
                        .pool = &result->pool,
                        .run = s->run,
                        .windows = &none};
    status = kb_explain(&search, result, error);
    likelihood->likelihood.destroy(&likelihood->likelihood);
    return status;
}

static kbass_status form_result(kb_kernel_search *s, kb_search_result *result, kbass_error *error)
{
    kbass_status status = KBASS_OK;
    kb_pool_init(&result->pool, s->columns->n, s->solver->n_fields, 0);
    for (size_t i = 0; status == KBASS_OK && i < s->pool.n; i++)
        if (s->pool.states[i]->log_evidence > s->pool.states[0]->log_evidence - KB_EM_REPORTED)
            status = enter(s, s->pool.states[i], &result->pool, error);
    result->n_starts = 1;
    result->n_models = s->n_weighed;
    result->engine.n_patches = s->domain->n_patches;
    if (status != KBASS_OK || !result->pool.n || !result->pool.fits[0]->valid) return status;
    status = kb_kernel_fit_create(s->solver, s->pool.states[0], &result->engine.proposal, error);
    if (status == KBASS_OK) kb_kernel_fit_keep_field(s->solver, s->pool.states[0], &result->engine.proposal);
    if (status == KBASS_OK) status = keep_rivals(s, result, error);
    if (status == KBASS_OK && kb_patch_solver_message(s->solver, s->pool.states[0], &s->solver->all)) {
        kb_kernel_search_take_message(s);
        status = kb_search_result_measure(result, s->message, &s->view, s->work, error);
    }
    if (status == KBASS_OK) status = explain(s, result, error);
    return status;
}

/* ---------------------------------------------------------------- the answer */

/* Few data are searched along a homotopy; many by descending from what the bare field suggests. */
static kbass_status search(kb_kernel_search *s, kbass_error *error)
{
    return s->has_many_data ? kb_kernel_search_descent(s, error) : kb_kernel_search_run(s, error);
}

static kbass_status tell_noise(const kb_pde_nd_problem *e, kb_search_result *result, kbass_error *error)
{
    size_t fields = e->dictionary->n_states;
    const kb_field_samples *c = e->run_samples[0];
    result->noise_is_relative = e->noise_unit != NULL;
    if (!result->noise_unit) result->noise_unit = KB_NEW(double, fields);
    if (!result->noise_unit) return kb_out_of_memory(error, "the noise");
    for (size_t f = 0; f < fields; f++)
        result->noise_unit[f] = e->noise_unit ? e->noise_unit[f] : c->sd[f] / sqrt(c->noise_share);
    return KBASS_OK;
}

kbass_status kb_em_search(const kb_pde_nd_problem *e, kb_run *run, kb_search_result *result, kbass_error *error)
{
    kb_kernel_search *s = NULL;
    double clock = kb_run_stage(run, KBASS_STAGE_SEARCH, fmax(run->fraction, 0.05), 0.95);
    kbass_status status = kb_kernel_search_create(e->domain, e->columns, run, &s, error);
    if (status != KBASS_OK) return status;
    s->has_many_data = !e->has_few_data;
    status = search(s, error);
    kb_kernel_search_align(s, KB_EM_REPORTED);
    kb_trace_kernel_pool(s, "levelled");
    result->seconds[KBASS_STAGE_SEARCH] = kb_clock() - clock;
    clock = kb_run_stage(run, KBASS_STAGE_POLISH, 0.95, 1);
    if (status == KBASS_OK) status = form_result(s, result, error);
    if (status == KBASS_OK && (e->noise_unit || e->run_samples[0]->noise_share < 1))
        status = tell_noise(e, result, error);
    result->seconds[KBASS_STAGE_POLISH] = kb_clock() - clock;
    result->settled = true;
    kb_kernel_search_destroy(s);
    return status;
}
