#include "tasks/one_axis.h"

#include <math.h>

#include "base/memory.h"
#include "base/status.h"

static const struct {
    size_t nodes;
    double steps; /* times the problem's */
} grids[] = {{200, 1}, {400, 1.5}, {800, 2}, {1600, 3}};
enum { GRIDS = sizeof grids / sizeof *grids };

/* ---------------------------------------------------------------- workers on a grid */

static void lay_grid(const kb_one_axis *e, size_t grid)
{
    for (size_t run = 0; run < e->problem->n_runs; run++) {
        e->setups[run].line.n_nodes = grids[grid].nodes;
        e->setups[run].line.steps = (size_t)ceil(grids[grid].steps * (double)e->problem->setups[run].line.steps);
    }
}

static kbass_status make_on(const kb_one_axis *e, size_t grid, size_t max_tangents, kb_shooter **out,
                            kbass_error *error)
{
    const kb_pde1d_problem *l = e->problem;
    kb_pde1d_runs *all_runs = NULL;
    lay_grid(e, grid);
    kbass_status status =
        kb_pde1d_runs_create(l->n_runs, e->setups, l->dictionary, l->columns, max_tangents, &all_runs, error);
    if (status != KBASS_OK) return status;
    return kb_shooter_create_on(&all_runs->dynamics, l->columns, e->max_windows, max_tangents, out, error);
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

kbass_status kb_one_axis_set_grid(kb_pass *p, size_t grid, kbass_error *error)
{
    kb_one_axis *e = p->state;
    const kb_pde1d_problem *l = e->problem;
    kb_shooter_destroy(e->finer);
    e->finer = NULL;
    e->grid = grid;
    kb_trace_line(p->search.run->trace, "grid: %zu", grid);
    kbass_status status = kb_workers_create(l->threads, make, e, l->columns, &p->search.workers, error);
    return status == KBASS_OK && grid + 1 < GRIDS ? make_on(e, grid + 1, 0, &e->finer, error) : status;
}

kbass_status kb_one_axis_refine(kb_pass *p, kbass_error *error)
{
    size_t next = kb_one_axis_of(p)->grid + 1;
    p->is_over = next >= GRIDS;
    return p->is_over ? KBASS_OK : kb_one_axis_set_grid(p, next, error);
}

kbass_status kb_one_axis_step_back(kb_pass *p, kbass_error *error)
{
    return kb_one_axis_set_grid(p, kb_one_axis_of(p)->grid - 1, error);
}

kbass_status kb_one_axis_finish(kb_pass *p, kbass_error *error)
{
    const kb_one_axis *e = p->state;
    (void)error;
    lay_grid(e, e->grid);
    return KBASS_OK;
}

/* ---------------------------------------------------------------- the grid's error */

static bool predict_window(kb_shooter *s, const kb_fit *fit, const kb_windows *windows, size_t window,
                           double *predicted)
{
    s->dynamics->set_model(s->dynamics, &fit->support, fit->w, NULL);
    return s->dynamics->predict(s->dynamics, windows->first[window], windows->last[window],
                                fit->start + window * s->likelihood.n_start, predicted, NULL);
}

static bool measure_error(kb_pass *p, const kb_fit *fit, double *error)
{
    kb_one_axis *e = p->state;
    kb_shooter *shooter = kb_pass_shooter(p, 0);
    const kb_windows *windows = p->search.windows;
    const kb_dynamics *d = shooter->dynamics;
    double squares = 0, values = 0;
    for (size_t window = 0; window < windows->n; window++) {
        size_t n = d->observation_start[windows->last[window] + 1] - d->observation_start[windows->first[window]];
        if (!predict_window(shooter, fit, windows, window, e->here) ||
            !predict_window(e->finer, fit, windows, window, e->there))
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

bool kb_one_axis_raise_floor(kb_pass *p)
{
    const kb_schedule *s = p->task->schedule;
    double squares = 0, before = kb_pass_floor(p);
    if (!kb_one_axis_of(p)->finer || !kb_pass_has_model(p) || !measure_error(p, p->search.pool->fits[0], &squares))
        return false;
    double floor = fmax(s->least_floor, squares);
    if (!(floor > s->floor_rise * before)) return false;
    lay_floor(p, floor);
    return true;
}

void kb_one_axis_lower_floor(kb_pass *p) { lay_floor(p, p->task->schedule->least_floor); }
