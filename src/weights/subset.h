/* The best small set of columns of one linear regression whose noise is not known (docs/math.md, eqs 81, 82).
 *
 * Moves of a message at the present noise go on until nothing gains; then pairs are tried, all of them, in place of the
 * least sure columns: where terms are alike, two of them may explain together what neither does alone. Sets are
 * compared by their evidence at their own noise.
 */
#ifndef KB_WEIGHTS_SUBSET_H
#define KB_WEIGHTS_SUBSET_H

#include "weights/message.h"

typedef struct {
    kb_columns columns; /* those of one equation: equation, term, odds, whether required; slab in units of the noise */
    bool *required;     /* what they are made of */
    double *numbers;
    size_t *places;
    kb_message *unit;    /* at noise of variance 1: G = X'X, b = X'y */
    kb_message message;  /* at the present noise v, weights in units of sqrt(v): unit's G, b / sqrt(v) */
    double squares, n;   /* y'y; independent rows */
    double variance;     /* the present noise */
    bool noise_is_known; /* it stays 1 */
    bool is_hasty;       /* single moves only */
    double *mean, *work, *reduced;
    kb_support trial, kept;
} kb_subset;

/* Columns `first` to first + n of `columns`. */
kbass_status kb_subset_create(const kb_columns *columns, size_t first, size_t n, kb_subset **out, kbass_error *error);
void kb_subset_destroy(kb_subset *subset);
/* The regression: X (n_rows x n, column-major, leading dimension n_rows; columns by `which`), y; `n_counted` of the
   rows are independent. */
void kb_subset_set(kb_subset *subset, size_t n_rows, const double *X, const size_t *which, const double *y,
                   double n_counted);
/* By its products: X'X (of columns by `which`, leading dimension ld), X'y, y'y; each row counts as `share` of one. */
void kb_subset_set_products(kb_subset *subset, const double *G, size_t ld, const size_t *which, const double *b,
                            double squares, double n_rows, double share);
/* The same about some of its columns. */
kbass_status kb_subset_restrict(const kb_subset *subset, size_t n, const size_t *which, kb_subset **out,
                                kbass_error *error);
/* From `support`, which may be empty, to the best set nearby, columns counted from `first`; its log evidence, and the
   noise in `variance`. */
double kb_subset_search(kb_subset *subset, kb_support *support);
/* What else explains the regression: the best set, as the search left it, and what climbs lead to from the `most` best
   sets of at most `largest` columns and the best of each size, best first, equal ones once. supports: most + largest +
   1 with room for all columns; returns how many, their evidences beside them. */
size_t kb_subset_rivals(kb_subset *subset, const kb_support *best, size_t largest, size_t most, kb_support *supports,
                        double *evidence);
/* A message whose noise is known in place of a regression; from a set of its columns to a better one nearby: false when
   there is none. */
void kb_subset_take(kb_subset *subset, const double *G, const double *b);
bool kb_subset_improve(kb_subset *subset, kb_support *support);
/* The evidence of a set as it is; its weights in `mean`. */
double kb_subset_evidence(kb_subset *subset, const kb_support *support);

#endif
