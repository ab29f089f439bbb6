/* Columns that equalities make multiples of each other: a group of them is one weight v, w_j = factor_j v, with one
 * indicator and one prior. Messages are merged to such weights before spike and slab are laid on them (docs/math.md,
 * section 38). Columns that no equality ties are groups of their own; so are those of sums with more than one free
 * number, of which any two may be in.
 */
#ifndef KB_WEIGHTS_TIES_H
#define KB_WEIGHTS_TIES_H

#include "weights/columns.h"

typedef struct kb_ties {
    size_t *lead;   /* per column: the first of its group */
    double *factor; /* per column: its weight over the lead's */
} kb_ties;

/* Those of the columns' constraints, which they have; *out stays NULL when none ties. */
kbass_status kb_ties_create(const kb_columns *columns, kb_ties **out, kbass_error *error);
void kb_ties_destroy(kb_ties *ties);

/* The group of each place in a support, numbered as their leads come; how many there are. */
size_t kb_ties_number(const kb_columns *columns, const kb_support *support, size_t *group);
/* G, b, slabs and prior log odds about a support's columns become those about its groups, which it has whole; weights
   are in units 1/scale (NULL: 1). group: as kb_ties_number makes them. How many groups there are. work: k^2 */
size_t kb_ties_merge(const kb_columns *columns, const kb_support *support, const double *scale, double *G, double *b,
                     double *slab, double *log_odds, size_t *group, double *work);
/* The lead's weight times this is that of the column at a place, in the same units. */
double kb_ties_factor(const kb_columns *columns, const kb_support *support, const double *scale, size_t place);

#endif
