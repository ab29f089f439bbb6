#include "discover/vary.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/status.h"
#include "discover/polish.h"

enum { ITERATIONS = 60, MOST_MODELS = 40, MOST_EXTENDED = 4 };

typedef struct {
    const kb_problem *problem;
    const kb_fit *common;
    kb_fit *own; /* the same, when it is ours; else NULL */
    const kb_windows *windows;
    size_t n_varied, *origin; /* origin: the common model's column behind each of ours */
    kb_columns columns;
    kb_shooter *shooter;
    kb_fit *fit;
} experiment;

static bool may_vary(const kb_problem *p, size_t column)
{
    const kb_columns *c = p->columns;
    return p->dictionary->varied[c->term[column] + c->equation[column] * p->dictionary->n_terms];
}

static bool is_varied(const experiment *x, size_t column) { return may_vary(x->problem, column); }

/* The prior odds of a term count once. */
static void add_column(experiment *x, size_t column, size_t run)
{
    const kb_columns *from = x->problem->columns;
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
    size_t runs = x->problem->record->n_runs, room = x->common->support.n * runs;
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
    c->n_fixed = x->problem->columns->n_fixed; /* borrowed */
    c->fixed_equation = x->problem->columns->fixed_equation;
    c->fixed_term = x->problem->columns->fixed_term;
    c->fixed_weight = x->problem->columns->fixed_weight;
    for (size_t q = 0; q < x->common->support.n; q++) {
        size_t column = x->common->support.column[q];
        for (size_t run = 0; is_varied(x, column) && run < runs; run++) add_column(x, column, run);
        if (!is_varied(x, column)) add_column(x, column, KB_ALL_RUNS);
        x->n_varied += is_varied(x, column);
    }
    return KBASS_OK;
}

/* From the common weights and starts. */
static kbass_status fit_all(experiment *x, kbass_error *error)
{
    const kb_record *record = x->problem->record;
    size_t n = x->columns.n, states = record->n_states, windows = x->windows->n;
    kbass_status status = kb_fit_create(n, states, windows, n, &x->fit, error);
    if (status == KBASS_OK)
        status = kb_shooter_create(record, x->problem->dictionary, &x->columns, windows, n, &x->shooter, error);
    if (status != KBASS_OK) return status;
    x->shooter->flow->follow = kb_problem_follow(x->problem);
    x->shooter->windows = x->windows;
    x->fit->n_windows = windows;
    for (size_t i = 0; i < n; i++) {
        kb_support_add(&x->fit->support, i);
        x->fit->w[i] = x->common->w[x->origin[i]];
    }
    memcpy(x->fit->start, x->common->start, windows * states * sizeof *x->fit->start);
    memcpy(x->fit->variance, x->common->variance, states * sizeof *x->fit->variance);
    kb_shooter_fit(x->shooter, x->fit, ITERATIONS, -INFINITY);
    return KBASS_OK;
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
    const kb_dictionary *d = x->problem->dictionary;
    const kb_columns *c = x->problem->columns;
    size_t e = 0;
    for (size_t i = 0; i < c->equation[column]; i++) e += d->has_equation[i];
    out->lhs = answer->result.equations[e].lhs;
    out->term = kb_dictionary_name(d, c->term[column]);
}

static kbass_status tell(const experiment *x, const kb_fit *chosen, kb_answer *answer, kbass_error *error)
{
    size_t runs = x->problem->record->n_runs, n = 0;
    kbass_varied *list = kb_answer_own(answer, x->n_varied, sizeof *list);
    for (size_t i = 0; list && i < x->columns.n; i++) {
        if (x->columns.run[i] != 0) continue;
        double *weights = kb_answer_own(answer, runs, sizeof *weights), *sds = kb_answer_own(answer, runs, sizeof *sds);
        if (!weights || !sds) return kb_out_of_memory(error, "the answer");
        for (size_t run = 0; run < runs; run++) {
            weights[run] = x->columns.unit[i] * x->fit->w[i + run];
            sds[run] = fabs(x->columns.unit[i]) * sqrt(kb_fit_variance(x->fit, i + run));
        }
        list[n] = (kbass_varied){NULL, NULL, runs, weights, sds, spread_of(runs, weights),
                                 kb_fit_log_odds(x->fit, chosen)};
        name_term(x, answer, x->origin[i], &list[n++]);
    }
    answer->result.varied = list;
    answer->result.n_varied = list ? n : 0;
    return list ? KBASS_OK : kb_out_of_memory(error, "the answer");
}

/* The model as one of common weights, their means over the runs. */
static kbass_status write_law(const experiment *x, kb_answer *answer, kbass_error *error)
{
    kb_frame frame = kb_problem_frame(x->problem);
    kb_fit mean = {.support = x->common->support, .w = KB_NEW(double, x->problem->columns->n)};
    if (!mean.w) return kb_out_of_memory(error, "the answer");
    for (size_t i = 0; i < x->columns.n; i++)
        mean.w[x->origin[i]] += x->fit->w[i] / (x->columns.run[i] == KB_ALL_RUNS ? 1 : (double)x->problem->record->n_runs);
    answer->result.varied_equations = kb_answer_law(answer, &frame, &mean);
    kb_free(mean.w);
    return answer->result.varied_equations ? KBASS_OK : kb_out_of_memory(error, "the answer");
}

static void clear(experiment *x)
{
    void *arrays[] = {x->columns.equation, x->columns.term, x->columns.scale, x->columns.unit, x->columns.slab,
                      x->columns.log_odds, x->columns.run, x->origin};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++) kb_free(arrays[i]);
    kb_shooter_destroy(x->shooter);
    kb_fit_destroy(x->fit);
    kb_fit_destroy(x->own);
}

/* A model with its varied weights set free; *best becomes it if it is better. Takes `own` over. */
static kbass_status try_model(const kb_problem *p, const kb_windows *windows, const kb_fit *common, kb_fit *own,
                              experiment *best, kbass_error *error)
{
    experiment x = {.problem = p, .windows = windows, .common = common, .own = own};
    kbass_status status = make_columns(&x, error);
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

/* A term whose weights cancel over the runs has none in common: `fit` with each varied term that it lacks. */
static kbass_status add_terms(const kb_problem *p, const kb_windows *windows, const kb_fit *fit, experiment *best,
                              kbass_error *error)
{
    size_t n = p->columns->n, states = p->record->n_states;
    kbass_status status = KBASS_OK;
    for (size_t column = 0; status == KBASS_OK && column < n; column++) {
        kb_fit *trial = NULL;
        if (!may_vary(p, column) || kb_support_has(&fit->support, column)) continue;
        status = kb_fit_create(n, states, windows->n, fit->support.n + 1, &trial, error);
        if (status != KBASS_OK) break;
        kb_fit_copy(fit, trial, n, states);
        kb_support_add(&trial->support, column);
        trial->w[column] = 0;
        status = try_model(p, windows, trial, trial, best, error);
    }
    return status;
}

/* What common weights needed terms for may do without them: drops those of the best model while it gets better. */
static kbass_status drop_terms(const kb_problem *p, const kb_windows *windows, experiment *best, kbass_error *error)
{
    size_t n = p->columns->n, states = p->record->n_states;
    for (size_t q = 0; q < best->common->support.n;) {
        kb_fit *trial = NULL;
        const kb_fit *before = best->common;
        size_t column = before->support.column[q++];
        if (is_varied(best, column) || p->columns->required[column]) continue;
        kbass_status status = kb_fit_create(n, states, windows->n, before->support.n, &trial, error);
        if (status != KBASS_OK) return status;
        kb_fit_copy(before, trial, n, states);
        kb_support_remove(&trial->support, column);
        status = try_model(p, windows, trial, trial, best, error);
        if (status != KBASS_OK) return status;
        if (best->common == trial) q = 0;
    }
    return KBASS_OK;
}

kbass_status kb_vary(const kb_problem *p, const kb_search_result *found, kb_answer *answer, kbass_error *error)
{
    experiment best = {0};
    kbass_status status = KBASS_OK;
    bool is_asked = p->settings->vary && *p->settings->vary && p->record->n_runs > 1 && kb_has_model(found);
    for (size_t i = 0; is_asked && status == KBASS_OK && i < found->pool.n && i < MOST_MODELS; i++)
        if (found->pool.fits[i]->valid) status = try_model(p, found->windows, found->pool.fits[i], NULL, &best, error);
    for (size_t i = 0; is_asked && status == KBASS_OK && i < found->pool.n && i < MOST_EXTENDED; i++)
        if (found->pool.fits[i]->valid) status = add_terms(p, found->windows, found->pool.fits[i], &best, error);
    if (status == KBASS_OK && best.fit) status = drop_terms(p, found->windows, &best, error);
    if (status == KBASS_OK && best.fit) status = tell(&best, found->pool.fits[0], answer, error);
    if (status == KBASS_OK && best.fit) status = write_law(&best, answer, error);
    clear(&best);
    return status;
}
