/* The residual of a law along a solution: both sides of u_t = sum_j w_j P_j[u], the solution being differentiated by
 * differences. Nothing of the integrator's own derivatives is used, so that the residual tells how well its numbers
 * solve the equation; what the equation leaves unexplained is in the residuals of the data.
 */
#ifndef KB_LAW_H
#define KB_LAW_H

#include "dictionary/dictionary.h"

enum { KB_LAW_STENCIL = 7 }; /* nodes: of a difference */
/* Weights of the derivative of `order` at x from values at first + k step, k < width <= KB_LAW_STENCIL. */
void kb_difference_weights(size_t width, double first, double step, double x, int order, double *weights);

/* values: n x n_states, row-major; times ascend; positions: n x (n_axes - 1). */
typedef kbass_status kb_solution_at(const void *context, size_t n, const double *times, const double *positions,
                                    double *values, kbass_error *error);

typedef struct {
    const kb_dictionary *dictionary;
    const double *weights; /* n_terms x n_states, in the data's units */
    kb_solution_at *solution;
    const void *context;
    double low[KB_MAX_AXES], high[KB_MAX_AXES], step[KB_MAX_AXES]; /* where it is known; distance of the differences */
    size_t n_borders;
    const double *borders; /* ascending times at which the solution may jump */
} kb_law;

/* At n points: lhs and rhs, n x n_states each. */
kbass_status kb_law_sides(const kb_law *law, size_t n, const double *times, const double *positions, double *lhs,
                          double *rhs, kbass_error *error);

#endif
