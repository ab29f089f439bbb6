/* The spread of several constants about their best, where they may trade against each other along a ridge of L that is
 * far longer than it is wide: curvatures are measured along directions that are made anew of them until one standard
 * deviation along each lowers L by half a nat (docs/math.md, section 39).
 */
#ifndef KB_CONSTANTS_RIDGE_H
#define KB_CONSTANTS_RIDGE_H

#include "constants/profile.h"

typedef struct {
    const kb_profile_setting *setting;
    size_t n, *active; /* constants in the structure */
    size_t n_evaluations;
    double share[KB_MOST_CONSTANTS]; /* of all constants */
    kb_fit *trial, *best;
} kb_profile;

/* L at the shares, in p->trial, from the best fit so far; -INFINITY outside of the ranges or where nothing fits. */
double kb_profile_evidence(kb_profile *p, const double *share);
/* Goes there where L is higher than *best. */
bool kb_profile_improve(kb_profile *p, const double *share, double *best);

size_t kb_ridge_work(size_t n);
/* C, n x n: the covariance of the active shares, from the widths at which each alone lowers L by half a nat; better
   places that are met on the way are taken. Returns log int exp(L - *best) by Laplace's method. */
double kb_ridge_measure(kb_profile *p, const double *width, double *best, double *C, double *work);

#endif
