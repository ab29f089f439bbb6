#include "discover/horizon.h"

#include <math.h>
#include <string.h>

#include "base/linalg.h"
#include "base/status.h"
#include "discover/council.h"

enum { BEAM = 6, EXPLORED = 3, ROUNDS = 4, LEAST_LINES = 4, MOST_SCREENED = 64, THINNED_SIZE = 3 };
enum { GRACE_ITERATIONS = 8 };
static const double grace = 1; /* seconds for neighbours of the first model fitted to the whole record, when the run was stopped */
static const double restless_steps = 6; /* about half a standard deviation from line to line */
static const double unexplained = 3; /* misfit in units of the noise above which other opinions are heard */
static const double horizons[] = {0.12, 0.25, 0.5, 1};

bool kb_is_restless(const kb_landscape *l) { return l->steps >= restless_steps; }

/* An entry from nothing: the profile by regression, no term but the required ones. */
static kbass_status enter_empty(kb_expedition *e, kbass_error *error)
{
    const kb_landscape *l = e->landscape;
    kb_support support;
    kb_fit *fit = NULL;
    kbass_status status = kb_support_create(l->columns->n, &support, error);
    for (size_t i = 0; status == KBASS_OK && i < l->columns->n; i++)
        if (l->columns->required[i]) kb_support_add(&support, i);
    if (status == KBASS_OK) status = kb_pool_add(e->arena.pool, &support, &fit, error);
    if (status == KBASS_OK) {
        for (size_t f = 0; f < l->cloud->n_fields; f++) fit->variance[f] = fmax(l->profile.noise, 1e-4);
        fit->n_windows = 1;
        if (!kb_line_guess(kb_expedition_line(e), 0, fit->start)) status = kb_fail(error, KBASS_ERROR_NUMERICAL, "the first lines cannot be smoothed");
    }
    kb_support_clear(&support);
    return status;
}

/* Lines that hold somewhat more observations than a start has unknowns: fewer fit any model. */
static double least_lines(const kb_line *line)
{
    const kb_dynamics *d = &line->dynamics;
    double each = (double)d->observation_start[d->n_rows] / (double)d->n_rows;
    return fmax(LEAST_LINES, ceil(1.2 * (double)d->n_start / each));
}

/* Models fitted to the whole record; others cannot be compared with them. */
static size_t keep_whole(kb_pool *pool, size_t last)
{
    size_t n = 0;
    for (size_t i = 0; i < pool->n; i++) {
        pool->fits[i]->valid = pool->fits[i]->valid && pool->fits[i]->last == last;
        n += pool->fits[i]->valid;
    }
    kb_pool_sort(pool);
    return n;
}

/* Stopped on the way: when no model was fitted to the whole record yet, the best that can be is, quickly, and its likeliest
   neighbours. */
static kbass_status salvage(kb_expedition *e, kb_search_result *result, kbass_error *error)
{
    kb_pool *pool = e->arena.pool;
    kb_shooter *shooter = e->explorers[0]->shooter;
    size_t last = e->landscape->cloud->n_grid[0] - 1;
    e->arena.windows->last[0] = last;
    for (size_t i = 0; i < pool->n; i++) pool->explored[i] = false;
    if (keep_whole(pool, last)) return KBASS_OK;
    shooter->windows = e->arena.windows;
    for (size_t i = 0; i < pool->n && !pool->fits[0]->valid; i++) {
        kb_shooter_fit(shooter, pool->fits[i], GRACE_ITERATIONS, -INFINITY);
        if (pool->fits[i]->valid) kb_pool_sort(pool);
    }
    e->arena.deadline = kb_clock() + grace;
    return kb_arena_search(&e->arena, 1, 1, &result->settled, error);
}

/* From the first lines to all of them. */
static kbass_status extend_horizon(kb_expedition *e, kb_search_result *result, kbass_error *error)
{
    size_t rows = e->landscape->cloud->n_grid[0], last = 0;
    double least = least_lines(kb_expedition_line(e));
    kbass_status status = enter_empty(e, error);
    for (size_t i = 0; status == KBASS_OK && i < sizeof horizons / sizeof *horizons && !kb_run_stopped(e->arena.run); i++) {
        size_t lines = (size_t)fmin((double)rows, fmax(least, round(horizons[i] * (double)rows)));
        if (lines == last) continue;
        last = lines;
        e->arena.run->fraction = 0.1 + 0.5 * (double)i / 4;
        e->arena.windows->last[0] = lines - 1;
        status = kb_expedition_search(e, EXPLORED, ROUNDS, &result->settled, error);
        result->n_models += e->arena.pool->n;
        if (status == KBASS_OK) kb_pool_thin(e->arena.pool, BEAM, THINNED_SIZE);
    }
    if (status == KBASS_OK && kb_run_stopped(e->arena.run)) status = salvage(e, result, error);
    return status;
}

/* Does the best model leave more than the noise unexplained? On an open axis, for one, a fit that starts without a term
   may never find it: the ends of the profile hide it. */
static bool needs_advice(const kb_expedition *e)
{
    const kb_pool *pool = e->arena.pool;
    double floor = e->explorers[0]->shooter->dynamics->noise_floor;
    if (!pool->n || !pool->fits[0]->valid) return true;
    return pool->fits[0]->misfit * pool->fits[0]->misfit > unexplained * (e->profile.noise + floor);
}

/* The kernel engine's opinions join the pool, and the search goes on from there. */
static kbass_status take_advice(kb_expedition *e, kb_search_result *result, kbass_error *error)
{
    kb_opinion opinions[KB_COUNCIL_OPINIONS] = {0};
    size_t n = 0;
    kbass_status status = kb_council_hear(e->landscape, e->arena.run, opinions, &n, error);
    for (size_t i = 0; status == KBASS_OK && i < n; i++) status = kb_council_enter(e, &opinions[i], error);
    if (status == KBASS_OK && n) status = kb_expedition_search(e, EXPLORED, ROUNDS, &result->settled, error);
    for (size_t i = 0; i < n; i++) kb_opinion_clear(&opinions[i]);
    return status;
}

static kbass_status run_search(kb_expedition *e, kb_search_result *result, kbass_error *error)
{
    double clock = kb_clock();
    e->arena.run->stage = kbass_stage_name(KBASS_STAGE_SEARCH);
    kbass_status status = kb_expedition_equip(e, 0, error);
    if (status == KBASS_OK) {
        kb_pool_init(&result->pool, e->landscape->columns->n, kb_expedition_line(e)->dynamics.n_start, 1);
        status = kb_windows_divide(e->landscape->cloud->n_grid[0], 1, &e->arena.windows, error);
    }
    if (status == KBASS_OK) status = extend_horizon(e, result, error);
    if (status == KBASS_OK && needs_advice(e) && !kb_run_stopped(e->arena.run)) status = take_advice(e, result, error);
    result->seconds[KBASS_STAGE_SEARCH] = kb_clock() - clock;

    clock = kb_clock();
    e->arena.run->stage = kbass_stage_name(KBASS_STAGE_ARBITRATE);
    if (status == KBASS_OK) status = kb_expedition_tune_period(e, error);
    if (status == KBASS_OK) status = kb_expedition_refine(e, &result->settled, error);
    result->seconds[KBASS_STAGE_ARBITRATE] = kb_clock() - clock;
    return status;
}

kbass_status kb_horizon_search(const kb_landscape *l, kb_run *run, kb_search_result *result, kbass_error *error)
{
    kb_expedition e = {.landscape = l, .line = l->line, .profile = l->profile, .max_windows = 1};
    int blas_threads = kb_blas_threads(1);
    memset(result, 0, sizeof *result);
    e.arena = (kb_arena){.columns = l->columns, .all = &l->all, .n_explorers = l->threads, .pool = &result->pool,
                         .run = run, .screened = l->cloud->n_fields == 1 && l->columns->n <= MOST_SCREENED};
    kbass_status status = run_search(&e, result, error);
    if (status == KBASS_OK) status = kb_expedition_finish(&e, result, error);
    else result->windows = e.arena.windows;
    kb_expedition_dismiss(&e);
    kb_blas_threads(blas_threads);
    return status;
}
