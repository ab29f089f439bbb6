/* Adam: gradient steps scaled by running moments of the gradient, with bias correction. For the published method only.
 */
#ifndef KB_ADAM_H
#define KB_ADAM_H

#include "base/status.h"

typedef struct {
    size_t n, steps;
    double rate;
    double *mean, *square; /* running first and second moments of the gradient */
} kb_adam;

kbass_status kb_adam_create(size_t n, double rate, kb_adam **out, kbass_error *error);
void kb_adam_destroy(kb_adam *adam);
/* Moves x against the gradient. */
void kb_adam_step(kb_adam *adam, const double *gradient, double *x);

#endif
