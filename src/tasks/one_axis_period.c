#include <math.h>

#include "base/status.h"
#include "search/share.h"
#include "tasks/one_axis.h"

enum { STEPS_PER_SPACING = 12 }; /* steps: of the period at first */
enum { MOST_LOOKS = 16 };        /* fits: at other periods, of one domain */
enum { LENGTHS = 4 };            /* steps: of falling length, the last about 1/800 of a spacing */
static const double closer = 4;  /* times: by which steps shorten where the best period lies between two of them */
static const double worth = 0.5; /* nats that another period has to gain */

typedef struct {
    kb_pass *pass;
    kb_one_axis *axis;
    size_t first, end; /* runs, on one domain */
    kb_pool trial;
    double evidence; /* of the best yet, without the period's prior */
    int looks;
} tuning;

/* What is known at a period beside the present one. */
typedef struct {
    bool is_known;
    double period, evidence;
} side;

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

/* What a thread's likelihood at the present periods is made of. */
typedef struct {
    const kb_pass *pass;
    size_t n_columns;
} trial;

static kbass_status make(const void *context, kb_likelihood **out, kbass_error *error)
{
    const trial *t = context;
    kb_shooter *shooter = NULL;
    kbass_status status = kb_one_axis_make_shooter(t->pass, t->n_columns, &shooter, error);
    if (status != KBASS_OK) return status;
    shooter->likelihood.windows = t->pass->search.windows;
    shooter->dynamics->noise_floor = kb_pass_floor(t->pass);
    *out = &shooter->likelihood;
    return KBASS_OK;
}

/* Continues a fit with the present periods, on the present grid, its windows shared out among threads or ranks; given
   up when the run is stopped, which ranks do together. */
static kbass_status fit_again(kb_pass *p, kb_fit *fit, kbass_error *error)
{
    const kb_one_axis *e = kb_one_axis_of(p);
    const trial context = {p, fit->support.n};
    kb_run *run = p->search.run;
    kb_workers team = {0};
    int threads = p->search.windows->n > 1 ? e->problem->threads : 1;
    kbass_status status = kb_workers_create(threads, make, &context, e->problem->columns, &team, error);
    if (status == KBASS_OK) {
        kb_likelihood *l = team.list[0]->likelihood;
        bool is_shared = kb_share_is_possible(run) && l->share(l, run->reduce, fit->support.n);
        l->run = run->reduce && !is_shared ? NULL : run;
#pragma omp parallel num_threads(is_shared ? 1 : team.n)
#pragma omp master /* the others help */
        l->fit(l, fit, (int)p->task->schedule->again_iterations, -INFINITY);
    }
    kb_workers_destroy(&team);
    return status;
}

/* Moves there when that is better by more than half a nat. */
static kbass_status try_period(tuning *t, double period, double *evidence, bool *better, kbass_error *error)
{
    kb_pool *pool = t->pass->search.pool;
    double before = present_period(t), loss = period_loss(t, before) - period_loss(t, period);
    *better = false;
    *evidence = -INFINITY;
    if (!(period >= 1) || period == before) return KBASS_OK;
    kbass_status status = kb_pool_copy(pool, &t->trial, error);
    set_period(t, period);
    if (status == KBASS_OK) status = fit_again(t->pass, t->trial.fits[0], error);
    t->looks++;
    if (status == KBASS_OK && t->trial.fits[0]->valid) *evidence = t->trial.fits[0]->log_evidence;
    *better = *evidence + loss > t->evidence + worth;
    if (*better) {
        t->evidence = *evidence;
        kb_pool_swap(pool, &t->trial);
    } else {
        set_period(t, before);
    }
    return status;
}

/* A look at either side that is not known; what was the present period becomes the other side of a better one. */
static kbass_status look_beside(tuning *t, double step, side *sides, bool *moved, kbass_error *error)
{
    kbass_status status = KBASS_OK;
    *moved = false;
    for (int i = 0; status == KBASS_OK && i < 2 && !*moved; i++) {
        side before = {true, present_period(t), t->evidence};
        if (sides[i].is_known) continue;
        sides[i] = (side){true, before.period + (i ? step : -step), -INFINITY};
        status = try_period(t, sides[i].period, &sides[i].evidence, moved, error);
        if (!*moved) continue;
        sides[i].is_known = false;
        sides[1 - i] = before;
    }
    return status;
}

/* The top of the parabola through three periods, where it promises a gain. *is_over: it promises none, or kept what it
   promised. */
static kbass_status try_top(tuning *t, double step, const side *sides, bool *moved, bool *is_over, kbass_error *error)
{
    double here = present_period(t), before = t->evidence, evidence,
           slope = (sides[1].evidence - sides[0].evidence) / (2 * step),
           curvature = (2 * before - sides[0].evidence - sides[1].evidence) / (step * step);
    *moved = *is_over = false;
    if (!(isfinite(curvature) && curvature > 0)) return KBASS_OK;
    double top = here + slope / curvature, gain = slope * slope / (2 * curvature),
           loss = period_loss(t, here) - period_loss(t, top);
    *is_over = !(gain + loss > worth);
    if (*is_over) return KBASS_OK;
    kbass_status status = try_period(t, top, &evidence, moved, error);
    *is_over = *moved && fabs(t->evidence - before - gain) < worth;
    return status;
}

static kbass_status climb(tuning *t, kbass_error *error)
{
    kb_run *run = t->pass->search.run;
    double step = t->axis->problem->run_samples[t->first]->spacing[1] / STEPS_PER_SPACING;
    side sides[2] = {{0}};
    bool is_over = false, moved = false;
    int lengths = 0;
    kbass_status status = KBASS_OK;
    while (status == KBASS_OK && !is_over && lengths < LENGTHS && t->looks < MOST_LOOKS && !kb_run_stopped(run)) {
        status = look_beside(t, step, sides, &moved, error);
        if (status != KBASS_OK || moved) continue;
        status = try_top(t, step, sides, &moved, &is_over, error);
        step /= closer;
        lengths++;
        sides[0].is_known = sides[1].is_known = false;
    }
    return status;
}

static kbass_status tune_domain(tuning *t, kbass_error *error)
{
    const kb_search *search = &t->pass->search;
    const kb_field_samples *samples = t->axis->problem->run_samples[t->first];
    double usual[] = {1, 1 + samples->spacing[1]}, evidence;
    kbass_status status = KBASS_OK;
    bool better = false;
    t->evidence = search->pool->fits[0]->log_evidence;
    t->looks = 0;
    for (int i = 0; status == KBASS_OK && samples->gridded && i < 2; i++)
        if (!kb_run_stopped(search->run)) status = try_period(t, usual[i], &evidence, &better, error);
    return status == KBASS_OK ? climb(t, error) : status;
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
