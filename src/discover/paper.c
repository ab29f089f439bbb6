#include "discover/paper.h"

#include <math.h>
#include <string.h>

#include "base/linalg.h"
#include "base/memory.h"
#include "base/status.h"
#include "ep/ep.h"
#include "solve/adam.h"

enum { SWEEPS = 200 };
static const double prune_below = 0.5, certain = 40;
static const double shortest = 0.02;                                  /* length scale of the kernel */
static const double still_probability = 1e-3, still_objective = 1e-6; /* the latter relative */

typedef struct {
    kb_canvas *canvas;
    const kb_columns *columns;
    kb_ep *ep;
    kb_adam *adam;
    kb_support active;
    double *slab, *log_odds, *b, *before; /* of the active columns */
    bool *keep;
    double *weight, *sd, *probability; /* of all columns, the data's units */
    bool has_model;
    size_t iterations;
} loop;

/* ---------------------------------------------------------------- memory */

static void clear(loop *l)
{
    kb_ep_destroy(l->ep);
    kb_adam_destroy(l->adam);
    kb_support_clear(&l->active);
    double *vectors[] = {l->slab, l->log_odds, l->b, l->before, l->weight, l->sd, l->probability};
    for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++) kb_free(vectors[i]);
    kb_free(l->keep);
}

static kbass_status prepare(loop *l, kb_canvas *canvas, kbass_error *error)
{
    size_t n = canvas->frame.columns->n;
    *l = (loop){.canvas = canvas, .columns = canvas->frame.columns};
    kbass_status status = kb_ep_create(n, &l->ep, error);
    if (status == KBASS_OK) status = kb_adam_create(canvas->n, canvas->settings->paper_learning_rate, &l->adam, error);
    if (status == KBASS_OK) status = kb_support_create(n, &l->active, error);
    l->slab = KB_NEW(double, n);
    l->log_odds = KB_NEW(double, n);
    l->b = KB_NEW(double, n);
    l->before = KB_NEW(double, n);
    l->keep = KB_NEW(bool, n);
    l->weight = KB_NEW(double, n);
    l->sd = KB_NEW(double, n);
    l->probability = KB_NEW(double, n);
    bool complete = l->slab && l->log_odds && l->b && l->before && l->keep && l->weight && l->sd && l->probability;
    return status == KBASS_OK && !complete ? kb_out_of_memory(error, "the published method") : status;
}

void kb_canvas_destroy(kb_canvas *canvas)
{
    if (canvas) canvas->destroy(canvas);
}

double kb_paper_length(const kbass_settings *settings, double otherwise)
{
    double given = settings->paper_length_scale;
    return given > 0 ? given : fmax(otherwise, shortest);
}

double kb_paper_noise(const kbass_settings *settings, double known_variance)
{
    return known_variance > 0 ? known_variance : settings->paper_noise_variance;
}

double kb_paper_tau(const kb_canvas *canvas, size_t state)
{
    return canvas->settings->paper_equation_variance * canvas->slope_squares[state];
}

/* ---------------------------------------------------------------- EP-EM */

static void set_prior(loop *l)
{
    const kbass_settings *settings = l->canvas->settings;
    for (size_t q = 0; q < l->active.n; q++) {
        size_t column = l->active.column[q];
        l->slab[q] = settings->paper_slab_variance * l->canvas->slope_squares[l->columns->equation[column]];
        l->log_odds[q] =
            l->columns->required[column] ? certain : log(settings->paper_inclusion / (1 - settings->paper_inclusion));
    }
}

static bool begin(loop *l)
{
    memset(l->canvas->w, 0, l->columns->n * sizeof *l->canvas->w);
    kb_support_copy(l->canvas->all, &l->active);
    set_prior(l);
    kb_ep_reset(l->ep, l->slab);
    return l->canvas->regress(l->canvas);
}

/* Weights, sds and probabilities of the active columns as EP has them now. */
static void take_posterior(loop *l)
{
    for (size_t q = 0; q < l->active.n; q++) {
        size_t column = l->active.column[q];
        double unit = l->columns->unit[column];
        l->canvas->w[column] = l->ep->mean[q];
        l->weight[column] = l->ep->mean[q] * unit;
        l->sd[column] = sqrt(l->ep->variance[q]) * unit;
        l->probability[column] = l->ep->probability[q];
    }
}

static void prune(loop *l)
{
    size_t kept = 0;
    for (size_t q = 0; q < l->active.n; q++) {
        size_t column = l->active.column[q];
        l->keep[q] = l->ep->probability[q] >= prune_below;
        if (l->keep[q]) l->active.column[kept++] = column;
        else l->canvas->w[column] = 0;
    }
    l->active.n = kept;
    kb_ep_keep(l->ep, l->keep);
    set_prior(l);
}

/* EP on the plug-in message; *moved is the largest change of a probability. False in numerical trouble. */
static bool e_step(loop *l, double *moved)
{
    kb_canvas *c = l->canvas;
    size_t k = l->active.n;
    c->listen(c, &l->active);
    for (size_t q = 0; q < k; q++) {
        l->b[q] = -c->gradient_w[q]; /* b = G w - dJ/dw = Phi'u_t / tau */
        for (size_t j = 0; j < k; j++) l->b[q] += c->G[q + j * k] * c->w[l->active.column[j]];
    }
    memcpy(l->before, l->ep->probability, k * sizeof *l->before);
    if (!kb_ep_run(l->ep, c->G, l->b, l->slab, l->log_odds, SWEEPS)) return false;
    *moved = 0;
    for (size_t q = 0; q < k; q++) *moved = fmax(*moved, fabs(l->ep->probability[q] - l->before[q]));
    take_posterior(l);
    prune(l);
    return true;
}

/* Adam on the field; returns the mean objective over the second half of its steps, which its jitter does not move. */
static double m_step(loop *l, kb_run *run)
{
    int steps = l->canvas->settings->paper_steps, counted = 0;
    double sum = 0;
    for (int step = 0; step < steps && kb_run_continue(run, l->active.n); step++) {
        double J = l->canvas->descend(l->canvas, &l->active);
        kb_adam_step(l->adam, l->canvas->gradient, l->canvas->z);
        if (2 * step + 1 >= steps) sum += J, counted++;
    }
    return sum / counted;
}

/* *lost when numerical trouble ended it; returns whether it converged. */
static bool iterate(loop *l, kb_run *run, bool *lost)
{
    int iterations = l->canvas->settings->paper_iterations;
    double before = INFINITY, moved = INFINITY;
    *lost = !begin(l);
    for (int iteration = 0; iteration < iterations && !*lost && !kb_run_stopped(run); iteration++) {
        run->fraction = 0.05 + 0.95 * iteration / iterations;
        *lost = !e_step(l, &moved);
        if (*lost) break;
        l->has_model = true;
        double J = m_step(l, run);
        if (kb_run_stopped(run)) break;
        l->iterations++;
        *lost = !isfinite(J);
        if (moved <= still_probability && fabs(J - before) <= still_objective * (1 + fabs(J))) return true;
        before = J;
    }
    return false;
}

/* ---------------------------------------------------------------- the answer */

static kbass_status fill(const loop *l, kb_answer *answer, kbass_error *error)
{
    kb_canvas *c = l->canvas;
    double *noise = (double *)answer->result.noise, *initial = (double *)answer->result.initial;
    for (size_t i = 0; i < c->frame.dictionary->n_states; i++) {
        initial[i] = c->initial(c, i);
        noise[i] = c->residual_rms(c, i);
    }
    /* EP's mean and sd have the spike in them: they are averages already */
    kb_weights weights = {l->weight, l->sd, l->probability, l->weight, l->sd};
    return kb_answer_equations(answer, &c->frame, &weights, &l->active, error);
}

static kbass_outcome outcome_of(kb_run *run, bool converged, bool lost)
{
    int reason = atomic_load(&run->reason);
    if (reason) return (kbass_outcome)(reason - 1);
    return lost ? KBASS_NO_MODEL : converged ? KBASS_CONVERGED : KBASS_NOT_CONVERGED;
}

static kbass_status run_loop(loop *l, kb_run *run, kb_answer *answer, kbass_error *error)
{
    double start = kb_clock();
    bool lost = false, converged = false;
    kbass_status status = KBASS_OK;
    run->stage = kbass_stage_name(KBASS_STAGE_SEARCH);
    converged = iterate(l, run, &lost);
    double seconds = kb_clock() - start;
    lost = lost || !l->canvas->finish(l->canvas, &l->active);
    if (l->has_model && !lost) status = fill(l, answer, error);
    answer->result.outcome = outcome_of(run, converged, lost);
    answer->result.n_starts = 1;
    answer->result.n_starts_lost = lost;
    answer->result.n_iterations = l->iterations;
    answer->result.seconds_per_iteration = l->iterations ? seconds / (double)l->iterations : NAN;
    answer->result.seconds[KBASS_STAGE_SEARCH] = kb_clock() - start;
    return status;
}

kbass_status kb_paper_run(kb_canvas *canvas, kb_run *run, kb_answer **answer, kbass_error *error)
{
    loop l;
    kb_answer *found = NULL;
    kbass_status status = prepare(&l, canvas, error);
    if (status == KBASS_OK) status = kb_answer_begin(&canvas->frame, &found, error);
    if (status == KBASS_OK) status = run_loop(&l, run, found, error);
    clear(&l);
    if (status == KBASS_OK) *answer = found;
    else kb_answer_destroy(found);
    return status;
}
