/* What shooting needs to know of a model: how to predict the observations of a stretch of time lines from unknown
 * weights and an unknown start. ODE trajectories and PDE fields both look like this; nothing above knows which it is.
 *
 * Observations are listed row by row (a row is one time): observation o of row r lies in
 * [observation_start[r], observation_start[r + 1]). Parameters are the tangent columns' weights, then the start.
 */
#ifndef KB_DYNAMICS_H
#define KB_DYNAMICS_H

#include "base/checkpoint.h"
#include "gp/noise.h"
#include "weights/columns.h"

typedef struct kb_dynamics kb_dynamics;

struct kb_dynamics {
    size_t n_start;         /* unknowns of a window's start */
    double *start_variance; /* n_start: their prior variances, in scaled units; 0: known, stays as it is */
    size_t n_rows;
    size_t n_runs;             /* parts of the rows that no solution leaves */
    const size_t *run_start;   /* n_runs + 1: their first rows; NULL: one run */
    size_t *observation_start; /* n_rows + 1 */
    double *observed;          /* values, scaled */
    size_t *group;             /* which noise an observation has: its state or field */
    double *relative;          /* error bars: each observation's variance as a multiple of its group's; NULL: 1 */
    size_t n_groups;
    const double *mean, *sd; /* n_groups: values are mean + sd q in the data's units */
    kb_noise_model noise_model;
    const double *known_variance; /* n_groups; 0: unknown */
    double noise_share;     /* variance of an observation's noise over that of a measurement, where it is told; 0: 1 */
    bool starts_are_states; /* of the system; else many modes of a profile, which may go astray */
    bool tangents_are_dear; /* beside predictions: steps of a fit share them */
    kb_work_key resolution; /* of all that predictions depend on beside measurements, columns and model */
    double noise_floor;     /* smallest noise variance: below it lies the discretisation's own error */

    /* Weights by column (scaled); tangents for the columns of `tangents` (NULL: none are wanted). */
    void (*set_model)(kb_dynamics *self, const kb_support *support, const double *w, const kb_support *tangents);
    /* From `start` at row `first` to row `last`: predictions of their observations and, unless NULL, their tangents
       (observation x parameter, the last fastest). False when the solution escapes or cannot be computed. */
    bool (*predict)(kb_dynamics *self, size_t first, size_t last, const double *start, double *predicted,
                    double *tangents);
    /* The start, at row `row`, that continues the solution from `start` at row `first`. */
    bool (*carry)(kb_dynamics *self, size_t first, size_t row, const double *start, double *carried);
    /* Integrals of all n_terms terms of the dictionary from row `first` to each row up to `last` along the solution
       from `start`: rows x n_terms, column-major, per scaled time; states for which is_bare (NULL: none) is true are
       those of the bare field. NULL: this dynamics has none. */
    bool (*integrals)(kb_dynamics *self, size_t first, size_t last, const double *start, const bool *is_bare,
                      double *sums);
    size_t n_terms;
    /* A start at a row, by regression of the measurements nearby; NULL: this dynamics has none. */
    kbass_status (*guess)(kb_dynamics *self, size_t row, double *start, kbass_error *error);
    /* Floating-point operations, about, of one integration over all rows with so many tangents besides those of the
       start; NULL: it is cheap. */
    double (*cost)(const kb_dynamics *self, size_t n_tangents);
    void (*destroy)(kb_dynamics *self);
};

/* Observations of the row that has most. */
static inline size_t kb_dynamics_largest_row(const kb_dynamics *d)
{
    size_t most = 0;
    for (size_t row = 0; row < d->n_rows; row++) {
        size_t n = d->observation_start[row + 1] - d->observation_start[row];
        if (n > most) most = n;
    }
    return most;
}

#endif
