#include "propose/ode/anneal.h"

#include <math.h>
#include <string.h>

#include "base/linalg.h"
#include "weights/ties.h"

enum { ITERATIONS = 40 };                 /* iterations: of E and M step; the recipe's */
enum { SWEEPS = 5 };                      /* sweeps: of EP in an iteration, which begins where the last one ended */
static const double annealed_share = 0.8; /* of the iterations: in which tau falls */
static const double tau_last = 1e-3;      /* of the mean squared slope: tau at the end; the recipe's */
static const double prune_below = 1e-3;   /* probability: of columns that leave */
static const double slab_factor = 10;     /* of the mean squared slope: the slab's variance while annealing */

typedef struct {
    double *G, *b, *slab, *log_odds, *mean, *rms, *probability, *merged, *slope_squares, *squares;
    bool *keep, *keep_group;
    size_t *group; /* of each active column: those that constraints tie are one for EP */
} buffers;

size_t kb_anneal_work(const kb_ode_problem *p)
{
    size_t n = p->columns->n;
    return 2 * n * n + 7 * n + 2 * p->record->n_states + (2 * n * sizeof(bool)) / sizeof(double) + 1;
}

static buffers carve(const kb_ode_problem *p, double *work)
{
    size_t n = p->columns->n;
    buffers b = {.G = work, .b = work + n * n};
    b.slab = b.b + n;
    b.log_odds = b.slab + n;
    b.mean = b.log_odds + n;
    b.rms = b.mean + n;
    b.probability = b.rms + n;
    b.merged = b.probability + n;
    b.group = (size_t *)(b.merged + n * n);
    b.slope_squares = b.merged + n * n + n;
    b.squares = b.slope_squares + p->record->n_states;
    b.keep = (bool *)(b.squares + p->record->n_states);
    b.keep_group = b.keep + n;
    return b;
}

/* The sum of the patches' messages about the active weights, and the columns' rms over all of them. */
static bool collect(const kb_ode_problem *p, kb_ode_field **fields, const kb_support *active, buffers *u)
{
    size_t k = active->n;
    memset(u->G, 0, k * k * sizeof *u->G);
    memset(u->b, 0, k * sizeof *u->b);
    memset(u->rms, 0, k * sizeof *u->rms);
    for (size_t patch = 0; patch < p->n_patches; patch++) {
        kb_ode_field *f = fields[patch];
        kb_ode_field_assemble(f, active);
        if (!kb_ode_field_marginalise(f)) return false;
        kb_axpy(k * k, 1, f->G, u->G);
        kb_axpy(k, 1, f->b, u->b);
        for (size_t j = 0; j < k; j++) u->rms[j] += f->rms[j] * f->rms[j] / (double)p->n_patches;
    }
    for (size_t j = 0; j < k; j++) u->rms[j] = sqrt(u->rms[j]);
    return true;
}

/* The message in units of the columns' present rms, with the slab and prior of each. Starts only propose: the limit on
   how many terms an equation expects (columns->log_odds) is for those who judge. */
static void normalise(const kb_ode_problem *p, const double *w, const kb_support *active, buffers *u)
{
    size_t k = active->n;
    for (size_t j = 0; j < k; j++)
        for (size_t i = 0; i < k; i++) u->b[j] += u->G[i + j * k] * w[active->column[i]];
    for (size_t j = 0; j < k; j++) {
        size_t column = active->column[j];
        for (size_t i = 0; i < k; i++) u->G[i + j * k] /= u->rms[i] * u->rms[j];
        u->b[j] /= u->rms[j];
        u->slab[j] = slab_factor * u->slope_squares[p->columns->equation[column]];
        u->log_odds[j] = p->columns->required[column] ? KB_EP_CERTAIN
                                                      : kb_dictionary_log_odds(p->dictionary, p->columns->term[column]);
    }
}

/* Marks the columns to keep: likely enough, required, or the likeliest of their equation. */
static void choose(const kb_ode_problem *p, const kb_support *active, const double *probability, double threshold,
                   bool *keep)
{
    for (size_t j = 0; j < active->n; j++)
        keep[j] = probability[j] >= threshold || p->columns->required[active->column[j]];
    for (size_t i = 0; i < p->record->n_states; i++) {
        size_t best = active->n;
        for (size_t j = 0; j < active->n; j++)
            if (p->columns->equation[active->column[j]] == i &&
                (best == active->n || probability[j] > probability[best]))
                best = j;
        if (best < active->n) keep[best] = true;
    }
}

static void move_fields(const kb_ode_problem *p, kb_ode_field **fields, const kb_support *active, const double *dw)
{
    for (size_t patch = 0; patch < p->n_patches; patch++) {
        kb_ode_field_step(fields[patch], dw);
        for (size_t j = 0; j < active->n; j++) fields[patch]->w[active->column[j]] += dw[j];
    }
}

static void keep_columns(const kb_ode_problem *p, kb_ode_field **fields, kb_support *active, const bool *keep)
{
    size_t kept = 0;
    for (size_t j = 0; j < active->n; j++) {
        size_t column = active->column[j];
        if (keep[j]) active->column[kept++] = column;
        else
            for (size_t patch = 0; patch < p->n_patches; patch++) fields[patch]->w[column] = 0;
    }
    active->n = kept;
}

/* EP on the active columns' groups; means of all columns. */
static bool run_ep(const kb_ode_problem *p, kb_ep *ep, const kb_support *active, buffers *u, bool first)
{
    size_t n = kb_ties_merge(p->columns, active, u->rms, u->G, u->b, u->slab, u->log_odds, u->group, u->merged);
    if (first) {
        ep->n = n;
        kb_ep_reset(ep, u->slab);
    }
    if (!kb_ep_run(ep, u->G, u->b, u->slab, u->log_odds, SWEEPS)) return false;
    for (size_t j = 0; j < active->n; j++)
        u->mean[j] = kb_ties_factor(p->columns, active, u->rms, j) * ep->mean[u->group[j]];
    return true;
}

/* Groups stay or go whole. */
static void choose_groups(const kb_ode_problem *p, const kb_ep *ep, const kb_support *active, double threshold,
                          buffers *u)
{
    for (size_t j = 0; j < active->n; j++) u->probability[j] = ep->probability[u->group[j]];
    choose(p, active, u->probability, threshold, u->keep);
    memset(u->keep_group, 0, ep->n * sizeof *u->keep_group);
    for (size_t j = 0; j < active->n; j++) u->keep_group[u->group[j]] |= u->keep[j];
    for (size_t j = 0; j < active->n; j++) u->keep[j] = u->keep_group[u->group[j]];
}

/* E step on all active columns, M step for the fields. */
static bool iterate(const kb_ode_problem *p, kb_ode_field **fields, kb_ep *ep, kb_support *active, buffers *u,
                    bool first)
{
    if (!collect(p, fields, active, u)) return false;
    normalise(p, fields[0]->w, active, u);
    if (!run_ep(p, ep, active, u, first)) return false;
    for (size_t j = 0; j < active->n; j++) u->mean[j] = u->mean[j] / u->rms[j] - fields[0]->w[active->column[j]];
    move_fields(p, fields, active, u->mean);
    choose_groups(p, ep, active, prune_below, u);
    keep_columns(p, fields, active, u->keep);
    kb_ep_keep(ep, u->keep_group);
    return true;
}

static void set_level(const kb_ode_problem *p, kb_ode_field **fields, double length)
{
    size_t level = kb_ode_problem_level(p, length);
    for (size_t patch = 0; patch < p->n_patches; patch++)
        kb_ode_field_set_level(fields[patch], p->levels[level * p->n_patches + patch]);
}

/* Fields by regression alone; their mean squared slopes, over all patches. */
static bool begin(const kb_ode_problem *p, const kb_anneal_start *start, kb_ode_field **fields, buffers *u)
{
    size_t n = p->record->n_states;
    memset(u->slope_squares, 0, n * sizeof *u->slope_squares);
    for (size_t patch = 0; patch < p->n_patches; patch++) {
        kb_ode_field *f = fields[patch];
        f->level = NULL;
        memset(f->w, 0, p->columns->n * sizeof *f->w);
        for (size_t i = 0; i < n; i++)
            f->v[i] = p->record->known_variance[i] > 0 ? p->record->known_variance[i] : start->variance;
    }
    set_level(p, fields, start->length_first);
    for (size_t patch = 0; patch < p->n_patches; patch++) {
        if (!kb_ode_field_regress(fields[patch])) return false;
        kb_ode_field_slope_squares(fields[patch], u->squares);
        for (size_t i = 0; i < n; i++) u->slope_squares[i] += u->squares[i] / (double)p->n_patches;
    }
    return true;
}

bool kb_anneal(const kb_ode_problem *p, const kb_anneal_start *start, kb_ode_field **fields, kb_ep *ep, double *work,
               kb_support *support, kb_run *run)
{
    buffers u = carve(p, work);
    kb_support_copy(&p->all, support);
    if (!begin(p, start, fields, &u)) return false;
    for (int iteration = 0; iteration < ITERATIONS; iteration++) {
        double progress = fmin(1, iteration / (annealed_share * ITERATIONS));
        for (size_t patch = 0; patch < p->n_patches; patch++)
            for (size_t i = 0; i < p->record->n_states; i++)
                fields[patch]->tau[i] = pow(tau_last, progress) * u.slope_squares[i];
        set_level(p, fields, start->length_first * pow(start->length_last / start->length_first, progress));
        if (!iterate(p, fields, ep, support, &u, iteration == 0)) return false;
        if (!kb_run_continue(run, support->n)) return false;
    }
    kb_ties_number(p->columns, support, u.group);
    choose_groups(p, ep, support, 0.5, &u);
    keep_columns(p, fields, support, u.keep);
    return true;
}
