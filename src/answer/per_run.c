#include "answer/per_run.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/status.h"
#include "collocation/kernel_likelihood.h"
#include "forward/shoot.h"
#include "search/polish.h"

enum { ITERATIONS = 60 };   /* iterations: of a fit with weights by run */
enum { MOST_MODELS = 40 };  /* models: of the pool that are fitted by run */
enum { MOST_EXTENDED = 4 }; /* models: that may also gain a term by run */

/* Where models are fitted again: one of the problems, as its search left it. */
typedef struct {
    kb_frame frame;
    const kb_ode_problem *ode;       /* of states, */
    const kb_pde1d_problem *pde1d;   /* of fields over one axis, */
    const kb_pde_nd_problem *pde_nd; /* or of others, by the kernel engine; else NULL */
    const kb_search_result *found;
    kb_run *run;
} venue;

static size_t windows_of(const venue *v) { return v->found->windows ? v->found->windows->n : 0; }

typedef struct {
    const venue *venue;
    const kb_fit *common;
    kb_fit *own;              /* the same, when it is ours; else NULL */
    size_t n_varied, *origin; /* origin: the common model's column behind each of ours */
    kb_columns columns;
    kb_likelihood *likelihood;
    kb_fit *fit;
} experiment;

static bool may_vary(const venue *v, size_t column)
{
    const kb_columns *c = v->frame.columns;
    return v->frame.dictionary->varied[c->term[column] + c->equation[column] * v->frame.dictionary->n_terms];
}

static bool is_varied(const experiment *x, size_t column) { return may_vary(x->venue, column); }

/* The prior odds of a term count once. */
static void add_column(experiment *x, size_t column, size_t run)
{
    const kb_columns *from = x->venue->frame.columns;
    kb_columns *c = &x->columns;
    size_t i = c->n++;
    x->origin[i] = column;
    c->equation[i] = from->equation[column];
    c->term[i] = from->term[column];
    c->scale[i] = from->scale[column];
    c->unit[i] = from->unit[column];
    c->slab[i] = from->slab[column];
    c->log_odds[i] = run == KB_ALL_RUNS || run == 0 ? from->log_odds[column] : 0;
    c->run[i] = run;
}

static kbass_status make_columns(experiment *x, kbass_error *error)
{
    size_t runs = x->venue->frame.n_runs, room = x->common->support.n * runs;
    kb_columns *c = &x->columns;
    c->equation = KB_NEW(size_t, room);
    c->term = KB_NEW(size_t, room);
    c->scale = KB_NEW(double, room);
    c->unit = KB_NEW(double, room);
    c->slab = KB_NEW(double, room);
    c->log_odds = KB_NEW(double, room);
    c->run = KB_NEW(size_t, room);
    x->origin = KB_NEW(size_t, room);
    if (!c->equation || !c->term || !c->scale || !c->unit || !c->slab || !c->log_odds || !c->run || !x->origin)
        return kb_out_of_memory(error, "the weights of each run");
    c->n_fixed = x->venue->frame.columns->n_fixed; /* borrowed */
    c->fixed_equation = x->venue->frame.columns->fixed_equation;
    c->fixed_term = x->venue->frame.columns->fixed_term;
    c->fixed_weight = x->venue->frame.columns->fixed_weight;
    for (size_t q = 0; q < x->common->support.n; q++) {
        size_t column = x->common->support.column[q];
        for (size_t run = 0; is_varied(x, column) && run < runs; run++) add_column(x, column, run);
        if (!is_varied(x, column)) add_column(x, column, KB_ALL_RUNS);
        x->n_varied += is_varied(x, column);
    }
    return KBASS_OK;
}

static kbass_status make_shooter(const venue *v, const kb_columns *columns, kb_shooter **out, kbass_error *error)
{
    const kb_pde1d_problem *l = v->pde1d;
    size_t windows = windows_of(v), n = columns->n;
    kb_pde1d_runs *all_runs = NULL;
    if (!l) return kb_shooter_create(v->ode->record, v->ode->dictionary, columns, windows, n, out, error);
    kbass_status status =
        kb_pde1d_runs_create(l->n_runs, v->found->engine.setups, l->dictionary, columns, n, &all_runs, error);
    return status == KBASS_OK ? kb_shooter_create_on(&all_runs->dynamics, columns, windows, n, out, error) : status;
}

/* On the grids of the final fits, and under the floor that the noise had there; or at the final hyperparameters. */
static kbass_status make_likelihood(const venue *v, const kb_columns *columns, kb_likelihood **out, kbass_error *error)
{
    kb_shooter *shooter = NULL;
    kb_kernel_likelihood *kernel = NULL;
    kbass_status status = KBASS_OK;
    if (v->pde_nd) {
        status = kb_kernel_likelihood_create(v->pde_nd->domain, v->pde_nd->dictionary, columns,
                                             &v->found->engine.proposal, &kernel, error);
        if (status == KBASS_OK) *out = &kernel->likelihood;
        return status;
    }
    status = make_shooter(v, columns, &shooter, error);
    if (status != KBASS_OK) return status;
    if (v->ode) shooter->flow->follow = kb_ode_problem_follow(v->ode);
    shooter->dynamics->noise_floor = v->found->noise_floor;
    shooter->likelihood.windows = v->found->windows;
    *out = &shooter->likelihood;
    return KBASS_OK;
}

/* Common weights that are wrong for every run had to leave the equation soft. */
static kbass_status stiffen(experiment *x, kbass_error *error)
{
    kb_fit *spare = NULL;
    kbass_status status = kb_fit_create(x->columns.n, x->likelihood->n_start, 0, x->columns.n, &spare, error);
    if (status == KBASS_OK)
        kb_kernel_likelihood_stiffen(kb_kernel_likelihood_of(x->likelihood), x->fit, spare, ITERATIONS);
    kb_fit_destroy(spare);
    return status;
}

/* From the common weights and starts. */
static kbass_status fit_all(experiment *x, kbass_error *error)
{
    size_t n = x->columns.n, n_start = x->venue->found->pool.n_start, windows = windows_of(x->venue);
    kbass_status status = kb_fit_create(n, n_start, windows, n, &x->fit, error);
    if (status == KBASS_OK) status = make_likelihood(x->venue, &x->columns, &x->likelihood, error);
    if (status != KBASS_OK) return status;
    x->fit->n_windows = windows;
    for (size_t i = 0; i < n; i++) {
        kb_support_add(&x->fit->support, i);
        x->fit->w[i] = x->common->w[x->origin[i]];
    }
    memcpy(x->fit->start, x->common->start, windows * n_start * sizeof *x->fit->start);
    memcpy(x->fit->variance, x->common->variance, n_start * sizeof *x->fit->variance);
    x->likelihood->fit(x->likelihood, x->fit, ITERATIONS, -INFINITY);
    return x->venue->pde_nd && x->fit->valid ? stiffen(x, error) : KBASS_OK;
}

static double spread_of(size_t n, const double *values)
{
    double mean = 0, squares = 0;
    for (size_t i = 0; i < n; i++) mean += values[i] / (double)n;
    for (size_t i = 0; i < n; i++) squares += (values[i] - mean) * (values[i] - mean);
    return sqrt(squares / (double)(n - 1));
}

/* The names of the equation and the term, which live as long as the answer. */
static void name_term(const experiment *x, const kb_answer *answer, size_t column, kbass_varied *out)
{
    const kb_dictionary *d = x->venue->frame.dictionary;
    const kb_columns *c = x->venue->frame.columns;
    size_t e = 0;
    for (size_t i = 0; i < c->equation[column]; i++) e += d->has_equation[i];
    out->lhs = answer->result.equations[e].lhs;
    out->term = kb_dictionary_name(d, c->term[column]);
}

static kbass_status tell(const experiment *x, const kb_fit *chosen, kb_answer *answer, kbass_error *error)
{
    size_t runs = x->venue->frame.n_runs, n = 0;
    kbass_varied *list = kb_answer_own(answer, x->n_varied, sizeof *list);
    for (size_t i = 0; list && i < x->columns.n; i++) {
        if (x->columns.run[i] != 0) continue;
        double *weights = kb_answer_own(answer, runs, sizeof *weights), *sds = kb_answer_own(answer, runs, sizeof *sds);
        if (!weights || !sds) return kb_out_of_memory(error, "the answer");
        for (size_t run = 0; run < runs; run++) {
            weights[run] = x->columns.unit[i] * x->fit->w[i + run];
            sds[run] = fabs(x->columns.unit[i]) * sqrt(kb_fit_variance(x->fit, i + run));
        }
        list[n] =
            (kbass_varied){NULL, NULL, runs, weights, sds, spread_of(runs, weights), kb_fit_log_odds(x->fit, chosen)};
        name_term(x, answer, x->origin[i], &list[n++]);
    }
    answer->result.varied = list;
    answer->result.n_varied = list ? n : 0;
    return list ? KBASS_OK : kb_out_of_memory(error, "the answer");
}

/* The model as one of common weights, their means over the runs. */
static kbass_status write_law(const experiment *x, kb_answer *answer, kbass_error *error)
{
    kb_fit mean = {.support = x->common->support, .w = KB_NEW(double, x->venue->frame.columns->n)};
    if (!mean.w) return kb_out_of_memory(error, "the answer");
    for (size_t i = 0; i < x->columns.n; i++)
        mean.w[x->origin[i]] += x->fit->w[i] / (x->columns.run[i] == KB_ALL_RUNS ? 1 : (double)x->venue->frame.n_runs);
    answer->result.varied_equations = kb_answer_law(answer, &x->venue->frame, &mean);
    kb_free(mean.w);
    return answer->result.varied_equations ? KBASS_OK : kb_out_of_memory(error, "the answer");
}

static void clear(experiment *x)
{
    void *arrays[] = {x->columns.equation, x->columns.term,     x->columns.scale, x->columns.unit,
                      x->columns.slab,     x->columns.log_odds, x->columns.run,   x->origin};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++) kb_free(arrays[i]);
    if (x->likelihood) x->likelihood->destroy(x->likelihood);
    kb_fit_destroy(x->fit);
    kb_fit_destroy(x->own);
}

/* A model with its varied weights set free; *best becomes it if it is better. Takes `own` over. Does nothing in a run
   that is stopped. */
static kbass_status try_model(const venue *v, const kb_fit *common, kb_fit *own, experiment *best, kbass_error *error)
{
    experiment x = {.venue = v, .common = common, .own = own};
    kbass_status status = kb_run_continue(v->run, common->support.n) ? make_columns(&x, error) : KBASS_OK;
    if (status == KBASS_OK && x.n_varied) status = fit_all(&x, error);
    bool is_better = status == KBASS_OK && x.n_varied && x.fit->valid &&
                     (!best->fit || x.fit->log_evidence > best->fit->log_evidence);
    if (is_better) {
        experiment last = *best;
        *best = x;
        x = last;
    }
    clear(&x);
    return status;
}

/* A copy of a model to change, with room for so many terms. */
static kbass_status copy_model(const venue *v, const kb_fit *fit, size_t room, kb_fit **out, kbass_error *error)
{
    size_t n = v->frame.columns->n, n_start = v->found->pool.n_start;
    kbass_status status = kb_fit_create(n, n_start, windows_of(v), room, out, error);
    if (status == KBASS_OK) kb_fit_copy(fit, *out, n, n_start);
    return status;
}

/* A term whose weights cancel over the runs has none in common: `fit` with each varied term that it lacks. */
static kbass_status add_terms(const venue *v, const kb_fit *fit, experiment *best, kbass_error *error)
{
    kbass_status status = KBASS_OK;
    for (size_t column = 0; status == KBASS_OK && column < v->frame.columns->n; column++) {
        kb_fit *trial = NULL;
        if (!may_vary(v, column) || kb_support_has(&fit->support, column)) continue;
        status = copy_model(v, fit, fit->support.n + 1, &trial, error);
        if (status != KBASS_OK) break;
        kb_support_add(&trial->support, column);
        trial->w[column] = 0;
        status = try_model(v, trial, trial, best, error);
    }
    return status;
}

/* What common weights needed terms for may do without them: drops those of the best model while it gets better. */
static kbass_status drop_terms(const venue *v, experiment *best, kbass_error *error)
{
    for (size_t q = 0; q < best->common->support.n;) {
        kb_fit *trial = NULL;
        const kb_fit *before = best->common;
        size_t column = before->support.column[q++];
        if (is_varied(best, column) || v->frame.columns->required[column]) continue;
        kbass_status status = copy_model(v, before, before->support.n, &trial, error);
        if (status != KBASS_OK) return status;
        kb_support_remove(&trial->support, column);
        status = try_model(v, trial, trial, best, error);
        if (status != KBASS_OK) return status;
        if (best->common == trial) q = 0;
    }
    return KBASS_OK;
}

static kbass_status vary(const venue *v, kb_answer *answer, kbass_error *error)
{
    experiment best = {0};
    kbass_status status = KBASS_OK;
    const kb_pool *pool = &v->found->pool;
    for (size_t i = 0; status == KBASS_OK && i < pool->n && i < MOST_MODELS; i++)
        if (pool->fits[i]->valid) status = try_model(v, pool->fits[i], NULL, &best, error);
    for (size_t i = 0; status == KBASS_OK && i < pool->n && i < MOST_EXTENDED; i++)
        if (pool->fits[i]->valid) status = add_terms(v, pool->fits[i], &best, error);
    if (status == KBASS_OK && best.fit) status = drop_terms(v, &best, error);
    if (status == KBASS_OK && best.fit) status = tell(&best, pool->fits[0], answer, error);
    if (status == KBASS_OK && best.fit) status = write_law(&best, answer, error);
    clear(&best);
    return status;
}

static bool is_asked(const kbass_settings *settings, const kb_frame *frame, const kb_search_result *found)
{
    return settings->vary && *settings->vary && frame->n_runs > 1 && kb_has_model(found);
}

kbass_status kb_vary_states(const kb_ode_problem *p, const kb_search_result *found, kb_run *run, kb_answer *answer,
                            kbass_error *error)
{
    venue v = {.frame = kb_ode_problem_frame(p), .ode = p, .found = found, .run = run};
    return is_asked(p->settings, &v.frame, found) ? vary(&v, answer, error) : KBASS_OK;
}

kbass_status kb_vary_fields(const kb_pde1d_problem *l, const kb_search_result *found, kb_run *run, kb_answer *answer,
                            kbass_error *error)
{
    venue v = {.frame = kb_pde1d_problem_frame(l), .pde1d = l, .found = found, .run = run};
    return is_asked(l->settings, &v.frame, found) ? vary(&v, answer, error) : KBASS_OK;
}

kbass_status kb_vary_axes(const kb_pde_nd_problem *e, const kbass_settings *settings, const kb_search_result *found,
                          kb_run *run, kb_answer *answer, kbass_error *error)
{
    venue v = {.frame = kb_pde_nd_problem_frame(e), .pde_nd = e, .found = found, .run = run};
    return is_asked(settings, &v.frame, found) && found->engine.proposal.w ? vary(&v, answer, error) : KBASS_OK;
}
