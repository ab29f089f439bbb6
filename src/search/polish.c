#include "search/polish.h"

#include <math.h>
#include <omp.h>
#include <string.h>

#include "base/memory.h"
#include "base/status.h"
#include "evidence/thresholds.h"
#include "search/explain.h"
#include "search/fits.h"
#include "search/standing.h"
#include "search/trace.h"

enum { MOST_TWINS = 16 }; /* terms: for which others are sought that can stand for them */

bool kb_has_model(const kb_search_result *result) { return result->pool.n && result->pool.fits[0]->valid; }

void kb_search_result_clear(kb_search_result *result)
{
    kb_pool_clear(&result->pool);
    kb_windows_destroy(result->windows);
    kb_engine_clear(&result->engine);
    kb_free(result->neighbours);
    kb_free(result->shifts);
    kb_free(result->substitutes);
    kb_free(result->twins);
    kb_free(result->noise_unit);
    kb_free(result->noise_freedom);
    kb_free(result->residual_tests.tests);
    kb_pool_clear(&result->explained);
    kb_free(result->explained_column);
    memset(result, 0, sizeof *result);
}

/* The column that a move brought besides; KB_NO_COLUMN: none. */
static size_t came_along(const kb_support *before, const kb_support *after, size_t added)
{
    for (size_t q = 0; q < after->n; q++)
        if (after->column[q] != added && !kb_support_has(before, after->column[q])) return after->column[q];
    return KB_NO_COLUMN;
}

static bool is_twin(const kb_search_result *result, const kb_substitute *s)
{
    for (size_t i = 0; i < result->n_twins; i++) {
        const kb_substitute *t = &result->twins[i];
        if ((t->column == s->column && t->other[0] == s->other[0]) ||
            (t->column == s->other[0] && t->other[0] == s->column))
            return true;
    }
    return false;
}

/* Whichever of the probable models holds: which of its terms could be another one? list: room for all columns. */
static kbass_status find_twins(kb_search_result *result, const kb_message *message, const kb_columns *columns,
                               kb_substitute *list, kbass_error *error)
{
    const kb_pool *pool = &result->pool;
    kbass_status status = KBASS_OK;
    for (size_t i = 0; status == KBASS_OK && i < pool->n && pool->fits[i]->valid; i++) {
        const kb_fit *fit = pool->fits[i];
        size_t n = 0;
        if (kb_fit_log_odds(fit, pool->fits[0]) < log(kb_threshold.rival)) continue;
        status = kb_substitutes_find(message, columns, &fit->support, fit->w, list, &n, error);
        for (size_t k = 0; k < n && result->n_twins < MOST_TWINS; k++)
            if (list[k].n == 1 && !is_twin(result, &list[k])) result->twins[result->n_twins++] = list[k];
    }
    return status;
}

/* Terms that could be others, of the chosen model and of its rivals. */
static kbass_status find_substitutes(kb_search_result *result, const kb_message *message, const kb_columns *columns,
                                     kbass_error *error)
{
    const kb_fit *best = result->pool.fits[0];
    kb_substitute *list = KB_NEW(kb_substitute, columns->n + 1);
    result->substitutes = KB_NEW(kb_substitute, best->support.n + 1);
    result->twins = KB_NEW(kb_substitute, MOST_TWINS);
    kbass_status status =
        list && result->substitutes && result->twins ? KBASS_OK : kb_out_of_memory(error, "the answer");
    if (status == KBASS_OK)
        status = kb_substitutes_find(message, columns, &best->support, best->w, result->substitutes,
                                     &result->n_substitutes, error);
    if (status == KBASS_OK) status = find_twins(result, message, columns, list, error);
    kb_free(list);
    return status;
}

/* A neighbour that counts beside the best model, of one column added. */
static bool counts(const kb_neighbour *neighbour)
{
    static const double least = 1e-4; /* odds: what is less moves no quantile of an interval */
    return kb_log_odds(neighbour->gain) > log(least) && neighbour->with == KB_NO_COLUMN;
}

/* The added weight takes the others along: what it shares with them is no longer theirs alone. */
static kbass_status find_shifts(kb_search_result *result, const kb_message *message, const kb_columns *columns,
                                double *work, kbass_error *error)
{
    const kb_support *best = &result->pool.fits[0]->support;
    size_t k = best->n, n_added = 0, *added = KB_NEW(size_t, columns->n + 1);
    for (size_t c = 0; added && c < columns->n; c++)
        if (counts(&result->neighbours[c])) added[n_added++] = c;
    result->shifts = KB_NEW(double, n_added *k + 1);
    bool complete = added && result->shifts;
    if (complete && !columns->constraints &&
        kb_message_shifts(message, columns, best, n_added, added, result->shifts, work))
        for (size_t i = 0; i < n_added; i++) result->neighbours[added[i]].shift = result->shifts + i * k;
    kb_free(added);
    return complete ? KBASS_OK : kb_out_of_memory(error, "the answer");
}

kbass_status kb_search_result_measure(kb_search_result *result, const kb_message *message, const kb_columns *columns,
                                      double *work, kbass_error *error)
{
    size_t n = columns->n;
    const kb_support *best = &result->pool.fits[0]->support;
    kb_support trial = {0};
    kb_move *moves = KB_NEW(kb_move, 2 * n);
    result->neighbours = KB_NEW(kb_neighbour, n);
    kbass_status status = kb_support_create(n, &trial, error);
    if (!moves || !result->neighbours) status = kb_out_of_memory(error, "the answer");
    size_t found =
        status == KBASS_OK ? kb_message_moves(message, columns, best, KB_SINGLE_MOVES, 2 * n, moves, work) : 0;
    for (size_t i = 0; status == KBASS_OK && i < n; i++)
        result->neighbours[i] = (kb_neighbour){-INFINITY, NAN, NAN, KB_NO_COLUMN, NULL};
    for (size_t i = 0; i < found; i++) {
        if (moves[i].add == KB_NO_COLUMN) continue;
        kb_neighbour *neighbour = &result->neighbours[moves[i].add];
        kb_support_copy(best, &trial);
        kb_move_apply(&moves[i], columns, &trial);
        if (trial.n > best->n + 2 || neighbour->gain > -INFINITY) continue; /* moves come best first */
        double gain = kb_pool_find(&result->pool, &trial) ? -INFINITY : moves[i].gain;
        size_t with = came_along(best, &trial, moves[i].add);
        *neighbour = (kb_neighbour){gain, moves[i].mean, moves[i].variance, with, NULL};
    }
    kb_support_clear(&trial);
    kb_free(moves);
    if (status == KBASS_OK) status = find_shifts(result, message, columns, work, error);
    return status == KBASS_OK ? find_substitutes(result, message, columns, error) : status;
}

static kbass_status note_noise(kb_likelihood *l, kb_search_result *result, kbass_error *error)
{
    result->noise_floor = l->floor(l);
    result->noise_unit = KB_NEW(double, l->n_groups);
    result->noise_freedom = KB_NEW(double, l->n_groups);
    if (!result->noise_unit || !result->noise_freedom) return kb_out_of_memory(error, "the answer");
    result->noise_is_relative = l->describe_noise(l, result->pool.fits[0], result->noise_unit, result->noise_freedom);
    return KBASS_OK;
}

/* What adding a column to the best model would do, by its message. */
static kbass_status look_around(kb_search *a, kb_search_result *result, kbass_error *error)
{
    kb_search_worker *e = a->workers.list[0];
    kb_likelihood *l = e->likelihood;
    if (l->cost(l, a->columns->n) > kb_run_left(a->run)) return KBASS_OK;
    kb_search_share_windows(a, a->columns->n);
    bool is_there = false;
#pragma omp parallel num_threads(a->workers.n)
#pragma omp master /* the others help */
    is_there = l->message(l, result->pool.fits[0], a->all, e->message);
    kb_search_share_no_windows(a);
    if (!is_there) return KBASS_OK;
    return kb_search_result_measure(result, e->message, a->columns, e->work, error);
}

/* The best models to convergence. */
static void converge(kb_search *a, kb_pool *pool)
{
    size_t most = (size_t)a->schedule->polished, n = pool->n < most ? pool->n : most;
    bool is_shared = !a->run->checkpoint && kb_search_share_windows(a, a->columns->n); /* what it knows may differ */
#pragma omp parallel for schedule(dynamic) num_threads(is_shared ? 1 : a->workers.n)
    for (size_t i = 0; i < n; i++) {
        kb_likelihood *l = a->workers.list[omp_get_thread_num()]->likelihood;
        if (!pool->fits[i]->valid || pool->fits[i]->converged) continue;
        l->windows = a->windows;
        l->checkpoint = a->run->checkpoint;
        kb_likelihood_fit(l, pool->fits[i], (int)a->schedule->polish_iterations, -INFINITY);
    }
    if (is_shared) kb_search_share_no_windows(a);
    kb_pool_sort(pool);
}

/* No model is the answer while a neighbour of it may have more evidence: on all data, at the last resolution and at
   convergence, that is asked once more, and again of a model that turns out to be better. */
static kbass_status settle(kb_search *a, kb_pool *pool, kbass_error *error)
{
    kbass_status status = KBASS_OK;
    bool settled = false;
    a->settles = a->grows = true;
    converge(a, pool);
    while (status == KBASS_OK && !settled && !kb_run_stopped(a->run)) {
        status = kb_search_explore(a, (size_t)a->schedule->stage_beam, 1, &settled, error);
        if (!settled) converge(a, pool);
    }
    a->settles = a->grows = false;
    return status;
}

/* The best models to convergence, and all that is asked about the very best. */
static kbass_status finish(kb_search *a, kb_search_result *result, kbass_error *error)
{
    kbass_status status = settle(a, &result->pool, error);
    if (status == KBASS_OK) status = look_around(a, result, error);
    if (!result->neighbours) return status;
    return status == KBASS_OK ? kb_explain(a, result, error) : status;
}

kbass_status kb_polish(kb_pass *p, kbass_error *error)
{
    kb_search *a = &p->search;
    kb_search_result *result = p->result;
    if (!kb_has_model(result)) return KBASS_OK;
    kb_likelihood *l = a->workers.list[0]->likelihood;
    bool is_stopped = kb_run_stopped(a->run);
    l->windows = a->windows;
    kbass_status status = is_stopped ? look_around(a, result, error) : finish(a, result, error);
    if (status == KBASS_OK && !is_stopped && result->neighbours && p->task->examine)
        status = p->task->examine(p, error);
    kb_standing_note(a);
    kb_trace_pool(a, "polished");
    return status == KBASS_OK ? note_noise(l, result, error) : status;
}
