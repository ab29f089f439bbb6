/* Algorithm 1 from its second line on: E and M steps until little changes. */
#ifndef KB_PUBLISHED_LOOP_H
#define KB_PUBLISHED_LOOP_H

#include "base/run.h"
#include "published/adam.h"
#include "published/estep.h"
#include "published/trace.h"

typedef struct {
    kb_published_model *model;
    kb_published_posterior *posterior;
    const kb_published_options *options;
    kb_published_trace *trace; /* or NULL */
    kb_adam *field, *lengths;
    double *fields, *weights, *log_lengths; /* a window ago: over the mesh, by column, by field and axis */
    bool *changed;                          /* fields whose coefficients moved */
    size_t *first;                          /* of the field's coefficients, before that */
    long steps;
    double change; /* the largest relative one over the last window; NaN before there was one */
    bool has_converged, is_lost;
} kb_published_loop;

kbass_status kb_published_loop_create(kb_published_posterior *posterior, kb_published_trace *trace,
                                      kb_published_loop **out, kbass_error *error);
void kb_published_loop_destroy(kb_published_loop *loop);
/* Ends with an E step and coefficients at the nodes alone. Numerical trouble is no error: is_lost. */
kbass_status kb_published_loop_run(kb_published_loop *loop, kb_run *run, kbass_error *error);

#endif
