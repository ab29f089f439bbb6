#include "search/strategy.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/status.h"
#include "search/polish.h"
#include "search/refine.h"
#include "search/stages.h"

/* ---------------------------------------------------------------- one pass */

static bool is_unexplained(const kb_pass *p)
{
    const kb_schedule *s = p->task->schedule;
    if (!(s->unexplained > 0) || kb_run_stopped(p->search.run) || p->before) return false;
    if (!kb_pass_has_model(p)) return true;
    double misfit = p->search.pool->fits[0]->misfit, floor = kb_pass_floor(p);
    return misfit * misfit > s->unexplained * (p->task->noise(p) + floor);
}

/* From proposals to the whole record. */
static kbass_status search_record(kb_pass *p, kbass_error *error)
{
    const kb_schedule *s = p->task->schedule;
    kbass_status status = kb_stages_run(p, error);
    if (status == KBASS_OK && kb_run_stopped(p->search.run) && !p->before) status = kb_stages_rescue(p, error);
    if (status == KBASS_OK && is_unexplained(p)) status = kb_stages_ask(p, KB_WHERE_UNEXPLAINED, error);
    if (status != KBASS_OK || !p->before || !p->task->widen) return status;
    status = p->task->widen(p, error);
    if (status != KBASS_OK || !p->search.pool->n) return status;
    status = kb_pass_fit(p, (int)s->fit_iterations, error);
    return status == KBASS_OK ? kb_pass_explore(p, (size_t)s->stage_beam, (int)s->stage_rounds, error) : status;
}

static kbass_status polish(kb_pass *p, kbass_error *error)
{
    kb_search_result *result = p->result;
    double from = fmax(p->search.run->fraction, p->before ? 0.9 : 0.6); /* where stages end that were all run */
    double clock = kb_run_stage(p->search.run, KBASS_STAGE_POLISH, from, from);
    kbass_status status = p->task->finish ? p->task->finish(p, error) : KBASS_OK;
    if (status == KBASS_OK && result->pool.n) status = kb_polish(p, error);
    if (p->task->refine || p->task->stages_see_all) result->n_models += result->pool.n; /* fitted once more */
    result->seconds[KBASS_STAGE_POLISH] = kb_clock() - clock;
    return status;
}

static kbass_status run(kb_pass *p, kbass_error *error)
{
    double clock = kb_clock();
    kbass_status status = search_record(p, error);
    if (status == KBASS_OK && p->search.pool->n && p->task->tune) status = p->task->tune(p, error);
    if (status == KBASS_OK && p->task->refine) status = kb_refine_resolution(p, p->task->schedule->still, error);
    p->result->seconds[KBASS_STAGE_ARBITRATE] = kb_clock() - clock - p->result->seconds[KBASS_STAGE_SEARCH];
    p->result->windows = p->search.windows;
    return status == KBASS_OK ? polish(p, error) : status;
}

kbass_status kb_search_pass(const kb_task *task, const void *problem, size_t n_runs, const kb_search_result *before,
                            kb_run *runs, kb_search_result *result, kbass_error *error)
{
    kb_pass p = {.task = task, .problem = problem, .n_runs = n_runs, .result = result, .before = before};
    p.search = (kb_search){.schedule = task->schedule, .run = runs, .pool = &result->pool};
    kbass_status status = task->begin(&p, error);
    kb_pool_init(&p.kept, result->pool.n_columns, result->pool.n_start, result->pool.max_windows);
    if (status == KBASS_OK && !p.is_over) status = run(&p, error);
    result->windows = p.search.windows;
    kb_workers_destroy(&p.search.workers);
    kb_pool_clear(&p.kept);
    task->end(&p);
    return status;
}

/* ---------------------------------------------------------------- the better of two answers */

/* Do the fewer windows of `a` still follow the data as those of `b` do? */
static bool says_more(const kb_schedule *s, const kb_search_result *a, const kb_search_result *b)
{
    double own = a->pool.fits[0]->misfit, other = b->pool.fits[0]->misfit;
    return a->windows->n < b->windows->n && own * own <= s->followed * other * other;
}

/* Fewer windows say more, unless they lost the data; on equal windows the evidence decides. */
static bool is_better(const kb_schedule *s, const kb_search_result *a, const kb_search_result *b)
{
    if (!kb_has_model(a) || !kb_has_model(b)) return kb_has_model(a);
    if (a->windows->n != b->windows->n) return a->windows->n < b->windows->n ? says_more(s, a, b) : !says_more(s, b, a);
    return a->pool.fits[0]->log_evidence > b->pool.fits[0]->log_evidence;
}

/* The one column that a model has beside all of the best one's; KB_NO_COLUMN: it is no such neighbour. */
static size_t added_to(const kb_support *best, const kb_support *model)
{
    size_t added = KB_NO_COLUMN;
    if (model->n != best->n + 1) return KB_NO_COLUMN;
    for (size_t q = 0; q < model->n; q++) {
        if (kb_support_has(best, model->column[q])) continue;
        if (added != KB_NO_COLUMN) return KB_NO_COLUMN;
        added = model->column[q];
    }
    return added;
}

/* Models of both passes count in the averages, where the task can compare them. */
static kbass_status merge_models(const kb_task *task, kb_search_result *result, kb_search_result *other,
                                 kbass_error *error)
{
    if (!task->passes_compare || !kb_has_model(result) || !kb_has_model(other)) return KBASS_OK;
    if (result->windows->n != other->windows->n) return KBASS_OK;
    const kb_support *best = &result->pool.fits[0]->support;
    for (size_t i = 0; result->neighbours && i < other->pool.n; i++) {
        size_t added = other->pool.fits[i]->valid ? added_to(best, &other->pool.fits[i]->support) : KB_NO_COLUMN;
        if (added != KB_NO_COLUMN) result->neighbours[added].gain = -INFINITY;
    }
    kbass_status status = kb_pool_merge(&result->pool, &other->pool, error);
    kb_pool_sort(&result->pool);
    kb_pool_unite(&result->pool);
    return status;
}

/* What both cost is in the one that stays. */
static kbass_status keep_better(const kb_task *task, kb_search_result *result, kb_search_result *other,
                                kbass_error *error)
{
    if (is_better(task->schedule, other, result)) {
        kb_search_result swapped = *result;
        *result = *other;
        *other = swapped;
    }
    kbass_status status = merge_models(task, result, other, error);
    result->n_models += other->n_models;
    result->n_starts += other->n_starts;
    result->n_lost += other->n_lost;
    for (int stage = 0; stage < KBASS_STAGE_COUNT; stage++) result->seconds[stage] += other->seconds[stage];
    kb_search_result_clear(other);
    return status;
}

kbass_status kb_search_discover(const kb_task *task, const void *problem, size_t n_runs, kb_run *runs,
                                kb_search_result *result, kbass_error *error)
{
    kb_search_result other = {0};
    memset(result, 0, sizeof *result);
    kbass_status status = kb_search_pass(task, problem, n_runs, NULL, runs, result, error);
    if (status != KBASS_OK) return status;
    if (task->second && !kb_run_stopped(runs) && task->is_doubtful(problem, result)) {
        /* what goes wrong with the second pass takes nothing from the first */
        if (kb_search_pass(task->second, problem, n_runs, result, runs, &other, NULL) != KBASS_OK)
            kb_search_result_clear(&other);
        status = keep_better(task, result, &other, error);
        if (status != KBASS_OK) return status;
    }
    return task->answer && !kb_has_model(result) ? task->answer(problem, runs, result, error) : KBASS_OK;
}
