#include "tasks/one_axis.h"

#include <math.h>

#include "base/memory.h"
#include "base/status.h"

static const size_t nodes[] = {200, 400, 800, 1600};    /* nodes: of the line, coarsest first */
static const double steps[] = {1, 1.5, 2.25, 3.375, 5}; /* times the problem's: more of them at every level */
enum { FINEST_NODES = sizeof nodes / sizeof *nodes - 1, FINEST_STEPS = sizeof steps / sizeof *steps - 1 };
static const double lesser_error = 0.1; /* of the larger squared error: refined with it; not measured */

/* ---------------------------------------------------------------- workers on a grid */

static bool is_finest(kb_line_grid grid) { return grid.nodes == FINEST_NODES && grid.steps == FINEST_STEPS; }

static kb_line_grid finer_grid(kb_line_grid grid, bool in_nodes, bool in_steps)
{
    if (in_nodes && grid.nodes < FINEST_NODES) grid.nodes++;
    if (in_steps && grid.steps < FINEST_STEPS) grid.steps++;
    return grid;
}

static void lay_grid(const kb_one_axis *e, kb_line_grid grid)
{
    for (size_t run = 0; run < e->problem->n_runs; run++) {
        e->setups[run].line.n_nodes = nodes[grid.nodes];
        e->setups[run].line.steps = (size_t)ceil(steps[grid.steps] * (double)e->problem->setups[run].line.steps);
    }
}

static kbass_status make_dynamics(const kb_one_axis *e, kb_line_grid grid, size_t max_tangents, kb_dynamics **out,
                                  kbass_error *error)
{
    const kb_pde1d_problem *l = e->problem;
    kb_pde1d_runs *all_runs = NULL;
    lay_grid(e, grid);
    kbass_status status =
        kb_pde1d_runs_create(l->n_runs, e->setups, l->dictionary, l->columns, max_tangents, &all_runs, error);
    if (status == KBASS_OK) *out = &all_runs->dynamics;
    return status;
}

static kbass_status make_on(const kb_one_axis *e, kb_line_grid grid, size_t max_tangents, kb_shooter **out,
                            kbass_error *error)
{
    kb_dynamics *dynamics = NULL;
    kbass_status status = make_dynamics(e, grid, max_tangents, &dynamics, error);
    if (status != KBASS_OK) return status;
    dynamics->tangents_are_dear = e->shares_tangents;
    return kb_shooter_create_on(dynamics, e->problem->columns, e->max_windows, max_tangents, out, error);
}

kbass_status kb_one_axis_make_shooter(const kb_pass *p, size_t max_tangents, kb_shooter **out, kbass_error *error)
{
    const kb_one_axis *e = p->state;
    return make_on(e, e->grid, max_tangents, out, error);
}

static kbass_status make(const void *context, kb_likelihood **out, kbass_error *error)
{
    const kb_one_axis *e = context;
    kb_shooter *shooter = NULL;
    kbass_status status = make_on(e, e->grid, e->problem->columns->n, &shooter, error);
    if (status == KBASS_OK) *out = &shooter->likelihood;
    return status;
}

kbass_status kb_one_axis_set_grid(kb_pass *p, kb_line_grid grid, kbass_error *error)
{
    kb_one_axis *e = p->state;
    const kb_pde1d_problem *l = e->problem;
    if (e->finer) e->finer->destroy(e->finer);
    e->finer = NULL;
    e->grid = grid;
    kb_trace_line(p->search.run->trace, "grid: %zu %zu", grid.nodes, grid.steps);
    kbass_status status = kb_workers_create(l->threads, make, e, l->columns, &p->search.workers, error);
    if (status != KBASS_OK || is_finest(grid)) return status;
    return make_dynamics(e, finer_grid(grid, true, true), 0, &e->finer, error);
}

kbass_status kb_one_axis_finish(kb_pass *p, kbass_error *error)
{
    const kb_one_axis *e = p->state;
    (void)error;
    lay_grid(e, e->grid);
    return KBASS_OK;
}

/* ---------------------------------------------------------------- the grid's error */

static bool predict_window(kb_dynamics *d, const kb_fit *fit, const kb_windows *windows, size_t window,
                           double *predicted)
{
    d->set_model(d, &fit->support, fit->w, NULL);
    return d->predict(d, windows->first[window], windows->last[window], fit->start + window * d->n_start, predicted,
                      NULL);
}

/* Mean square of what a model's predictions change by on a finer grid. */
static bool measure_error(const kb_pass *p, kb_dynamics *finer, const kb_fit *fit, double *error)
{
    const kb_one_axis *e = p->state;
    kb_dynamics *d = kb_pass_shooter(p, 0)->dynamics;
    const kb_windows *windows = p->search.windows;
    double squares = 0, values = 0;
    for (size_t window = 0; window < windows->n; window++) {
        size_t n = d->observation_start[windows->last[window] + 1] - d->observation_start[windows->first[window]];
        if (!predict_window(d, fit, windows, window, e->here) || !predict_window(finer, fit, windows, window, e->there))
            return false;
        for (size_t o = 0; o < n; o++) squares += (e->here[o] - e->there[o]) * (e->here[o] - e->there[o]);
        values += (double)n;
    }
    *error = squares / values;
    return true;
}

static void lay_floor(kb_pass *p, double floor)
{
    for (int i = 0; i < p->search.workers.n; i++) kb_pass_shooter(p, i)->dynamics->noise_floor = floor;
}

/* Is the noise of a model below the floor? Others are fitted as they would be without it. */
static bool is_bound(const kb_pass *p, double floor)
{
    const kb_pool *pool = p->search.pool;
    const kb_shooter *shooter = kb_pass_shooter(p, 0);
    for (size_t i = 0; i < pool->n && pool->fits[i]->valid; i++)
        for (size_t f = 0; f < shooter->likelihood.n_groups; f++)
            if (!(pool->fits[i]->variance[f] > kb_comparison_variance(&shooter->comparison, f, floor))) return true;
    return false;
}

bool kb_one_axis_raise_floor(kb_pass *p)
{
    const kb_schedule *s = p->task->schedule;
    kb_dynamics *finer = kb_one_axis_of(p)->finer;
    double squares = 0, before = kb_pass_floor(p);
    if (!finer || !kb_pass_has_model(p) || !measure_error(p, finer, p->search.pool->fits[0], &squares)) return false;
    double floor = fmax(s->least_floor, squares);
    if (!(floor > s->floor_rise * before)) return false;
    lay_floor(p, floor);
    return is_bound(p, floor);
}

void kb_one_axis_lower_floor(kb_pass *p) { lay_floor(p, p->task->schedule->least_floor); }

/* ---------------------------------------------------------------- the next grid */

/* The best model's error in nodes or in steps; infinite when it cannot be followed there. */
static kbass_status error_along(const kb_pass *p, kb_line_grid finer, double *squares, kbass_error *error)
{
    const kb_one_axis *e = p->state;
    kb_dynamics *dynamics = NULL;
    kbass_status status = make_dynamics(e, finer, 0, &dynamics, error);
    if (status != KBASS_OK) return status;
    if (!measure_error(p, dynamics, p->search.pool->fits[0], squares)) *squares = INFINITY;
    dynamics->destroy(dynamics);
    return KBASS_OK;
}

/* Finer in nodes, in steps, or in both: where the best model's predictions change most. */
static kbass_status choose_finer(const kb_pass *p, kb_line_grid *grid, kbass_error *error)
{
    kb_line_grid with_nodes = finer_grid(*grid, true, false), with_steps = finer_grid(*grid, false, true);
    double by_nodes = 0, by_steps = 0;
    if (grid->nodes == FINEST_NODES || grid->steps == FINEST_STEPS || !kb_pass_has_model(p)) {
        *grid = finer_grid(*grid, true, true);
        return KBASS_OK;
    }
    kbass_status status = error_along(p, with_nodes, &by_nodes, error);
    if (status == KBASS_OK) status = error_along(p, with_steps, &by_steps, error);
    *grid = finer_grid(*grid, !(by_nodes < lesser_error * by_steps), !(by_steps < lesser_error * by_nodes));
    return status;
}

kbass_status kb_one_axis_refine(kb_pass *p, kbass_error *error)
{
    kb_one_axis *e = p->state;
    kb_line_grid next = e->grid;
    p->is_over = is_finest(e->grid);
    if (p->is_over) return KBASS_OK;
    kbass_status status = choose_finer(p, &next, error);
    e->coarser = e->grid;
    return status == KBASS_OK ? kb_one_axis_set_grid(p, next, error) : status;
}

kbass_status kb_one_axis_step_back(kb_pass *p, kbass_error *error)
{
    return kb_one_axis_set_grid(p, kb_one_axis_of(p)->coarser, error);
}
