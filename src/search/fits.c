#include "search/fits.h"

#include <math.h>
#include <omp.h>

#include "base/memory.h"
#include "base/status.h"
#include "search/share.h"
#include "search/standing.h"
#include "search/trace.h"
#include "search/windows.h"

static bool may_fit(kb_search *a, const kb_fit *fit)
{
    return a->deadline > 0 ? kb_clock() < a->deadline : kb_run_continue(a->run, fit->support.n);
}

static void prepare(const kb_search *a, kb_likelihood *likelihood)
{
    likelihood->windows = a->windows;
    likelihood->checkpoint = a->run->checkpoint;
}

/* A job may take two fits: what comes of both depends on where they begin. */
static kb_work_key key_of(const kb_search *a, kb_likelihood *likelihood, const kb_fit_job *j, int iterations,
                          double rival)
{
    kb_work_key key = kb_work_key_begin("job"), fit = likelihood->key(likelihood, j->fit, iterations, rival);
    kb_work_key_add(&key, &fit, sizeof fit);
    if (j->parent) kb_work_key_add(&key, j->parent->w, a->columns->n * sizeof *j->parent->w);
    if (j->parent)
        kb_work_key_add(&key, j->parent->start, j->parent->n_windows * a->pool->n_start * sizeof *j->parent->start);
    return key;
}

/* It was lost at once, and not given up. */
static bool ran_away(const kb_search *a, const kb_likelihood *likelihood, const kb_fit *fit)
{
    bool is_stopped = likelihood->run && kb_run_stopped(a->run);
    return !fit->valid && !is_stopped && fit->log_likelihood == -INFINITY;
}

/* From the promise, and when that fails from the parent. When the run is stopped a model at hand ends where it stands,
   a proposal is given up. */
static void run_job(const kb_search *a, kb_likelihood *likelihood, const kb_fit_job *j, int iterations, double rival,
                    kb_run *run)
{
    likelihood->run = run;
    likelihood->keeps_fit = !j->parent;
    likelihood->deadline = a->deadline;
    atomic_fetch_add(&a->run->n_models, 1);
    kb_likelihood_fit(likelihood, j->fit, iterations, rival);
    if (!j->fit->valid && j->parent && !(likelihood->run && kb_run_stopped(a->run))) {
        kb_fit_begin(j->fit, j->parent, a->columns->n, a->pool->n_start);
        kb_likelihood_fit(likelihood, j->fit, iterations, rival);
    }
    if (a->grows && likelihood->guess && ran_away(a, likelihood, j->fit))
        kb_fit_grow(likelihood, iterations, rival, j->fit);
    likelihood->run = NULL;
    likelihood->keeps_fit = false;
    likelihood->deadline = 0;
}

static size_t most_columns(size_t n_jobs, const kb_fit_job *jobs)
{
    size_t most = 0;
    for (size_t i = 0; i < n_jobs; i++) most = jobs[i].fit->support.n > most ? jobs[i].fit->support.n : most;
    return most;
}

static void fit_job(const kb_search *a, kb_likelihood *likelihood, const kb_fit_job *j, int iterations, double rival)
{
    prepare(a, likelihood);
    if (likelihood->checkpoint && !(a->deadline > 0) &&
        kb_likelihood_recall(likelihood, key_of(a, likelihood, j, iterations, rival), j->fit))
        return;
    bool is_free = a->deadline > 0 || (!j->parent && a->run->reduce); /* other ranks keep what comes of it */
    run_job(a, likelihood, j, iterations, rival, is_free ? NULL : a->run);
}

/* Every rank has fitted its own; the checkpoint keeps those of the others too. keys: NULL without one */
static kbass_status exchange(const kb_search *a, size_t n_jobs, const kb_fit_job *jobs, const kb_work_key *keys,
                             kbass_error *error)
{
    kb_fit **fits = KB_NEW(kb_fit *, n_jobs);
    if (!fits) return kb_out_of_memory(error, "the search");
    for (size_t i = 0; i < n_jobs; i++) fits[i] = jobs[i].fit;
    kbass_status status = kb_share_exchange(a->run, n_jobs, fits, a->pool, error);
    for (size_t i = 0; keys && status == KBASS_OK && !kb_run_stopped(a->run) && i < n_jobs; i++)
        if (!kb_share_is_own(a->run, i)) kb_likelihood_keep(a->workers.list[0]->likelihood, keys[i], fits[i]);
    kb_free(fits);
    return status;
}

/* Before the fits change where they begin. */
static kb_work_key *keys_of(const kb_search *a, size_t n_jobs, const kb_fit_job *jobs, int iterations, double rival)
{
    kb_likelihood *likelihood = a->workers.list[0]->likelihood;
    kb_work_key *keys = a->run->checkpoint ? KB_NEW(kb_work_key, n_jobs) : NULL;
    prepare(a, likelihood);
    for (size_t i = 0; keys && i < n_jobs; i++)
        if (!kb_share_is_own(a->run, i)) keys[i] = key_of(a, likelihood, &jobs[i], iterations, rival);
    return keys;
}

bool kb_search_share_windows(const kb_search *a, size_t n_columns)
{
    kb_likelihood *likelihood = a->workers.list[0]->likelihood;
    prepare(a, likelihood);
    return kb_share_is_possible(a->run) && likelihood->share &&
           likelihood->share(likelihood, a->run->reduce, n_columns);
}

void kb_search_share_no_windows(const kb_search *a)
{
    kb_likelihood *likelihood = a->workers.list[0]->likelihood;
    if (likelihood->share) likelihood->share(likelihood, NULL, 0);
}

/* By all ranks together, unless each of them knows it. */
static void fit_together(const kb_search *a, const kb_fit_job *j, int iterations, double rival)
{
    kb_likelihood *likelihood = a->workers.list[0]->likelihood;
    kb_checkpoint *checkpoint = a->run->checkpoint;
    size_t size = 0;
    kb_work_key key = {0};
    if (checkpoint) key = key_of(a, likelihood, j, iterations, rival);
    bool is_known = checkpoint && kb_checkpoint_find(checkpoint, key, &size);
    prepare(a, likelihood);
    if (!a->run->reduce->agree(a->run->reduce->user, !is_known)) {
        kb_likelihood_recall(likelihood, key, j->fit);
        return;
    }
    likelihood->checkpoint = NULL; /* ranks do not keep the states of their fits at the same time */
    run_job(a, likelihood, j, iterations, rival, a->run);
    likelihood->checkpoint = checkpoint;
    if (checkpoint && !kb_run_stopped(a->run)) kb_likelihood_keep(likelihood, key, j->fit);
}

kbass_status kb_search_fit_all(kb_search *a, size_t n_jobs, const kb_fit_job *jobs, int iterations, kbass_error *error)
{
    double rival = a->pool->n && a->pool->fits[0]->valid ? a->pool->fits[0]->log_likelihood : -INFINITY;
    bool is_shared = !(a->deadline > 0) && kb_share_is_possible(a->run);
    if (is_shared && kb_search_share_windows(a, most_columns(n_jobs, jobs))) {
        for (size_t i = 0; i < n_jobs && !kb_run_stopped(a->run); i++) {
            fit_together(a, &jobs[i], iterations, rival);
            kb_standing_first(a, jobs[i].fit);
            kb_run_agree(a->run);
        }
        kb_search_share_no_windows(a);
        return KBASS_OK;
    }
    kb_work_key *keys = is_shared ? keys_of(a, n_jobs, jobs, iterations, rival) : NULL;
#pragma omp parallel for schedule(dynamic) num_threads(a->workers.n)
    for (size_t i = 0; i < n_jobs; i++)
        if ((!is_shared || kb_share_is_own(a->run, i)) && may_fit(a, jobs[i].fit)) {
            fit_job(a, a->workers.list[omp_get_thread_num()]->likelihood, &jobs[i], iterations, rival);
            kb_standing_first(a, jobs[i].fit);
        }
    kbass_status status = is_shared ? exchange(a, n_jobs, jobs, keys, error) : KBASS_OK;
    kb_free(keys);
    return status;
}

/* The newest first: on equal terms a refined structure is likelier than the one it came from; where time is short, the
   best first. */
kbass_status kb_search_fit(kb_search *a, int iterations, kbass_error *error)
{
    kb_fit_job *jobs = KB_NEW(kb_fit_job, a->pool->n);
    if (!jobs) return kb_out_of_memory(error, "the search");
    size_t n = a->pool->n;
    for (size_t i = 0; i < n; i++)
        jobs[i] = (kb_fit_job){a->pool->fits[a->deadline > 0 ? i : n - 1 - i], NULL, KB_NOT_KNOWN};
    kbass_status status = kb_search_fit_all(a, a->pool->n, jobs, iterations, error);
    kb_free(jobs);
    kb_pool_sort(a->pool);
    kb_pool_unite(a->pool);
    kb_standing_note(a);
    kb_trace_pool(a, "fit");
    return status;
}
