#include "discover/expedition.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/status.h"
#include "discover/polish.h"

enum { MOST_SCREENED = 64, FINE_BEAM = 4, ITERATIONS = 12, FINAL_ITERATIONS = 30, PERIOD_HALVINGS = 5 };
static const double floor_now = 1e-6; /* noise variance below which no grid's error matters */

/* Grids: the search runs on the first; the others refine its best models. */
static const struct {
    size_t nodes;
    double steps; /* times the landscape's */
} grids[] = {{200, 1}, {400, 1.5}, {800, 2}, {1600, 3}};
enum { GRIDS = sizeof grids / sizeof *grids };

/* ---------------------------------------------------------------- equipment */

kb_chorus *kb_expedition_chorus(const kb_expedition *e) { return (kb_chorus *)e->explorers[0]->shooter->dynamics; }

kbass_status kb_expedition_begin(kb_expedition *e, kb_run *run, kb_search_result *result, kbass_error *error)
{
    const kb_landscape *l = e->landscape;
    memset(result, 0, sizeof *result);
    e->scenes = result->scenes = KB_NEW(kb_scene, l->n_runs);
    e->windows = result->run_windows = KB_NEW(size_t, l->n_runs);
    if (!e->scenes || !e->windows) return kb_out_of_memory(error, "the search");
    memcpy(e->scenes, l->scenes, l->n_runs * sizeof *e->scenes);
    for (size_t i = 0; i < l->n_runs; i++) e->windows[i] = 1;
    e->max_windows = l->n_runs;
    e->arena = (kb_arena){.columns = l->columns,
                          .all = &l->all,
                          .n_explorers = l->threads,
                          .pool = &result->pool,
                          .run = run,
                          .screened = l->clouds[0]->n_fields == 1 && l->columns->n <= MOST_SCREENED};
    return KBASS_OK;
}

kbass_status kb_expedition_open(kb_expedition *e, kbass_error *error)
{
    const kb_dynamics *d = &kb_expedition_chorus(e)->dynamics;
    kb_pool_init(e->arena.pool, e->landscape->columns->n, d->n_start, e->max_windows);
    return kb_windows_divide_each(d->n_runs, d->run_start, e->windows, &e->arena.windows, error);
}

kbass_status kb_expedition_enter(kb_expedition *e, const kb_support *support, kb_fit **fit, kbass_error *error)
{
    const kb_windows *windows = e->arena.windows;
    size_t n_start = e->arena.pool->n_start;
    kbass_status status = kb_pool_add(e->arena.pool, support, fit, error);
    if (status != KBASS_OK) return status;
    (*fit)->n_windows = windows->n;
    for (size_t window = 0; window < windows->n; window++)
        if (!kb_chorus_guess(kb_expedition_chorus(e), windows->first[window], (*fit)->start + window * n_start))
            return kb_fail(error, KBASS_ERROR_NUMERICAL, "the lines of a window cannot be smoothed");
    return KBASS_OK;
}

size_t kb_expedition_run(const kb_expedition *e, size_t window)
{
    size_t run = 0;
    while (e->arena.windows->first[window] >= kb_expedition_chorus(e)->run_start[run + 1]) run++;
    return run;
}

double kb_expedition_noise(const kb_expedition *e)
{
    double sum = 0;
    size_t n = e->arena.windows->n;
    for (size_t window = 0; window < n; window++) sum += e->scenes[kb_expedition_run(e, window)].profile.noise;
    return sum / (double)n;
}

void kb_expedition_dismiss(kb_expedition *e)
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

static void set_grid(const kb_expedition *e, size_t grid)
{
    for (size_t run = 0; run < e->landscape->n_runs; run++) {
        e->scenes[run].line.n_nodes = grids[grid].nodes;
        e->scenes[run].line.steps = (size_t)ceil(grids[grid].steps * (double)e->landscape->scenes[run].line.steps);
    }
}

static kbass_status make_shooter(const kb_expedition *e, size_t grid, size_t max_tangents, kb_shooter **out,
                                 kbass_error *error)
{
    const kb_landscape *l = e->landscape;
    kb_chorus *chorus = NULL;
    set_grid(e, grid);
    kbass_status status =
        kb_chorus_create(l->n_runs, e->scenes, l->dictionary, l->columns, max_tangents, &chorus, error);
    if (status != KBASS_OK) return status;
    return kb_shooter_create_on(&chorus->dynamics, l->columns, e->max_windows, max_tangents, out, error);
}

kbass_status kb_expedition_equip(kb_expedition *e, size_t grid, kbass_error *error)
{
    const kb_landscape *l = e->landscape;
    kbass_status status = KBASS_OK;
    size_t n_values = 0;
    kb_expedition_dismiss(e);
    for (size_t run = 0; run < l->n_runs; run++) n_values += l->clouds[run]->n_values;
    e->grid = grid;
    kb_trace_line(e->arena.run->trace, "grid: %zu", grid);
    e->explorers = KB_NEW(kb_explorer *, (size_t)l->threads);
    e->here = KB_NEW(double, n_values);
    e->there = KB_NEW(double, n_values);
    if (!e->explorers || !e->here || !e->there) return kb_out_of_memory(error, "the threads");
    for (int i = 0; status == KBASS_OK && i < l->threads; i++) {
        kb_shooter *shooter = NULL;
        status = make_shooter(e, grid, l->columns->n, &shooter, error);
        if (status == KBASS_OK) status = kb_explorer_create(shooter, l->columns, &e->explorers[i], error);
    }
    if (status == KBASS_OK && grid + 1 < GRIDS) status = make_shooter(e, grid + 1, 0, &e->finer, error);
    e->arena.explorers = e->explorers;
    return status;
}

/* ---------------------------------------------------------------- the grid's error */

static bool predict_window(kb_shooter *s, const kb_fit *fit, const kb_windows *windows, size_t window,
                           double *predicted)
{
    s->dynamics->set_model(s->dynamics, &fit->support, fit->w, NULL);
    return s->dynamics->predict(s->dynamics, windows->first[window], windows->last[window], fit->start + window * s->n,
                                predicted, NULL);
}

static bool measure_error(kb_expedition *e, const kb_fit *fit, double *error)
{
    const kb_windows *windows = e->arena.windows;
    const kb_dynamics *d = e->explorers[0]->shooter->dynamics;
    double squares = 0, values = 0;
    for (size_t window = 0; window < windows->n; window++) {
        size_t n = d->observation_start[windows->last[window] + 1] - d->observation_start[windows->first[window]];
        if (!predict_window(e->explorers[0]->shooter, fit, windows, window, e->here) ||
            !predict_window(e->finer, fit, windows, window, e->there))
            return false;
        for (size_t o = 0; o < n; o++) squares += (e->here[o] - e->there[o]) * (e->here[o] - e->there[o]);
        values += (double)n;
    }
    *error = squares / values;
    return true;
}

static void lay_floor(kb_expedition *e, double floor)
{
    for (int i = 0; i < e->landscape->threads; i++) e->explorers[i]->shooter->dynamics->noise_floor = floor;
}

bool kb_expedition_set_floor(kb_expedition *e)
{
    const kb_pool *pool = e->arena.pool;
    double squares = 0, before = e->explorers[0]->shooter->dynamics->noise_floor;
    if (!e->finer || !pool->n || !pool->fits[0]->valid || !measure_error(e, pool->fits[0], &squares)) return false;
    double floor = fmax(floor_now, squares);
    if (!(floor > 1.5 * before)) return false;
    lay_floor(e, floor);
    return true;
}

void kb_expedition_forget_floor(kb_expedition *e) { lay_floor(e, floor_now); }

/* Does the floor that the grid's error set still hide something of the best model's residuals? */
static bool floor_matters(const kb_expedition *e)
{
    double floor = e->explorers[0]->shooter->dynamics->noise_floor;
    const kb_fit *best = e->arena.pool->fits[0];
    return floor > floor_now && best->misfit * best->misfit < 20 * floor;
}

/* ---------------------------------------------------------------- search and refinement */

kbass_status kb_expedition_fit(kb_expedition *e, kbass_error *error)
{
    for (size_t i = 0; i < e->arena.pool->n; i++) e->arena.pool->explored[i] = false;
    kbass_status status = kb_arena_fit(&e->arena, FINAL_ITERATIONS, error);
    if (status == KBASS_OK && kb_expedition_set_floor(e)) status = kb_arena_fit(&e->arena, FINAL_ITERATIONS, error);
    return status;
}

kbass_status kb_expedition_explore(kb_expedition *e, size_t explored, int rounds, bool *settled, kbass_error *error)
{
    kbass_status status = kb_arena_search(&e->arena, explored, rounds, settled, error);
    if (status == KBASS_OK && kb_expedition_set_floor(e)) {
        status = kb_arena_fit(&e->arena, ITERATIONS, error);
        if (status == KBASS_OK) status = kb_arena_search(&e->arena, explored, rounds, settled, error);
    }
    return status;
}

kbass_status kb_expedition_search(kb_expedition *e, size_t explored, int rounds, bool *settled, kbass_error *error)
{
    kbass_status status = kb_expedition_fit(e, error);
    return status == KBASS_OK ? kb_expedition_explore(e, explored, rounds, settled, error) : status;
}

/* Largest move of the best model's weights from `before`, in their standard deviations. */
static double weights_moved(const kb_fit *fit, const double *before)
{
    double most = 0;
    size_t k = fit->support.n;
    for (size_t q = 0; q < k; q++) {
        double sd = sqrt(fit->covariance[q + q * k]),
               moved = fabs(fit->w[fit->support.column[q]] - before[fit->support.column[q]]);
        if (!(moved <= most * sd)) most = moved / sd;
    }
    return most;
}

static bool has_model(const kb_pool *pool) { return pool->n && pool->fits[0]->valid; }

kbass_status kb_expedition_refine(kb_expedition *e, bool *settled, kbass_error *error)
{
    kb_pool *pool = e->arena.pool, before;
    size_t n_columns = e->landscape->columns->n;
    kbass_status status = KBASS_OK;
    double *weights = KB_NEW(double, n_columns);
    if (!weights) return kb_out_of_memory(error, "the search");
    kb_pool_init(&before, n_columns, pool->n_start, e->max_windows);
    for (size_t grid = e->grid + 1; grid < GRIDS && has_model(pool) && !kb_run_stopped(e->arena.run); grid++) {
        memcpy(weights, pool->fits[0]->w, n_columns * sizeof *weights);
        kb_pool_trim(pool, FINE_BEAM);
        status = kb_pool_copy(pool, &before, error);
        if (status == KBASS_OK) status = kb_expedition_equip(e, grid, error);
        if (status == KBASS_OK) status = kb_expedition_search(e, 1, 2, settled, error);
        if (status != KBASS_OK) break;
        if (!has_model(pool)) {
            kb_pool_swap(pool, &before);
            status = kb_expedition_equip(e, grid - 1, error);
            break;
        }
        if (weights_moved(pool->fits[0], weights) < 0.5 && !floor_matters(e)) break;
    }
    kb_pool_clear(&before);
    kb_free(weights);
    return status;
}

/* ---------------------------------------------------------------- the period */

typedef struct {
    kb_expedition *expedition;
    size_t first, end; /* runs, on one domain */
    kb_pool trial;
    double evidence; /* the best yet; the period's prior is in it */
} tuning;

static double present_period(const tuning *t) { return t->expedition->scenes[t->first].line.period; }

static void set_period(const tuning *t, double period)
{
    kb_scene *scenes = t->expedition->scenes;
    for (size_t run = t->first; run < t->end; run++) scenes[run].line.period = scenes[run].profile.period = period;
}

static double period_loss(const tuning *t, double period)
{
    return kb_line_period_loss(t->end - t->first, t->expedition->landscape->clouds + t->first, period);
}

/* Continues a fit with the expedition's periods, on the present grid. */
static kbass_status fit_again(kb_expedition *e, kb_fit *fit, kbass_error *error)
{
    kb_shooter *shooter = NULL;
    kbass_status status = make_shooter(e, e->grid, fit->support.n, &shooter, error);
    if (status != KBASS_OK) return status;
    shooter->windows = e->arena.windows;
    shooter->dynamics->noise_floor = e->explorers[0]->shooter->dynamics->noise_floor;
    kb_shooter_fit(shooter, fit, ITERATIONS, -INFINITY);
    kb_shooter_destroy(shooter);
    return KBASS_OK;
}

/* Moves there when that is better by more than half a nat. */
static kbass_status try_period(tuning *t, double period, bool *better, kbass_error *error)
{
    kb_pool *pool = t->expedition->arena.pool;
    double before = present_period(t);
    *better = false;
    if (period == before) return KBASS_OK;
    kbass_status status = kb_pool_copy(pool, &t->trial, error);
    set_period(t, period);
    if (status == KBASS_OK) status = fit_again(t->expedition, t->trial.fits[0], error);
    double evidence = status == KBASS_OK ? t->trial.fits[0]->log_evidence - period_loss(t, period) : -INFINITY;
    *better = status == KBASS_OK && t->trial.fits[0]->valid && evidence > t->evidence + 0.5;
    if (*better) {
        t->evidence = evidence;
        kb_pool_swap(pool, &t->trial);
    } else {
        set_period(t, before);
    }
    return status;
}

static kbass_status tune_domain(tuning *t, kbass_error *error)
{
    const kb_expedition *e = t->expedition;
    const kb_cloud *cloud = e->landscape->clouds[t->first];
    double step = cloud->spacing[1] / 12, usual[] = {1, 1 + cloud->spacing[1]};
    kbass_status status = KBASS_OK;
    bool better = false;
    t->evidence = e->arena.pool->fits[0]->log_evidence - period_loss(t, present_period(t));
    for (int i = 0; status == KBASS_OK && cloud->gridded && i < 2; i++)
        if (!kb_run_stopped(e->arena.run)) status = try_period(t, usual[i], &better, error);
    for (int halving = 0; status == KBASS_OK && halving < PERIOD_HALVINGS; halving++, step /= 2)
        for (int side = -1; status == KBASS_OK && side <= 1 && !kb_run_stopped(e->arena.run); side += better ? 0 : 2)
            status = try_period(t, fmax(present_period(t) + side * step, 1), &better, error);
    return status;
}

kbass_status kb_expedition_tune_period(kb_expedition *e, kbass_error *error)
{
    const kb_landscape *l = e->landscape;
    kb_pool *pool = e->arena.pool;
    bool moved = false;
    kbass_status status = KBASS_OK;
    if (!has_model(pool)) return KBASS_OK;
    tuning t = {.expedition = e};
    kb_pool_init(&t.trial, pool->n_columns, pool->n_start, e->max_windows);
    for (; status == KBASS_OK && t.first < l->n_runs; t.first = t.end) {
        double before = present_period(&t);
        t.end = kb_landscape_domain_end(l, t.first);
        if (e->scenes[t.first].line.periodic) status = tune_domain(&t, error);
        moved = moved || present_period(&t) != before;
        kb_trace_line(e->arena.run->trace, "period: %.17g", present_period(&t));
    }
    kb_pool_clear(&t.trial);
    if (status != KBASS_OK || !moved) return status;
    status = kb_expedition_equip(e, e->grid, error);
    return status == KBASS_OK ? kb_arena_fit(&e->arena, FINAL_ITERATIONS, error) : status;
}

kbass_status kb_expedition_finish(kb_expedition *e, kb_search_result *result, kbass_error *error)
{
    double clock = kb_clock();
    size_t searched = result->n_models;
    e->arena.run->stage = kbass_stage_name(KBASS_STAGE_POLISH);
    set_grid(e, e->grid);
    kbass_status status = kb_polish(&e->arena, result, error);
    result->n_models += searched;
    result->seconds[KBASS_STAGE_POLISH] = kb_clock() - clock;
    return status;
}
