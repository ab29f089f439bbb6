#include "discover/expedition.h"

#include <math.h>
#include <string.h>

#include "base/larger.h"
#include "base/memory.h"
#include "base/status.h"
#include "search/polish.h"
#include "search/task.h"

enum { FINE_BEAM = 4, PERIOD_HALVINGS = 5 };
static const double floor_now = 1e-6; /* noise variance below which no grid's error matters */

/* Grids: the search runs on the first; the others refine its best models. */
static const struct {
    size_t nodes;
    double steps; /* times the problem's */
} grids[] = {{200, 1}, {400, 1.5}, {800, 2}, {1600, 3}};
enum { GRIDS = sizeof grids / sizeof *grids };

/* ---------------------------------------------------------------- equipment */

kb_pde1d_runs *kb_expedition_runs(const kb_expedition *e)
{
    return (kb_pde1d_runs *)e->search.workers.list[0]->shooter->dynamics;
}

kbass_status kb_expedition_begin(kb_expedition *e, kb_run *run, kb_search_result *result, kbass_error *error)
{
    const kb_pde1d_problem *l = e->problem;
    memset(result, 0, sizeof *result);
    e->setups = result->setups = KB_NEW(kb_pde1d_setup, l->n_runs);
    e->windows = result->run_windows = KB_NEW(size_t, l->n_runs);
    if (!e->setups || !e->windows) return kb_out_of_memory(error, "the search");
    memcpy(e->setups, l->setups, l->n_runs * sizeof *e->setups);
    for (size_t i = 0; i < l->n_runs; i++) e->windows[i] = 1;
    e->max_windows = l->n_runs;
    e->search = (kb_search){.schedule = &kb_schedule_of_one_axis.value,
                            .columns = l->columns,
                            .all = &l->all,
                            .pool = &result->pool,
                            .run = run,
                            .screened = l->run_samples[0]->n_fields == 1 &&
                                        (double)l->columns->n <= kb_schedule_of_one_axis.value.most_screened};
    return KBASS_OK;
}

kbass_status kb_expedition_open(kb_expedition *e, kbass_error *error)
{
    const kb_dynamics *d = &kb_expedition_runs(e)->dynamics;
    kb_pool_init(e->search.pool, e->problem->columns->n, d->n_start, e->max_windows);
    return kb_windows_divide_each(d->n_runs, d->run_start, e->windows, &e->search.windows, error);
}

kbass_status kb_expedition_enter(kb_expedition *e, const kb_support *support, kb_fit **fit, kbass_error *error)
{
    kbass_status status = kb_pool_add(e->search.pool, support, fit, error);
    return status == KBASS_OK ? kb_fit_guess(&kb_expedition_runs(e)->dynamics, e->search.windows, *fit, error) : status;
}

kbass_status kb_expedition_take(kb_expedition *e, const kb_pool *proposals, kbass_error *error)
{
    kbass_status status = KBASS_OK;
    for (size_t i = 0; status == KBASS_OK && i < proposals->n; i++) {
        const kb_fit *proposal = proposals->fits[i];
        kb_fit *fit = NULL;
        if (kb_pool_find(e->search.pool, &proposal->support)) continue;
        status = kb_expedition_enter(e, &proposal->support, &fit, error);
        if (status != KBASS_OK) break;
        memcpy(fit->w, proposal->w, e->problem->columns->n * sizeof *fit->w);
        for (size_t f = 0; f < e->problem->run_samples[0]->n_fields; f++)
            fit->variance[f] = fmax(proposal->variance[f], 1e-2);
    }
    return status;
}

size_t kb_expedition_run(const kb_expedition *e, size_t window)
{
    size_t run = 0;
    while (e->search.windows->first[window] >= kb_expedition_runs(e)->run_start[run + 1]) run++;
    return run;
}

double kb_expedition_noise(const kb_expedition *e)
{
    double sum = 0;
    size_t n = e->search.windows->n;
    for (size_t window = 0; window < n; window++) sum += e->setups[kb_expedition_run(e, window)].profile.noise;
    return sum / (double)n;
}

void kb_expedition_dismiss(kb_expedition *e)
{
    kb_workers_destroy(&e->search.workers);
    kb_shooter_destroy(e->finer);
    kb_free(e->here);
    kb_free(e->there);
    e->finer = NULL;
    e->here = e->there = NULL;
}

static void set_grid(const kb_expedition *e, size_t grid)
{
    for (size_t run = 0; run < e->problem->n_runs; run++) {
        e->setups[run].line.n_nodes = grids[grid].nodes;
        e->setups[run].line.steps = (size_t)ceil(grids[grid].steps * (double)e->problem->setups[run].line.steps);
    }
}

static kbass_status make_shooter(const kb_expedition *e, size_t grid, size_t max_tangents, kb_shooter **out,
                                 kbass_error *error)
{
    const kb_pde1d_problem *l = e->problem;
    kb_pde1d_runs *all_runs = NULL;
    set_grid(e, grid);
    kbass_status status =
        kb_pde1d_runs_create(l->n_runs, e->setups, l->dictionary, l->columns, max_tangents, &all_runs, error);
    if (status != KBASS_OK) return status;
    return kb_shooter_create_on(&all_runs->dynamics, l->columns, e->max_windows, max_tangents, out, error);
}

static kbass_status make_worker_shooter(const void *expedition, kb_shooter **out, kbass_error *error)
{
    const kb_expedition *e = expedition;
    return make_shooter(e, e->grid, e->problem->columns->n, out, error);
}

kbass_status kb_expedition_equip(kb_expedition *e, size_t grid, kbass_error *error)
{
    const kb_pde1d_problem *l = e->problem;
    size_t n_values = 0;
    kb_expedition_dismiss(e);
    for (size_t run = 0; run < l->n_runs; run++) n_values += l->run_samples[run]->n_values;
    e->grid = grid;
    kb_trace_line(e->search.run->trace, "grid: %zu", grid);
    e->here = KB_NEW(double, n_values);
    e->there = KB_NEW(double, n_values);
    if (!e->here || !e->there) return kb_out_of_memory(error, "the threads");
    kbass_status status = kb_workers_create(l->threads, make_worker_shooter, e, l->columns, &e->search.workers, error);
    if (status == KBASS_OK && grid + 1 < GRIDS) status = make_shooter(e, grid + 1, 0, &e->finer, error);
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
    const kb_windows *windows = e->search.windows;
    const kb_dynamics *d = e->search.workers.list[0]->shooter->dynamics;
    double squares = 0, values = 0;
    for (size_t window = 0; window < windows->n; window++) {
        size_t n = d->observation_start[windows->last[window] + 1] - d->observation_start[windows->first[window]];
        if (!predict_window(e->search.workers.list[0]->shooter, fit, windows, window, e->here) ||
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
    for (int i = 0; i < e->search.workers.n; i++) e->search.workers.list[i]->shooter->dynamics->noise_floor = floor;
}

bool kb_expedition_set_floor(kb_expedition *e)
{
    const kb_pool *pool = e->search.pool;
    double squares = 0, before = e->search.workers.list[0]->shooter->dynamics->noise_floor;
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
    double floor = e->search.workers.list[0]->shooter->dynamics->noise_floor;
    const kb_fit *best = e->search.pool->fits[0];
    return floor > floor_now && best->misfit * best->misfit < 20 * floor;
}

/* ---------------------------------------------------------------- search and refinement */

kbass_status kb_expedition_fit(kb_expedition *e, kbass_error *error)
{
    for (size_t i = 0; i < e->search.pool->n; i++) e->search.pool->explored[i] = false;
    int iterations = (int)e->search.schedule->fit_iterations;
    kbass_status status = kb_search_fit(&e->search, iterations, error);
    if (status == KBASS_OK && kb_expedition_set_floor(e)) status = kb_search_fit(&e->search, iterations, error);
    return status;
}

kbass_status kb_expedition_explore(kb_expedition *e, size_t explored, int rounds, bool *settled, kbass_error *error)
{
    kbass_status status = kb_search_explore(&e->search, explored, rounds, settled, error);
    if (status == KBASS_OK && kb_expedition_set_floor(e)) {
        status = kb_search_fit(&e->search, (int)e->search.schedule->again_iterations, error);
        if (status == KBASS_OK) status = kb_search_explore(&e->search, explored, rounds, settled, error);
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
        most = kb_larger(most, moved / sd);
    }
    return most;
}

static bool has_model(const kb_pool *pool) { return pool->n && pool->fits[0]->valid; }

kbass_status kb_expedition_refine(kb_expedition *e, bool *settled, kbass_error *error)
{
    kb_pool *pool = e->search.pool, before;
    size_t n_columns = e->problem->columns->n;
    kbass_status status = KBASS_OK;
    double *weights = KB_NEW(double, n_columns);
    if (!weights) return kb_out_of_memory(error, "the search");
    kb_pool_init(&before, n_columns, pool->n_start, e->max_windows);
    for (size_t grid = e->grid + 1; grid < GRIDS && has_model(pool) && !kb_run_stopped(e->search.run); grid++) {
        memcpy(weights, pool->fits[0]->w, n_columns * sizeof *weights);
        kb_pool_trim(pool, FINE_BEAM);
        status = kb_pool_copy(pool, &before, error);
        if (status == KBASS_OK) status = kb_expedition_equip(e, grid, error);
        if (status == KBASS_OK)
            status = kb_expedition_search(e, (size_t)e->search.schedule->final_beam,
                                          (int)e->search.schedule->final_rounds, settled, error);
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

static double present_period(const tuning *t) { return t->expedition->setups[t->first].line.period; }

static void set_period(const tuning *t, double period)
{
    kb_pde1d_setup *setups = t->expedition->setups;
    for (size_t run = t->first; run < t->end; run++) setups[run].line.period = setups[run].profile.period = period;
}

static double period_loss(const tuning *t, double period)
{
    return kb_pde1d_period_loss(t->end - t->first, t->expedition->problem->run_samples + t->first, period);
}

/* Continues a fit with the expedition's periods, on the present grid. */
static kbass_status fit_again(kb_expedition *e, kb_fit *fit, kbass_error *error)
{
    kb_shooter *shooter = NULL;
    kbass_status status = make_shooter(e, e->grid, fit->support.n, &shooter, error);
    if (status != KBASS_OK) return status;
    shooter->windows = e->search.windows;
    shooter->dynamics->noise_floor = e->search.workers.list[0]->shooter->dynamics->noise_floor;
    kb_shooter_fit(shooter, fit, (int)e->search.schedule->again_iterations, -INFINITY);
    kb_shooter_destroy(shooter);
    return KBASS_OK;
}

/* Moves there when that is better by more than half a nat. */
static kbass_status try_period(tuning *t, double period, bool *better, kbass_error *error)
{
    kb_pool *pool = t->expedition->search.pool;
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
    const kb_field_samples *samples = e->problem->run_samples[t->first];
    double step = samples->spacing[1] / 12, usual[] = {1, 1 + samples->spacing[1]};
    kbass_status status = KBASS_OK;
    bool better = false;
    t->evidence = e->search.pool->fits[0]->log_evidence - period_loss(t, present_period(t));
    for (int i = 0; status == KBASS_OK && samples->gridded && i < 2; i++)
        if (!kb_run_stopped(e->search.run)) status = try_period(t, usual[i], &better, error);
    for (int halving = 0; status == KBASS_OK && halving < PERIOD_HALVINGS; halving++, step /= 2)
        for (int side = -1; status == KBASS_OK && side <= 1 && !kb_run_stopped(e->search.run); side += better ? 0 : 2)
            status = try_period(t, fmax(present_period(t) + side * step, 1), &better, error);
    return status;
}

kbass_status kb_expedition_tune_period(kb_expedition *e, kbass_error *error)
{
    const kb_pde1d_problem *l = e->problem;
    kb_pool *pool = e->search.pool;
    bool moved = false;
    kbass_status status = KBASS_OK;
    if (!has_model(pool)) return KBASS_OK;
    tuning t = {.expedition = e};
    kb_pool_init(&t.trial, pool->n_columns, pool->n_start, e->max_windows);
    for (; status == KBASS_OK && t.first < l->n_runs; t.first = t.end) {
        double before = present_period(&t);
        t.end = kb_pde1d_problem_domain_end(l, t.first);
        if (e->setups[t.first].line.periodic) status = tune_domain(&t, error);
        moved = moved || present_period(&t) != before;
        kb_trace_line(e->search.run->trace, "period: %.17g", present_period(&t));
    }
    kb_pool_clear(&t.trial);
    if (status != KBASS_OK || !moved) return status;
    status = kb_expedition_equip(e, e->grid, error);
    return status == KBASS_OK ? kb_search_fit(&e->search, (int)e->search.schedule->final_iterations, error) : status;
}

kbass_status kb_expedition_finish(kb_expedition *e, kb_search_result *result, kbass_error *error)
{
    double clock = kb_clock();
    size_t searched = result->n_models;
    e->search.run->stage = kbass_stage_name(KBASS_STAGE_POLISH);
    set_grid(e, e->grid);
    kbass_status status = kb_polish(&e->search, result, error);
    result->n_models += searched;
    result->seconds[KBASS_STAGE_POLISH] = kb_clock() - clock;
    return status;
}
