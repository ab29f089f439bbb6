/* Fields over space as a result file keeps them, set up again for forward/line.h: dictionary, columns, scales.
 *
 * A stage is one model; lines on it run through the points that are asked for, within the record or beyond it.
 */
#ifndef KB_STAGE_H
#define KB_STAGE_H

#include "posterior/posterior.h"

typedef struct {
    const kbass_posterior *posterior;
    const kb_belief *belief;
    kb_dictionary *dictionary;
    kb_columns columns; /* of the belief's terms, in their order, all of scale 1 */
    kb_support support; /* all of them */
} kb_stage;

kbass_status kb_stage_create(const kbass_posterior *posterior, const kb_belief *belief, kb_stage **out,
                             kbass_error *error);
void kb_stage_destroy(kb_stage *stage);
/* Weights in the data's units to scaled ones, by column. */
void kb_stage_weights(const kb_stage *stage, const double *weights, double *scaled);

/* A line through points with ascending times, from time `from` on, and the samples it looks at. */
typedef struct {
    kb_field_samples samples;
    kb_pde1d *line;
} kb_course;
kbass_status kb_course_create(const kb_stage *stage, kb_ends ends, double from, size_t n, const double *times,
                              const double *positions, size_t max_tangents, kb_course *out, kbass_error *error);
void kb_course_clear(kb_course *course);

/* Values of n points x n_states, in place, from scaled to the data's units. */
void kb_stage_unscale(const kb_stage *stage, size_t n, double *values);
/* As kb_spread_states: one stretch, n points with ascending times. */
kbass_status kb_spread_fields(const kbass_posterior *posterior, const kb_belief *belief, const kb_stretch *stretch,
                              size_t n, const double *times, const double *positions, double *mean, double *factor,
                              kbass_error *error);
/* The scaled state at the nodes at the record's end: mean (size) and factor (size x (n_terms + n_start), the last
   fastest). Both belong to the caller. */
kbass_status kb_stage_end(const kb_stage *stage, double **mean, double **factor, size_t *size, kbass_error *error);

#endif
