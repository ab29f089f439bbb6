/* The kernel of one axis of one field on the published method's mesh, its length scale still moving.
 *
 *     K(x, P) at pivots P of the mesh: a pivoted Cholesky factorisation stops where what is left of the kernel's
 *     diagonal falls below the jitter;   L L' = K(P, P) + jitter * rank / n_mesh
 *     u(x) = K(x, P) c,   c = L^{-T} z,   z ~ N(0, I),   and derivatives by those of the kernel
 *
 * The pivots stay while the length scale moves by a few per cent, so a step costs a Cholesky factorisation of rank^3 /
 * 3 and tables; on an even mesh the kernel is a function of the distance in steps. Slopes are those by log(length).
 */
#ifndef KB_PUBLISHED_AXIS_H
#define KB_PUBLISHED_AXIS_H

#include <stdbool.h>

#include "base/status.h"
#include "kernel/kernel.h"
#include "tensor/mode.h"

enum { KB_PUBLISHED_ORDERS = 7 }; /* derivatives 0 to 6 */

typedef struct {
    kb_kernel kernel;
    bool learns;   /* the slopes are known: the SE kernel's */
    bool is_whole; /* all points of the mesh are pivots, in their order: the authors' basis */
    double jitter;
    size_t n_mesh, n_rows;
    const double *mesh, *rows; /* coordinates: of the mesh, and of the measurements */
    double step;               /* of an even mesh; 0: uneven */
    size_t rank;
    size_t *pivot;                        /* indices into the mesh */
    double pivot_length;                  /* the length scale they were chosen for */
    double *L, *B_slope;                  /* rank x rank: factor, slope of K(P, P) */
    double *feature[KB_PUBLISHED_ORDERS]; /* n_mesh x rank: d^order K(mesh, P); those in `orders` are up to date */
    double *slope[KB_PUBLISHED_ORDERS];   /* likewise */
    double *row_feature, *row_slope;      /* n_rows x rank */
    double *table, *work;
    unsigned orders; /* bit k: derivative k is needed */
} kb_published_axis;

/* is_whole: as above, until kb_published_axis_compress. */
kbass_status kb_published_axis_create(const kb_kernel *kernel, double jitter, bool is_whole, size_t n_mesh,
                                      const double *mesh, size_t n_rows, const double *rows, kb_published_axis **out,
                                      kbass_error *error);
void kb_published_axis_destroy(kb_published_axis *axis);

/* From now on few pivots: the next choice is due. */
void kb_published_axis_compress(kb_published_axis *axis);
/* Have the pivots to be chosen anew for this length scale? */
bool kb_published_axis_is_far(const kb_published_axis *axis, double length);
/* Chooses pivots for this length scale. A tensor z of the old ones goes over by z x T, T = L^{-1} K(P, P_old)
   L_old^{-T} (rank x old rank, owned by the caller), unless there were none or `T` is NULL. */
kbass_status kb_published_axis_pivot(kb_published_axis *axis, double length, double **T, kbass_error *error);
/* Features and slopes at this length scale, pivots kept; false when L cannot be had. */
bool kb_published_axis_set(kb_published_axis *axis, double length, unsigned orders);

/* K(x, P) of any points: n x rank. */
void kb_published_axis_features(const kb_published_axis *axis, size_t n, const double *x, double *features);
kb_mode kb_published_axis_mesh(const kb_published_axis *axis, int order);
kb_mode kb_published_axis_mesh_slope(const kb_published_axis *axis, int order);
kb_mode kb_published_axis_rows(const kb_published_axis *axis);
kb_mode kb_published_axis_rows_slope(const kb_published_axis *axis);
/* <M, dL'/dlog(length)> for M rank x rank. */
double kb_published_axis_factor_slope(kb_published_axis *axis, const double *M);

#endif
