/* The kernel of one axis of one field on the published method's mesh, its length scale still moving.
 *
 * The field is known by its values at nodes P of the mesh, chosen by a pivoted Cholesky factorisation that stops where
 * what is left of the kernel's diagonal falls below 1e-9; between them it is interpolated, with the kernel K_0 of the
 * length scale for which the nodes were chosen, so that the features are fixed while that moves by a few per cent:
 *
 *     D^k u(x) = Phi_k(x) u(P),   Phi_k(x) = D^k K_0(x, P) K_0(P, P)^{-1}
 *
 * Coefficients z ~ N(0, I) stand at points Q: all points of the mesh, as in the authors' code, or the nodes alone.
 *
 *     u(P) = A z,   A = K(P, Q) L^{-T},   L L' = K(Q, Q) + jitter        (at the nodes alone: a share of it)
 *
 * With R R' = K(P, P) and K(Q, Q) = G G', G = Phi_0(Q) R, A = R W' follows from a recursion over blocks of Q that never
 * forms L (axis_prior.c). Slopes are those by log(length).
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
    bool is_whole; /* coefficients at all points of the mesh: the authors' basis */
    double jitter;
    size_t n_mesh, n_rows;
    const double *mesh, *rows;            /* coordinates: of the mesh, and of the measurements */
    double step;                          /* of an even mesh; 0: uneven */
    size_t rank, n;                       /* nodes; coefficients */
    size_t *node;                         /* indices into the mesh */
    double node_length;                   /* the length scale they were chosen for */
    double *node_factor;                  /* rank x rank: Cholesky factor of K_0(P, P) */
    unsigned orders;                      /* bit k: feature[k] is filled */
    double *feature[KB_PUBLISHED_ORDERS]; /* n_mesh x rank: Phi_k at the mesh */
    double *row_feature;                  /* n_rows x rank: Phi_0 at the measurements */
    double *A, *A_slope;                  /* rank x n */
    double *table, *work;
} kb_published_axis;

/* is_whole: as above, until kb_published_axis_compress. */
kbass_status kb_published_axis_create(const kb_kernel *kernel, double jitter, bool is_whole, size_t n_mesh,
                                      const double *mesh, size_t n_rows, const double *rows, kb_published_axis **out,
                                      kbass_error *error);
void kb_published_axis_destroy(kb_published_axis *axis);

/* From now on coefficients at the nodes alone: the next choice is due. */
void kb_published_axis_compress(kb_published_axis *axis);
/* Have the nodes to be chosen anew for this length scale? */
bool kb_published_axis_is_far(const kb_published_axis *axis, double length);
/* Chooses nodes for this length scale. Where the coefficients stand elsewhere now, a tensor of the old ones goes over
   by z x T (n x old n, owned by the caller); else *T is NULL. */
kbass_status kb_published_axis_place(kb_published_axis *axis, double length, double **T, kbass_error *error);
/* A and its slope at this length scale, nodes kept, and the features of `orders`; false in numerical trouble. */
bool kb_published_axis_set(kb_published_axis *axis, double length, unsigned orders);

/* Phi_0 of any points: rank x n_points. */
void kb_published_axis_features(const kb_published_axis *axis, size_t n_points, const double *x, double *features);
kb_mode kb_published_axis_mesh(const kb_published_axis *axis, int order);
kb_mode kb_published_axis_rows(const kb_published_axis *axis);
kb_mode kb_published_axis_prior(const kb_published_axis *axis);

/* Of axis_prior.c: A and, if the slopes are known, A_slope; work as kb_published_prior_work says. */
bool kb_published_axis_fill_prior(kb_published_axis *axis);
size_t kb_published_prior_work(size_t rank, size_t n);
/* d^k/dx^k of the kernel at distance d, k = 0 .. n - 1. */
void kb_published_derivatives(const kb_kernel *kernel, double d, int n, double *f);

#endif
