/* Partial differential equations u_t = F(u, u_x, u_xx, ..., x, t) on a box, and their accurate solution.
 *
 * An equation u_tt = F becomes two: the velocity u_t is a state of its own, after the fields. Right-hand sides are sums
 * of terms in the variables: states, derivatives of the fields along space, axes (time first), pi. Two engines follow
 * the states (docs of each in its file); pde_sample.c chooses one and raises its resolution until nothing moves.
 */
#ifndef KB_PDE_H
#define KB_PDE_H

#include "dictionary/expression.h"

enum { KB_MOST_SPACE = KBASS_MAX_AXES - 1 };

typedef enum { KB_PERIODIC, KB_DIRICHLET, KB_NEUMANN } kb_boundary;

typedef struct {
    size_t state;
    int order[KB_MOST_SPACE]; /* along each axis of space */
    int total;
    bool is_used;
} kb_derivative;

struct kbass_pde {
    size_t n_fields, n_states; /* states: fields, then velocities */
    size_t n_axes, n_space;
    char axis_names[KBASS_MAX_AXES][2];
    kbass_axis axes[KBASS_MAX_AXES];
    kb_boundary boundary[KB_MOST_SPACE];
    char **equations; /* n_fields, as given */
    bool *is_second;  /* n_fields: u_tt = ... */
    size_t n_variables, n_derivatives;
    char **names;               /* n_variables: states, derivatives, axes, pi */
    kb_derivative *derivatives; /* n_derivatives, the first n_states are the states themselves */
    kb_sum *rates;              /* n_states */
    kb_expression **initial;    /* n_states, in the axes of space and pi; NULL means 0 */
    size_t initial_nodes;       /* read at so many nodes of the period only, the last at its end; 0: everywhere */
};

/* A point where the solution is wanted: row of the table of points. */
typedef struct {
    double t;
    size_t row;
} kb_sample;

/* They, by time; the rows of values are those of the points. */
typedef struct {
    size_t n;
    kb_sample *list;
    const double *points; /* n_axes to the row */
} kb_samples;

/* Where a run was lost, if it was: the last good time, the state at fault, how many times its first size it had. */
typedef struct {
    bool is_lost;
    double t, growth;
    size_t state;
} kb_journey;

/* value[p] of a state at the first time; places[d] is the column of coordinates along space axis d. */
kbass_status kb_pde_initial(const kbass_pde *pde, size_t state, size_t n_points, const double *const *places,
                            double *value, kbass_error *error);
size_t kb_pde_work(const kbass_pde *pde, size_t n_points);
/* Whether a term is a number times the state itself or a derivative of it: linear with constant coefficient. */
bool kb_pde_is_plain(const kbass_pde *pde, size_t state, const kb_expression *term, size_t *derivative);

/* Fourier series in space, exponential Runge-Kutta in time; n nodes along each axis and n_steps equal steps. */
bool kb_fourier_suits(const kbass_pde *pde);
kbass_status kb_fourier_run(const kbass_pde *pde, const kb_samples *samples, size_t n, size_t n_steps, double *values,
                            kb_journey *journey, kbass_error *error);
/* Collocation in space, CVODES in time; about n nodes along each axis. */
kbass_status kb_collocate_run(const kbass_pde *pde, const kb_samples *samples, size_t n, double *values,
                              kb_journey *journey, kbass_error *error);

#endif
