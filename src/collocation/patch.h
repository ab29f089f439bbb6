/* A rectangular patch of the domain with its own coefficients: one tensor of rank n_axes per field.
 *
 *     q_i(s) = Z_i x_0 phi_0(s_0) x_1 phi_1(s_1) ...,      Z_i ~ N(0, amplitude_i)
 *
 * of which, over several space axes, only the products that count are kept: z has their coefficients, field after
 * field. Patches share their border samples and the weights of the equation, nothing else. Data that fill a grid are
 * kept as a tensor (axis 0 fastest) and meet Z by mode products; others by explicit rows, the products of the axes'
 * features.
 */
#ifndef KB_COLLOCATION_PATCH_H
#define KB_COLLOCATION_PATCH_H

#include "dictionary/dictionary.h"
#include "gp/axes.h"
#include "gp/field_samples.h"
#include "collocation/products.h"
#include "tensor/mode.h"

enum { KB_PATCH_UNKNOWNS = 2600 }; /* unknowns: of a patch at most, over all fields; memory */

typedef struct {
    const kb_field_samples *samples;
    const kb_dictionary *dictionary;
    size_t run;
    size_t n_axes, n_fields;
    double lo[KB_SAMPLE_AXES], hi[KB_SAMPLE_AXES];
    kb_axis *axis[KB_SAMPLE_AXES];
    bool gridded; /* every field measured on a full grid of the patch, without error bars */
    size_t n_points, n_values;
    double *value,
        *measured; /* n_points x n_fields; values times the roots of their weights; h^{-1/2}, 0: not measured */
    double *count; /* per field: measured values by weight */
    double spread; /* mean square of the values around their mean */
    size_t most;   /* unknowns per field, at any level */
    bool whole;    /* all products are kept */

    /* the level the patch stands at */
    const kb_axis_level *level[KB_SAMPLE_AXES];
    kb_products kept, before; /* at this level, and at the one that a field comes from */
    size_t n;                 /* coefficients per field: kept.n */
    size_t n_mesh, n_places;  /* points where the equation is imposed: times * n_places */
} kb_patch;

/* What the axes are told at creation: the unit of their ladders and the shortest length scales to resolve. */
typedef struct {
    kb_kernel_kind kind;
    double unit[KB_SAMPLE_AXES], shortest[KB_SAMPLE_AXES];
    double margin; /* share of each axis at its ends where the equation is not imposed */
    bool shares;   /* samples on inner borders are the neighbours', too, and count half */
    bool whole;    /* all products of features are kept */
    size_t most;   /* unknowns per field; 0: as the shortest scales need, within KB_PATCH_UNKNOWNS */
} kb_patch_scales;

kbass_status kb_patch_create(const kb_field_samples *samples, const kb_dictionary *dictionary, const double *lo,
                             const double *hi, const kb_patch_scales *scales, kb_patch **out, kbass_error *error);
void kb_patch_destroy(kb_patch *patch);

/* Steps of the ladder: one for time, one for all axes of space. */
typedef struct {
    int time, space;
} kb_steps;

kbass_status kb_patch_set_level(kb_patch *patch, kb_steps steps, kbass_error *error);
/* Carries z from another level to the present one. work: kb_patch_transfer_work */
kbass_status kb_patch_transfer(kb_patch *patch, kb_steps from, const double *z_from, double *z, double *work,
                               kbass_error *error);
size_t kb_patch_transfer_work(const kb_patch *patch);

/* The axes' features on the equation's points with derivative orders; modes: n_axes. */
void kb_patch_modes(const kb_patch *patch, const int *order, kb_mode *modes);
/* The same at the data: of a grid's lines, or of every point. */
void kb_patch_data_modes(const kb_patch *patch, kb_mode *modes);
/* Rows of scattered data: n_points x n, column-major. */
void kb_patch_rows(const kb_patch *patch, double *rows);
/* r = (q - y) h^{-1/2} where measured, else 0 (n_points). work: kb_patch_data_work */
void kb_patch_residual(const kb_patch *patch, size_t field, const double *z, double *r, double *work);
/* z = R' r */
void kb_patch_pull(const kb_patch *patch, const double *r, double *z, double *work);
size_t kb_patch_data_work(const kb_patch *patch); /* and for kb_patch_rows, at any level */

#endif
