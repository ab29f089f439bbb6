/* The published method's objective: minus the expected log likelihood of its M step (docs/math.md), and what its E step
 * asks of the field.
 *
 *     J = |z|^2 / 2 + sum_i |y_i - f_i|^2 / (2 v_i) + sum_i ( |e_i|^2 + tr(Phi_i S_i Phi_i') ) / (2 tau_i)
 *     e_i = D_t f_i - Phi_i w_i      at the points of the mesh, Phi_i the columns of equation i that are left
 *
 * with S_i the posterior's covariance of the weights, or nothing where their mean is plugged in.
 */
#ifndef KB_PUBLISHED_MODEL_H
#define KB_PUBLISHED_MODEL_H

#include "published/field.h"
#include "weights/columns.h"

/* One equation's columns that are left, and what the last E step says of them, scaled. */
typedef struct {
    size_t state, n;
    size_t *column, *term;
    double *w, *covariance; /* n; n x n */
    bool has_covariance;
    double tau;
    double *G, *b; /* n x n, n: Phi'Phi and Phi'D_t f of kb_published_model_gram */
} kb_published_equation;

typedef struct {
    kb_published_field *field;
    const kb_dictionary *dictionary;
    kb_columns *columns;
    size_t n_equations;
    kb_published_equation *equations;
    bool has_equations;  /* false: kernel regression alone */
    double *variance;    /* by field: v */
    double *gradient;    /* by z */
    double *slope;       /* by log(length): n_fields x n_axes, as in the field */
    size_t n_gradient;   /* room of `gradient` */
    double *points;      /* mesh x variables, the data's units: what the dictionary reads */
    double *pull;        /* likewise: dJ / d(variable), in the field's units */
    double *lhs, *force; /* mesh x fields: D_t f, dJ / d(D_t f) */
    bool *is_used;       /* by variable */
    double *unit;        /* by variable: the data's units over the field's */
    double *values, *weighted, *residual, *slopes, *work; /* of a block of points */
    double *rows;                                         /* of the measurements */
} kb_published_model;

/* Takes the field over, also when it fails. Terms are scaled on the field as it is, unless in the data's units. */
kbass_status kb_published_model_create(kb_published_field *field, const kb_dictionary *dictionary, bool in_data_units,
                                       kb_published_model **out, kbass_error *error);
void kb_published_model_destroy(kb_published_model *model);
/* After nodes or columns have changed. */
kbass_status kb_published_model_resize(kb_published_model *model, kbass_error *error);

/* J, with its gradient by z and the slopes by log(length); NaN in numerical trouble. */
double kb_published_model_gradient(kb_published_model *model);
/* G and b of every equation. False in numerical trouble. */
bool kb_published_model_gram(kb_published_model *model);
/* rms residual of a field where it was measured, in the data's units. */
double kb_published_model_residual(kb_published_model *model, size_t field);
/* Mean square of the left-hand side over the mesh; after kb_published_model_gram or _gradient. */
double kb_published_model_slope_square(const kb_published_model *model, size_t field);
/* sum over the active columns of w dP/d(variable) at every point of the mesh, the field's units: m. */
void kb_published_model_slopes(kb_published_model *model, size_t equation, size_t variable, double *out);

#endif
