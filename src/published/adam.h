/* Adam: gradient steps scaled by running moments of the gradient, with bias correction. */
#ifndef KB_ADAM_H
#define KB_ADAM_H

#include <stdbool.h>

#include "base/status.h"

typedef struct {
    size_t n, steps;
    double *mean, *square; /* running first and second moments of the gradient */
} kb_adam;

kbass_status kb_adam_create(size_t n, kb_adam **out, kbass_error *error);
void kb_adam_destroy(kb_adam *adam);
void kb_adam_reset(kb_adam *adam);
/* The unknowns come in groups, from now on at other places: first and next have n_groups + 1 entries. Of a group that
   `changed`, so that its unknowns stand for others, the mean is forgotten and the squares are averaged. */
kbass_status kb_adam_follow(kb_adam *adam, size_t n_groups, const size_t *first, const size_t *next,
                            const bool *changed, kbass_error *error);
/* Moves x against the gradient. */
void kb_adam_step(kb_adam *adam, double rate, const double *gradient, double *x);

#endif
