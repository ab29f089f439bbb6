#include <math.h>

#include "base/status.h"
#include "tasks/one_axis.h"

enum { STEPS_PER_SPACING = 12 }; /* steps: of the period at first */
enum { PERIOD_HALVINGS = 5 };    /* halvings: of that step */
static const double worth = 0.5; /* nats that another period has to gain */

typedef struct {
    kb_pass *pass;
    kb_one_axis *axis;
    size_t first, end; /* runs, on one domain */
    kb_pool trial;
    double evidence; /* the best yet; the period's prior is in it */
} tuning;

static double present_period(const tuning *t) { return t->axis->setups[t->first].line.period; }

static void set_period(const tuning *t, double period)
{
    kb_pde1d_setup *setups = t->axis->setups;
    for (size_t run = t->first; run < t->end; run++) setups[run].line.period = setups[run].profile.period = period;
}

static double period_loss(const tuning *t, double period)
{
    return kb_pde1d_period_loss(t->end - t->first, t->axis->problem->run_samples + t->first, period);
}

/* Continues a fit with the present periods, on the present grid; given up when the run is stopped, which ranks do
   together. */
static kbass_status fit_again(kb_pass *p, kb_fit *fit, kbass_error *error)
{
    kb_shooter *shooter = NULL;
    kbass_status status = kb_one_axis_make_shooter(p, fit->support.n, &shooter, error);
    if (status != KBASS_OK) return status;
    shooter->likelihood.windows = p->search.windows;
    shooter->likelihood.run = p->search.run->reduce ? NULL : p->search.run;
    shooter->dynamics->noise_floor = kb_pass_floor(p);
    kb_shooter_fit(shooter, fit, (int)p->task->schedule->again_iterations, -INFINITY);
    kb_shooter_destroy(shooter);
    return KBASS_OK;
}

/* Moves there when that is better by more than half a nat. */
static kbass_status try_period(tuning *t, double period, bool *better, kbass_error *error)
{
    kb_pool *pool = t->pass->search.pool;
    double before = present_period(t);
    *better = false;
    if (period == before) return KBASS_OK;
    kbass_status status = kb_pool_copy(pool, &t->trial, error);
    set_period(t, period);
    if (status == KBASS_OK) status = fit_again(t->pass, t->trial.fits[0], error);
    double evidence = status == KBASS_OK ? t->trial.fits[0]->log_evidence - period_loss(t, period) : -INFINITY;
    *better = status == KBASS_OK && t->trial.fits[0]->valid && evidence > t->evidence + worth;
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
    const kb_search *search = &t->pass->search;
    const kb_field_samples *samples = t->axis->problem->run_samples[t->first];
    double step = samples->spacing[1] / STEPS_PER_SPACING, usual[] = {1, 1 + samples->spacing[1]};
    kbass_status status = KBASS_OK;
    bool better = false;
    t->evidence = search->pool->fits[0]->log_evidence - period_loss(t, present_period(t));
    for (int i = 0; status == KBASS_OK && samples->gridded && i < 2; i++)
        if (!kb_run_stopped(search->run)) status = try_period(t, usual[i], &better, error);
    for (int halving = 0; status == KBASS_OK && halving < PERIOD_HALVINGS; halving++, step /= 2)
        for (int side = -1; status == KBASS_OK && side <= 1 && !kb_run_stopped(search->run); side += better ? 0 : 2)
            status = try_period(t, fmax(present_period(t) + side * step, 1), &better, error);
    return status;
}

kbass_status kb_one_axis_tune_period(kb_pass *p, kbass_error *error)
{
    kb_one_axis *e = p->state;
    const kb_pde1d_problem *l = e->problem;
    kb_pool *pool = p->search.pool;
    bool moved = false;
    kbass_status status = KBASS_OK;
    if (!kb_pass_has_model(p)) return KBASS_OK;
    tuning t = {.pass = p, .axis = e};
    kb_pool_init(&t.trial, pool->n_columns, pool->n_start, pool->max_windows);
    for (; status == KBASS_OK && t.first < l->n_runs; t.first = t.end) {
        double before = present_period(&t);
        t.end = kb_pde1d_problem_domain_end(l, t.first);
        if (e->setups[t.first].line.periodic) status = tune_domain(&t, error);
        moved = moved || present_period(&t) != before;
        kb_trace_line(p->search.run->trace, "period: %.17g", present_period(&t));
    }
    kb_pool_clear(&t.trial);
    if (status != KBASS_OK || !moved) return status;
    status = kb_one_axis_set_grid(p, e->grid, error);
    return status == KBASS_OK ? kb_search_fit(&p->search, (int)p->task->schedule->final_iterations, error) : status;
}
