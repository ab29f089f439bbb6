/* The published method's fields on a mesh: each field is a tensor z of whitened coefficients, with a length scale of
 * its own along each axis (axis.h); one axis is an ODE system.
 *
 *     u(nodes) = z x_0 A_0 x_1 A_1 ...,     D u = u(nodes) x_0 Phi_{k_0} x_1 Phi_{k_1} ...
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
    size_t *first, *first_node;         /* n_fields + 1: where a field's coefficients begin, and its nodes */
    double *z, *u, *pull;               /* coefficients; values at the nodes, gradient by them */
    double *partial, *force;            /* leading axes on the mesh, nodes of the last: of u; of dJ / d(derivative) */
    size_t partial_of, force_of;        /* the field they belong to; n_fields: none */
    int partial_order[KB_SAMPLE_AXES], force_order[KB_SAMPLE_AXES]; /* along the leading axes */
    double *work, *spare,
        *product; /* of mode products; a tensor of the mesh, rows or coefficients; one of the latter */
} kb_published_field;

/* in_data_units: offset 0, unit 1, reach the span. is_whole: see axis.h. lengths: n_fields x n_axes, in the field's
 * coordinates. */
kbass_status kb_published_field_create(const kb_field_samples *samples, bool in_data_units, const kb_kernel *kernels,
                                       double jitter, bool is_whole, const double *lengths, kb_published_field **out,
                                       kbass_error *error);
void kb_published_field_destroy(kb_published_field *field);

/* Chooses nodes anew for the axes whose length scale has gone far; z goes along, and changed[field] tells whether it is
   another tensor now. */
kbass_status kb_published_field_place(kb_published_field *field, bool *changed, kbass_error *error);
/* The same with coefficients at the nodes alone from now on. */
kbass_status kb_published_field_compress(kb_published_field *field, bool *changed, kbass_error *error);
/* Kernels at the length scales, `orders` by axis (a bit for each derivative), and the nodes' values from z. False in
 * numerical trouble. */
bool kb_published_field_set(kb_published_field *field, const unsigned *orders);
/* A derivative of a field over the mesh, in the field's units. Those that differ along the last axis alone are cheapest
 * in a row, and their pulls too. */
void kb_published_field_derivative(kb_published_field *field, size_t which, const int *order, double *out);
/* Adds the pull of r = dJ / d(that derivative) to the gradient by the nodes' values. */
void kb_published_field_pull(kb_published_field *field, size_t which, const int *order, const double *r);
/* Measured minus field, 0 where nothing was measured: n_points; and its pull as above. */
void kb_published_field_residual(kb_published_field *field, size_t which, double *r);
void kb_published_field_pull_rows(kb_published_field *field, size_t which, const double *r);
/* gradient += what the pulls on this field make of dJ/dz; slopes[axis] += dJ/dlog(length), unless NULL. */
void kb_published_field_gradient(kb_published_field *field, size_t which, double *gradient, double *slopes);
/* Coefficients of a field. */
size_t kb_published_field_size(const kb_published_field *field, size_t which);

#endif
