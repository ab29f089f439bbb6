/* Fields over several axes, or of second order in time, beyond the record: simulate's solver goes on from the last row.
 * At open ends the fields keep their last rates, or do what the named boundary says.
 */
#ifndef KB_FORECAST_ROW_H
#define KB_FORECAST_ROW_H

#include "posterior/posterior.h"
#include "simulate/pde.h"

typedef struct {
    const kbass_posterior *posterior;
    const kb_belief *belief;
    kb_ends ends;
    size_t n;             /* points: n_axes numbers each, time first */
    const double *points; /* from the record's end on */
    kb_resolution resolution;
} kb_row_course;

/* How fine the chosen weights from the mean last row need it; all draws take that. */
kbass_status kb_row_course_begin(kb_row_course *course, kbass_error *error);
/* Values (n x n_states) of one draw of weights and last row. */
kbass_status kb_row_course_follow(const kb_row_course *course, const double *weights, const double *last,
                                  double *values, kbass_error *error);

/* Mean and variance of the field at a point of the record, and its variance when the weights are known (or NULL), from
   the mesh; n_states each. */
void kb_row_predict(const kbass_posterior *posterior, const kb_belief *belief, double time, const double *position,
                    double *mean, double *variance, double *given_weights);

#endif
