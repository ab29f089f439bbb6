#include "discover/council.h"

#include <math.h>
#include <string.h>

#include "base/linalg.h"
#include "base/status.h"
#include "discover/horizon.h"

enum { LINES_PER_WINDOW = 3, EXPLORED = 2, ROUNDS = 3 };

kbass_status kb_council_hear(const kb_landscape *l, size_t first, size_t n_runs, kb_run *run, kb_opinion *opinions,
                             size_t *n, kbass_error *error)
{
    kb_terrain *terrain = NULL;
    kbass_status status = kb_terrain_create(n_runs, l->clouds + first, l->dictionary, l->settings, kb_homotopy_scope,
                                            l->threads, &terrain, error);
    if (status == KBASS_OK) status = kb_homotopy(terrain, l->columns, run, KB_COUNCIL_OPINIONS, opinions, n, error);
    kb_terrain_destroy(terrain);
    return status;
}

kbass_status kb_council_enter(kb_expedition *e, const kb_opinion *opinion, kbass_error *error)
{
    kb_fit *fit = NULL;
    if (kb_pool_find(e->arena.pool, &opinion->support)) return KBASS_OK;
    kbass_status status = kb_expedition_enter(e, &opinion->support, &fit, error);
    if (status != KBASS_OK) return status;
    memcpy(fit->w, opinion->w, e->landscape->columns->n * sizeof *fit->w);
    for (size_t f = 0; f < e->landscape->clouds[0]->n_fields; f++) fit->variance[f] = fmax(opinion->variance[f], 1e-2);
    return KBASS_OK;
}

static kbass_status deliberate(kb_expedition *e, size_t n, const kb_opinion *opinions, kb_search_result *result,
                               kbass_error *error)
{
    kbass_status status = kb_expedition_equip(e, 0, error);
    if (status == KBASS_OK) status = kb_expedition_open(e, error);
    for (size_t i = 0; status == KBASS_OK && i < n; i++) status = kb_council_enter(e, &opinions[i], error);
    if (status == KBASS_OK) status = kb_expedition_search(e, EXPLORED, ROUNDS, &result->settled, error);
    result->n_models = result->pool.n;
    e->arena.run->fraction = 0.8;
    if (status == KBASS_OK) status = kb_expedition_tune_period(e, error);
    if (status == KBASS_OK) status = kb_expedition_refine(e, &result->settled, error);
    return status;
}

/* Short windows, and profiles as short as the lines' samples, in the runs that need them. */
static kbass_status begin(kb_expedition *e, kb_run *run, kb_search_result *result, kbass_error *error)
{
    const kb_landscape *l = e->landscape;
    kbass_status status = kb_expedition_begin(e, run, result, error);
    for (size_t i = 0; status == KBASS_OK && i < l->n_runs; i++) {
        const size_t *n = l->clouds[i]->n_grid;
        if (!kb_scene_is_restless(&l->scenes[i])) continue;
        e->windows[i] = (size_t)fmax(1, (double)(n[0] - 1) / LINES_PER_WINDOW);
        e->max_windows += e->windows[i] - 1;
        e->scenes[i].profile = kb_profile_flat(l->scenes[i].profile.period, n[1], KB_LINE_MODES);
    }
    return status;
}

kbass_status kb_council_search(const kb_landscape *l, kb_run *run, kb_search_result *result, kbass_error *error)
{
    kb_opinion opinions[KB_COUNCIL_OPINIONS] = {0};
    size_t n = 0;
    kb_expedition e = {.landscape = l};
    kbass_status status = begin(&e, run, result, error);
    double clock = kb_run_stage(run, KBASS_STAGE_SEARCH, 0.1, 0.6);
    if (status == KBASS_OK) status = kb_council_hear(l, 0, l->n_runs, run, opinions, &n, error);
    result->seconds[KBASS_STAGE_SEARCH] = kb_clock() - clock;
    clock = kb_run_stage(run, KBASS_STAGE_ARBITRATE, 0.6, 0.9);
    if (status == KBASS_OK && n) status = deliberate(&e, n, opinions, result, error);
    result->seconds[KBASS_STAGE_ARBITRATE] = kb_clock() - clock;
    result->n_starts = n;
    result->windows = e.arena.windows;
    if (status == KBASS_OK && n) status = kb_expedition_finish(&e, result, error);
    for (size_t i = 0; i < n; i++) kb_opinion_clear(&opinions[i]);
    kb_expedition_dismiss(&e);
    return status;
}
