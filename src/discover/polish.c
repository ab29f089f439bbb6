#include "discover/polish.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/status.h"

enum { POLISHED = 4, ITERATIONS = 60 };

bool kb_has_model(const kb_search_result *result) { return result->pool.n && result->pool.fits[0]->valid; }

void kb_search_result_clear(kb_search_result *result)
{
    kb_pool_clear(&result->pool);
    kb_windows_destroy(result->windows);
    kb_free(result->neighbours);
    memset(result, 0, sizeof *result);
}

/* Adds, by the chosen model's own message. */
static kbass_status measure_neighbours(kb_arena *a, kb_search_result *result, kbass_error *error)
{
    size_t n = a->columns->n;
    kb_explorer *e = a->explorers[0];
    const kb_fit *best = result->pool.fits[0];
    kb_move *moves = KB_NEW(kb_move, 2 * n);
    result->neighbours = KB_NEW(kb_neighbour, n);
    if (!moves || !result->neighbours) {
        kb_free(moves);
        return kb_out_of_memory(error, "the answer");
    }
    for (size_t i = 0; i < n; i++) result->neighbours[i] = (kb_neighbour){-INFINITY, NAN, NAN};
    size_t found = kb_shooter_message(e->shooter, best, a->all, e->message)
                       ? kb_message_moves(e->message, a->columns, &best->support, false, 2 * n, moves, e->work)
                       : 0;
    for (size_t i = 0; i < found; i++) {
        if (moves[i].add == KB_NO_COLUMN) continue;
        kb_support_copy(&best->support, &e->trial);
        kb_move_apply(&moves[i], &e->trial);
        double log_odds = kb_pool_find(&result->pool, &e->trial) ? -INFINITY : moves[i].gain;
        result->neighbours[moves[i].add] = (kb_neighbour){log_odds, moves[i].mean, moves[i].variance};
    }
    kb_free(moves);
    return KBASS_OK;
}

kbass_status kb_polish(kb_arena *a, kb_search_result *result, kbass_error *error)
{
    kb_pool *pool = &result->pool;
    kb_shooter *shooter = a->explorers[0]->shooter;
    result->n_models = pool->n;
    if (!kb_has_model(result) || kb_run_stopped(a->run)) return KBASS_OK;
    shooter->windows = a->windows;
    for (size_t i = 0; i < pool->n && i < POLISHED && pool->fits[i]->valid; i++)
        if (!pool->fits[i]->converged) kb_shooter_fit(shooter, pool->fits[i], ITERATIONS, -INFINITY);
    kb_pool_sort(pool);
    return measure_neighbours(a, result, error);
}
