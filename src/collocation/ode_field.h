/* The kernel engine: a field for each state, held to the data and to the equation (docs/math.md, eqs 13 to 15).
 *
 *     J(z, w) = |z|^2/2 + sum_n (y_n - q(t_n))^2 / 2v + sum_m c (dq/ds - Phi w)_m^2 / 2tau      (the slab is added
 * apart)
 *
 * with q_i = phi z_i in scaled variables. `assemble` makes the exact Gauss-Newton system in (z, w) for the columns of a
 * support; `marginalise` integrates z out and leaves the weights' message; `step` moves z along with the weights.
 */
#ifndef KB_COLLOCATION_ODE_FIELD_H
#define KB_COLLOCATION_ODE_FIELD_H

#include "gp/level.h"
#include "weights/message.h"

typedef struct {
    const kb_record *record;
    const kb_dictionary *dictionary;
    const kb_columns *columns;
    const kb_level *level;
    size_t n_states, n_mesh, max_rank;

    double *v, *tau; /* n_states: noise and equation variances, scaled */
    double *z;       /* n_states x rank */
    double *w;       /* columns->n; only those of the support count */

    /* Gauss-Newton system of the last `assemble`: nz = n_states * rank, k = support->n */
    size_t nz, k;
    double *Hzz, *Hzw, *Hww, *gz, *gw; /* column-major; Hzz lower, Hww both triangles */
    double objective;                  /* J at (z, w), without the slab */
    double *rms;                       /* k: rms of the scaled columns on the mesh */
    /* after `marginalise`: Hzz holds its Cholesky factor L, Hzw = L^{-1} Hzw, gz = L^{-1} gz, and: */
    double *G, *b; /* k x k, k */

    /* workspace */
    double *points, *slopes, *values, *X, *Jz, *D, *residual, *gram, *work, *trial_z, *trial_w, *step;
    size_t *used_terms, *slot;
    bool *nonzero; /* n_states x n_states: that D is not zero */
    size_t n_used;
} kb_ode_field;

kbass_status kb_ode_field_create(const kb_record *record, const kb_dictionary *dictionary, const kb_columns *columns,
                                 size_t n_mesh, size_t max_rank, kb_ode_field **out, kbass_error *error);
void kb_ode_field_destroy(kb_ode_field *field);

/* Moves the field to another length scale; the first call starts it at zero. */
void kb_ode_field_set_level(kb_ode_field *field, const kb_level *level);
/* z by Gaussian-process regression alone. */
bool kb_ode_field_regress(kb_ode_field *field);
/* Mean of (dq_i/ds)^2 on the mesh. */
void kb_ode_field_slope_squares(kb_ode_field *field, double *squares);
/* Fields on the mesh in the data's units (n_mesh x n_variables) and dq/ds (n_mesh x n_states). */
void kb_ode_field_evaluate(kb_ode_field *field, const double *z);
/* q_i (scaled) at a scaled time. work: n_mesh + rank */
double kb_ode_field_at(const kb_ode_field *field, size_t state, double time, int order, double *work);

/* J at (z, w) without the slab, and the slab's part. */
double kb_ode_field_objective(kb_ode_field *field, const kb_support *support, const double *z, const double *w);
double kb_ode_field_slab_penalty(const kb_ode_field *field, const kb_support *support, const double *w);
/* q(t_n) - y_n of a state where measured, 0 elsewhere. r: n_rows */
void kb_ode_field_data_residual(const kb_ode_field *field, const double *z, size_t state, double *r);

void kb_ode_field_assemble(kb_ode_field *field, const kb_support *support);
/* The same without the data: the prior's system. */
void kb_ode_field_assemble_prior(kb_ode_field *field, const kb_support *support);
bool kb_ode_field_marginalise(kb_ode_field *field);
/* dJ/dz into gz, without any Hessian; returns J. */
double kb_ode_field_gradient(kb_ode_field *field, const kb_support *support);
/* z <- z - Hzz^{-1} (gz + Hzw dw), after `marginalise`; dw: k */
void kb_ode_field_step(kb_ode_field *field, const double *dw);

#endif
