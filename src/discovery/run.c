/* Run: the search by the chosen method, the answer, its verdict, and what else is asked of it. */
#include <math.h>
#include <stddef.h>

#include "answer/axes_solution.h"
#include "answer/judge.h"
#include "answer/jumps.h"
#include "answer/missing.h"
#include "answer/per_run.h"
#include "base/apart.h"
#include "base/memory.h"
#include "base/run.h"
#include "base/status.h"
#include "em/fields.h"
#include "em/states.h"
#include "forecast/validate.h"
#include "posterior/pde1d_solution.h"
#include "search/strategy.h"
#include "tasks/tasks.h"
#include "discovery/discovery.h"

static kbass_outcome outcome_of(kb_run *run, const kb_search_result *found)
{
    int reason = atomic_load(&run->reason);
    if (reason) return (kbass_outcome)(reason - 1);
    return found->settled && found->pool.n && found->pool.fits[0]->converged ? KBASS_CONVERGED : KBASS_NOT_CONVERGED;
}

kb_frame kb_discovery_frame(const kbass_discovery *d)
{
    if (d->pde1d) return kb_pde1d_problem_frame(d->pde1d);
    return d->pde_nd ? kb_pde_nd_problem_frame(d->pde_nd) : kb_ode_problem_frame(d->ode);
}

kbass_status kb_discovery_search(kbass_discovery *d, kb_run *run, kbass_error *error)
{
    bool is_em = d->settings.method == KB_METHOD_EM;
    size_t runs = kbass_data_runs(d->data);
    if (d->ode && is_em) return kb_em_states_search(d->ode, run, &d->found, error);
    if (is_em) return kb_em_search(d->pde_nd, run, &d->found, error);
    if (d->ode) return kb_search_discover(kb_task_of_ode(d->ode), d->ode, runs, run, &d->found, error);
    if (d->pde_nd) return kb_search_discover(&kb_task_of_axes, d->pde_nd, runs, run, &d->found, error);
    bool is_found = false;
    kbass_status status = kb_dense_search(d->pde1d, run, &d->found, &is_found, error);
    if (kb_run_cancelled(run) && kb_is_dense(d->pde1d)) return status; /* whoever waits: other searches take seconds */
    if (status == KBASS_OK && !is_found) status = kb_sparse_search(d->pde1d, run, &d->found, &is_found, error);
    if (status == KBASS_OK && !is_found) status = kb_rest_search(d->pde1d, run, &d->found, &is_found, error);
    if (status != KBASS_OK || is_found) return status;
    return kb_search_discover(kb_task_of_pde1d(d->pde1d), d->pde1d, runs, run, &d->found, error);
}

/* Of a run; that of the one after the last is the number of windows. */
size_t kb_discovery_first_window(const kbass_discovery *d, size_t run)
{
    const kb_search_result *found = &d->found;
    size_t first = 0;
    if (!found->windows) return 0;
    if (!found->engine.run_windows) return run * found->windows->n / kbass_data_runs(d->data);
    for (size_t i = 0; i < run; i++) first += found->engine.run_windows[i];
    return first;
}

/* Where fields along a periodic axis begin, in each run. */
static kbass_status add_profiles(kbass_discovery *d, kbass_error *error)
{
    const kb_search_result *found = &d->found;
    size_t runs = d->pde1d->n_runs, fields = d->data->n_states;
    if (!kb_has_model(found)) return KBASS_OK;
    for (size_t run = 0; run < runs; run++)
        if (!found->engine.setups[run].line.periodic) return KBASS_OK;
    const char **texts = kb_answer_own(d->answer, runs * fields, sizeof *texts);
    for (size_t i = 0; texts && i < runs * fields; i++) {
        const char *axis = d->data->axis_names[1];
        const kb_pde1d_setup *setup = &found->engine.setups[i / fields];
        const double *start =
            found->pool.fits[0]->start + kb_discovery_first_window(d, i / fields) * found->pool.n_start;
        size_t size = 1 + kb_pde1d_profile_text(setup, start, i % fields, axis, NULL, 0);
        char *text = kb_answer_own(d->answer, size, 1);
        if (!text) return kb_out_of_memory(error, "the profiles");
        kb_pde1d_profile_text(setup, start, i % fields, axis, text, size);
        texts[i] = text;
    }
    d->answer->result.profiles = texts;
    d->answer->result.period = found->engine.setups[0].line.period * d->pde1d->run_samples[0]->span[1];
    return texts ? KBASS_OK : kb_out_of_memory(error, "the profiles");
}

static kbass_status judge_whole(kbass_discovery *d, kb_run *run, kbass_error *error)
{
    kb_frame frame = kb_discovery_frame(d);
    bool is_em = d->settings.method == KB_METHOD_EM;
    if (is_em || (d->pde_nd && !d->found.engine.fourier))
        return kb_judge_noise_left(d->data, &d->settings, &frame, run, d->answer, error);
    if (d->ode) return kb_judge_states(d->ode, &d->found, d->answer, error);
    if (d->pde1d) return kb_judge_fields(d->pde1d, &d->found, run, d->answer, error);
    return kb_judge_axes(d->pde_nd, (kb_kernel_kind)d->settings.kernel, &d->found, run, d->answer, error);
}

static kbass_status judge(kbass_discovery *d, kb_run *run, kbass_error *error)
{
    bool is_late = kb_has_model(&d->found) && !kb_run_spares(run);
    kbass_status status = is_late ? KBASS_ERROR_TIME : judge_whole(d, run, error);
    return status == KBASS_ERROR_TIME ? kb_judge_unfinished(&d->found, d->answer, error) : status;
}

/* Weights by run, and terms that are missing: of the models as the integrated equation fits them. */
static kbass_status ask_states(kbass_discovery *d, kb_run *run, kbass_error *error)
{
    kb_search_result asked = d->found;
    if (asked.engine.state) asked.pool = d->found.engine.followed;
    kbass_status status = kb_vary_states(d->ode, &asked, run, d->answer, error);
    if (status != KBASS_OK || kb_run_stopped(run)) return status;
    return kb_missing_of_states(d->ode, &asked, run, d->answer, error);
}

/* Why fields over several axes, or of second order, were not followed through the integrated equation. */
static const char *patches_of(const kbass_discovery *d)
{
    const kb_field_samples *samples = d->pde_nd->run_samples[0];
    bool is_closed = true;
    for (size_t a = 1; a < samples->n_axes; a++) is_closed = is_closed && samples->period[a] > 0;
    if (d->dictionary->time_order > 1)
        return "the kernel engine, which imposes the equation on a mesh, since it is of second order in time";
    if (!is_closed)
        return "the kernel engine, which imposes the equation on a mesh, since an axis is open (--periodic names those "
               "that close)";
    if (d->pde_nd->n_runs > 1)
        return "the kernel engine, which imposes the equation on a mesh, since there are several runs";
    return "the kernel engine, which imposes the equation on a mesh, since no law that was tried could be followed "
           "from "
           "the first time on";
}

/* Which engine answered, and why. */
static const char *engine_of(const kbass_discovery *d)
{
    if (d->paper) return "the published method, as --method paper asks";
    if (d->settings.method == KB_METHOD_EM) return "the kernel engine alone, as --method em asks";
    if (d->ode) return "the integrated equation";
    if (d->pde1d) return "the integrated equation, by the method of lines";
    if (d->found.engine.fourier) return "the integrated equation, in Fourier modes, since all axes close";
    return patches_of(d);
}

static kbass_status run_published(kbass_discovery *d, kb_run *run, kbass_error *error)
{
    kbass_status status = kb_published_run(d->paper, run, &d->answer, error);
    kb_frame frame = {.dictionary = d->dictionary};
    if (status == KBASS_OK) d->answer->result.engine = engine_of(d);
    if (status == KBASS_OK) status = kb_judge_noise_left(d->data, &d->settings, &frame, run, d->answer, error);
    return status == KBASS_ERROR_TIME && d->answer ? kb_judge_unfinished(&d->found, d->answer, error) : status;
}

static kbass_status run_method(kbass_discovery *d, kb_run *run, kbass_error *error)
{
    if (d->paper) return run_published(d, run, error);
    kbass_status status = kb_discovery_search_constants(d, run, error);
    kb_frame frame = kb_discovery_frame(d);
    if (status == KBASS_OK) status = kb_answer_create(&frame, &d->found, outcome_of(run, &d->found), &d->answer, error);
    if (status == KBASS_OK)
        status = kb_answer_constants(d->answer, &frame, &d->found, d->constants, d->constant_correlation, d->n_guarded,
                                     error);
    if (status == KBASS_OK) status = kb_answer_delays(d->answer, d->dictionary, error);
    if (status == KBASS_OK && d->pde1d) status = add_profiles(d, error);
    if (status == KBASS_OK) d->answer->result.engine = engine_of(d);
    if (status == KBASS_OK) status = judge(d, run, error);
    if (status == KBASS_OK && d->pde_nd) status = kb_axes_covariances(d->pde_nd, &d->found, kb_run_stopped(run), error);
    if (status != KBASS_OK || kb_run_stopped(run)) return status;
    if (d->ode) status = ask_states(d, run, error);
    if (d->pde1d) status = kb_vary_fields(d->pde1d, &d->found, run, d->answer, error);
    if (d->pde_nd) status = kb_vary_axes(d->pde_nd, &d->settings, &d->found, run, d->answer, error);
    if (status != KBASS_OK || kb_run_stopped(run)) return status;
    if (d->pde1d) status = kb_missing_of_fields(d->pde1d, &d->found, run, d->answer, error);
    if (d->pde_nd) status = kb_missing_of_axes(d->pde_nd, &d->found, d->answer, error);
    return status;
}

typedef struct {
    kbass_discovery *discovery;
    kb_run *run;
    kbass_status status;
    kbass_error *error;
} running;

static void solve_apart(void *context)
{
    running *r = context;
    kb_budget *before = kb_budget_enter(&r->discovery->budget);
    r->status = kb_discovery_solve(r->discovery, r->discovery->keeps, r->run, r->error);
    kb_budget_enter(before);
}

static void run_apart(void *context)
{
    running *r = context;
    kb_budget *before = kb_budget_enter(&r->discovery->budget);
    r->status = run_method(r->discovery, r->run, r->error);
    kb_budget_enter(before);
}

/* With constants still unknown the models of two moments have other columns. */
static kbass_status stand_by(kbass_discovery *d, kbass_error *error)
{
    bool is_possible = !d->paper && !d->dictionary->n_constants;
    if (!(d->keeps & KBASS_KEEP_BEST) || !is_possible) return KBASS_OK;
    return kb_standing_create(kb_discovery_frame(d).columns->n, &d->standing, error);
}

kbass_status kbass_discovery_run(kbass_discovery *d, kbass_progress_callback progress, void *user, kbass_error *error)
{
    kb_run run;
    kb_discovery_forget(d);
    if (kb_discovery_agree(d, error) != KBASS_OK) return KBASS_ERROR_ARGUMENT;
    if (stand_by(d, error) != KBASS_OK) return KBASS_ERROR_MEMORY;
    kb_run_begin(&run, progress, user, d->settings.time_limit);
    run.trace = d->trace;
    run.standing = d->standing;
    run.checkpoint = d->checkpoint;
    kb_checkpoint_context(d->checkpoint, (kb_work_key){0});
    if (d->reduce.n_ranks > 1) run.reduce = &d->reduce;
    run.start -= d->seconds_to_create; /* the limit is for both */
    run.end -= d->seconds_to_create;
    d->began = run.start;
    running r = {d, &run, KBASS_OK, error};
    kb_apart(run_apart, &r);
    kbass_status kept =
        d->reduce.rank ? KBASS_OK : kb_checkpoint_write(d->checkpoint, r.status == KBASS_OK ? error : NULL);
    if (r.status == KBASS_OK) r.status = kept;
    if (r.status == KBASS_OK && kb_validation_is_asked(&d->settings) && !kb_run_stopped(&run))
        r.status = kb_validate(d->data, &d->settings, &run, d->answer, error);
    if (r.status == KBASS_OK) {
        d->answer->result.seconds[KBASS_STAGE_FIELD] = d->seconds_to_create;
        d->answer->result.seconds_total = kb_clock() - run.start;
        if (d->keeps & ~KBASS_KEEP_BEST) kb_apart(solve_apart, &r);
    }
    if (r.status == KBASS_OK) {
        kb_trace_answer(d->trace, &d->answer->result);
    }
    return r.status;
}

void kbass_discovery_share(kbass_discovery *d, const kbass_reduce *reduce)
{
    static const size_t size_0_2 = offsetof(kbass_reduce, agree) + sizeof reduce->agree;
    d->reduce = (kbass_reduce){0};
    if (reduce) kb_options_take(reduce, reduce->size, size_0_2, &d->reduce, sizeof d->reduce);
    if (d->reduce.rank) kb_checkpoint_read_only(d->checkpoint);
}

void kb_discovery_trace(kbass_discovery *d, const kb_trace *trace) { d->trace = trace; }

const kbass_result *kbass_discovery_result(const kbass_discovery *d) { return d->answer ? &d->answer->result : NULL; }
