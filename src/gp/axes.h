/* One axis of a patch: a ladder of length scales and, for each, the kernel's features where they are needed.
 *
 *     length_k = unit * KB_LADDER_RATIO^k,   k = KB_LADDER_FIRST ...
 *
 * The mesh of an axis is the same on all levels, so that moving a field between levels is a small matrix per axis.
 * Levels are made when first asked for and kept. Columns come largest eigenvalue first: a lower rank is a prefix.
 */
#ifndef KB_AXES_H
#define KB_AXES_H

#include <stdbool.h>

#include "base/status.h"
#include "kernel/basis.h"

#define KB_LADDER_RATIO 0.94868329805051377 /* sqrt(0.9) */
#define KB_AXIS_CUT     1e-6                /* eigenvalues below this share of the largest are left out */
#define KB_PRODUCT_CUT  1e-8    /* of products of features over three axes; over four that would take too many */
enum { KB_LADDER_FIRST = -8 };  /* step of the ladder: longest scale, 1.5 of the bare field's */
enum { KB_LADDER_LEVELS = 48 }; /* room: steps of the ladder */
enum { KB_AXIS_ORDERS = 7 };    /* room: derivatives 0 to 6 */

typedef struct {
    double length;
    size_t rank;
    kb_basis *basis;
    double *eigenvalue;           /* rank, descending: phi' phi on the mesh */
    double *data;                 /* phi at the data, times their roots: n_data x rank */
    double *gram;                 /* data' data: rank x rank */
    double *mesh[KB_AXIS_ORDERS]; /* phi^(q) on the mesh: n_mesh x rank, q up to highest */
    size_t first, n_inner;        /* mesh points far enough from the patch's edges for the equation to hold there */
} kb_axis_level;

/* What an axis is made from. */
typedef struct {
    kb_kernel_kind kind;
    double lo, hi;
    double period;             /* of a periodic axis, seen whole: its mesh covers one period; 0: none */
    double unit, shortest;     /* of the ladder; the length scale that a mesh chosen here has to resolve */
    double margin;             /* share of the axis at each end where the equation is not imposed */
    int highest;               /* order of derivative */
    size_t n_axes;             /* of the patch: more axes, coarser meshes */
    bool shares_lo, shares_hi; /* data on that end are a neighbour's, too */
    size_t n_given;
    const double *given; /* mesh of the whole domain, ascending; NULL: chosen here, even */
} kb_axis_plan;

typedef struct {
    kb_kernel_kind kind;
    double lo, hi, unit, period, margin;
    double cut; /* least eigenvalue kept, as a share of the largest */
    bool shares_lo, shares_hi;
    int highest; /* order of derivative */
    size_t n_mesh, n_data;
    double *mesh, *data; /* coordinates */
    kb_axis_level *levels[KB_LADDER_LEVELS];
} kb_axis;

#define KB_AXIS_MARGIN 0.12 /* where the kernel's high derivatives are poor */

/* Data are copied. */
kbass_status kb_axis_create(const kb_axis_plan *plan, size_t n_data, const double *data, kb_axis **out,
                            kbass_error *error);
void kb_axis_destroy(kb_axis *axis);
/* Root of the weight of a datum here: 1, or sqrt(1/2) on an end that is shared, so that neighbours count it once. */
double kb_axis_root(const kb_axis *axis, double coordinate);
/* The level of this step of the ladder, clamped to its ends; belongs to the axis. Not for two threads at once. */
kbass_status kb_axis_level_at(kb_axis *axis, int step, const kb_axis_level **out, kbass_error *error);
/* How many columns have eigenvalues above `cut` times the largest. */
size_t kb_axis_rank(const kb_axis_level *level, double cut);
/* Share of the largest eigenvalue below which features, or products of them, are left out. */
double kb_axis_cut(size_t n_axes);
/* Rank that a length scale needs on a stretch of axis. */
double kb_axis_rank_estimate(double stretch, double length);
/* Of a tensor of such ranks, the share of products that count: eigenvalues fall as exp(-k^2), so they fill a ball. */
double kb_ball_share(size_t n_axes);
/* T (rank_to x rank_from): coefficients at `to` of the field nearest, on the mesh, to the one at `from`. */
void kb_axis_transfer(const kb_axis *axis, const kb_axis_level *from, size_t rank_from, const kb_axis_level *to,
                      size_t rank_to, double *T);

#endif
