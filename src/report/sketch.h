/* What the figures of a result are drawn from: the solution on an even grid, and the measurements with their fitted
 * values, thinned where there are many.
 */
#ifndef KB_SKETCH_H
#define KB_SKETCH_H

#include "data/data.h"

typedef struct {
    size_t n_states, n_axes;
    size_t n_along[KBASS_MAX_AXES];
    double *along[KBASS_MAX_AXES]; /* coordinates of the grid; several runs have a grid of their own each, one after the
                                      other */
    size_t n_runs;                 /* 1 or more */
    double *mean, *sd;             /* points of the grid x n_states, run by run, time slowest */
    size_t step, n_rows;           /* every step-th row of the data */
    double *fitted;                /* n_rows x n_states */
} kb_sketch;

/* A run's solution and its sd (NULL: not asked for) at n points with ascending times; positions NULL without space. */
typedef kbass_status kb_sketch_solver(const void *context, size_t run, size_t n, const double *times,
                                      const double *positions, double *mean, double *sd, kbass_error *error);

kbass_status kb_sketch_create(const kbass_data *data, kb_sketch_solver *solve, const void *context, kb_sketch **out,
                              kbass_error *error);
void kb_sketch_destroy(kb_sketch *sketch);

/* Points of the grid, in all runs. */
size_t kb_sketch_points(const kb_sketch *sketch);
/* The run of a row of the data. */
size_t kb_sketch_run(const kbass_data *data, size_t row);

#endif
