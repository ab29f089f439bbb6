/* The weak form of states over time: proposals for long and dense records in a few passes over the samples.
 *
 * Against bumps phi about centres half a half width apart each equation becomes a row of a linear regression that needs
 * no derivative and no kernel (docs/math.md, eqs 65 to 67):
 *
 *     -int phi_t q_i ds = sum_c w_c int phi P_c[u] ds / scale_c
 *
 * Terms are evaluated at the samples; the bias that noise of known variance gives to monomials is taken out by
 * Hermite's polynomials. All equations share one Gram matrix of the terms. Rows are made in blocks that are forgotten,
 * so that memory does not depend on how many bumps there are. Attenuation remains: weights come out a little low, and
 * where jumps fall between samples it is wrong. It proposes; the forward fit judges.
 */
#ifndef KB_PROPOSE_WEAK_STATES_H
#define KB_PROPOSE_WEAK_STATES_H

#include "weights/subset.h"

typedef struct {
    const kb_record *record;
    const kb_dictionary *dictionary;
    const kb_columns *columns;
    const double *variance; /* n_states: of the noise, scaled; 0: powers stay as they are */
    size_t n_terms;         /* in use by any equation */
    size_t *term, *slot;    /* n_terms; of the dictionary: its place among them */
    double *scale;          /* n_terms */
    double *point;          /* n_rows x n_variables: samples in the data's units, missing cells filled by lines */
    double *gap;            /* n_rows: time between the measurements that a filled cell lies between */
    size_t n_queries;       /* bumps at the present half width */
    double counted;         /* share of them that are independent */
    double *G;              /* n_terms x n_terms */
    double *b;              /* n_terms x n_states */
    double *squares;        /* n_states: of the left-hand sides */
    double *values;         /* block_rows x n_terms: terms at the rows of a block, over their scales */
    size_t block_rows;
    double *X, *H;                       /* bumps of a block x n_terms, x n_states */
    double *bump, *slope, *shift, *work; /* of one bump's rows */
} kb_weak_states;

/* Record, dictionary, columns and variances are borrowed. */
kbass_status kb_weak_states_create(const kb_record *record, const kb_dictionary *dictionary, const kb_columns *columns,
                                   const double *variance, kb_weak_states **out, kbass_error *error);
void kb_weak_states_destroy(kb_weak_states *weak);

/* Integrates the whole record against bumps of a half width (scaled time). n_queries is 0 when fewer than four bumps
   hold samples enough and no gap. */
kbass_status kb_weak_states_integrate(kb_weak_states *weak, double half_width, kbass_error *error);

/* The regression of one equation, whose columns are those of `subset` from `first` on. */
kbass_status kb_weak_states_regression(const kb_weak_states *weak, size_t first, kb_subset *subset, kbass_error *error);

#endif
