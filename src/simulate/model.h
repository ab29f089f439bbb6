/* Models: one equation per state, x_t = f(states, t), integrated by CVODES. They come from text, from the table of
 * named systems, or from a result file; all three pass through kb_model_create.
 */
#ifndef KB_MODEL_H
#define KB_MODEL_H

#include <jansson.h>
#include <stdbool.h>

#include "dictionary/expression.h"
#include "gp/input_curves.h"

typedef struct {
    size_t n_states;
    char **names;           /* n_states + 1 + inputs.n: after the states time's, then those of the inputs */
    char **equations;       /* "x_t = y", as given */
    kb_expression **rates;  /* right-hand sides in the states, then time, then inputs */
    size_t n_work;          /* doubles that evaluating any of them needs */
    double *initial;        /* or NULL */
    double first, last;     /* time span, or NaN */
    kb_input_curves inputs; /* known functions of time */
    bool borrows_inputs;    /* they are somebody else's */
} kb_model;

void kb_model_destroy(kb_model *model);
/* The named systems, by number; NULL after the last. */
const char *kb_model_name(size_t index);
const char *kb_model_summary(size_t index);
/* With initial state and span; *model stays NULL where the name is not theirs. */
kbass_status kb_model_named(const char *name, kb_model **model, kbass_error *error);

/* States in the order of the left-hand sides; no initial state, no span. "x_tt = ..." is the equation of the state x_t,
   before which x_t = x_t is added unless x has an equation. inputs (NULL: none) are borrowed: they outlive the model.
 */
kbass_status kb_model_create(size_t n_equations, const char *const *equations, const char *time_name,
                             const kb_input_curves *inputs, kb_model **out, kbass_error *error);
/* The same with the columns of `data` that have no equation as inputs of its own; data NULL: none. */
kbass_status kb_model_parse(size_t n_equations, const char *const *equations, const kbass_data *data, bool hold,
                            kb_model **out, kbass_error *error);
/* Of a result of states that was read (`root`); `path` is its name in messages. */
kbass_status kb_model_from_result(const char *path, json_t *root, kb_model **model, kbass_error *error);
/* The inputs become the model's own. */
kbass_status kb_model_own_inputs(kb_model *model, kbass_error *error);
/* Copies the initial state and sets the span. */
kbass_status kb_model_start(kb_model *model, const double *initial, double first, double last, kbass_error *error);
kbass_status kb_model_set_inputs(kb_model *model, const kbass_data *data, size_t run, kbass_error *error);
kbass_status kb_model_rates(const kb_model *model, size_t n_points, const double *times, const double *states,
                            double *rates, kbass_error *error);
kbass_status kb_model_integrate(const kb_model *model, double start, const double *initial, size_t n_times,
                                const double *times, double *states, kbass_error *error);
/* The same with a bound on the steps; when it fails, rows that were not reached stay as they are.
 *too_far, unless NULL, becomes true when the steps did not suffice. */
kbass_status kb_model_follow(const kb_model *model, size_t most_steps, double start, const double *initial,
                             size_t n_times, const double *times, double *states, bool *too_far, kbass_error *error);

#endif
