/* Many like states in a row, in a ring or in a line of several kinds: chains, lattices, compartments, fields cut into
 * cells. The law of one place is then a proposal for the others. States that share a name but for its number (x1, x2,
 * ...) are a family, its places in the order of the numbers; a term is seen from the place of its equation.
 */
#ifndef KB_WEIGHTS_ANALOGY_H
#define KB_WEIGHTS_ANALOGY_H

#include <stdint.h>

#include "weights/columns.h"

enum { KB_ANALOGIES = 2 }; /* in a line, and in a ring */

typedef struct {
    size_t n_states;
    size_t *family, *place, *size; /* by state: its family, its place there, how many that has */
    uint64_t *kind; /* by column: the same for columns that are alike but for their places; 0: like no other */
} kb_analogy;

/* is_ring: the first place of a family follows its last. */
kbass_status kb_analogy_create(const kb_columns *columns, const kb_dictionary *dictionary, bool is_ring,
                               kb_analogy **out, kbass_error *error);
void kb_analogy_destroy(kb_analogy *analogy);

/* A structure and its weights (by column, scaled) with the right-hand side that most equations of a family have (rank
   0; 1: second most) in place of the others, where that exists; its weights are means over those that have it. Returns
   how many equations have it already, 0 when there is nothing to change. */
size_t kb_analogy_apply(const kb_analogy *analogy, const kb_columns *columns, const kb_support *support,
                        const double *w, size_t rank, kb_support *out, double *out_w);

/* Columns of a kind that stays in half of a family's equations or more stay in all of them. */
kbass_status kb_analogy_spread(const kb_analogy *analogy, const kb_columns *columns, bool *stays, kbass_error *error);

#endif
