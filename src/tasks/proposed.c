#include "tasks/proposed.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/status.h"
#include "search/refine.h"

static const double never = -600; /* prior log-odds of what is not to be proposed */
static const double clear = 3;    /* sds of a weight that is not 0 */

/* ---------------------------------------------------------------- models */

kb_pass kb_proposed_pass(const kb_proposed *s, const kb_pde1d_problem *problem, kb_search_result *result)
{
    kb_pass p = {.task = s->task, .problem = problem, .n_runs = problem->n_runs, .result = result};
    p.search = (kb_search){.schedule = s->task->schedule, .run = s->run, .pool = &result->pool, .grows = true};
    return p;
}

void kb_proposed_end(kb_pass *p)
{
    p->result->windows = p->search.windows;
    kb_workers_destroy(&p->search.workers);
    p->task->end(p);
}

kbass_status kb_proposed_enter(kb_pass *p, const kb_support *support, const double *w, const double *variance,
                               kbass_error *error)
{
    kb_fit *fit = NULL;
    kbass_status status = kb_pass_enter(p, support, &fit, error);
    if (status != KBASS_OK) return status;
    memcpy(fit->w, w, p->search.pool->n_columns * sizeof *w);
    for (size_t f = 0; f < kb_pass_likelihood(p)->n_groups; f++)
        fit->variance[f] = fmax(variance[f], p->task->schedule->least_floor);
    return KBASS_OK;
}

/* Squared misfit of a model that follows the data. */
static double most_square(const kb_proposed *s, const kb_pass *p)
{
    return p->task->schedule->lost * (s->noise + kb_pass_floor(p));
}

static double best_square(const kb_pass *p)
{
    return kb_pass_has_model(p) ? p->search.pool->fits[0]->misfit * p->search.pool->fits[0]->misfit : INFINITY;
}

bool kb_proposed_follows(const kb_proposed *s, const kb_pass *p) { return best_square(p) <= most_square(s, p); }

static void set_aim(kb_pass *p, double aim)
{
    for (int i = 0; i < p->search.workers.n; i++) p->search.workers.list[i]->likelihood->aim = aim;
}

/* Fits the pool, and again as long as the best model does not follow yet but comes nearer: boundary values of open ends
   take their time. */
kbass_status kb_proposed_fit(const kb_proposed *s, kb_pass *p, kbass_error *error)
{
    double before = INFINITY;
    set_aim(p, most_square(s, p));
    kbass_status status = kb_pass_fit(p, (int)p->task->schedule->fit_iterations, error);
    for (int i = 0; i < (int)p->task->schedule->most_fits && status == KBASS_OK && !kb_proposed_follows(s, p) &&
                    best_square(p) < p->task->schedule->nearer * before;
         i++) {
        before = best_square(p);
        if (!kb_run_stopped(s->run)) status = kb_pass_fit(p, (int)p->task->schedule->fit_iterations, error);
    }
    set_aim(p, 0);
    return status;
}

/* Only models that may still win: fits of the others would be repeated with theirs. */
static void drop_hopeless(kb_pass *p)
{
    kb_pool *pool = p->search.pool;
    double behind = p->task->schedule->hopeless;
    size_t n = 0;
    while (n < pool->n && pool->fits[n]->valid && pool->fits[n]->log_evidence > pool->fits[0]->log_evidence - behind)
        n++;
    if (n && behind > 0) kb_pool_trim(pool, n);
}

/* A lost model once more, in another pool: nothing but its damping to begin with. */
static kbass_status enter_again(const kb_proposed *s, kb_pass *p, const kb_fit *lost, kbass_error *error)
{
    size_t n = p->search.pool->n_columns;
    double *w = KB_NEW(double, n);
    if (!w) return kb_out_of_memory(error, "the search");
    for (size_t q = 0; q < lost->support.n; q++)
        w[lost->support.column[q]] = kb_one_axis_damping(p->problem, lost->support.column[q]);
    kbass_status status = kb_proposed_enter(p, &lost->support, w, s->proposals.noise, error);
    kb_free(w);
    return status;
}

/* Proposed weights may run away from the first line on. Such models begin once more, by themselves: rivals would have
   them given up before they have come near. */
static kbass_status fit_lost_again(const kb_proposed *s, kb_pass *p, kbass_error *error)
{
    kb_pool *pool = p->search.pool, again;
    kbass_status status = KBASS_OK;
    kb_pool_init(&again, pool->n_columns, pool->n_start, pool->max_windows);
    p->search.pool = &again;
    for (size_t i = 0; status == KBASS_OK && i < pool->n; i++)
        if (!pool->fits[i]->valid) status = enter_again(s, p, pool->fits[i], error);
    if (status == KBASS_OK && again.n) status = kb_proposed_fit(s, p, error);
    p->search.pool = pool;
    if (status == KBASS_OK) status = kb_pool_merge(pool, &again, error);
    kb_pool_clear(&again);
    kb_pool_sort(pool);
    kb_pool_unite(pool);
    return status;
}

static kbass_status fit_some(const kb_proposed *s, kb_pass *p, kbass_error *error)
{
    kbass_status status = kb_proposed_fit(s, p, error);
    if (status != KBASS_OK || kb_proposed_follows(s, p) || !(p->task->schedule->hopeless > 0)) return status;
    status = fit_lost_again(s, p, error);
    drop_hopeless(p);
    return status;
}

/* Proposals, a few at a time, until one of them follows the part: those with fewer votes are its neighbours, or worse.
 */
static kbass_status fit_proposals(const kb_proposed *s, kb_pass *p, kbass_error *error)
{
    kbass_status status = KBASS_OK;
    size_t n = s->proposals.n, each = (size_t)fmax((double)s->whole.threads, p->task->schedule->proposals_at_a_time);
    for (size_t i = 0; status == KBASS_OK && i < n && !kb_proposed_follows(s, p) && !kb_run_stopped(s->run);) {
        kb_one_axis_lower_floor(p); /* the grid's error of a model that does not follow is not the law's */
        for (size_t end = i + each; status == KBASS_OK && i < end && i < n; i++) {
            const kb_field_proposal *proposal = &s->proposals.proposals[i];
            status = kb_proposed_enter(p, &proposal->support, proposal->w, s->proposals.noise, error);
        }
        if (status == KBASS_OK) status = fit_some(s, p, error);
    }
    return status;
}

/* ---------------------------------------------------------------- rivals */

static bool has_only_pure(const kb_proposed *s, const kb_support *support)
{
    for (size_t q = 0; q < support->n; q++)
        if (!s->proposals.is_pure[support->column[q]]) return false;
    return true;
}

/* The pure terms of a model with one that damps. Messages of a model without it hardly see it: the short waves of its
   profiles are noise. */
static kbass_status enter_damped(const kb_proposed *s, kb_pass *p, const kb_support *model, const double *weights,
                                 size_t damping, kb_support *support, double *w, kbass_error *error)
{
    support->n = 0;
    memset(w, 0, p->search.pool->n_columns * sizeof *w);
    for (size_t q = 0; q < model->n; q++) {
        size_t column = model->column[q];
        if (!s->proposals.is_pure[column]) continue;
        kb_support_add(support, column);
        w[column] = weights[column];
    }
    kb_support_add(support, damping);
    w[damping] = kb_one_axis_damping(p->problem, damping);
    return kb_pool_find(p->search.pool, support) ? KBASS_OK
                                                 : kb_proposed_enter(p, support, w, s->proposals.noise, error);
}

static bool is_damped(const kb_pass *p, const kb_support *support)
{
    for (size_t q = 0; q < support->n; q++)
        if (kb_one_axis_damping(p->problem, support->column[q]) != 0) return true;
    return false;
}

static kbass_status enter_damped_all(const kb_proposed *s, kb_pass *p, const kb_support *model, const double *weights,
                                     kbass_error *error)
{
    size_t n = p->search.pool->n_columns;
    double *w = KB_NEW(double, n);
    kb_support support = {0};
    kbass_status status = w ? kb_support_create(n, &support, error) : kb_out_of_memory(error, "the search");
    for (size_t q = 0; status == KBASS_OK && q < n; q++)
        if (kb_one_axis_damping(p->problem, q) != 0) status = enter_damped(s, p, model, weights, q, &support, w, error);
    kb_support_clear(&support);
    kb_free(w);
    return status;
}

/* Does the best model leave nothing but noise? One that follows the data may yet miss a term. */
static bool leaves_noise(const kb_proposed *s, const kb_pass *p)
{
    return best_square(p) <= p->task->schedule->missed * (s->noise + kb_pass_floor(p));
}

/* Where no proposal follows the data to their noise, each with what damps: a front or short waves that grow need it,
   and the weak form, whose bumps are wide, may leave it out. Few data have begun them again by then. */
static kbass_status fit_damped(const kb_proposed *s, kb_pass *p, kbass_error *error)
{
    kbass_status status = KBASS_OK;
    if (leaves_noise(s, p) || p->task->schedule->hopeless > 0 || kb_run_stopped(s->run)) return status;
    kb_one_axis_lower_floor(p);
    for (size_t i = 0; status == KBASS_OK && i < s->proposals.n; i++)
        status = enter_damped_all(s, p, &s->proposals.proposals[i].support, s->proposals.proposals[i].w, error);
    return status == KBASS_OK ? kb_proposed_fit(s, p, error) : status;
}

static kbass_status enter_new(const kb_proposed *s, kb_pass *p, const kb_field_proposal *proposal, kbass_error *error)
{
    if (kb_pool_find(p->search.pool, &proposal->support)) return KBASS_OK;
    return kb_proposed_enter(p, &proposal->support, proposal->w, s->proposals.noise, error);
}

/* The column that alone is clearly not 0; KB_NO_COLUMN: there are more, or none. */
static size_t only_term(const kb_fit *fit)
{
    size_t only = KB_NO_COLUMN;
    for (size_t q = 0; q < fit->support.n; q++) {
        size_t column = fit->support.column[q];
        if (!(fabs(fit->w[column]) > clear * sqrt(kb_fit_variance(fit, column)))) continue;
        if (only != KB_NO_COLUMN) return KB_NO_COLUMN;
        only = column;
    }
    return only;
}

/* What the weak form proposes without a column. */
static kbass_status enter_without(const kb_proposed *s, kb_pass *p, size_t column, kbass_error *error)
{
    const kb_pde1d_problem *l = p->problem;
    kb_field_proposals list = {0};
    kb_columns others = *l->columns;
    if (others.required[column]) return KBASS_OK;
    others.log_odds = KB_NEW(double, others.n);
    if (!others.log_odds) return kb_out_of_memory(error, "the search");
    memcpy(others.log_odds, l->columns->log_odds, others.n * sizeof *others.log_odds);
    others.log_odds[column] = never;
    const kb_weak_whole samples = {.run = s->run, .threads = l->threads};
    kbass_status status = kb_weak_fields_propose(l->n_runs, l->run_samples, &samples, l->dictionary, &others,
                                                 (size_t)p->task->schedule->proposals, &list, error);
    for (size_t i = 0; status == KBASS_OK && i < list.n; i++)
        if (!kb_support_has(&list.proposals[i].support, column)) status = enter_new(s, p, &list.proposals[i], error);
    kb_field_proposals_clear(&list);
    kb_free(others.log_odds);
    return status;
}

/* Beside a model that follows: the other proposals, whose weights may lead to a minimum that no neighbour leads to, and
   damping in place of what is not pure. Beside a single term what is proposed without it: a wave that only travels is
   u_x, and the law that makes it travel too. */
static kbass_status fit_others(const kb_proposed *s, kb_pass *p, kbass_error *error)
{
    kb_pool *pool = p->search.pool;
    const kb_fit *best = pool->fits[0];
    size_t before = pool->n, only = only_term(best);
    kbass_status status = KBASS_OK;
    if (!has_only_pure(s, &best->support) || !is_damped(p, &best->support))
        status = enter_damped_all(s, p, &best->support, best->w, error);
    for (size_t i = 0; status == KBASS_OK && i < s->proposals.n; i++)
        status = enter_new(s, p, &s->proposals.proposals[i], error);
    if (status == KBASS_OK && only != KB_NO_COLUMN) status = enter_without(s, p, only, error);
    return status == KBASS_OK && pool->n > before ? kb_pass_fit(p, (int)p->task->schedule->again_iterations, error)
                                                  : status;
}

/* ---------------------------------------------------------------- the comparison */

/* The grid on which the best model's weights no longer depend on it, by what all data will know of them. */
kbass_status kb_proposed_refine(const kb_proposed *s, kb_pass *p, kbass_error *error)
{
    double share = sqrt(kb_pde1d_values(p->problem) / kb_pde1d_values(&s->whole));
    return kb_refine_resolution(p, p->task->schedule->still * share, error);
}

/* Structures compared on the part; *found: one of them follows it. */
kbass_status kb_proposed_compare_coarsely(const kb_proposed *s, kb_pass *p, bool *found, kbass_error *error)
{
    kbass_status status = fit_proposals(s, p, error);
    if (status == KBASS_OK) status = fit_damped(s, p, error);
    *found = status == KBASS_OK && kb_proposed_follows(s, p);
    if (*found) status = fit_others(s, p, error);
    if (*found) drop_hopeless(p);
    if (*found && status == KBASS_OK)
        status = kb_pass_explore(p, (size_t)p->task->schedule->stage_beam, (int)p->task->schedule->stage_rounds, error);
    p->result->n_models = p->search.pool->n;
    kb_pool_trim(p->search.pool, (size_t)p->task->schedule->kept);
    return status == KBASS_OK && *found ? kb_one_axis_tune_period(p, error) : status;
}

kbass_status kb_proposed_compare(const kb_proposed *s, kb_pass *p, bool *found, kbass_error *error)
{
    kbass_status status = kb_proposed_compare_coarsely(s, p, found, error);
    if (status == KBASS_OK && *found) status = kb_proposed_refine(s, p, error);
    *found = status == KBASS_OK && *found && kb_proposed_follows(s, p);
    return status;
}

/* ---------------------------------------------------------------- life */

bool kb_pde1d_is_gridded(const kb_pde1d_problem *l, size_t least_rows)
{
    for (size_t run = 0; run < l->n_runs; run++)
        if (!l->run_samples[run]->gridded || l->run_samples[run]->n_grid[0] < least_rows) return false;
    return true;
}

kbass_status kb_proposed_create(const kb_task *task, const kb_pde1d_problem *l, kb_run *run, kb_search_result *result,
                                kb_proposed *s, kbass_error *error)
{
    size_t fields = l->run_samples[0]->n_fields;
    *s = (kb_proposed){.task = task, .whole = *l, .run = run, .result = result};
    s->whole.setups = KB_NEW(kb_pde1d_setup, l->n_runs);
    s->windows = KB_NEW(size_t, l->n_runs);
    if (!s->whole.setups || !s->windows) return kb_out_of_memory(error, "the search");
    memcpy(s->whole.setups, l->setups, l->n_runs * sizeof *l->setups);
    for (size_t run_index = 0; run_index < l->n_runs; run_index++) s->windows[run_index] = 1;
    const kb_weak_whole whole = {.tiles = l->tiles, .run = run, .threads = l->threads};
    kbass_status status = kb_weak_fields_propose(l->n_runs, l->run_samples, &whole, l->dictionary, l->columns,
                                                 (size_t)task->schedule->proposals, &s->proposals, error);
    for (size_t f = 0; status == KBASS_OK && s->proposals.n && f < fields; f++)
        s->noise += s->proposals.noise[f] / (double)fields;
    return status;
}

void kb_proposed_clear(kb_proposed *s)
{
    kb_field_proposals_clear(&s->proposals);
    kb_free(s->whole.setups);
    kb_free(s->windows);
}
