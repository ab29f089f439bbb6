/* Undecided terms that have one shape along the bare field: x_t^2 and x_t*abs(x_t) of a ball that only falls. No weight
 * tells them apart, whichever of them is in.
 */
#ifndef KB_ANSWER_TWINS_H
#define KB_ANSWER_TWINS_H

#include "answer/answer.h"

/* Adds them to answer->result.alike. points: n x n_variables of the dictionary, the states along the record. */
kbass_status kb_answer_twins(kb_answer *answer, const kb_dictionary *dictionary, size_t n, const double *points,
                             kbass_error *error);

#endif
