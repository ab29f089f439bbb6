/* The equation at a patch's points: fields, derivatives, terms, residuals; and the workspace of one thread.
 *
 *     e_i = d^p q_i/ds^p - sum_c w_c P_c / scale_c - fixed part,       d e_i = d^p dq_i - sum_v slope_iv D_v dq
 *
 * where v runs over the dictionary's variables (a field or one of its derivatives, in the data's units) and D_v dq is
 * that variable's change. Points run with time fastest.
 */
#ifndef KB_COLLOCATION_COLLOCATION_H
#define KB_COLLOCATION_COLLOCATION_H

#include "weights/columns.h"
#include "collocation/patch.h"

enum { KB_NORMAL_PROBES = 16 }; /* vectors: random ones, for a trace */

/* What the posterior of field and weights depends on beside them. */
typedef struct {
    double tau;              /* variance of the equation, relative to the squared slope */
    double *slope_squares;   /* n_fields: mean (d^p q/ds^p)^2 */
    double *variance;        /* n_fields: of the noise */
    const double *amplitude; /* n_fields: of the kernel */
    double freedom;          /* of Student's t for the equation; 0: Gaussian */
} kb_hyper;

typedef struct {
    const kb_dictionary *dictionary;
    const kb_columns *columns;
    double *points;            /* n_mesh x n_variables, the data's units */
    double *slopes;            /* n_mesh x n_fields: d^p q/ds^p */
    double *values;            /* n_mesh x used terms */
    double *residual, *weight; /* n_mesh x n_fields: e and the rows' weights */
    double *slope;             /* n_mesh x n_fields x n_variables: slope[(i + v * n_fields) * n_mesh + p] */
    bool *depends;             /* n_fields x n_variables: that slope is not zero */
    size_t *slot, *used_terms, n_used;
    size_t *place; /* of each product of space, for the normal equations */
    double *work, *column, *data;

    /* the normal equations, collocation/normal_equations.h; nz unknowns of the field, k columns */
    size_t nz, k;
    double *H, *spare; /* nz x nz; the spare one at least nz x KB_NORMAL_PROBES */
    size_t spare_size;
    double *Hzw, *gz, *Hww, *gw;
    double *left, *right, *pairs, *slice, *tensor;
    size_t stack; /* doubles in each of left and right */
} kb_patch_workspace;

/* Enough for any of the patches. */
kbass_status kb_patch_workspace_create(size_t n_patches, kb_patch *const *patches, const kb_dictionary *dictionary,
                                       const kb_columns *columns, kb_patch_workspace **out, kbass_error *error);
/* Doubles that a workspace has for each point. */
size_t kb_patch_workspace_doubles_per_point(const kb_dictionary *dictionary);
void kb_patch_workspace_destroy(kb_patch_workspace *workspace);

/* One variable of a dictionary in the data's units is offset + factor * (D q): the factor. */
double kb_variable_unit(const kb_dictionary *dictionary, const kb_patch *patch, size_t variable);

/* Fields and slopes at the points. */
void kb_collocation_evaluate(kb_patch_workspace *workspace, const kb_patch *patch, const double *z);
/* The same, the support's terms, and the residuals of all equations; w by column. */
void kb_collocation_residuals(kb_patch_workspace *workspace, const kb_patch *patch, const kb_support *support,
                              const double *z, const double *w);
/* Slopes of the right-hand sides, after `residuals`. */
void kb_collocation_slopes(kb_patch_workspace *workspace, const kb_patch *patch, const kb_support *support,
                           const double *w);
/* Row weights for Student's t at the present residuals, or 1. */
void kb_collocation_weigh(kb_patch_workspace *workspace, const kb_patch *patch, const kb_hyper *hyper);
const double *kb_collocation_term(const kb_patch_workspace *workspace, const kb_patch *patch, size_t term);
/* Precision of the equation at one point: as many pseudo-observations as there are data. */
double kb_equation_weight(const kb_patch *patch, const kb_hyper *hyper, size_t field);
/* J without the slab. */
double kb_collocation_objective(kb_patch_workspace *workspace, const kb_patch *patch, const kb_hyper *hyper,
                                const kb_support *support, const double *z, const double *w);
/* Adds sums over the points of slopes^2 (n_fields) and of the scaled columns' squares (columns->n). */
void kb_collocation_measure(kb_patch_workspace *workspace, const kb_patch *patch, const kb_support *all,
                            const double *z, double *slope_squares, double *column_squares);

#endif
