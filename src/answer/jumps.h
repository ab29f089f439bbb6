/* A warning for each selected term that jumps where a state passes a place: tangents do not see the jump. */
#ifndef KB_ANSWER_JUMPS_H
#define KB_ANSWER_JUMPS_H

#include "answer/answer.h"

kbass_status kb_answer_jumps(kb_answer *answer, const kb_dictionary *dictionary, kbass_error *error);

#endif
