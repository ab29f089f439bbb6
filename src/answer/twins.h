/* Undecided terms that could be each other, whichever is in: x_t^2 and x_t*abs(x_t) of a ball that only falls. One
 * stands for the other within the noise, as far as the message about the chosen law tells (evidence/substitutes.h).
 */
#ifndef KB_ANSWER_TWINS_H
#define KB_ANSWER_TWINS_H

#include "answer/answer.h"

/* Adds them to answer->result.alike, unless another part of the answer says so. */
kbass_status kb_answer_twins(kb_answer *answer, const kb_frame *frame, const kb_search_result *found,
                             kbass_error *error);

#endif
