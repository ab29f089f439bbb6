/* Draws of the solution within the record, and of its derivatives: those of the linearised posterior (spread.h), which
 * differences turn into that of a derivative. */
#include <math.h>
#include <string.h>

#include "base/linalg.h"
#include "base/memory.h"
#include "base/random.h"
#include "base/status.h"
#include "forecast/spread.h"
#include "posterior/law.h"

enum { STENCIL = KB_LAW_STENCIL };

typedef struct {
    const kbass_posterior *posterior;
    const kb_belief *belief;
    size_t n;
    const double *times, *positions;
    int order[2];
    double step[2];
    double *origin[2];                       /* n each: where the stencils begin */
    double *time, *position, *mean, *factor; /* of one sample of every stencil */
} differences;

/* ---------------------------------------------------------------- stencils */

/* In time a sixteenth of the samples' distance for fields; for states 1/250 of the record, and more for higher orders,
   where 1e-9 of the integrator over step^order balances (step / feature)^6. In space two of the integrator's nodes. */
static void choose_steps(differences *d)
{
    const kbass_posterior *p = d->posterior;
    double share = p->n_axes > 1 ? fmin(p->spacing[0], 0.1) / 16 : 0.002 * (1 + d->order[0]);
    d->step[0] = (p->n_axes > 1 ? p->span[0] : p->last[0] - p->first[0]) * share;
    if (p->n_axes > 1) d->step[1] = 2 * p->span[1] / (double)p->line.n_nodes;
}

static double begin_within(double x, double low, double high, double step)
{
    return fmax(fmin(x - STENCIL / 2 * step, high - (STENCIL - 1) * step), low);
}

/* Stencils stay within the window, beside whose borders the solution may jump. */
static void place(differences *d)
{
    const kbass_posterior *p = d->posterior;
    double slack = 1e-9 * (p->last[0] - p->first[0]);
    size_t window = 0;
    for (size_t i = 0; i < d->n; i++) {
        while (window + 1 < d->belief->n_windows && d->times[i] > d->belief->windows[window].last) window++;
        const kb_stretch *w = &d->belief->windows[window];
        d->origin[0][i] =
            d->order[0] ? begin_within(d->times[i], w->first + (window ? slack : 0), w->last, d->step[0]) : d->times[i];
        if (d->positions)
            d->origin[1][i] =
                d->order[1] ? begin_within(d->positions[i], p->first[1], p->last[1], d->step[1]) : d->positions[i];
    }
}

static double weight_of(const differences *d, int axis, size_t i, size_t k)
{
    double weights[STENCIL], x = axis ? d->positions[i] : d->times[i];
    if (!d->order[axis]) return 1;
    kb_difference_weights(STENCIL, d->origin[axis][i], d->step[axis], x, d->order[axis], weights);
    return weights[k];
}

/* Adds sample (k, m) of every point's stencil; its times ascend since the origins do. */
static kbass_status add_sample(differences *d, size_t k, size_t m, double *mean, double *factor, kbass_error *error)
{
    size_t F = d->posterior->n_states, size = kb_spread_size(d->posterior, d->belief);
    for (size_t i = 0; i < d->n; i++) {
        d->time[i] = d->origin[0][i] + (double)k * d->step[0];
        if (d->positions) d->position[i] = d->origin[1][i] + (double)m * d->step[1];
    }
    kbass_status status =
        kb_spread(d->posterior, d->belief, d->n, d->time, d->positions ? d->position : NULL, d->mean, d->factor, error);
    for (size_t i = 0; status == KBASS_OK && i < d->n; i++) {
        double weight = weight_of(d, 0, i, k) * (d->positions ? weight_of(d, 1, i, m) : 1);
        kb_axpy(F, weight, d->mean + i * F, mean + i * F);
        kb_axpy(F * size, weight, d->factor + i * F * size, factor + i * F * size);
    }
    return status;
}

static kbass_status differentiate(differences *d, double *mean, double *factor, kbass_error *error)
{
    size_t values = d->n * d->posterior->n_states, size = kb_spread_size(d->posterior, d->belief);
    kbass_status status = KBASS_OK;
    choose_steps(d);
    d->origin[0] = KB_NEW(double, d->n);
    d->origin[1] = KB_NEW(double, d->n);
    d->time = KB_NEW(double, d->n);
    d->position = KB_NEW(double, d->n);
    d->mean = KB_NEW(double, values);
    d->factor = KB_NEW(double, values *size);
    if (!d->origin[0] || !d->origin[1] || !d->time || !d->position || !d->mean || !d->factor)
        status = kb_out_of_memory(error, "the draws");
    if (status == KBASS_OK) place(d);
    for (size_t k = 0; status == KBASS_OK && k < (d->order[0] ? STENCIL : 1); k++)
        for (size_t m = 0; status == KBASS_OK && m < (d->order[1] ? STENCIL : 1); m++)
            status = add_sample(d, k, m, mean, factor, error);
    kb_free(d->origin[0]);
    kb_free(d->origin[1]);
    kb_free(d->time);
    kb_free(d->position);
    kb_free(d->mean);
    kb_free(d->factor);
    return status;
}

/* ---------------------------------------------------------------- the public door */

static kbass_status check(const kbass_posterior *p, size_t n, const double *times, const double *positions, int order_t,
                          int order_x, kbass_error *error)
{
    double slack = 1e-9 * (p->last[0] - p->first[0]), before = p->first[0] - slack;
    if (kb_posterior_has_row(p))
        return kb_fail(error, KBASS_ERROR_ARGUMENT,
                       "draws within the record are of states and of fields over one space axis, of first order");
    if (!positions != (p->n_axes == 1))
        return kb_fail(error, KBASS_ERROR_ARGUMENT, "positions are needed for fields over space, and only for them");
    if (order_t < 0 || order_t > 4 || order_x < 0 || order_x > (p->n_axes > 1 ? 4 : 0))
        return kb_fail(error, KBASS_ERROR_ARGUMENT,
                       "found a derivative of order %d in time and %d in space, needed 0 to 4%s", order_t, order_x,
                       p->n_axes > 1 ? "" : ", none in space");
    for (size_t i = 0; i < n; before = times[i++]) {
        if (!(times[i] >= before && times[i] <= p->last[0] + slack))
            return kb_fail(error, KBASS_ERROR_ARGUMENT, "time %g is not ascending within the record, %g to %g",
                           times[i], p->first[0], p->last[0]);
        if (positions && !(positions[i] >= p->first[1] && positions[i] <= p->last[1]))
            return kb_fail(error, KBASS_ERROR_ARGUMENT, "position %g is not within the record, %g to %g", positions[i],
                           p->first[1], p->last[1]);
    }
    return KBASS_OK;
}

static kbass_status draw(size_t n_draws, uint64_t seed, size_t values, size_t size, const double *mean,
                         const double *factor, double *draws, kbass_error *error)
{
    double *e = KB_NEW(double, size);
    if (!e) return kb_out_of_memory(error, "the draws");
    for (size_t i = 0; i < n_draws; i++) {
        kb_random random;
        kb_random_seed(&random, seed ^ (0xd1342543de82ef95u * (i + 1)));
        for (size_t j = 0; j < size; j++) e[j] = kb_random_normal(&random);
        memcpy(draws + i * values, mean, values * sizeof *mean);
        kb_gemv(KB_TRANSPOSED, size, values, 1, factor, size, e, 1, draws + i * values);
    }
    kb_free(e);
    return KBASS_OK;
}

kbass_status kbass_posterior_draws(const kbass_posterior *p, size_t n, const double *times, const double *positions,
                                   int order_t, int order_x, size_t n_draws, uint64_t seed, double *draws,
                                   kbass_error *error)
{
    const kb_belief *b = &p->models[0];
    size_t values = n * p->n_states, size = kb_spread_size(p, b);
    differences d = {
        .posterior = p, .belief = b, .n = n, .times = times, .positions = positions, .order = {order_t, order_x}};
    double *mean = NULL, *factor = NULL;
    kbass_status status = check(p, n, times, positions, order_t, order_x, error);
    if (status == KBASS_OK) {
        mean = KB_NEW(double, values);
        factor = KB_NEW(double, values *size);
        if (!mean || !factor) status = kb_out_of_memory(error, "the draws");
    }
    if (status == KBASS_OK && n) status = differentiate(&d, mean, factor, error);
    if (status == KBASS_OK) status = draw(n_draws, seed, values, size, mean, factor, draws, error);
    kb_free(mean);
    kb_free(factor);
    return status;
}
