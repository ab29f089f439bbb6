#include "discover/horizon.h"

#include <math.h>
#include <string.h>

#include "base/linalg.h"
#include "base/memory.h"
#include "base/status.h"
#include "discover/council.h"

enum { DAMPED = 4 };                      /* best models that are tried with damping */
enum { HEARD = 3, HELD_ITERATIONS = 12 }; /* models of each run alone */
static const size_t restless_steps = 6;   /* about half a standard deviation from line to line */
static const double simple = 3; /* degree of the terms that come first: u^3, u*u_xxx, u_xxxx, but not u^2*u_xx */
static const double unthinkable = -1e3; /* prior log odds of those that wait */
static const double horizons[] = {0.12, 0.25, 0.5, 1};
static const double begin = 0.1, begin_together = 0.35, end = 0.6,
                    end_again = 0.9; /* shares of the whole work, for progress */

typedef struct {
    kb_expedition *expedition;
    kb_search_result *result;
    const kb_search_result *before; /* of the search whose answer is in doubt; NULL: this is the first */
} route;

bool kb_pde1d_setup_is_restless(const kb_pde1d_setup *setup) { return setup->line.steps >= restless_steps; }

bool kb_is_restless(const kb_pde1d_problem *l)
{
    for (size_t run = 0; run < l->n_runs; run++)
        if (kb_pde1d_setup_is_restless(&l->setups[run])) return true;
    return false;
}

/* The scaled weight, 1 or -1, by which a term u_xx, u_xxxx, ... damps short waves; 0 of any other. */
static double damping(const kb_pde1d_problem *l, size_t column)
{
    const kb_dictionary *d = l->dictionary;
    size_t term = l->columns->term[column], own = l->columns->equation[column];
    for (size_t v = 0; v < d->n_variables; v++) {
        const kb_variable *variable = &d->variables[v];
        int order = variable->axis < 0 && variable->field == own ? kb_variable_order(variable) : 0;
        if (order == 0 || order % 2 || strcmp(kb_dictionary_name(d, term), d->variable_names[v])) continue;
        return order % 4 ? 1 : -1;
    }
    return 0;
}

/* An entry from nothing: the profiles by regression, no term but the required ones and, where there are any, these.
   Terms that damp do so from the first: without it a noisy profile's short waves stay, and say that there is no
   damping. */
static kbass_status enter_plain(kb_expedition *e, size_t n, const size_t *columns, kbass_error *error)
{
    const kb_pde1d_problem *l = e->problem;
    kb_support support;
    kb_fit *fit = NULL;
    kbass_status status = kb_support_create(l->columns->n, &support, error);
    for (size_t i = 0; status == KBASS_OK && i < l->columns->n; i++)
        if (l->columns->required[i]) kb_support_add(&support, i);
    for (size_t i = 0; status == KBASS_OK && i < n; i++) kb_support_add(&support, columns[i]);
    if (status == KBASS_OK && !kb_pool_find(e->search.pool, &support))
        status = kb_expedition_enter(e, &support, &fit, error);
    for (size_t f = 0; fit && status == KBASS_OK && f < l->run_samples[0]->n_fields; f++)
        fit->variance[f] = fmax(kb_expedition_noise(e), 1e-4);
    for (size_t i = 0; fit && i < support.n; i++) fit->w[support.column[i]] = damping(l, support.column[i]);
    kb_support_clear(&support);
    return status;
}

/* The best of these models with damping beside what they have: from where they stand, their profiles' short waves would
   deny it. */
static kbass_status enter_damped(kb_expedition *e, const kb_pool *models, kbass_error *error)
{
    const kb_pde1d_problem *l = e->problem;
    kb_pool *pool = e->search.pool;
    kb_support support;
    size_t n = models->n < DAMPED ? models->n : DAMPED; /* `models` may be the pool, which grows */
    kbass_status status = kb_support_create(l->columns->n, &support, error);
    for (size_t i = 0; i < n; i++)
        for (size_t q = 0; status == KBASS_OK && q < l->columns->n; q++) {
            const kb_fit *from = models->fits[i];
            kb_fit *fit = NULL;
            if (!from->valid || damping(l, q) == 0) continue;
            kb_support_copy(&from->support, &support);
            kb_support_add(&support, q);
            if (kb_pool_find(pool, &support)) continue;
            status = kb_pool_add(pool, &support, &fit, error);
            if (status != KBASS_OK) break;
            kb_fit_begin(fit, from, l->columns->n, pool->n_start);
            fit->w[q] = damping(l, q);
        }
    kb_support_clear(&support);
    return status;
}

/* Lines that hold somewhat more observations than a start has unknowns: fewer fit any model. */
static double least_lines(const kb_schedule *schedule, const kb_pde1d *line)
{
    const kb_dynamics *d = &line->dynamics;
    double each = (double)d->observation_start[d->n_rows] / (double)d->n_rows;
    return fmax(schedule->least_rows, ceil(1.2 * (double)d->n_start / each));
}

/* The windows, one for a run, to that share of their lines; false when they were there before. */
static bool reach_out(kb_expedition *e, double share)
{
    const kb_pde1d_runs *all_runs = kb_expedition_runs(e);
    kb_windows *windows = e->search.windows;
    bool moved = false;
    for (size_t window = 0; window < windows->n; window++) {
        size_t run = kb_expedition_run(e, window);
        double rows = (double)all_runs->lines[run]->dynamics.n_rows,
               least = least_lines(e->search.schedule, all_runs->lines[run]);
        size_t lines = (size_t)fmin(rows, fmax(least, round(share * rows))),
               last = all_runs->run_start[run] + lines - 1;
        moved = moved || windows->last[window] != last;
        windows->last[window] = last;
    }
    return moved;
}

/* Models fitted to the whole record; others cannot be compared with them. */
static size_t keep_whole(kb_pool *pool, size_t n_rows)
{
    size_t n = 0;
    for (size_t i = 0; i < pool->n; i++) {
        pool->fits[i]->valid = pool->fits[i]->valid && pool->fits[i]->n_rows == n_rows;
        n += pool->fits[i]->valid;
    }
    kb_pool_sort(pool);
    return n;
}

/* Stopped on the way: when no model was fitted to the whole record yet, the best that can be is, quickly, and its
   likeliest neighbours. */
static kbass_status salvage(kb_expedition *e, kb_search_result *result, kbass_error *error)
{
    kb_pool *pool = e->search.pool;
    kb_shooter *shooter = e->search.workers.list[0]->shooter;
    reach_out(e, 1);
    for (size_t i = 0; i < pool->n; i++) pool->explored[i] = false;
    if (keep_whole(pool, kb_windows_rows(e->search.windows))) return KBASS_OK;
    shooter->windows = e->search.windows;
    shooter->deadline = kb_clock() + e->search.schedule->grace;
    for (size_t i = 0; i < pool->n && !pool->fits[0]->valid; i++) {
        kb_shooter_fit(shooter, pool->fits[i], (int)e->search.schedule->grace_iterations, -INFINITY);
        if (pool->fits[i]->valid) kb_pool_sort(pool);
    }
    e->search.deadline = shooter->deadline;
    shooter->deadline = 0;
    if (kb_run_cancelled(e->search.run)) return KBASS_OK;
    return kb_search_explore(&e->search, 1, 1, &result->settled, error);
}

/* Does the best model leave more than so many times this noise unexplained? */
static bool leaves(const kb_expedition *e, double times, double noise)
{
    const kb_pool *pool = e->search.pool;
    double floor = e->search.workers.list[0]->shooter->dynamics->noise_floor;
    if (!pool->n || !pool->fits[0]->valid) return true;
    return pool->fits[0]->misfit * pool->fits[0]->misfit > times * (noise + floor);
}

/* Are the data no longer followed to the noise of the search before? */
static bool is_lost(const route *r)
{
    const kb_search_result *before = r->before;
    size_t n = r->expedition->problem->run_samples[0]->n_fields;
    double noise = 0;
    for (size_t f = 0; kb_has_model(before) && f < n; f++) noise += before->pool.fits[0]->variance[f] / (double)n;
    return leaves(r->expedition, r->expedition->search.schedule->lost, kb_has_model(before) ? noise : INFINITY);
}

/* The models that go on to the next stretch. */
static void thin(kb_expedition *e, bool many)
{
    const kb_schedule *s = e->search.schedule;
    kb_pool_thin(e->search.pool, (size_t)(many ? s->kept_at_first : s->kept), (size_t)s->kept_size);
}

/* From the first lines to all of them; `from` and `until` are shares of the whole work. */
static kbass_status extend_horizon(const route *r, double from, double until, kbass_error *error)
{
    kb_expedition *e = r->expedition;
    size_t n = 0;
    kbass_status status = enter_plain(e, 0, NULL, error);
    if (status == KBASS_OK && !r->before) status = kb_council_ask(e, KB_AT_FIRST, &n, error);
    for (size_t i = 0; status == KBASS_OK && i < sizeof horizons / sizeof *horizons && !kb_run_stopped(e->search.run);
         i++) {
        if (!reach_out(e, horizons[i]) && i) continue;
        e->search.run->fraction = fmax(e->search.run->fraction, from + (until - from) * (double)i / 4);
        if (i && r->before) status = enter_damped(e, e->search.pool, error);
        if (status == KBASS_OK) status = kb_expedition_fit(e, error);
        if (i && r->before && is_lost(r)) break;
        if (status == KBASS_OK)
            status = kb_expedition_explore(e, (size_t)e->search.schedule->stage_beam,
                                           (int)e->search.schedule->stage_rounds, &r->result->settled, error);
        r->result->n_models += e->search.pool->n;
        if (status == KBASS_OK) thin(e, i == 0 && r->before);
    }
    return status;
}

/* On an open axis, for one, a fit that starts without a term may never find it: the ends of the profile hide it. */
static bool needs_advice(const kb_expedition *e)
{
    return leaves(e, e->search.schedule->unexplained, kb_expedition_noise(e));
}

/* The proposals of sources that are asked after the last stage join the pool, and the search goes on from there. */
static kbass_status take_advice(kb_expedition *e, unsigned when, kb_search_result *result, kbass_error *error)
{
    size_t n = 0;
    kbass_status status = kb_council_ask(e, when, &n, error);
    if (status == KBASS_OK && n)
        status = kb_expedition_search(e, (size_t)e->search.schedule->stage_beam, (int)e->search.schedule->stage_rounds,
                                      &result->settled, error);
    return status;
}

/* ---------------------------------------------------------------- several runs */

/* A model of one run for all of them: its weights, its start for that run, those by regression for the others. */
static kbass_status pass_on(kb_expedition *e, size_t run, const kb_fit *from, kbass_error *error)
{
    kb_fit *fit = NULL;
    size_t n = e->search.pool->n_start;
    kbass_status status = kb_expedition_enter(e, &from->support, &fit, error);
    if (status != KBASS_OK) return status;
    memcpy(fit->w, from->w, e->problem->columns->n * sizeof *fit->w);
    memcpy(fit->variance, from->variance, e->problem->run_samples[0]->n_fields * sizeof *fit->variance);
    memcpy(fit->start + run * n, from->start, n * sizeof *fit->start);
    return KBASS_OK;
}

/* One run searched as if it were the only one, from nothing and from the kernel engine's proposals; its best models go
   to the pool of all. */
static kbass_status hear_run(const route *r, size_t run, kbass_error *error)
{
    kb_expedition *e = r->expedition;
    kb_search all = e->search;
    kb_pool own;
    const size_t *run_start = kb_expedition_runs(e)->run_start;
    size_t first = run_start[run], last = run_start[run + 1] - 1;
    kb_windows window = {1, &first, &last};
    double share = (begin_together - begin) / (double)e->problem->n_runs, from = begin + share * (double)run;
    kb_pool_init(&own, all.pool->n_columns, all.pool->n_start, 1);
    e->search.pool = &own;
    e->search.windows = &window;
    kbass_status status = extend_horizon(r, from, from + share, error);
    if (status == KBASS_OK && !kb_run_stopped(e->search.run)) status = take_advice(e, KB_IN_EACH_RUN, r->result, error);
    kb_expedition_forget_floor(e);
    e->search = all;
    for (size_t i = 0; status == KBASS_OK && i < own.n && i < HEARD && own.fits[i]->valid; i++)
        status = pass_on(e, run, own.fits[i], error);
    kb_pool_clear(&own);
    return status;
}

static void hold_weights(kb_expedition *e, bool hold)
{
    for (int i = 0; i < e->search.workers.n; i++) e->search.workers.list[i]->shooter->holds_weights = hold;
}

/* What each run says alone. A fit from nothing may end in a poor minimum of any run, a front without viscosity for one,
   and together they have all of these; the weights of a run that found its way lead the others out. Their starts follow
   these weights before all move. */
static kbass_status hear_runs(const route *r, kbass_error *error)
{
    kb_expedition *e = r->expedition;
    kb_pool *pool = e->search.pool;
    kbass_status status = KBASS_OK;
    for (size_t run = 0; status == KBASS_OK && run < e->problem->n_runs && !kb_run_stopped(e->search.run); run++)
        status = hear_run(r, run, error);
    hold_weights(e, true);
    if (status == KBASS_OK) status = kb_search_fit(&e->search, HELD_ITERATIONS, error);
    hold_weights(e, false);
    for (size_t i = 0; i < pool->n; i++) pool->fits[i]->n_rows = 0; /* not yet fitted to all */
    return status;
}

/* ---------------------------------------------------------------- two routes */

/* All terms at once. */
static kbass_status search_all(const route *r, kbass_error *error)
{
    kb_expedition *e = r->expedition;
    bool several = e->problem->n_runs > 1;
    kbass_status status = several ? hear_runs(r, error) : KBASS_OK;
    if (status == KBASS_OK) status = extend_horizon(r, several ? begin_together : begin, end, error);
    if (status == KBASS_OK && kb_run_stopped(e->search.run)) status = salvage(e, r->result, error);
    if (status == KBASS_OK && needs_advice(e) && !kb_run_stopped(e->search.run))
        status = take_advice(e, KB_WHERE_UNEXPLAINED, r->result, error);
    return status;
}

static bool is_simple(const kb_pde1d_problem *l, size_t column)
{
    return l->columns->required[column] || kb_dictionary_degree(l->dictionary, l->columns->term[column]) <= simple;
}

/* All pairs: on the first lines wrong ones may be better, and the right one must be there when more are seen. */
static kbass_status enter_pairs(kb_expedition *e, kbass_error *error)
{
    const kb_pde1d_problem *l = e->problem;
    kbass_status status = KBASS_OK;
    for (size_t i = 0; l->run_samples[0]->n_fields == 1 && i < l->columns->n; i++)
        for (size_t j = 0; status == KBASS_OK && j <= i; j++)
            if (is_simple(l, i) && is_simple(l, j)) status = enter_plain(e, 2, (size_t[]){i, j}, error);
    return status;
}

/* The simplest terms through the whole record, then the others beside them: of few candidates a search that begins with
   few lines loses its way less often. */
static kbass_status search_simple(const route *r, kbass_error *error)
{
    kb_expedition *e = r->expedition;
    const kb_pde1d_problem *l = e->problem;
    kb_columns columns = *l->columns;
    columns.log_odds = KB_NEW(double, columns.n);
    if (!columns.log_odds) return kb_out_of_memory(error, "the search");
    for (size_t i = 0; i < columns.n; i++)
        columns.log_odds[i] = is_simple(l, i) ? l->columns->log_odds[i] : unthinkable;
    e->search.columns = &columns;
    kbass_status status = enter_pairs(e, error);
    if (status == KBASS_OK) status = extend_horizon(r, end, end_again, error);
    e->search.columns = l->columns;
    kb_free(columns.log_odds);
    if (kb_run_stopped(e->search.run) || reach_out(e, 1) || is_lost(r)) kb_pool_trim(e->search.pool, 0);
    bool is_alike = r->before->pool.n_start == e->search.pool->n_start && r->before->windows->n == e->search.windows->n;
    if (status == KBASS_OK && e->search.pool->n && is_alike) status = enter_damped(e, &r->before->pool, error);
    if (status == KBASS_OK && e->search.pool->n)
        status = kb_expedition_search(e, (size_t)e->search.schedule->stage_beam, (int)e->search.schedule->stage_rounds,
                                      &r->result->settled, error);
    return status;
}

static kbass_status follow(const route *r, kbass_error *error)
{
    kb_expedition *e = r->expedition;
    double clock = kb_clock();
    e->search.run->stage = kbass_stage_name(KBASS_STAGE_SEARCH);
    kbass_status status = kb_expedition_equip(e, 0, error);
    if (status == KBASS_OK) status = kb_expedition_open(e, error);
    if (status == KBASS_OK) status = r->before ? search_simple(r, error) : search_all(r, error);
    r->result->seconds[KBASS_STAGE_SEARCH] = kb_clock() - clock;

    clock = kb_clock();
    e->search.run->stage = kbass_stage_name(KBASS_STAGE_ARBITRATE);
    if (status == KBASS_OK) status = kb_expedition_tune_period(e, error);
    if (status == KBASS_OK) status = kb_expedition_refine(e, &r->result->settled, error);
    r->result->seconds[KBASS_STAGE_ARBITRATE] = kb_clock() - clock;
    return status;
}

static kbass_status set_out(const kb_pde1d_problem *l, route r, kb_run *run, kbass_error *error)
{
    kb_expedition e = {.problem = l};
    kbass_status status = kb_expedition_begin(&e, run, r.result, error);
    r.expedition = &e;
    if (status == KBASS_OK) status = follow(&r, error);
    r.result->windows = e.search.windows;
    if (status == KBASS_OK) status = kb_expedition_finish(&e, r.result, error);
    kb_expedition_dismiss(&e);
    return status;
}

kbass_status kb_horizon_search(const kb_pde1d_problem *l, kb_run *run, kb_search_result *result, kbass_error *error)
{
    return set_out(l, (route){.result = result}, run, error);
}

kbass_status kb_horizon_search_simple(const kb_pde1d_problem *l, const kb_search_result *before, kb_run *run,
                                      kb_search_result *result, kbass_error *error)
{
    return set_out(l, (route){.result = result, .before = before}, run, error);
}
