#include "discover/anneal.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"

enum { ITERATIONS = 40, SWEEPS = 5 };
static const double annealed_share = 0.8; /* of the iterations in which tau falls */
static const double tau_last = 1e-3, prune_below = 1e-3, slab_factor = 10, certain = 40;

typedef struct {
    double *G, *b, *slab, *log_odds, *mean, *slope_squares;
    bool *keep;
} buffers;

size_t kb_anneal_work(const kb_problem *p)
{
    size_t n = p->columns->n;
    return n * n + 4 * n + p->record->n_states + (n * sizeof(bool)) / sizeof(double) + 1;
}

static buffers carve(const kb_problem *p, double *work)
{
    size_t n = p->columns->n;
    buffers b = {work, work + n * n, NULL, NULL, NULL, NULL, NULL};
    b.slab = b.b + n;
    b.log_odds = b.slab + n;
    b.mean = b.log_odds + n;
    b.slope_squares = b.mean + n;
    b.keep = (bool *)(b.slope_squares + p->record->n_states);
    return b;
}

/* The message in units of the columns' present rms, with the slab and prior of each. */
static void normalise(const kb_problem *p, const kb_field *f, const kb_support *active, buffers *u)
{
    size_t k = active->n;
    for (size_t j = 0; j < k; j++) {
        size_t column = active->column[j];
        u->b[j] = f->b[j];
        for (size_t i = 0; i < k; i++) {
            u->G[i + j * k] = f->G[i + j * k] / (f->rms[i] * f->rms[j]);
            u->b[j] += f->G[i + j * k] * f->w[active->column[i]];
        }
        u->b[j] /= f->rms[j];
        u->slab[j] = slab_factor * u->slope_squares[p->columns->equation[column]];
        u->log_odds[j] = p->columns->required[column] ? certain : p->columns->log_odds[column];
    }
}

/* Marks the columns to keep: likely enough, required, or the likeliest of their equation. */
static void choose(const kb_problem *p, const kb_support *active, const double *probability, double threshold, bool *keep)
{
    for (size_t j = 0; j < active->n; j++)
        keep[j] = probability[j] >= threshold || p->columns->required[active->column[j]];
    for (size_t i = 0; i < p->record->n_states; i++) {
        size_t best = active->n;
        for (size_t j = 0; j < active->n; j++)
            if (p->columns->equation[active->column[j]] == i && (best == active->n || probability[j] > probability[best]))
                best = j;
        if (best < active->n) keep[best] = true;
    }
}

static void prune(kb_support *active, const bool *keep, double *w)
{
    size_t kept = 0;
    for (size_t j = 0; j < active->n; j++) {
        if (keep[j]) active->column[kept++] = active->column[j];
        else w[active->column[j]] = 0;
    }
    active->n = kept;
}

/* E step on all active columns, M step for the field. */
static bool iterate(const kb_problem *p, kb_field *f, kb_ep *ep, kb_support *active, buffers *u, bool first)
{
    kb_field_assemble(f, active);
    if (!kb_field_marginalise(f)) return false;
    normalise(p, f, active, u);
    if (first) kb_ep_reset(ep, u->slab);
    if (!kb_ep_run(ep, u->G, u->b, u->slab, u->log_odds, SWEEPS)) return false;
    for (size_t j = 0; j < active->n; j++) u->mean[j] = ep->mean[j] / f->rms[j] - f->w[active->column[j]];
    kb_field_step(f, u->mean);
    for (size_t j = 0; j < active->n; j++) f->w[active->column[j]] += u->mean[j];
    choose(p, active, ep->probability, prune_below, u->keep);
    prune(active, u->keep, f->w);
    kb_ep_keep(ep, u->keep);
    return true;
}

static bool begin(const kb_problem *p, const kb_start *start, kb_field *f, buffers *u)
{
    for (size_t i = 0; i < f->n_states; i++)
        f->v[i] = p->record->known_variance[i] > 0 ? p->record->known_variance[i] : start->variance;
    f->level = NULL;
    memset(f->w, 0, p->columns->n * sizeof *f->w);
    kb_field_set_level(f, p->levels[kb_problem_level(p, start->length_first)]);
    if (!kb_field_regress(f)) return false;
    kb_field_slope_squares(f, u->slope_squares);
    return true;
}

bool kb_anneal(const kb_problem *p, const kb_start *start, kb_field *f, kb_ep *ep, double *work, kb_support *support,
               kb_run *run)
{
    buffers u = carve(p, work);
    kb_support_copy(&p->all, support);
    ep->n = p->columns->n;
    if (!begin(p, start, f, &u)) return false;
    for (int iteration = 0; iteration < ITERATIONS; iteration++) {
        double progress = fmin(1, iteration / (annealed_share * ITERATIONS));
        double length = start->length_first * pow(start->length_last / start->length_first, progress);
        for (size_t i = 0; i < f->n_states; i++) f->tau[i] = pow(tau_last, progress) * u.slope_squares[i];
        kb_field_set_level(f, p->levels[kb_problem_level(p, length)]);
        if (!iterate(p, f, ep, support, &u, iteration == 0)) return false;
        if (!kb_run_continue(run, support->n)) return false;
    }
    choose(p, support, ep->probability, 0.5, u.keep);
    prune(support, u.keep, f->w);
    return true;
}
