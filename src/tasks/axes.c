/* Fields over several space axes, or of second order in time. Where there is one run, of first order, and all axes
 * close they are followed through the integrated equation from a quarter of the rows to all (docs/math.md, section 27).
 * What comes in at an open end would have to be known: there, and where the fields cannot be followed to the noise at a
 * bearable cost, the kernel engine gives the answer itself.
 */
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/status.h"
#include "em/fields.h"
#include "propose/sources.h"
#include "tasks/axes_order.h"

static kb_axes *axes_of(const kb_pass *p) { return p->state; }

static bool can_be_followed(const kb_pde_nd_problem *e)
{
    bool is_closed = true;
    for (size_t a = 1; a < e->run_samples[0]->n_axes; a++) is_closed = is_closed && e->run_samples[0]->period[a] > 0;
    return is_closed && e->n_runs == 1 && e->dictionary->time_order == 1 && e->run_samples[0]->n_axes > 2;
}

static kbass_status begin(kb_pass *p, kbass_error *error)
{
    const kb_pde_nd_problem *e = p->problem;
    p->is_over = !can_be_followed(e);
    if (p->is_over) return KBASS_OK;
    kb_axes *c = p->state = KB_NEW(kb_axes, 1);
    if (!c) return kb_out_of_memory(error, "the search");
    c->problem = e;
    kb_axes_plan(c);
    c->noise = fmax(c->noise, p->task->schedule->least_floor);
    kbass_status status = kb_support_create(e->columns->n, &c->all, error);
    for (size_t q = 0; status == KBASS_OK && q < e->columns->n; q++) kb_support_add(&c->all, q);
    p->search.columns = e->columns;
    p->search.all = &c->all;
    kb_pool_init(p->search.pool, e->columns->n, e->run_samples[0]->n_fields, 0);
    return status;
}

static void end(kb_pass *p)
{
    if (!p->state) return;
    kb_support_clear(&axes_of(p)->all);
    kb_pool_clear(&axes_of(p)->waiting);
    kb_free(p->state);
}

/* Proposals wait in the pool until a stage gives them starts. */
static kbass_status take(kb_pass *p, kb_pool *found, kbass_error *error)
{
    for (size_t i = 0; i < found->n; i++) found->fits[i]->valid = true;
    kbass_status status = kb_pool_merge(p->search.pool, found, error);
    kb_pool_unite(p->search.pool);
    return status;
}

/* ---------------------------------------------------------------- workers */

static kbass_status make(const void *context, kb_likelihood **out, kbass_error *error)
{
    const kb_axes *c = context;
    const kb_columns *columns = c->problem->columns;
    kb_fourier_model *fourier = NULL;
    kb_shooter *shooter = NULL;
    kbass_status status = kb_axes_make_model(c, &c->fourier, columns->n, &fourier, error);
    if (status == KBASS_OK) status = kb_shooter_create_on(&fourier->dynamics, columns, 1, columns->n, &shooter, error);
    if (status == KBASS_OK) *out = &shooter->likelihood;
    return status;
}

/* Of one thread's tangents. */
static double bytes_of(const kb_fourier_model *fourier, size_t columns)
{
    double P = (double)(columns + fourier->dynamics.n_start);
    return 8 * P *
           (2 * (double)fourier->dynamics.observation_start[fourier->dynamics.n_rows] + 2 * P + (double)fourier->size);
}

/* One worker per thread, fewer where memory is short; none where one integration costs too much. */
static kbass_status make_workers(kb_pass *p, kbass_error *error)
{
    kb_axes *c = p->state;
    const kb_columns *columns = c->problem->columns;
    const kb_schedule *s = p->task->schedule;
    kb_fourier_model *fourier = NULL;
    kb_workers_destroy(&p->search.workers);
    kbass_status status = kb_axes_make_model(c, &c->fourier, KB_NO_TANGENTS, &fourier, error);
    if (status != KBASS_OK) return status;
    kb_dynamics *d = &fourier->dynamics;
    int affordable = (int)fmin(c->problem->domain->threads, s->most_bytes / bytes_of(fourier, columns->n));
    if (d->cost(d, columns->n) > s->most_operations) affordable = 0;
    bool is_dear = affordable && d->cost(d, 0) > s->dear_operations;
    d->destroy(d);
    p->search.schedule = is_dear ? &kb_schedule_of_dear_axes.value : &kb_schedule_of_axes.value;
    p->search.screened = !is_dear && c->problem->run_samples[0]->n_fields == 1;
    return kb_workers_create(affordable, make, c, columns, &p->search.workers, error);
}

/* For the best proposal that can be followed to the first rows; the others are out. */
static kbass_status resolve_first(kb_pass *p, size_t n_rows, bool *found, kbass_error *error)
{
    kb_axes *c = p->state;
    kb_pool *pool = p->search.pool;
    const kb_fourier_settings plan = c->fourier;
    kbass_status status = kb_axes_order(c, n_rows - 1, pool, error);
    for (*found = false; status == KBASS_OK && !*found && kb_pass_has_model(p);) {
        c->fourier = plan;
        status =
            kb_axes_resolve_first(c, pool->fits[0], n_rows - 1, p->task->schedule->resolved_at_first, found, error);
        if (*found) break;
        pool->fits[0]->valid = false;
        kb_pool_sort(pool);
    }
    return status;
}

/* How fine steps and waves have to be, by the best model at hand; workers anew if they are not. */
static kbass_status sharpen(kb_pass *p, size_t n_rows, kbass_error *error)
{
    kb_axes *c = p->state;
    const kb_schedule *s = p->task->schedule;
    const kb_fit *best = p->search.pool->fits[0];
    kb_fourier_settings before = c->fourier;
    bool found = false, is_whole = n_rows == c->problem->run_samples[0]->n_grid[0];
    kbass_status status = c->n_rows
                              ? kb_axes_resolve(c, best, best->start, n_rows - 1,
                                                is_whole ? s->resolved : s->resolved_at_first, true, &found, error)
                              : resolve_first(p, n_rows, &found, error);
    kb_trace_line(p->search.run->trace, "resolution: %zu steps, %zu x %zu waves, %zu modes", c->fourier.steps,
                  c->fourier.n_waves[0], c->fourier.n_waves[1], c->fourier.most_modes);
    if (status == KBASS_OK && !found) kb_workers_destroy(&p->search.workers);
    bool is_new = !p->search.workers.n || memcmp(&before, &c->fourier, sizeof before) != 0;
    return status == KBASS_OK && found && is_new ? make_workers(p, error) : status;
}

/* ---------------------------------------------------------------- stages */

/* A structure with its weights and, where it was fitted before, its start; else that by regression. */
static kbass_status enter(kb_pass *p, const kb_fit *from, kbass_error *error)
{
    const kb_schedule *s = p->task->schedule;
    kb_axes *c = p->state;
    kb_fit *fit = NULL;
    kbass_status status = kb_pass_enter(p, &from->support, &fit, error);
    if (status == KBASS_OK && c->n_rows)
        status = kb_axes_translate(c, &c->fitted, from->start, &c->fourier, fit->start, error);
    if (status != KBASS_OK) return status;
    memcpy(fit->w, from->w, p->search.columns->n * sizeof *fit->w);
    for (size_t f = 0; f < kb_pass_likelihood(p)->n_groups; f++)
        fit->variance[f] = fmax(s->noise_factor * from->variance[f], s->least_noise);
    return KBASS_OK;
}

/* Of fits that are dear one proposal at a time. */
static size_t most_models(const kb_pass *p)
{
    bool is_first = !axes_of(p)->n_rows, is_dear = p->search.schedule == &kb_schedule_of_dear_axes.value;
    return is_first && is_dear ? 1 : (size_t)p->task->schedule->kept;
}

/* The best models at hand on the record's first rows, with starts of the present resolution. */
static kbass_status move_pool(kb_pass *p, size_t n_rows, double worth_keeping, kbass_error *error)
{
    kb_pool *pool = p->search.pool, known;
    size_t most = most_models(p);
    kb_pool_init(&known, pool->n_columns, kb_pass_likelihood(p)->n_start, 1);
    kb_pool_swap(pool, &known);
    kb_windows_destroy(p->search.windows);
    p->search.windows = NULL;
    kbass_status status = kb_windows_divide(n_rows, 1, &p->search.windows, error);
    for (size_t i = 0; status == KBASS_OK && i < known.n && i < most; i++)
        if (known.fits[i]->valid && known.fits[i]->log_evidence >= known.fits[0]->log_evidence - worth_keeping)
            status = enter(p, known.fits[i], error);
    if (!axes_of(p)->n_rows && most == 1) kb_pool_swap(&known, &axes_of(p)->waiting);
    kb_pool_clear(&known);
    axes_of(p)->n_rows = n_rows;
    axes_of(p)->fitted = axes_of(p)->fourier;
    return status;
}

/* A quarter of the rows, where a wrong model is not lost at once, then twice as many. */
static size_t next_rows(const kb_pass *p)
{
    size_t rows = axes_of(p)->problem->run_samples[0]->n_grid[0], now = axes_of(p)->n_rows,
           least = (size_t)p->task->schedule->least_rows;
    if (now) return 2 * now < rows ? 2 * now : rows;
    return rows < 4 * least ? (rows < least ? rows : least) : (rows + 3) / 4;
}

/* Of a run that was stopped: the best models on all rows, the simpler ones too, which may follow where the best do not;
   without a fitted one there is nothing to go on from. */
static kbass_status extend_to_all(kb_pass *p, kbass_error *error)
{
    size_t rows = axes_of(p)->problem->run_samples[0]->n_grid[0];
    if (!kb_pass_has_model(p)) kb_workers_destroy(&p->search.workers);
    return p->search.workers.n && axes_of(p)->n_rows < rows ? move_pool(p, rows, INFINITY, error) : KBASS_OK;
}

/* Does the best model follow its rows to the noise? */
static bool is_near(const kb_pass *p)
{
    const kb_fit *best = p->search.pool->fits[0];
    return best->valid && best->misfit * best->misfit <= p->task->schedule->lost * axes_of(p)->noise;
}

/* Proposals that wait, beside the models of the first rows, which none of them follows yet. */
static kbass_status enter_waiting(kb_pass *p, kbass_error *error)
{
    kb_axes *c = p->state;
    size_t rows = c->n_rows, entered = 0, most = (size_t)p->task->schedule->kept - 1;
    kbass_status status = KBASS_OK;
    c->n_rows = 0; /* they have no starts yet */
    for (size_t i = 1; status == KBASS_OK && i < c->waiting.n && entered < most; i++) {
        const kb_fit *fit = c->waiting.fits[i];
        if (!fit->valid || kb_pool_find(p->search.pool, &fit->support)) continue;
        status = enter(p, fit, error);
        entered++;
    }
    c->n_rows = rows;
    kb_pool_trim(&c->waiting, 0);
    return status;
}

/* Rows that were projected onto their waves show what there is. */
static bool has_all_modes(const kb_axes *c)
{
    return c->fourier.most_modes >= c->all_modes || c->problem->run_samples[0]->noise_share < 1;
}

/* Twice as many modes of the start, where all rows have more evidence with them; else as before, and it is over. */
static kbass_status try_more_modes(kb_pass *p, kbass_error *error)
{
    kb_axes *c = p->state;
    kb_pool *pool = p->search.pool, before;
    const kb_fourier_settings settings = c->fourier;
    double evidence = pool->fits[0]->log_evidence;
    kb_pool_init(&before, pool->n_columns, pool->n_start, pool->max_windows);
    kbass_status status = kb_pool_copy(pool, &before, error);
    c->fourier.most_modes = 2 * settings.most_modes < c->all_modes ? 2 * settings.most_modes : c->all_modes;
    if (status == KBASS_OK) status = make_workers(p, error);
    p->is_over = true;
    if (status == KBASS_OK && p->search.workers.n) {
        status = move_pool(p, c->n_rows, p->task->schedule->worth_keeping, error);
        if (status == KBASS_OK) status = kb_pass_fit(p, (int)p->task->schedule->fit_iterations, error);
        p->is_over =
            kb_run_stopped(p->search.run) || !kb_pass_has_model(p) || !(pool->fits[0]->log_evidence > evidence);
    }
    kb_trace_line(p->search.run->trace, "%zu modes: %s", c->fourier.most_modes,
                  p->is_over ? "no more evidence" : "taken");
    if (p->is_over) {
        kb_pool_swap(pool, &before);
        c->fourier = c->fitted = settings;
        if (status == KBASS_OK) status = make_workers(p, error);
    }
    kb_pool_clear(&before);
    p->is_fitted = p->is_last = true;
    return status;
}

/* A quarter of the rows, more of them, all; then more modes of the start. */
static kbass_status extend(kb_pass *p, size_t stage, kbass_error *error)
{
    const kb_axes *c = p->state;
    size_t rows = c->problem->run_samples[0]->n_grid[0];
    if (stage == KB_WHOLE_RECORD) return extend_to_all(p, error);
    bool is_whole = c->n_rows == rows;
    if (c->waiting.n && !is_near(p)) return enter_waiting(p, error);
    p->is_over = (is_whole && has_all_modes(c)) || !kb_pass_has_model(p);
    if (p->is_over) return KBASS_OK;
    if (is_whole) return try_more_modes(p, error);
    size_t n = next_rows(p);
    double worth_keeping = c->n_rows ? p->task->schedule->worth_keeping : INFINITY; /* proposals' weights are rough */
    kbass_status status = sharpen(p, n, error);
    p->is_over = !p->search.workers.n;
    p->is_last = n == rows && has_all_modes(c);
    p->is_over = p->is_over || !kb_run_continue(p->search.run, 0); /* the pool's weights are those of fits */
    return status == KBASS_OK && !p->is_over ? move_pool(p, n, worth_keeping, error) : status;
}

static bool is_followed(const kb_pass *p)
{
    const kb_fit *best = p->search.pool->fits[0];
    if (best->n_rows < axes_of(p)->problem->run_samples[0]->n_grid[0]) return false;
    return kb_run_stopped(p->search.run) || is_near(p);
}

/* What is not followed to the noise is no answer; of a run that was stopped any fit to all rows is. */
static kbass_status finish(kb_pass *p, kbass_error *error)
{
    bool is_answer = p->search.workers.n && kb_pass_has_model(p) && is_followed(p);
    if (!is_answer) {
        kb_pool_clear(p->search.pool);
        kb_windows_destroy(p->search.windows);
        p->search.windows = p->result->windows = NULL;
        return KBASS_OK;
    }
    p->result->engine.fourier = KB_NEW(kb_fourier_settings, 1);
    if (!p->result->engine.fourier) return kb_out_of_memory(error, "the answer");
    *p->result->engine.fourier = axes_of(p)->fourier;
    return KBASS_OK;
}

static kbass_status answer(const void *problem, kb_run *run, kb_search_result *result, kbass_error *error)
{
    return kb_em_search(problem, run, result, error);
}

const kb_task kb_task_of_axes = {.schedule = &kb_schedule_of_axes.value,
                                 .examine = kb_examine_residuals,
                                 .sources = kb_sources_of_axes,
                                 .first_sources = KB_AT_FIRST,
                                 .begin = begin,
                                 .take = take,
                                 .extend = extend,
                                 .finish = finish,
                                 .end = end,
                                 .answer = answer};
