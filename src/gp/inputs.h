/* Known inputs (--input): columns of the data that are functions of time, a curve through their values in each run,
 * held from each to the next where they jump (--input-hold), and late where they act late (--input-delay).
 */
#ifndef KB_INPUTS_H
#define KB_INPUTS_H

#include "data/data.h"
#include "gp/curve.h"

typedef struct {
    size_t n_states, n_runs;
    kb_curve *curves; /* curves[state + run * n_states], in the data's units; n = 0: the state is no input */
} kb_inputs;

/* Curves for the states that `is_input` names, without delay. Refused where an input has two values at a time, or ends
   before what else was measured. */
kbass_status kb_inputs_create(const kbass_data *data, const bool *is_input, bool is_held, kb_inputs **out,
                              kbass_error *error);
/* A column's values in a run, by ascending time, one at each; times and values have room for the run's rows. */
kbass_status kb_inputs_gather(const kbass_data *data, size_t run, size_t state, double *times, double *values,
                              size_t *n, kbass_error *error);
/* By state, in the data's units. */
void kb_inputs_set_delays(kb_inputs *inputs, const double *delays);
void kb_inputs_destroy(kb_inputs *inputs);
/* The state's curve in a run; NULL when it is no input, or when there are none (inputs NULL). */
static inline const kb_curve *kb_inputs_curve(const kb_inputs *inputs, size_t run, size_t state)
{
    const kb_curve *curve = inputs ? &inputs->curves[state + run * inputs->n_states] : NULL;
    return curve && curve->n ? curve : NULL;
}

#endif
