/* Partial differential equations u_t = F(u, u_x, u_xx, ..., x, t) on a box, and their accurate solution.
 *
 * An equation u_tt = F becomes two: the velocity u_t is a state of its own, after the fields. Right-hand sides are sums
 * of terms in the variables: states, derivatives of the fields along space, axes (time first), pi. Two engines follow
 * the states (docs of each in its file); pde_sample.c chooses one and raises its resolution until nothing moves.
 */
#ifndef KB_PDE_H
#define KB_PDE_H

#include <jansson.h>

#include "dictionary/expression.h"
#include "simulate/nodes.h"

enum { KB_MOST_SPACE = KBASS_MAX_AXES - 1 };

typedef enum { KB_PERIODIC, KB_DIRICHLET, KB_NEUMANN } kb_boundary;

typedef struct {
    size_t state;
    int order[KB_MOST_SPACE]; /* along each axis of space */
    int total;
    bool is_used;
} kb_derivative;

/* Fields at nodes (simulate/nodes.h) instead of expressions: where a result starts, or goes on. Slices are at ascending
   times from the first on. The first is the initial condition; all of them say what the fields are at open ends, also
   beyond the last, as the last two. */
typedef struct {
    size_t n_space, n_fields, n, n_slices; /* n: nodes, the first axis of space fastest */
    kb_nodes axes[KB_MOST_SPACE];
    double *times;  /* n_slices */
    double *values; /* n_slices x n_fields x n, the last fastest */
    double *rates;  /* n_fields x n: first derivatives in time at the first slice; NULL: none */
} kb_pde_table;

typedef struct {
    size_t n_fields, n_states; /* states: fields, then velocities */
    size_t n_axes, n_space;
    char axis_names[KBASS_MAX_AXES][64];
    kbass_axis axes[KBASS_MAX_AXES];
    kb_boundary boundary[KB_MOST_SPACE];
    char **equations; /* n_fields, as given */
    bool *is_second;  /* n_fields: u_tt = ... */
    size_t n_variables, n_derivatives;
    char **names;               /* n_variables: states, derivatives, axes, pi */
    kb_derivative *derivatives; /* n_derivatives, the first n_states are the states themselves */
    kb_sum *rates;              /* n_states */
    kb_expression **initial;    /* n_states, in the axes of space and pi; NULL means 0 */
    kb_pde_table *table;        /* in place of `initial`, or NULL */
    size_t initial_nodes;       /* read at so many nodes of the period only, the last at its end; 0: everywhere */
} kb_pde;

void kb_pde_destroy(kb_pde *pde);

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

/* A box: names, ranges and kinds of its axes, time first. */
typedef struct {
    size_t n_axes;
    const char *name[KBASS_MAX_AXES];
    double low[KBASS_MAX_AXES], high[KBASS_MAX_AXES];
    kb_boundary boundary[KB_MOST_SPACE];
} kb_pde_box;
/* The named ones, by number; NULL after the last. */
const char *kb_pde_name(size_t index);
const char *kb_pde_summary(size_t index);
/* *pde stays NULL where the name is not theirs. */
kbass_status kb_pde_named(const char *name, kb_pde **pde, kbass_error *error);
/* As kbass_model_parse of fields. */
kbass_status kb_pde_parse(size_t n_equations, const char *const *equations, const char *domain, const char *initial,
                          const char *boundary, kb_pde **out, kbass_error *error);
/* Of a result of fields that was read (`root`); `path` is its name in messages. */
kbass_status kb_pde_from_result(const char *path, json_t *root, kb_pde **pde, kbass_error *error);
/* As kb_pde_parse; the table is the PDE's from then on, also when it fails. */
kbass_status kb_pde_create(size_t n_equations, const char *const *equations, const kb_pde_box *box, kb_pde_table *table,
                           kb_pde **out, kbass_error *error);

/* counts: nodes of each axis of space in the box. */
kbass_status kb_pde_table_create(const kb_pde_box *box, const size_t *counts, size_t n_fields, size_t n_slices,
                                 bool has_rates, kb_pde_table **out, kbass_error *error);
void kb_pde_table_destroy(kb_pde_table *table);
/* Coordinates of a node along the axes of space. */
void kb_pde_table_node(const kb_pde_table *table, size_t node, double *place);
/* As kb_pde_initial, of a slice of a state: a field, or a rate of the first slice behind them. */
kbass_status kb_pde_table_slice(const kb_pde_table *table, size_t slice, size_t state, size_t n_points,
                                const double *const *places, double *value, kbass_error *error);
/* The slices between which a time lies, and their weights in the polynomial through them; how many of them. */
enum { KB_TABLE_SLICES = 4 };
size_t kb_pde_table_at(const kb_pde_table *table, double t, size_t *first, double weights[KB_TABLE_SLICES]);

/* How fine a solution has to be, and how fine it turned out. */
typedef struct {
    double wanted, tolerated; /* movement at the next resolution, as a share of each field's largest sample */
    bool is_rough;            /* begin with few nodes, and do with as many as can be afforded */
    size_t n, n_steps;        /* 0: to be found */
} kb_resolution;
/* As the public functions of a model (kbass_model_sample, ...). */
kbass_status kb_pde_within(kb_pde *pde, const char *ranges, kbass_error *error);
kbass_status kb_pde_sample(const kb_pde *pde, size_t n_points, const double *points, double *values,
                           kbass_error *error);
kbass_status kb_pde_grid(const kb_pde *pde, const size_t *counts, kbass_data **data, kbass_error *error);
kbass_status kb_pde_scattered(const kb_pde *pde, size_t n_points, uint64_t seed, kbass_data **data, kbass_error *error);
kbass_status kb_pde_write(const kb_pde *pde, const size_t *counts, double noise_percent, uint64_t seed,
                          const char *path, kbass_error *error);
/* kb_pde_sample to another accuracy. */
kbass_status kb_pde_follow(const kb_pde *pde, kb_resolution *resolution, size_t n_points, const double *points,
                           double *values, kbass_error *error);

/* The k-th of n even points of the axis' part that is sampled. */
double kb_pde_even_point(const kbass_axis *axis, size_t k, size_t n);

/* value[p] of a state at the first time; places[d] is the column of coordinates along space axis d. */
kbass_status kb_pde_initial(const kb_pde *pde, size_t state, size_t n_points, const double *const *places,
                            double *value, kbass_error *error);
size_t kb_pde_work(const kb_pde *pde, size_t n_points);
/* Whether a term is a number times the state itself or a derivative of it: linear with constant coefficient. */
bool kb_pde_is_plain(const kb_pde *pde, size_t state, const kb_expression *term, size_t *derivative);

/* Fourier series in space, exponential Runge-Kutta in time; n nodes along each axis and n_steps equal steps. */
bool kb_fourier_suits(const kb_pde *pde);
kbass_status kb_fourier_run(const kb_pde *pde, const kb_samples *samples, size_t n, size_t n_steps, double *values,
                            kb_journey *journey, kbass_error *error);
/* Collocation in space, CVODES in time to a relative tolerance; about n nodes along each axis. */
kbass_status kb_collocate_run(const kb_pde *pde, const kb_samples *samples, size_t n, double tolerance, double *values,
                              kb_journey *journey, kbass_error *error);

#endif
