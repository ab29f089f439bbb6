/* Constraints on the scaled weights of a model: equalities A w = r, and bounds low <= w <= high of single weights.
 *
 * A structure obeys them when each of its weights can be other than 0, those that are out being 0: terms that an
 * equality of two ties are in or out together. Its weights are w = w0 + C v with as many free numbers v as the
 * equalities leave; whoever fits solves for v (docs/math.md, eq. 83 to 85). All arrays of weights here are by place in
 * the support.
 */
#ifndef KB_WEIGHTS_CONSTRAINTS_H
#define KB_WEIGHTS_CONSTRAINTS_H

#include "weights/columns.h"

struct kb_constraints {
    size_t n; /* equalities */
    struct kb_equality {
        size_t n, *column;
        double *factor, right;
        size_t component;
    } * equalities;
    size_t n_components; /* columns that equalities tie together, */
    size_t *component;   /* of each column; KB_NO_COMPONENT: none */
    bool *is_bounded;    /* per component: a weight of it has a bound */
    double *low, *high;  /* per column */
    size_t n_bounds;
    struct kb_ties *ties; /* columns that they make one weight (weights/ties.h); NULL: none */
};

#define KB_NO_COMPONENT ((size_t)-1)

/* Those of the dictionary in the columns' scaled weights; *out stays NULL when there are none. */
kbass_status kb_constraints_create(const kb_dictionary *dictionary, const kb_columns *columns, kb_constraints **out,
                                   kbass_error *error);
void kb_constraints_destroy(kb_constraints *constraints);

/* The support obeys after this: by adding what its columns need, or by removing those whose need is gone. */
void kb_constraints_complete(const kb_columns *columns, kb_support *support);
void kb_constraints_prune(const kb_columns *columns, kb_support *support);
/* Free weights per weight, among those of the support that equalities tie to a column; 1: it is free. */
double kb_constraints_share(const kb_columns *columns, const kb_support *support, size_t column);
/* The slab of a weight in a support: weights that equalities tie are as large beforehand as if each were alone, so that
   what one of them could be is not said once for each. INFINITY: equalities leave it no freedom. */
double kb_constraints_slab(const kb_columns *columns, const kb_support *support, size_t column);

/* C, support->n x as many as are returned; weights marked `held` (NULL: none) do not move. */
size_t kb_constraints_basis(const kb_columns *columns, const kb_support *support, const bool *held, double *C);
/* Moves weights to the nearest ones that obey, in units of their slabs; those that are 0 follow the others. */
void kb_constraints_project(const kb_columns *columns, const kb_support *support, double *w);
/* The longest step, up to `length`, that leaves no bound; *place is that of the weight that ends it, else support->n.
 */
double kb_constraints_cut(const kb_columns *columns, const kb_support *support, const double *w, const double *step,
                          double length, size_t *place);
/* The bound that the weight at this place comes to. */
double kb_constraints_end(const kb_columns *columns, const kb_support *support, const double *step, size_t place);
/* Is the weight at a bound that a step would pass? */
bool kb_constraints_blocks(const kb_columns *columns, size_t column, double w, double step);

/* ---------------------------------------------------------------- Gaussians over w = w0 + C v */

/* A (k x k) becomes the Cholesky factor of C'AC (f x f). Half the log-determinant of C'AC over that of the slabs'
   C'DC, D = 1/slab; NaN when one is not positive. work: 2 k^2 */
double kb_constrained_factorise(const kb_columns *columns, const kb_support *support, size_t f, const double *C,
                                double *A, double *work);
/* x <- C (C'AC)^{-1} C' x for n_right columns of x; work: k n_right */
void kb_constrained_solve(size_t k, size_t f, const double *C, const double *L, size_t n_right, double *x,
                          double *work);
/* L becomes C (C'AC)^{-1} C', k x k; work: 2 k^2 */
bool kb_constrained_inverse(size_t k, size_t f, const double *C, double *L, double *work);
/* log P(bounds) under N(mean, V) less that under the slabs; 0 without bounds. work: 4 k^2 + k */
double kb_constrained_mass(const kb_columns *columns, const kb_support *support, size_t f, const double *C,
                           const double *mean, const double *V, double *work);

#endif
