#include "search/stages.h"

#include <math.h>
#include <string.h>

#include "base/larger.h"
#include "base/status.h"

/* ---------------------------------------------------------------- one stage after the other */

/* What single moves from the best model miss, all small right-hand sides of each of its equations may find. */
static kbass_status explore_screened(kb_pass *p, size_t beam, int rounds, kbass_error *error)
{
    kb_search *a = &p->search;
    if (!a->pool->n || !(a->schedule->screened > 0) || kb_run_stopped(a->run)) return KBASS_OK;
    a->screened = true;
    a->pool->explored[0] = false;
    kbass_status status = kb_pass_explore(p, 1, 1, error);
    a->screened = false;
    return status == KBASS_OK ? kb_pass_explore(p, beam, rounds, error) : status;
}

/* The last of stages that all see the record: no finer resolution comes after it. */
static bool is_final(const kb_pass *p) { return p->is_last && p->task->stages_see_all; }

/* Has an equation of the best model so many terms that they may stand for few others? */
static bool is_long_sum(const kb_pass *p)
{
    const kb_search *a = &p->search;
    double from = a->schedule->screened_from;
    if (!(from > 0) || !kb_pass_has_model(p)) return false;
    const kb_support *best = &a->pool->fits[0]->support;
    for (size_t first = 0, end; first < a->columns->n; first = end) {
        end = kb_columns_end(a->columns, first);
        if ((double)kb_support_count(best, first, end) >= from) return true;
    }
    return false;
}

static kbass_status explore(kb_pass *p, kbass_error *error)
{
    const kb_schedule *s = p->task->schedule;
    bool to_the_end = is_final(p);
    size_t beam = (size_t)(to_the_end ? s->final_beam : s->stage_beam);
    int rounds = (int)(to_the_end ? s->final_rounds : s->stage_rounds);
    kbass_status status = is_long_sum(p) ? explore_screened(p, beam, rounds, error) : KBASS_OK;
    if (status == KBASS_OK) status = kb_pass_explore(p, beam, rounds, error);
    if (status != KBASS_OK || !(to_the_end || is_long_sum(p))) return status;
    return explore_screened(p, beam, rounds, error);
}

/* Fits and explores on a stage. */
static kbass_status search_stage(kb_pass *p, kbass_error *error)
{
    const kb_schedule *s = p->task->schedule;
    kbass_status status = KBASS_OK;
    if (!p->is_fitted) status = kb_pass_fit(p, (int)(is_final(p) ? s->final_iterations : s->fit_iterations), error);
    p->is_complete = !kb_run_stopped(p->search.run);
    if (status != KBASS_OK) return status;
    p->is_over = p->task->is_hopeless && p->task->is_hopeless(p);
    return p->is_over ? KBASS_OK : explore(p, error);
}

/* The models that go on to the next stage. */
static void thin(kb_pass *p, bool is_first)
{
    const kb_schedule *s = p->task->schedule;
    size_t kept = (size_t)(is_first && p->before && s->kept_at_first > 0 ? s->kept_at_first : s->kept);
    if (s->kept_size > 0) kb_pool_thin(p->search.pool, kept, (size_t)s->kept_size);
    else if (kb_pass_has_model(p)) kb_pool_trim(p->search.pool, kept);
}

/* Back to the stage before, which is searched to the end. */
static kbass_status return_to_kept(kb_pass *p, kbass_error *error)
{
    kb_pool_swap(p->search.pool, &p->kept);
    kbass_status status = p->task->step_back(p, error);
    p->is_last = true;
    p->is_fitted = false;
    return status == KBASS_OK ? search_stage(p, error) : status;
}

static void advance(kb_run *run, double from, double until, size_t stage)
{
    run->fraction = fmax(run->fraction, until - (until - from) * pow(0.5, (double)stage));
}

static kbass_status extend_record(kb_pass *p, kbass_error *error)
{
    kb_run *run = p->search.run;
    kbass_status status = KBASS_OK;
    double from = run->fraction, until = p->before || from >= 0.6 ? 0.9 : 0.6;
    kb_pool_trim(&p->kept, 0);
    for (size_t stage = 0; status == KBASS_OK && !kb_run_stopped(run); stage++) {
        p->is_over = p->is_same = p->is_fitted = p->is_last = p->is_complete = false;
        status = p->task->extend(p, stage, error);
        if (status != KBASS_OK || p->is_over) break;
        if (p->is_same) continue;
        advance(run, from, until, stage);
        status = search_stage(p, error);
        if (!p->task->stages_see_all && !p->is_over) p->result->n_models += p->search.pool->n;
        if (status != KBASS_OK || p->is_over || kb_run_stopped(run)) break;
        bool is_lost = p->task->is_lost && p->task->is_lost(p);
        if (is_lost && p->kept.n) return return_to_kept(p, error);
        if (!p->is_last) thin(p, stage == 0);
        if (p->task->stages_see_all && !p->is_last) status = kb_pool_copy(p->search.pool, &p->kept, error);
    }
    return status;
}

/* Proposals for the present windows, and the stages from them. */
static kbass_status search_windows(kb_pass *p, kbass_error *error)
{
    size_t n = 0;
    double from = fmax(p->search.run->fraction, 0.05);
    double clock = kb_run_stage(p->search.run, KBASS_STAGE_SEARCH, from, fmax(from, 0.6));
    kbass_status status = p->task->enter ? p->task->enter(p, error) : KBASS_OK;
    if (status == KBASS_OK) status = kb_pass_ask(p, p->before ? KB_AGAIN : p->task->first_sources, &n, error);
    p->result->seconds[KBASS_STAGE_SEARCH] += kb_clock() - clock;
    p->search.run->stage = kbass_stage_name(KBASS_STAGE_ARBITRATE);
    return status == KBASS_OK && p->search.pool->n ? extend_record(p, error) : status;
}

kbass_status kb_stages_ask(kb_pass *p, unsigned when, kbass_error *error)
{
    const kb_schedule *s = p->task->schedule;
    size_t n = 0;
    kbass_status status = kb_pass_ask(p, when, &n, error);
    if (status != KBASS_OK || !n) return status;
    status = kb_pass_fit(p, (int)s->fit_iterations, error);
    return status == KBASS_OK ? kb_pass_explore(p, (size_t)s->stage_beam, (int)s->stage_rounds, error) : status;
}

/* ---------------------------------------------------------------- a stopped run */

/* Models fitted to the whole record; others cannot be compared with them. */
static size_t keep_whole(kb_pool *pool, size_t n_rows)
{
    size_t n = 0;
    for (size_t i = 0; i < pool->n; i++) {
        pool->explored[i] = false;
        pool->fits[i]->valid = pool->fits[i]->valid && pool->fits[i]->n_rows == n_rows;
        n += pool->fits[i]->valid;
    }
    kb_pool_sort(pool);
    return n;
}

/* Of the whole record, with so many columns, as the slowest worker knows it. */
static double seconds_of(const kb_search *a, size_t n_columns)
{
    double seconds = 0;
    for (int i = 0; i < a->workers.n; i++) {
        kb_likelihood *l = a->workers.list[i]->likelihood;
        l->windows = a->windows;
        seconds = kb_larger(seconds, l->cost(l, n_columns));
    }
    return seconds;
}

/* Can the best model be fitted to the whole record, and its answer be made, in the time that is left? */
static bool is_affordable(const kb_search *a)
{
    static const double integrations = 9; /* as long as a fit, covariances, message, posterior and solution took; seen
                                             on two fields over the plane */
    return integrations * seconds_of(a, a->pool->fits[0]->support.n) < kb_run_left(a->run);
}

/* And its neighbours beside it: a message about all columns and their first fits. */
static bool may_explore(const kb_search *a)
{
    double needed = 3 * seconds_of(a, a->columns->n), left = fmin(a->deadline - kb_clock(), 0.5 * kb_run_left(a->run));
    return !kb_run_cancelled(a->run) && needed < left;
}

kbass_status kb_stages_rescue(kb_pass *p, kbass_error *error)
{
    kb_search *a = &p->search;
    if (p->task->stages_see_all && p->is_complete) return KBASS_OK;
    if (p->task->stages_see_all && p->kept.n) {
        kb_pool_swap(a->pool, &p->kept);
        return p->task->step_back(p, error);
    }
    kbass_status status = p->task->extend(p, KB_WHOLE_RECORD, error);
    if (status != KBASS_OK || !a->workers.n || keep_whole(a->pool, kb_windows_rows(a->windows))) return status;
    if (a->pool->n && !is_affordable(a)) {
        kb_pool_trim(a->pool, 0);
        return KBASS_OK;
    }
    a->deadline = kb_run_grace(a->run, a->schedule->grace);
    status = kb_search_fit(a, (int)a->schedule->grace_iterations, error);
    if (status != KBASS_OK || !may_explore(a)) return status;
    return kb_search_explore(a, 1, 1, &p->result->settled, error);
}

/* ---------------------------------------------------------------- several runs */

/* A model of one run for all of them: its weights, its start for that run, those by regression for the others. */
static kbass_status pass_on(kb_pass *p, size_t run, const kb_fit *from, kbass_error *error)
{
    kb_fit *fit = NULL;
    size_t n = p->search.pool->n_start;
    kbass_status status = kb_pass_enter(p, &from->support, &fit, error);
    if (status != KBASS_OK) return status;
    memcpy(fit->w, from->w, p->search.columns->n * sizeof *fit->w);
    memcpy(fit->variance, from->variance, kb_pass_likelihood(p)->n_groups * sizeof *fit->variance);
    memcpy(fit->start + run * n, from->start, n * sizeof *fit->start);
    return KBASS_OK;
}

/* One run searched as if it were the only one; its best models go to the pool of all. */
static kbass_status search_run(kb_pass *p, size_t run, kbass_error *error)
{
    kb_search all = p->search;
    kb_pool own;
    const size_t *run_start = kb_pass_likelihood(p)->run_start;
    size_t first = run_start[run], last = run_start[run + 1] - 1;
    kb_windows window = {1, &first, &last};
    kb_pool_init(&own, all.pool->n_columns, all.pool->n_start, 1);
    p->search.pool = &own;
    p->search.windows = &window;
    kbass_status status = search_windows(p, error);
    if (status == KBASS_OK && !kb_run_stopped(p->search.run)) status = kb_stages_ask(p, KB_IN_EACH_RUN, error);
    if (p->task->lower_floor) p->task->lower_floor(p);
    p->search = all;
    for (size_t i = 0; status == KBASS_OK && i < own.n && i < (size_t)all.schedule->heard && own.fits[i]->valid; i++)
        status = pass_on(p, run, own.fits[i], error);
    kb_pool_clear(&own);
    return status;
}

static void hold_weights(kb_pass *p, bool hold)
{
    for (int i = 0; i < p->search.workers.n; i++) p->search.workers.list[i]->likelihood->holds_weights = hold;
}

/* What each run says alone. A fit from nothing may end in a poor minimum of any run, a front without viscosity for one,
   and together they have all of these; the weights of a run that found its way lead the others out. Their starts follow
   these weights before all move. */
static kbass_status search_runs(kb_pass *p, kbass_error *error)
{
    kb_pool *pool = p->search.pool;
    kbass_status status = KBASS_OK;
    for (size_t run = 0; status == KBASS_OK && run < p->n_runs && !kb_run_stopped(p->search.run); run++)
        status = search_run(p, run, error);
    hold_weights(p, true);
    if (status == KBASS_OK) status = kb_search_fit(&p->search, (int)p->task->schedule->held_iterations, error);
    hold_weights(p, false);
    for (size_t i = 0; i < pool->n; i++) pool->fits[i]->n_rows = 0; /* not yet fitted to all */
    return status;
}

kbass_status kb_stages_run(kb_pass *p, kbass_error *error)
{
    bool alone = p->n_runs > 1 && p->task->schedule->heard > 0 && !p->before;
    kbass_status status = alone ? search_runs(p, error) : KBASS_OK;
    return status == KBASS_OK ? search_windows(p, error) : status;
}
