/* The second pass over fields along one axis: the simplest terms are carried through the record first, and terms that
 * damp are tried beside what models have. There is no answer where the data cannot be followed to about the noise that
 * the answer in doubt left (docs/math.md, section 12).
 */
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/status.h"
#include "propose/sources.h"
#include "tasks/one_axis.h"

enum { DAMPED = 4 };                  /* best models that are tried with damping */
static const double simple = 3;       /* degree of the terms that come first: u^3, u*u_xxx, u_xxxx, but not u^2*u_xx */
static const double most_floor = 0.1; /* of a field's variance: a grid that errs by more says nothing of who follows */
static const double unthinkable = -1e3; /* prior log odds of those that wait */

/* ---------------------------------------------------------------- damping */

double kb_one_axis_damping(const kb_pde1d_problem *l, size_t column)
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

kbass_status kb_one_axis_enter_damped(kb_pass *p, const kb_pool *models, kbass_error *error)
{
    const kb_pde1d_problem *l = p->problem;
    kb_pool *pool = p->search.pool;
    kb_support support;
    size_t n = models->n < DAMPED ? models->n : DAMPED; /* `models` may be the pool, which grows */
    kbass_status status = kb_support_create(l->columns->n, &support, error);
    for (size_t i = 0; i < n; i++)
        for (size_t q = 0; status == KBASS_OK && q < l->columns->n; q++) {
            const kb_fit *from = models->fits[i];
            kb_fit *fit = NULL;
            if (!from->valid || kb_one_axis_damping(l, q) == 0) continue;
            kb_support_copy(&from->support, &support);
            kb_support_add(&support, q);
            if (kb_pool_find(pool, &support)) continue;
            status = kb_pool_add(pool, &support, &fit, error);
            if (status != KBASS_OK) break;
            kb_fit_begin(fit, from, l->columns->n, pool->n_start);
            fit->w[q] = kb_one_axis_damping(l, q);
        }
    kb_support_clear(&support);
    return status;
}

/* ---------------------------------------------------------------- simple terms */

static bool is_simple(const kb_pde1d_problem *l, size_t column)
{
    return l->columns->required[column] || kb_dictionary_degree(l->dictionary, l->columns->term[column]) <= simple;
}

/* All pairs: on the first lines wrong ones may be better, and the right one must be there when more are seen. */
static kbass_status enter_pairs(kb_pass *p, kbass_error *error)
{
    const kb_pde1d_problem *l = p->problem;
    kbass_status status = KBASS_OK;
    for (size_t i = 0; l->run_samples[0]->n_fields == 1 && i < l->columns->n; i++)
        for (size_t j = 0; status == KBASS_OK && j <= i; j++)
            if (is_simple(l, i) && is_simple(l, j)) status = kb_one_axis_enter(p, 2, (size_t[]){i, j}, error);
    return status;
}

/* Of few candidates a search that begins with few lines loses its way less often. */
static kbass_status enter(kb_pass *p, kbass_error *error)
{
    const kb_pde1d_problem *l = p->problem;
    kb_one_axis *e = p->state;
    e->simple = *l->columns;
    e->simple.log_odds = e->log_odds = KB_NEW(double, l->columns->n);
    if (!e->log_odds) return kb_out_of_memory(error, "the search");
    for (size_t i = 0; i < l->columns->n; i++) e->log_odds[i] = is_simple(l, i) ? l->columns->log_odds[i] : unthinkable;
    p->search.columns = &e->simple;
    kbass_status status = enter_pairs(p, error);
    return status == KBASS_OK ? kb_one_axis_enter(p, 0, NULL, error) : status;
}

/* ---------------------------------------------------------------- stages */

/* Are the data no longer followed to the noise of the answer before? */
static bool is_lost(const kb_pass *p)
{
    const kb_search_result *before = p->before;
    size_t n = kb_pass_likelihood(p)->n_groups;
    double noise = 0, floor = fmin(kb_pass_floor(p), most_floor);
    if (!kb_pass_has_model(p)) return true;
    for (size_t f = 0; kb_has_model(before) && f < n; f++) noise += before->pool.fits[0]->variance[f] / (double)n;
    if (!kb_has_model(before)) noise = INFINITY;
    double misfit = p->search.pool->fits[0]->misfit;
    return misfit * misfit > p->task->schedule->lost * (noise + floor);
}

static bool is_hopeless(const kb_pass *p) { return kb_one_axis_of(p)->stage > 0 && is_lost(p); }

static kbass_status extend(kb_pass *p, size_t stage, kbass_error *error)
{
    kbass_status status = kb_one_axis_extend(p, stage, error);
    bool is_new = status == KBASS_OK && !p->is_over && !p->is_same && stage;
    return is_new ? kb_one_axis_enter_damped(p, p->search.pool, error) : status;
}

/* All terms again, beside those of the best models of the answer before. */
static kbass_status widen(kb_pass *p, kbass_error *error)
{
    kb_pool *pool = p->search.pool;
    p->search.columns = ((const kb_pde1d_problem *)p->problem)->columns;
    if (kb_run_stopped(p->search.run) || kb_one_axis_reach(p, 1) || is_lost(p)) kb_pool_trim(pool, 0);
    bool is_alike = p->before->pool.n_start == pool->n_start && p->before->windows->n == p->search.windows->n;
    return pool->n && is_alike ? kb_one_axis_enter_damped(p, &p->before->pool, error) : KBASS_OK;
}

const kb_task kb_task_of_simple_terms = {.schedule = &kb_schedule_of_one_axis.value,
                                         .examine = kb_examine_residuals,
                                         .sources = kb_sources_of_one_axis,
                                         .begin = kb_one_axis_begin,
                                         .enter = enter,
                                         .take = kb_one_axis_take,
                                         .extend = extend,
                                         .raise_floor = kb_one_axis_raise_floor,
                                         .lower_floor = kb_one_axis_lower_floor,
                                         .noise = kb_one_axis_noise,
                                         .is_hopeless = is_hopeless,
                                         .widen = widen,
                                         .tune = kb_one_axis_tune_period,
                                         .refine = kb_one_axis_refine,
                                         .step_back = kb_one_axis_step_back,
                                         .finish = kb_one_axis_finish,
                                         .end = kb_one_axis_end};
