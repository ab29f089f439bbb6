/* The inputs of a law after its discovery: named curves, which models are driven by. They come from the record that the
 * law was found in, or from other data with columns of these names.
 */
#ifndef KB_INPUT_CURVES_H
#define KB_INPUT_CURVES_H

#include "data/data.h"
#include "gp/curve.h"

typedef struct {
    size_t n;
    char **names;     /* n */
    kb_curve *curves; /* n, in the data's units; a curve without points (n = 0) is not known yet */
} kb_input_curves;

/* Room for n of them, without names and points. */
kbass_status kb_input_curves_allocate(size_t n, kb_input_curves *out, kbass_error *error);
kbass_status kb_input_curves_copy(const kb_input_curves *from, kb_input_curves *out, kbass_error *error);
void kb_input_curves_clear(kb_input_curves *inputs);

/* Points from the columns of these names in a run of data, in place of those that were there; they stay held and late
   as they are. after: a time that points of before are kept to, those of the data following; NAN: none. */
kbass_status kb_input_curves_take(kb_input_curves *inputs, const kbass_data *data, size_t run, double after,
                                  kbass_error *error);
/* Are all known from `first` to `last`? With a delay before the first point the first value holds. */
kbass_status kb_input_curves_check(const kb_input_curves *inputs, const char *time_name, double first, double last,
                                   kbass_error *error);
/* values: n at a time; held ones at `middle`, a time of the same stretch between jumps. */
void kb_input_curves_at(const kb_input_curves *inputs, double time, double middle, double *values);
double kb_input_curves_next_jump(const kb_input_curves *inputs, double time);

#endif
