/* Warnings of what a fit cannot see: jumps of terms, and inputs before the record. */
#ifndef KB_ANSWER_JUMPS_H
#define KB_ANSWER_JUMPS_H

#include "answer/answer.h"

/* Selected terms that jump where a state passes a place: tangents do not see the jump. */
kbass_status kb_answer_jumps(kb_answer *answer, const kb_dictionary *dictionary, kbass_error *error);
/* Inputs that act late by delays that are not 0. */
kbass_status kb_answer_delays(kb_answer *answer, const kb_dictionary *dictionary, kbass_error *error);

#endif
