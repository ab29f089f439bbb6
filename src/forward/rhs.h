/* The right-hand side of a model, compiled: which terms it evaluates, and where their values go.
 *
 *     rate[equation] = sum over entries of coefficient * value[slot]
 *     d rate[equation] / d w_p = scale_p * value[slot_p]      for each tangent column p
 *
 * Weights are scaled; terms in use are listed once each (`slot` is a term's place in that list).
 */
#ifndef KB_FORWARD_RHS_H
#define KB_FORWARD_RHS_H

#include "weights/columns.h"

typedef struct {
    const kb_columns *columns;
    size_t n_dictionary;    /* terms in the dictionary */
    size_t n_terms, *terms; /* in use */
    size_t n_model_terms;   /* the first of them: those of the model; the others have only tangents */
    size_t *slot;           /* per term of the dictionary; KB_NO_SLOT when it is not in use */
    size_t n_entries, *entry_equation, *entry_slot, *entry_run; /* run: the only one, or KB_ALL_RUNS */
    double *entry_coefficient;
    size_t n_tangents, *tangent_equation, *tangent_slot, *tangent_run;
    double *tangent_scale;
} kb_rhs;

#define KB_NO_SLOT ((size_t)-1)

kbass_status kb_rhs_create(const kb_dictionary *dictionary, const kb_columns *columns, size_t max_tangents, kb_rhs *out,
                           kbass_error *error);
void kb_rhs_clear(kb_rhs *rhs);
/* The model of the support's weights (by column), with tangents for the columns of `tangents` (NULL: none). The terms
   of the model come first in the list. */
void kb_rhs_set(kb_rhs *rhs, const kb_support *support, const double *w, const kb_support *tangents);

/* Leaves what holds in one run: the entries of others go, their tangents are 0. */
void kb_rhs_keep_run(kb_rhs *rhs, size_t run);

#endif
