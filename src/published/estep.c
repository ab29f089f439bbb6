#include "published/estep.h"

#include <math.h>
#include <string.h>

#include "base/linalg.h"
#include "base/memory.h"

enum { SWEEPS = 200, STAGES = 4 };

/* From which step on: the information about a term of unit rms over the whole mesh, whose points stand for far fewer
   independent statements. The field has to settle before the equation may speak louder. */
static const struct {
    long step;
    double information;
} stages[STAGES] = {{0, 500}, {3000, 5e3}, {6000, 5e4}, {12000, 5e4}};

/* The M step's variance for each value is that of the noise at first, and in the last stage a share of it for states.
   For fields it is fixed then: how fast field and weights approach each other is proportional to it, so that it must
   not follow a small v. */
static const double last_share = 0.2, last_variance = 2e-4;

/* ---------------------------------------------------------------- life */

void kb_published_posterior_destroy(kb_published_posterior *p)
{
    if (!p) return;
    for (size_t i = 0; p->ep && i < p->model->n_equations; i++) kb_ep_destroy(p->ep[i]);
    double *arrays[] = {p->slope_square, p->weight, p->sd, p->probability, p->slab,
                        p->log_odds,     p->G,      p->b,  p->inverse};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++) kb_free(arrays[i]);
    kb_free(p->ep);
    kb_free(p->keep);
    kb_free(p);
}

static bool allocate(kb_published_posterior *p, size_t columns, size_t most)
{
    p->ep = KB_NEW(kb_ep *, p->model->n_equations);
    p->slope_square = KB_NEW(double, p->model->field->n_fields);
    p->weight = KB_NEW(double, columns);
    p->sd = KB_NEW(double, columns);
    p->probability = KB_NEW(double, columns);
    p->slab = KB_NEW(double, most);
    p->log_odds = KB_NEW(double, most);
    p->G = KB_NEW(double, most *most);
    p->b = KB_NEW(double, most);
    p->inverse = KB_NEW(double, most *most);
    p->keep = KB_NEW(bool, most);
    return p->ep && p->slope_square && p->weight && p->sd && p->probability && p->slab && p->log_odds && p->G && p->b &&
           p->inverse && p->keep;
}

static void set_prior(kb_published_posterior *p, const kb_published_equation *e)
{
    const kb_published_options *o = p->options;
    for (size_t q = 0; q < e->n; q++) {
        p->slab[q] = o->slab_variance * p->slope_square[e->state];
        p->log_odds[q] =
            p->model->columns->required[e->column[q]] ? KB_EP_CERTAIN : log(o->inclusion / (1 - o->inclusion));
    }
}

kbass_status kb_published_posterior_create(kb_published_model *model, const kb_published_options *options,
                                           kb_published_posterior **out, kbass_error *error)
{
    size_t most = 1;
    kb_published_posterior *p = KB_NEW(kb_published_posterior, 1);
    for (size_t i = 0; i < model->n_equations; i++)
        if (model->equations[i].n > most) most = model->equations[i].n;
    if (p) *p = (kb_published_posterior){.model = model, .options = options};
    kbass_status status = p && allocate(p, model->columns->n, most) ? KBASS_OK : kb_out_of_memory(error, "the E step");
    for (size_t i = 0; status == KBASS_OK && i < model->field->n_fields; i++)
        p->slope_square[i] = options->in_data_units ? 1 : fmax(kb_published_model_slope_square(model, i), 1e-300);
    for (size_t i = 0; status == KBASS_OK && i < model->n_equations; i++) {
        status = kb_ep_create(model->equations[i].n, &p->ep[i], error);
        if (status != KBASS_OK) break;
        set_prior(p, &model->equations[i]);
        kb_ep_reset(p->ep[i], p->slab);
    }
    if (status == KBASS_OK) *out = p;
    else kb_published_posterior_destroy(p);
    return status;
}

/* ---------------------------------------------------------------- variances */

static size_t stage_at(long step)
{
    size_t stage = STAGES - 1;
    while (stage > 0 && stages[stage].step > step) stage--;
    return stage;
}

double kb_published_e_variance(const kb_published_posterior *p, long step, size_t field)
{
    const kb_schedule *given = &p->options->e_variance;
    if (given->n) return kb_schedule_value(given, step, field) * p->slope_square[field];
    return (double)p->model->field->n_mesh / stages[stage_at(step)].information * p->slope_square[field];
}

long kb_published_last_stage(void) { return stages[STAGES - 1].step; }

double kb_published_m_variance(const kb_published_posterior *p, long step, size_t field)
{
    const kb_schedule *given = &p->options->m_variance;
    const kb_published_field *f = p->model->field;
    if (given->n) return kb_schedule_value(given, step, field) * p->slope_square[field];
    double variance = p->model->variance[field];
    if (stage_at(step) == STAGES - 1) variance = f->n_axes == 1 ? last_share * variance : last_variance;
    return (double)f->n_mesh / (double)f->samples->count[field] * variance * p->slope_square[field];
}

/* ---------------------------------------------------------------- one equation */

/* (G + site precisions)^{-1}: the covariance of EP's Gaussian */
static bool take_covariance(kb_published_posterior *p, const kb_published_equation *e, const kb_ep *ep)
{
    memcpy(p->inverse, p->G, e->n * e->n * sizeof *p->G);
    for (size_t q = 0; q < e->n; q++) p->inverse[q + q * e->n] += ep->precision[q] + 1e-9 * p->G[q + q * e->n];
    if (!kb_cholesky(e->n, p->inverse, e->n) || !kb_cholesky_inverse(e->n, p->inverse, e->n)) return false;
    kb_symmetrise(e->n, p->inverse, e->n);
    return true;
}

static void take_weights(kb_published_posterior *p, const kb_published_equation *e, const kb_ep *ep)
{
    for (size_t q = 0; q < e->n; q++) {
        size_t column = e->column[q];
        double unit = p->model->columns->unit[column];
        p->weight[column] = ep->mean[q] * unit;
        p->sd[column] = sqrt(ep->variance[q]) * unit;
        p->probability[column] = ep->probability[q];
    }
}

static size_t least_likely(const kb_published_posterior *p, const kb_published_equation *e)
{
    size_t least = e->n;
    for (size_t q = 0; q < e->n; q++) {
        bool is_free = !p->model->columns->required[e->column[q]];
        if (is_free && (least == e->n || p->probability[e->column[q]] < p->probability[e->column[least]])) least = q;
    }
    return least;
}

static void choose(kb_published_posterior *p, const kb_published_equation *e, long step)
{
    double alpha = kb_schedule_value(&p->options->alpha, step, e->state);
    double bound = kb_schedule_value(&p->options->bound, step, e->state);
    size_t least = least_likely(p, e);
    for (size_t q = 0; q < e->n; q++) {
        size_t column = e->column[q];
        bool is_likely = p->probability[column] >= alpha, is_large = fabs(p->weight[column]) >= bound;
        if (p->options->prunes_least) is_likely = is_likely || q != least;
        p->keep[q] = p->model->columns->required[column] || (is_likely && is_large);
    }
}

/* Columns, weights and covariance of those kept. */
static size_t prune(const kb_published_posterior *p, kb_published_equation *e, kb_ep *ep)
{
    size_t n = e->n, kept = 0, place = 0;
    for (size_t q = 0; q < n; q++) kept += p->keep[q];
    for (size_t q = 0, to = 0; q < n; q++) {
        if (!p->keep[q]) continue;
        for (size_t s = 0; s < n; s++)
            if (p->keep[s]) e->covariance[place++] = p->inverse[s + q * n];
        e->column[to] = e->column[q];
        e->term[to] = e->term[q];
        e->w[to++] = ep->mean[q];
    }
    e->n = kept;
    e->has_covariance = p->options->is_expected;
    kb_ep_keep(ep, p->keep);
    return n - kept;
}

static bool equation_step(kb_published_posterior *p, size_t i, long step, size_t *pruned)
{
    kb_published_equation *e = &p->model->equations[i];
    double tau = kb_published_e_variance(p, step, e->state);
    if (!e->n) return true;
    for (size_t k = 0; k < e->n * e->n; k++) p->G[k] = e->G[k] / tau;
    for (size_t q = 0; q < e->n; q++) p->b[q] = e->b[q] / tau;
    set_prior(p, e);
    if (!kb_ep_run(p->ep[i], p->G, p->b, p->slab, p->log_odds, SWEEPS)) return false;
    if (!take_covariance(p, e, p->ep[i])) return false;
    take_weights(p, e, p->ep[i]);
    choose(p, e, step);
    *pruned += prune(p, e, p->ep[i]);
    return true;
}

bool kb_published_e_step(kb_published_posterior *p, long step, size_t *pruned)
{
    kbass_error ignored;
    *pruned = 0;
    if (!kb_published_model_gram(p->model)) return false;
    for (size_t i = 0; i < p->model->n_equations; i++)
        if (!equation_step(p, i, step, pruned)) return false;
    p->has_run = p->model->has_equations = true;
    return kb_published_model_resize(p->model, &ignored) == KBASS_OK; /* allocates nothing here */
}
