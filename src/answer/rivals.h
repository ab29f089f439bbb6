/* Other laws beside the chosen one, as text: runners-up and what they differ in, and what dropping or adding a term
 * does. */
#ifndef KB_ANSWER_RIVALS_H
#define KB_ANSWER_RIVALS_H

#include "answer/answer.h"
#include "evidence/average.h"

/* What a scaled left-hand side of 1 is in the data's units. */
double kb_slope_unit(const kb_frame *frame, size_t state);
/* Of a column's equation. */
const char *kb_answer_lhs(const kb_answer *answer, const kb_frame *frame, size_t column);
/* Laws that are the same as the chosen one, or as one before, are left out. */
kbass_status kb_answer_runners_up(kb_answer *answer, const kb_frame *frame, const kb_pool *pool, const kb_same *same,
                                  kbass_error *error);
kbass_status kb_answer_explanations(kb_answer *answer, const kb_frame *frame, const kb_search_result *found,
                                    kbass_error *error);

#endif
