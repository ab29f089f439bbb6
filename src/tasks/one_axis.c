#include "tasks/one_axis.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/status.h"
#include "propose/sources.h"

enum { LINES_PER_WINDOW = 3 };                       /* of fields that change beyond recognition from line to line */
static const size_t restless_steps = 6;              /* about half a standard deviation from line to line */
static const double shares[] = {0.12, 0.25, 0.5, 1}; /* of the record, stage by stage */
enum { SHARES = sizeof shares / sizeof *shares };
enum { FEW_VALUES = 1000 }; /* where a second pass takes seconds, and the first is soonest deceived */

/* ---------------------------------------------------------------- the beginning and the end of a pass */

static kbass_status allocate(kb_pass *p, kb_one_axis *e, kbass_error *error)
{
    const kb_pde1d_problem *l = e->problem;
    size_t n_values = 0;
    for (size_t run = 0; run < l->n_runs; run++) n_values += l->run_samples[run]->n_values;
    e->setups = p->result->engine.setups = KB_NEW(kb_pde1d_setup, l->n_runs);
    e->windows = p->result->engine.run_windows = KB_NEW(size_t, l->n_runs);
    e->here = KB_NEW(double, n_values);
    e->there = KB_NEW(double, n_values);
    if (!e->setups || !e->windows || !e->here || !e->there) return kb_out_of_memory(error, "the search");
    memcpy(e->setups, l->setups, l->n_runs * sizeof *e->setups);
    for (size_t i = 0; i < l->n_runs; i++) e->windows[i] = 1;
    e->max_windows = l->n_runs;
    return KBASS_OK;
}

static bool is_restless(const kb_pde1d_setup *setup) { return setup->line.steps >= restless_steps; }

double kb_pde1d_values(const kb_pde1d_problem *l)
{
    double n = 0;
    for (size_t run = 0; run < l->n_runs; run++) n += (double)l->run_samples[run]->n_values;
    return n;
}

bool kb_one_axis_is_restless(const kb_pde1d_problem *l)
{
    for (size_t run = 0; run < l->n_runs; run++)
        if (is_restless(&l->setups[run])) return true;
    return false;
}

/* Short windows, and profiles as short as the lines' samples, in the runs that need them. */
static void shorten_windows(kb_one_axis *e)
{
    const kb_pde1d_problem *l = e->problem;
    for (size_t i = 0; i < l->n_runs; i++) {
        const size_t *n = l->run_samples[i]->n_grid;
        if (!is_restless(&l->setups[i])) continue;
        e->windows[i] = (size_t)fmax(1, (double)(n[0] - 1) / LINES_PER_WINDOW);
        e->max_windows += e->windows[i] - 1;
        e->setups[i].profile = kb_profile_flat(l->setups[i].profile.period, n[1], KB_PDE1D_MODES);
    }
}

static kbass_status open_pool(kb_pass *p, kbass_error *error)
{
    const kb_one_axis *e = p->state;
    const kb_likelihood *l = kb_pass_likelihood(p);
    kb_pool_init(p->search.pool, e->problem->columns->n, l->n_start, e->max_windows);
    return kb_windows_divide_each(l->n_runs, l->run_start, e->windows, &p->search.windows, error);
}

kbass_status kb_one_axis_begin_on(kb_pass *p, const size_t *windows, kb_line_grid grid, kbass_error *error)
{
    const kb_pde1d_problem *l = p->problem;
    kb_one_axis *e = p->state = KB_NEW(kb_one_axis, 1);
    if (!e) return kb_out_of_memory(error, "the search");
    e->problem = l;
    e->shares_tangents = !p->task->enter;
    p->search.columns = l->columns;
    p->search.all = &l->all;
    p->search.screened = l->run_samples[0]->n_fields == 1 && (double)l->columns->n <= p->task->schedule->most_screened;
    kbass_status status = allocate(p, e, error);
    if (status == KBASS_OK && p->task->first_sources & KB_ON_SHORT_WINDOWS) shorten_windows(e);
    if (status == KBASS_OK && windows) {
        memcpy(e->windows, windows, l->n_runs * sizeof *windows);
        e->max_windows = 0;
        for (size_t i = 0; i < l->n_runs; i++) e->max_windows += windows[i];
    }
    if (status == KBASS_OK) status = kb_one_axis_set_grid(p, grid, error);
    return status == KBASS_OK ? open_pool(p, error) : status;
}

kbass_status kb_one_axis_begin(kb_pass *p, kbass_error *error)
{
    return kb_one_axis_begin_on(p, NULL, (kb_line_grid){0}, error);
}

void kb_one_axis_end(kb_pass *p)
{
    kb_one_axis *e = p->state;
    if (!e) return;
    if (e->finer) e->finer->destroy(e->finer);
    kb_free(e->here);
    kb_free(e->there);
    kb_free(e->log_odds);
    kb_free(e);
}

/* ---------------------------------------------------------------- entries */

double kb_one_axis_noise(const kb_pass *p)
{
    double sum = 0;
    size_t n = p->search.windows->n;
    for (size_t window = 0; window < n; window++)
        sum += kb_one_axis_of(p)->setups[kb_pass_run(p, window)].profile.noise;
    return sum / (double)n;
}

kbass_status kb_one_axis_take(kb_pass *p, kb_pool *found, kbass_error *error)
{
    kbass_status status = KBASS_OK;
    for (size_t i = 0; status == KBASS_OK && i < found->n; i++) {
        const kb_fit *proposal = found->fits[i];
        kb_fit *fit = NULL;
        if (kb_pool_find(p->search.pool, &proposal->support)) continue;
        status = kb_pass_enter(p, &proposal->support, &fit, error);
        if (status != KBASS_OK) break;
        memcpy(fit->w, proposal->w, found->n_columns * sizeof *fit->w);
        for (size_t f = 0; f < kb_pass_likelihood(p)->n_groups; f++)
            fit->variance[f] = fmax(proposal->variance[f], p->task->schedule->least_noise);
    }
    return status;
}

/* Terms that damp do so from the first: without it a noisy profile's short waves stay, and say that there is no
   damping. */
kbass_status kb_one_axis_enter(kb_pass *p, size_t n, const size_t *columns, kbass_error *error)
{
    const kb_pde1d_problem *l = p->problem;
    kb_support support;
    kb_fit *fit = NULL;
    kbass_status status = kb_support_create(l->columns->n, &support, error);
    for (size_t i = 0; status == KBASS_OK && i < l->columns->n; i++)
        if (l->columns->required[i]) kb_support_add(&support, i);
    for (size_t i = 0; status == KBASS_OK && i < n; i++) kb_support_add(&support, columns[i]);
    if (status == KBASS_OK && !kb_pool_find(p->search.pool, &support)) status = kb_pass_enter(p, &support, &fit, error);
    for (size_t f = 0; fit && status == KBASS_OK && f < l->run_samples[0]->n_fields; f++)
        fit->variance[f] = fmax(kb_one_axis_noise(p), p->task->schedule->least_first_noise);
    for (size_t i = 0; fit && i < support.n; i++) fit->w[support.column[i]] = kb_one_axis_damping(l, support.column[i]);
    kb_support_clear(&support);
    return status;
}

static kbass_status enter_empty(kb_pass *p, kbass_error *error) { return kb_one_axis_enter(p, 0, NULL, error); }

/* ---------------------------------------------------------------- stages */

/* Lines that hold somewhat more observations than a start has unknowns: fewer fit any model. */
static double least_lines(const kb_schedule *schedule, const kb_pde1d *line)
{
    const kb_dynamics *d = &line->dynamics;
    double each = (double)d->observation_start[d->n_rows] / (double)d->n_rows;
    return fmax(schedule->least_rows, ceil(schedule->least_values * (double)d->n_start / each));
}

bool kb_one_axis_reach(kb_pass *p, double share)
{
    const kb_pde1d_runs *all_runs = (const kb_pde1d_runs *)kb_pass_dynamics(p);
    kb_windows *windows = p->search.windows;
    bool moved = false;
    for (size_t window = 0; window < windows->n; window++) {
        size_t run = kb_pass_run(p, window);
        double rows = (double)all_runs->lines[run]->dynamics.n_rows,
               least = least_lines(p->task->schedule, all_runs->lines[run]);
        size_t lines = (size_t)fmin(rows, fmax(least, round(share * rows))),
               last = all_runs->run_start[run] + lines - 1;
        moved = moved || windows->last[window] != last;
        windows->last[window] = last;
    }
    return moved;
}

kbass_status kb_one_axis_extend(kb_pass *p, size_t stage, kbass_error *error)
{
    (void)error;
    kb_one_axis_of(p)->stage = stage;
    p->is_over = stage != KB_WHOLE_RECORD && stage >= SHARES;
    if (!p->is_over) p->is_same = !kb_one_axis_reach(p, stage == KB_WHOLE_RECORD ? 1 : shares[stage]) && stage;
    return KBASS_OK;
}

/* Short windows see the whole record at once. */
static kbass_status extend_windows(kb_pass *p, size_t stage, kbass_error *error)
{
    (void)error;
    p->is_over = stage != KB_WHOLE_RECORD && stage > 0;
    p->is_last = true;
    return KBASS_OK;
}

/* ---------------------------------------------------------------- is there doubt? */

static bool leaves_a_pattern(const kb_residual_tests *residual_tests, double unlikely)
{
    for (size_t i = 0; i < residual_tests->n; i++)
        if (residual_tests->tests[i].kind == KB_TEST_WHITENESS && residual_tests->tests[i].p_value < unlikely)
            return true;
    return false;
}

static bool has_few_terms(const kb_schedule *schedule, const kb_pde1d_problem *l, const kb_search_result *result)
{
    double most = schedule->usual_terms * (double)l->run_samples[0]->n_fields;
    return kb_has_model(result) && (double)result->pool.fits[0]->support.n <= most;
}

bool kb_one_axis_is_plain(const kb_schedule *schedule, const kb_pde1d_problem *l, const kb_search_result *result)
{
    return has_few_terms(schedule, l, result) && !leaves_a_pattern(&result->residual_tests, schedule->unlikely);
}

/* Short windows let wrong laws follow the data, unless longer ones do as well (longer_windows.c); many terms do the
   same; and what a wrong law cannot follow it leaves in the residuals, as the many starts of short windows do. */
static bool is_doubtful(const void *problem, const kb_search_result *result)
{
    const kb_pde1d_problem *l = problem;
    const kb_schedule *schedule = &kb_schedule_of_one_axis.value;
    if (kb_pde1d_values(l) <= FEW_VALUES || !has_few_terms(schedule, l, result)) return true;
    return result->windows->n > l->n_runs ? !result->follows_longer : !kb_one_axis_is_plain(schedule, l, result);
}

const kb_task *kb_task_of_pde1d(const kb_pde1d_problem *l)
{
    return kb_one_axis_is_restless(l) ? &kb_task_of_short_windows : &kb_task_of_one_axis;
}

#define SHARED                                                                                                         \
    .sources = kb_sources_of_one_axis, .begin = kb_one_axis_begin, .take = kb_one_axis_take,                           \
    .raise_floor = kb_one_axis_raise_floor, .lower_floor = kb_one_axis_lower_floor, .noise = kb_one_axis_noise,        \
    .tune = kb_one_axis_tune_period, .refine = kb_one_axis_refine, .step_back = kb_one_axis_step_back,                 \
    .finish = kb_one_axis_finish, .examine = kb_examine_windows, .end = kb_one_axis_end, .is_doubtful = is_doubtful,   \
    .second = &kb_task_of_simple_terms

const kb_task kb_task_of_one_axis = {SHARED, .schedule = &kb_schedule_of_one_axis.value, .first_sources = KB_AT_FIRST,
                                     .enter = enter_empty, .extend = kb_one_axis_extend};

const kb_task kb_task_of_short_windows = {SHARED, .schedule = &kb_schedule_of_short_windows.value,
                                          .first_sources = KB_ON_SHORT_WINDOWS, .extend = extend_windows};
