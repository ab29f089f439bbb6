/* PDE dynamics on one space axis: the method of lines, with discrete tangents (docs/math.md, eqs 27 to 30).
 *
 * Nodes are even; derivatives are 7-point stencils, u^p u_x in conservative form; time steps are those of the L-stable
 * SDIRK3, a few equal ones between two data lines, each stage by full Newton and a banded LU that the tangents reuse.
 * A window starts from a profile in few Fourier modes with a Matern-5/2 spectrum and, when the axis is not periodic,
 * from boundary values in few modes of time: all unknowns are N(0, 1). Fronts form by themselves.
 */
#ifndef KB_FORWARD_PDE1D_METHOD_OF_LINES_H
#define KB_FORWARD_PDE1D_METHOD_OF_LINES_H

#include <stdint.h>

#include "forward/dynamics.h"
#include "forward/pde1d/profile.h"
#include "forward/rhs.h"
#include "gp/field_samples.h"

enum { KB_STENCIL = 7 };            /* nodes: of a difference */
enum { KB_PDE1D_STAGES = 3 };       /* room: stages of a step */
enum { KB_PDE1D_MODES = 61 };       /* modes: of a start; seconds */
enum { KB_PDE1D_MOST_MODES = 101 }; /* modes: of a start that needs more */

/* What stands beyond the ends of an axis that is not periodic: the boundary's modes; they with their values at the end
   of the record from there on; the outermost nodes' own values. */
typedef enum { KB_ENDS_FITTED, KB_ENDS_HELD, KB_ENDS_MIRRORED } kb_ends;

typedef struct {
    size_t n_nodes;
    size_t steps; /* between two data lines of median distance */
    bool periodic;
    double period; /* in units of the axis' span (1: the first and the last coordinate are the same place) */
    kb_ends ends;
} kb_pde1d_settings;

typedef struct {
    kb_dynamics dynamics; /* first */
    const kb_field_samples *samples;
    const kb_dictionary *dictionary;
    const kb_columns *columns;
    kb_pde1d_settings settings;
    size_t run;               /* of several: columns of others do not hold here */
    size_t n, n_fields, size; /* nodes, fields, n * n_fields */
    double dx, span;          /* in the data's units: node distance, time span */
    double stencil[KB_HIGHEST_ORDER + 1][KB_STENCIL];
    double *row_time;  /* n_rows, scaled */
    size_t *row_steps; /* n_rows: steps from the row before */

    /* unknowns of a start: n_modes per field, then n_boundary per field and side */
    size_t n_modes, n_boundary;
    double *modes;           /* n x n_modes, row-major */
    double *gram;            /* n_modes^2: Cholesky factor of the modes' Gram matrix on the nodes */
    double amplitude, noise; /* of the profile's prior, scaled; noise: variance of the first lines */

    /* observation o: weights on six nodes from node[o] on */
    size_t *node;
    double *weight; /* n_observations x 6 */
    double *bound;  /* n_fields */

    kb_rhs rhs;
    size_t n_parameters, stride; /* tangents of one unknown: n_parameters, filled up to whole vector registers */
    /* slot by slot: u^p u_x of one field is a flux; its power, or -1 */
    int *flux_power;
    size_t *flux_field;

    /* band matrix in an order of nodes that keeps a periodic band a band */
    size_t *row;   /* size: which unknown stands in a row of the matrix */
    size_t *place; /* n x KB_STENCIL: entry of node i and its m-th neighbour, or that one's image at an end */
    size_t band;   /* half width, in unknowns */
    double factor; /* the matrix is I - factor J, factorised; 0: there is none */
    /* workspace */
    double *points, *values, *slope, *work;         /* terms at the nodes */
    double *extended, *flux, *gain, *boundary_gain; /* (n + 6) x fields; variables' coefficients at the nodes */
    double *coupling; /* fields x fields x KB_STENCIL x n: derivatives of the rates by neighbouring values */
    bool *has_gain;   /* fields x variables */
    double *state, *stage, *rate, *known, *guess, *slopes, *residual, *matrix;
    double *tangent, *tangent_rate, *tangent_known, *tangent_stage;
    double *boundary_basis;        /* n_boundary: at the present time */
    const double *start;           /* of the window being integrated */
    double *wave, *boundary_scale; /* n_boundary frequencies and amplitudes in time */
} kb_pde1d;

/* Is the axis periodic, and with which period? From the likelihood of the data lines under periodic profiles, against
   one that is not; `known` other than 0 says which is meant (1 yes, -1 no) and leaves the period to be found. The
   run_samples are n runs on one domain. */
kbass_status kb_pde1d_find_period(size_t n, kb_field_samples *const *run_samples, int known,
                                  kb_pde1d_settings *settings, kbass_error *error);
/* Minus the log prior of a period. Grids are laid with the last line a repetition of the first, or one spacing before
   it; what is neither has to be seen in the data. */
double kb_pde1d_period_loss(size_t n, kb_field_samples *const *run_samples, double period);
/* The shortest length scale that the data's spacing can show. */
double kb_pde1d_shortest(size_t n, kb_field_samples *const *run_samples);
/* The profile's prior for such settings by at most so many lines of each run, its length scale not below `shortest`. */
kbass_status kb_pde1d_profile(size_t n, kb_field_samples *const *run_samples, const kb_pde1d_settings *settings,
                              size_t most_lines, double shortest, kb_profile *profile, kbass_error *error);
/* The same by `n_lines` lines of each field of a grid, spread over the record: for windows that start anywhere. Up to
   KB_PDE1D_MOST_MODES, where KB_PDE1D_MODES are enough for the beginning of a record. */
kbass_status kb_pde1d_profile_throughout(const kb_field_samples *samples, const kb_pde1d_settings *settings,
                                         size_t n_lines, double shortest, kb_profile *profile, kbass_error *error);

kbass_status kb_pde1d_create(const kb_field_samples *samples, const kb_dictionary *dictionary,
                             const kb_columns *columns, const kb_pde1d_settings *settings, const kb_profile *profile,
                             size_t max_tangents, kb_pde1d **out, kbass_error *error);
/* A first guess of the start at a row, by regression of the profile on the nearest data lines. start: n_start */
bool kb_pde1d_guess(const kb_pde1d *line, size_t row, double *start);

/* As predict, over all rows, from the state at the nodes instead of a profile; `start` is that of the boundary. What is
   not reached is left as it is. */
bool kb_pde1d_continue(kb_pde1d *line, const double *state, const double *start, double *predicted);

/* One step of size h from s (scaled time): state and, with tangents, tangent move on. False when Newton fails, the
   state escapes, or the equation amplifies the grid's shortest wave: ill-posed. */
bool kb_pde1d_step(kb_pde1d *line, double s, double h, bool first, bool with_tangents);
/* Does the m-th neighbour of a node lie beyond an open end? */
static inline bool kb_pde1d_is_beyond(const kb_pde1d *line, size_t node, size_t m)
{
    return !line->settings.periodic && (node + m < KB_STENCIL / 2 || node + m >= line->n + KB_STENCIL / 2);
}
/* Boundary basis (n_boundary) at a scaled time. */
void kb_pde1d_boundary(const kb_pde1d *line, double s, double *basis);

#endif
