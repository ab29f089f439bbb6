/* PDE dynamics over several space axes: Fourier collocation with discrete tangents (docs/math.md, section 27).
 *
 * A field is a trigonometric polynomial in a box with periodic sides. Terms are evaluated on 3/2 as many nodes as there
 * are coefficients, which removes the aliases of quadratic terms. Linear even derivatives decay exactly (integrating
 * factor), the rest takes classical Runge-Kutta steps, a few equal ones between two data rows; tangents take the same
 * steps. A window starts from the polynomial's largest modes with a Matern-5/2 spectrum, all unknowns N(0, 1).
 */
#ifndef KB_FORWARD_SPECTRAL_FOURIER_MODEL_H
#define KB_FORWARD_SPECTRAL_FOURIER_MODEL_H

#include "forward/dynamics.h"
#include "forward/rhs.h"
#include "gp/field_samples.h"
#include "tensor/mode.h"

enum { KB_FOURIER_AXES = KB_SAMPLE_AXES - 1 }; /* room: axes of space */
enum { KB_FOURIER_STAGES = 4 };                /* room: stages of a step */
enum { KB_FOURIER_LANES = 64 };                /* tangents: at a time; the cache */

typedef struct {
    size_t n_waves[KB_FOURIER_AXES]; /* highest frequency along each space axis */
    double period[KB_FOURIER_AXES];  /* of the box, in units of the axis' span */
    double length[KB_FOURIER_AXES];  /* of the start's spectrum, scaled as the axis */
    double amplitude, noise; /* of the start, scaled: standard deviation; variance of the noise, for the guess */
    size_t most_modes;       /* of the start, per field */
    size_t steps;            /* between two data rows of median distance */
} kb_fourier_settings;

typedef struct {
    kb_dynamics dynamics; /* first */
    const kb_field_samples *samples;
    const kb_dictionary *dictionary;
    kb_fourier_settings settings;
    size_t n_axes, n_fields;                              /* of space */
    size_t m[KB_FOURIER_AXES], n[KB_FOURIER_AXES];        /* coefficients and nodes along each axis */
    size_t n_coefficients, n_nodes, size;                 /* in all; size: coefficients of all fields */
    double wave[KB_FOURIER_AXES];                         /* 2 pi / period, in the data's units */
    double *row_time;                                     /* n_rows, scaled */
    size_t *row_steps, *row_point;                        /* steps from the row before; n_rows + 1: first point */
    int highest[KB_FOURIER_AXES];                         /* order of derivative in use along an axis */
    double *basis[KB_FOURIER_AXES][KB_HIGHEST_ORDER + 1]; /* derivatives of the waves at the nodes, n x m */
    double *where[KB_FOURIER_AXES];                       /* m x points: the waves at the data's points */

    size_t n_modes, *mode; /* of a field's start: which coefficients, */
    double *mode_scale;    /* and their prior standard deviations */
    double *bound;         /* n_fields */

    kb_rhs rhs;
    size_t n_parameters, n_chunks; /* tangents, and how many chunks of lanes they fill */
    bool *is_linear;               /* by entry of the rhs: decays exactly */
    bool is_ill_posed;             /* the shortest waves grow */
    double *decay;                 /* size: rate of each coefficient */
    double step;                   /* to which the next two belong; 0: none */
    double *factor, *half_factor;  /* size: exp(decay h), exp(decay h/2) */
    size_t n_used, *used;          /* variables of the terms in use */
    bool *has_gain;                /* fields x variables */
    /* workspace */
    double *points, *values, *slope, *work; /* terms at the nodes */
    double *gain, *force;                   /* by stage: fields x used x nodes, terms x nodes */
    double *state, *stage, *rate, *sum;
    double *tangent; /* chunk by chunk: lanes x size, lanes fastest */
    double *tangent_stage, *tangent_rate, *tangent_sum, *tangent_nodes, *tangent_rates, *tangent_work;
    double *features, *seen;            /* coefficients x points of a row; lanes x points */
    size_t n_points_of_row, sight_size; /* of rows that are all the same grid, and of the largest tensor on the way */
    double *sight[KB_FOURIER_AXES], *sight_work; /* n_grid x m: the waves at an axis' places; two such tensors */
} kb_fourier_model;

#define KB_NO_TANGENTS ((size_t)-1) /* for predictions alone */

/* max_tangents: of weights; those of the start come to them. */
kbass_status kb_fourier_model_create(const kb_field_samples *samples, const kb_dictionary *dictionary,
                                     const kb_columns *columns, const kb_fourier_settings *settings,
                                     size_t max_tangents, kb_fourier_model **out, kbass_error *error);
/* A start on another model over the same axes: what its modes can hold of it. */
void kb_fourier_model_translate(const kb_fourier_model *from, const double *start, const kb_fourier_model *to,
                                double *translated);
/* Values of a field (lanes x coefficients) at the points of a row, lanes x points, axis 0 fastest, where every row is
   the same grid: axis after axis. work: two tensors of lanes x sight_size */
const double *kb_fourier_model_see(const kb_fourier_model *fourier, size_t lanes, const double *coefficients,
                                   double *work);
/* Where point j of a row, whose last axis runs fastest, stands there; j itself where rows are no grid. */
size_t kb_fourier_model_place(const kb_fourier_model *fourier, size_t j);
/* One row after the other, as predict does for all of them: from `start` at row `first`, or from the row before. */
bool kb_fourier_model_reach(kb_fourier_model *fourier, size_t first, size_t row, const double *start, double *predicted,
                            double *tangents);

/* The same, with tangents that move on unseen; kb_fourier_model_turn shows them. */
bool kb_fourier_model_reach_turned(kb_fourier_model *fourier, size_t first, size_t row, const double *start,
                                   double *predicted);
/* Of the row reached: turned = L' tangents, parameters x observations, for a lower triangle L (parameters squared);
   coefficients are turned before they are seen, axis after axis where all rows are one grid.
   work: kb_fourier_model_turn_work. */
void kb_fourier_model_turn(const kb_fourier_model *fourier, size_t row, const double *L, double *turned, double *work);
size_t kb_fourier_model_turn_work(const kb_fourier_model *fourier);

/* One step of size h from s (scaled time): the state and, with tangents, they move on. False when the state escapes. */
bool kb_fourier_model_step(kb_fourier_model *fourier, double s, double h, bool with_tangents);
/* Prepares what depends on the model: decay, variables in use. */
void kb_fourier_model_set_terms(kb_fourier_model *fourier);

#endif
