/* Expectation propagation for a spike-and-slab prior under a Gaussian pseudo-likelihood (docs/math.md, eqs 8 to 12).
 *
 *     p(w) ~ exp(-w'Gw/2 + b'w) * prod_j [ rho_j N(w_j; 0, s_j) + (1 - rho_j) delta(w_j) ]
 *
 * Sites are Gaussian in w_j and Bernoulli in the inclusion; updates are parallel and damped, in natural parameters. The
 * sites live in the handle so that a next call with a nearby (G, b) starts warm; `kb_ep_keep` prunes them with the
 * columns.
 */
#ifndef KB_EP_H
#define KB_EP_H

#include <stdbool.h>

#include "base/status.h"

#define KB_EP_CERTAIN 40.0 /* prior log odds of a required term */

typedef struct {
    size_t n;
    double *precision, *shift, *log_odds; /* sites: n each */
    double *probability, *mean;           /* posterior: n each */
    double *variance;                     /* posterior marginal variances: n */
    double *factor;                       /* workspace: n x n at creation */
    bool converged;
    int sweeps;
} kb_ep;

kbass_status kb_ep_create(size_t n, kb_ep **out, kbass_error *error);
void kb_ep_destroy(kb_ep *ep);
void kb_ep_reset(kb_ep *ep, const double *slab);
/* Keeps the sites whose flag is set, in order. */
void kb_ep_keep(kb_ep *ep, const bool *keep);
/* G: n x n column-major, both triangles; prior_log_odds may be +-600 for certain terms. False: the posterior precision
   could not be factorised or the numbers left their range; nothing here is of use then. */
bool kb_ep_run(kb_ep *ep, const double *G, const double *b, const double *slab, const double *prior_log_odds,
               int max_sweeps);

#endif
