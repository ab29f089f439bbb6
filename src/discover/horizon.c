#include "discover/horizon.h"

#include <math.h>
#include <string.h>

#include "base/linalg.h"
#include "base/memory.h"
#include "base/status.h"
#include "discover/polish.h"

enum { BEAM = 6, FINE_BEAM = 4, EXPLORED = 3, ROUNDS = 4, ITERATIONS = 12, FINAL_ITERATIONS = 30 };
enum { LEAST_LINES = 4, MOST_SCREENED = 64, THINNED_SIZE = 3 };
static const double horizons[] = {0.12, 0.25, 0.5, 1};
static const double floor_now = 1e-6; /* noise variance below which no grid's error matters */

/* Grids: the search runs on the first; the others refine its best models. */
static const struct {
    size_t nodes;
    double steps; /* times the landscape's */
} grids[] = {{200, 1}, {400, 1.5}, {800, 2}, {1600, 3}};
enum { GRIDS = sizeof grids / sizeof *grids };

typedef struct {
    const kb_landscape *landscape;
    kb_explorer **explorers;
    kb_arena arena;
    kb_shooter *finer;    /* on the next grid, to measure this one's error */
    double *here, *there; /* predictions on both */
} expedition;

static kb_line *line_of(const expedition *e) { return (kb_line *)e->explorers[0]->shooter->dynamics; }

static void dismiss(expedition *e)
{
    for (int i = 0; e->explorers && i < e->landscape->threads; i++) kb_explorer_destroy(e->explorers[i]);
    kb_free(e->explorers);
    kb_shooter_destroy(e->finer);
    kb_free(e->here);
    kb_free(e->there);
    e->explorers = NULL;
    e->finer = NULL;
    e->here = e->there = NULL;
}

static kbass_status make_shooter(const kb_landscape *l, size_t grid, size_t max_tangents, kb_shooter **out, kbass_error *error)
{
    kb_line *line = NULL;
    kb_line_settings settings = l->line;
    settings.n_nodes = grids[grid].nodes;
    settings.steps = (size_t)ceil(grids[grid].steps * l->steps);
    kbass_status status =
        kb_line_create(l->cloud, l->dictionary, l->columns, &settings, &l->profile, max_tangents, &line, error);
    return status == KBASS_OK ? kb_shooter_create_on(&line->dynamics, l->columns, 1, max_tangents, out, error) : status;
}

/* Explorers on a grid, and one shooter on the next. */
static kbass_status equip(expedition *e, size_t grid, kbass_error *error)
{
    const kb_landscape *l = e->landscape;
    kbass_status status = KBASS_OK;
    dismiss(e);
    e->explorers = KB_NEW(kb_explorer *, (size_t)l->threads);
    e->here = KB_NEW(double, l->cloud->n_values);
    e->there = KB_NEW(double, l->cloud->n_values);
    if (!e->explorers || !e->here || !e->there) return kb_out_of_memory(error, "the threads");
    for (int i = 0; status == KBASS_OK && i < l->threads; i++) {
        kb_shooter *shooter = NULL;
        status = make_shooter(l, grid, l->columns->n, &shooter, error);
        if (status == KBASS_OK) status = kb_explorer_create(shooter, l->columns, &e->explorers[i], error);
    }
    if (status == KBASS_OK && grid + 1 < GRIDS) status = make_shooter(l, grid + 1, 0, &e->finer, error);
    e->arena.explorers = e->explorers;
    return status;
}

static bool predict_on(kb_shooter *s, const kb_fit *fit, size_t last, double *predicted)
{
    s->dynamics->set_model(s->dynamics, &fit->support, fit->w, NULL);
    return s->dynamics->predict(s->dynamics, 0, last, fit->start, predicted, NULL);
}

/* The grid's own error, by the best model's predictions here and on the next grid, is the floor of the noise: what lies
   below it would be explained by terms that are not there. */
static bool set_noise_floor(expedition *e)
{
    const kb_pool *pool = e->arena.pool;
    const kb_dynamics *d = e->explorers[0]->shooter->dynamics;
    size_t last = e->arena.windows->last[0], n = d->observation_start[last + 1];
    double squares = 0;
    if (!e->finer || !pool->n || !pool->fits[0]->valid) return false;
    if (!predict_on(e->explorers[0]->shooter, pool->fits[0], last, e->here) ||
        !predict_on(e->finer, pool->fits[0], last, e->there)) return false;
    for (size_t o = 0; o < n; o++) squares += (e->here[o] - e->there[o]) * (e->here[o] - e->there[o]);
    double floor = fmax(floor_now, squares / (double)n), before = d->noise_floor;
    if (!(floor > 1.5 * before)) return false;
    for (int i = 0; i < e->landscape->threads; i++) e->explorers[i]->shooter->dynamics->noise_floor = floor;
    return true;
}

/* The first `lines` time lines as one window. */
static void set_horizon(expedition *e, size_t lines)
{
    e->arena.windows->first[0] = 0;
    e->arena.windows->last[0] = lines - 1;
    for (size_t i = 0; i < e->arena.pool->n; i++) e->arena.pool->explored[i] = false;
}

/* An entry from nothing: the profile by regression, no term but the required ones. */
static kbass_status enter_empty(expedition *e, kbass_error *error)
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
        if (!kb_line_guess(line_of(e), 0, fit->start)) status = kb_fail(error, KBASS_ERROR_NUMERICAL, "the first lines cannot be smoothed");
    }
    kb_support_clear(&support);
    return status;
}

static kbass_status search_horizon(expedition *e, size_t lines, size_t explored, int rounds, bool *settled,
                                   kbass_error *error)
{
    set_horizon(e, lines);
    kbass_status status = kb_arena_fit(&e->arena, FINAL_ITERATIONS, error);
    if (set_noise_floor(e) && status == KBASS_OK) status = kb_arena_fit(&e->arena, FINAL_ITERATIONS, error);
    if (status == KBASS_OK) status = kb_arena_search(&e->arena, explored, rounds, settled, error);
    if (set_noise_floor(e) && status == KBASS_OK) {
        status = kb_arena_fit(&e->arena, ITERATIONS, error);
        if (status == KBASS_OK) status = kb_arena_search(&e->arena, explored, rounds, settled, error);
    }
    return status;
}

/* Largest move of the best model's weights from `before`, in their standard deviations. */
static double weights_moved(const kb_fit *fit, const double *before)
{
    double most = 0;
    size_t k = fit->support.n;
    for (size_t q = 0; q < k; q++) {
        double sd = sqrt(fit->covariance[q + q * k]), moved = fabs(fit->w[fit->support.column[q]] - before[fit->support.column[q]]);
        if (!(moved <= most * sd)) most = moved / sd;
    }
    return most;
}

static bool has_model(const kb_pool *pool) { return pool->n && pool->fits[0]->valid; }

/* Does the floor that the grid's error set still hide something of the best model's residuals? */
static bool floor_matters(const expedition *e)
{
    double floor = e->explorers[0]->shooter->dynamics->noise_floor;
    const kb_fit *best = e->arena.pool->fits[0];
    return floor > floor_now && best->misfit * best->misfit < 20 * floor;
}

/* Finer grids for the best models until the weights of the very best stop moving and the grid's error stops mattering.
   A grid on which none of them can be fitted is not used. */
static kbass_status refine_grid(expedition *e, size_t lines, bool *settled, kbass_error *error)
{
    kb_pool *pool = e->arena.pool, before;
    size_t n_columns = e->landscape->columns->n;
    kbass_status status = KBASS_OK;
    double *weights = KB_NEW(double, n_columns);
    if (!weights) return kb_out_of_memory(error, "the search");
    kb_pool_init(&before, n_columns, pool->n_start, 1);
    for (size_t grid = 1; grid < GRIDS && has_model(pool) && !kb_run_stopped(e->arena.run); grid++) {
        bool converged = false;
        memcpy(weights, pool->fits[0]->w, n_columns * sizeof *weights);
        kb_pool_trim(pool, FINE_BEAM);
        status = kb_pool_copy(pool, &before, error);
        if (status == KBASS_OK) status = equip(e, grid, error);
        if (status == KBASS_OK) status = search_horizon(e, lines, 1, 2, settled, error);
        if (status != KBASS_OK) break;
        if (!has_model(pool)) {
            kb_pool_swap(pool, &before);
            status = equip(e, grid - 1, error);
            break;
        }
        converged = weights_moved(pool->fits[0], weights) < 0.5 && !floor_matters(e);
        if (converged) break;
    }
    kb_pool_clear(&before);
    kb_free(weights);
    return status;
}

/* Lines that hold somewhat more observations than a start has unknowns: fewer fit any model. */
static double least_lines(const kb_line *line)
{
    const kb_dynamics *d = &line->dynamics;
    double each = (double)d->observation_start[d->n_rows] / (double)d->n_rows;
    return fmax(LEAST_LINES, ceil(1.2 * (double)d->n_start / each));
}

static kbass_status run_search(expedition *e, kb_search_result *result, kbass_error *error)
{
    size_t rows = e->landscape->cloud->n_grid[0], last = 0;
    kbass_status status = equip(e, 0, error);
    if (status == KBASS_OK) {
        kb_pool_init(&result->pool, e->landscape->columns->n, line_of(e)->dynamics.n_start, 1);
        status = kb_windows_divide(rows, 1, &e->arena.windows, error);
    }
    if (status == KBASS_OK) status = enter_empty(e, error);
    double least = status == KBASS_OK ? least_lines(line_of(e)) : 0;
    for (size_t i = 0; status == KBASS_OK && i < sizeof horizons / sizeof *horizons; i++) {
        size_t lines = (size_t)fmin((double)rows, fmax(least, round(horizons[i] * (double)rows)));
        if (lines == last) continue;
        last = lines;
        e->arena.run->fraction = 0.1 + 0.5 * (double)i / 4;
        status = search_horizon(e, lines, EXPLORED, ROUNDS, &result->settled, error);
        if (status == KBASS_OK) kb_pool_thin(e->arena.pool, BEAM, THINNED_SIZE);
    }
    if (status == KBASS_OK) status = refine_grid(e, rows, &result->settled, error);
    return status;
}

kbass_status kb_horizon_search(const kb_landscape *l, kb_run *run, kb_search_result *result, kbass_error *error)
{
    expedition e = {.landscape = l};
    int blas_threads = kb_blas_threads(1);
    memset(result, 0, sizeof *result);
    e.arena = (kb_arena){.columns = l->columns, .all = &l->all, .n_explorers = l->threads, .pool = &result->pool,
                         .run = run, .screened = l->cloud->n_fields == 1 && l->columns->n <= MOST_SCREENED};
    kbass_status status = run_search(&e, result, error);
    result->windows = e.arena.windows;
    if (e.explorers && e.explorers[0]) result->line = line_of(&e)->settings;
    if (status == KBASS_OK) status = kb_polish(&e.arena, result, error);
    dismiss(&e);
    kb_blas_threads(blas_threads);
    return status;
}
