/* The posterior of constants inside the terms of a fitted model, and what its weights and starts owe to them:
 *
 *     (w, starts) = estimate + J (share - its estimate) + what they are uncertain of given the constants
 */
#ifndef KB_WEIGHTS_CONSTANTS_SPREAD_H
#define KB_WEIGHTS_CONSTANTS_SPREAD_H

#include "kbass/kbass.h"

typedef struct {
    size_t n;         /* constants that selected terms have; 0: nothing is known */
    size_t *constant; /* n: of the dictionary's */
    double *share;    /* n: estimates, as shares of their ranges */
    double *C;        /* n x n: covariance of the shares */
    size_t n_weights, n_starts;
    double *weights; /* n_weights x n: d w / d share of the support's weights, scaled */
    double *starts;  /* n_starts x n: the same of the starts of all windows */
} kb_constants_spread;

kbass_status kb_constants_spread_create(size_t n, size_t n_weights, size_t n_starts, kb_constants_spread *out,
                                        kbass_error *error);
void kb_constants_spread_clear(kb_constants_spread *spread);

#endif
