#include "ep/ep.h"

#include <math.h>
#include <string.h>

#include "base/linalg.h"
#include "base/memory.h"

enum { SWEEPS_PER_DAMPING = 15 };           /* sweeps: after which steps are shortened; not measured */
static const double tolerance = 1e-4;       /* change of any probability in a sweep: less, and EP has converged */
static const double weakest_site = 1e-6;    /* of the slab's precision: where sites begin */
static const double strongest_site = 1e10;  /* of the slab's precision: a spike's */
static const double weakest_cavity = 1e-10; /* of the slab's precision: a bound against rounding */

kbass_status kb_ep_create(size_t n, kb_ep **out, kbass_error *error)
{
    kb_ep *ep = KB_NEW(kb_ep, 1);
    if (!ep) return kb_out_of_memory(error, "expectation propagation");
    ep->n = n;
    double **vectors[] = {&ep->precision, &ep->shift, &ep->log_odds, &ep->probability, &ep->mean, &ep->variance};
    bool complete = (ep->factor = KB_NEW(double, n *n)) != NULL;
    for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++)
        complete = (*vectors[i] = KB_NEW(double, n)) != NULL && complete;
    if (!complete) {
        kb_ep_destroy(ep);
        return kb_out_of_memory(error, "expectation propagation");
    }
    *out = ep;
    return KBASS_OK;
}

void kb_ep_destroy(kb_ep *ep)
{
    if (!ep) return;
    double *vectors[] = {ep->precision, ep->shift, ep->log_odds, ep->probability, ep->mean, ep->variance, ep->factor};
    for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++) kb_free(vectors[i]);
    kb_free(ep);
}

void kb_ep_reset(kb_ep *ep, const double *slab)
{
    for (size_t j = 0; j < ep->n; j++) {
        ep->precision[j] = weakest_site / slab[j];
        ep->shift[j] = ep->log_odds[j] = 0;
    }
}

void kb_ep_keep(kb_ep *ep, const bool *keep)
{
    double *vectors[] = {ep->precision, ep->shift, ep->log_odds, ep->probability, ep->mean, ep->variance};
    size_t kept = 0;
    for (size_t j = 0; j < ep->n; j++) {
        if (!keep[j]) continue;
        for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++) vectors[i][kept] = vectors[i][j];
        kept++;
    }
    ep->n = kept;
}

static double logistic(double x) { return 1 / (1 + exp(-x)); }

/* Posterior under the current sites: precision G + diag(site), shift b + site shift. */
static bool moments(kb_ep *ep, const double *G, const double *b)
{
    size_t n = ep->n;
    double *L = ep->factor;
    memcpy(L, G, n * n * sizeof *L);
    for (size_t j = 0; j < n; j++) {
        L[j + j * n] += ep->precision[j] * (1 + 1e-10) + 1e-9 * G[j + j * n];
        ep->mean[j] = b[j] + ep->shift[j];
    }
    if (!kb_cholesky(n, L, n)) return false;
    kb_cholesky_solve(n, 1, L, n, ep->mean, n);
    if (!kb_cholesky_variances(n, L, n, ep->variance)) return false;
    for (size_t j = 0; j < n; j++)
        if (!(ep->variance[j] > 0) || !isfinite(ep->mean[j])) return false;
    return true;
}

/* One site: cavity, tilted moments of spike and slab, matched and damped. Returns the move of its probability. */
static double update_site(kb_ep *ep, size_t j, double slab, double prior, double damping)
{
    double cavity_precision = fmax(1 / ep->variance[j] - ep->precision[j], weakest_cavity / slab);
    double cavity_shift = ep->mean[j] / ep->variance[j] - ep->shift[j];
    double cavity_variance = 1 / cavity_precision, cavity_mean = cavity_variance * cavity_shift;
    double slab_variance = 1 / (cavity_precision + 1 / slab), slab_mean = slab_variance * cavity_shift;

    /* log N(m; 0, v + s) - log N(m; 0, v) */
    double gain = -0.5 * log1p(slab / cavity_variance) +
                  0.5 * cavity_mean * cavity_mean * (1 / cavity_variance - 1 / (cavity_variance + slab));
    gain = fmin(fmax(gain, -600), 600);
    double p = fmax(logistic(prior + gain), 1e-250);
    double variance = fmax(p * (slab_variance + (1 - p) * slab_mean * slab_mean), 1e-250);

    double precision = 1 / variance - cavity_precision, shift = p * slab_mean / variance - cavity_shift;
    if (!(precision > 0)) precision = weakest_site / slab;
    if (precision > strongest_site / slab) precision = strongest_site / slab, shift = 0;

    double moved = fabs(p - logistic(prior + ep->log_odds[j]));
    ep->precision[j] += damping * (precision - ep->precision[j]);
    ep->shift[j] += damping * (shift - ep->shift[j]);
    ep->log_odds[j] += damping * (gain - ep->log_odds[j]);
    return moved;
}

bool kb_ep_run(kb_ep *ep, const double *G, const double *b, const double *slab, const double *prior_log_odds,
               int max_sweeps)
{
    double damping = 0.5;
    ep->converged = false;
    for (ep->sweeps = 0; ep->sweeps < max_sweeps && !ep->converged; ep->sweeps++) {
        double moved = 0;
        if (!moments(ep, G, b)) return false;
        for (size_t j = 0; j < ep->n; j++) {
            double move = update_site(ep, j, slab[j], prior_log_odds[j], damping);
            if (!(move <= moved)) moved = move; /* NaN stays */
        }
        if (isnan(moved)) return false;
        ep->converged = moved < tolerance;
        if ((ep->sweeps + 1) % SWEEPS_PER_DAMPING == 0) damping = fmax(0.6 * damping, 0.05);
    }
    for (size_t j = 0; j < ep->n; j++) ep->probability[j] = logistic(prior_log_odds[j] + ep->log_odds[j]);
    return moments(ep, G, b);
}
