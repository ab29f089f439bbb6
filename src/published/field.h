/* The published method's fields on a mesh: each field is a tensor z of whitened coefficients, with a length scale of
 * its own along each axis (axis.h); one axis is an ODE system.
 *
 *     c = z x_0 L_0^{-T} x_1 L_1^{-T} ...,     D u = c x_0 D^{k_0}K_0(mesh, P) x_1 D^{k_1}K_1(mesh, P) ...
 *
 * Values are those of (u - offset) / unit over coordinates s * reach: offset and unit are mean and sd of the
 * measurements and reach is 1 in scaled units, and 0, 1 and the axis' span in the data's own.
 */
#ifndef KB_PUBLISHED_FIELD_H
#define KB_PUBLISHED_FIELD_H

#include "dictionary/dictionary.h"
#include "gp/field_samples.h"
#include "published/axis.h"

typedef struct {
    const kb_field_samples *samples;
    size_t n_axes, n_fields, n_mesh; /* n_mesh: points in all */
    double reach[KB_SAMPLE_AXES];
    double *offset, *unit;              /* n_fields */
    double *coordinate[KB_SAMPLE_AXES]; /* of the mesh along each axis */
    double *row[KB_SAMPLE_AXES];        /* of the measurements: along each axis of a grid, else by point */
    double *value;                      /* measurements, n_points x n_fields */
    size_t *place;                      /* of each measurement in the tensor of its grid */
    kb_published_axis **axis;           /* n_fields x n_axes */
    double *log_length;                 /* likewise */
    size_t *first;                      /* n_fields + 1: where a field's coefficients begin */
    double *z, *c, *pull;               /* first[n_fields]: coefficients; by pivot; gradient by c */
    double *work, *spare, *product;     /* of mode products; a tensor of the mesh or of the rows; one of coefficients */
} kb_published_field;

/* in_data_units: offset 0, unit 1, reach the span. is_whole: see axis.h. lengths: n_fields x n_axes, in the field's
 * coordinates. */
kbass_status kb_published_field_create(const kb_field_samples *samples, bool in_data_units, const kb_kernel *kernels,
                                       double jitter, bool is_whole, const double *lengths, kb_published_field **out,
                                       kbass_error *error);
void kb_published_field_destroy(kb_published_field *field);

/* Chooses pivots anew for the axes whose length scale has gone far; z goes along, and changed[field]
   tells. */
kbass_status kb_published_field_pivot(kb_published_field *field, bool *changed, kbass_error *error);
/* Kernels at the length scales, `orders` by axis (a bit for each derivative), and c from z. False in numerical trouble.
 */
bool kb_published_field_set(kb_published_field *field, const unsigned *orders);
/* A derivative of a field over the mesh, in the field's units. */
void kb_published_field_derivative(kb_published_field *field, size_t which, const int *order, double *out);
/* Adds the pull of r = dJ / d(that derivative) to `pull`, and to slopes[axis] = dJ / dlog(length) unless NULL. */
void kb_published_field_pull(kb_published_field *field, size_t which, const int *order, const double *r,
                             double *slopes);
/* Measured minus field, 0 where nothing was measured: n_points; and its pull as above. */
void kb_published_field_residual(kb_published_field *field, size_t which, double *r);
void kb_published_field_pull_rows(kb_published_field *field, size_t which, const double *r, double *slopes);
/* gradient += what `pull` of this field makes of dJ/dz; and of slopes through L. */
void kb_published_field_gradient(kb_published_field *field, size_t which, double *gradient, double *slopes);
/* Coefficients of a field. */
size_t kb_published_field_size(const kb_published_field *field, size_t which);

#endif
