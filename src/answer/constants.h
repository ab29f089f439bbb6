/* Unknown constants in the answer: the forms of terms, values with intervals, and what stands at an end of its range.
 */
#ifndef KB_ANSWER_CONSTANTS_H
#define KB_ANSWER_CONSTANTS_H

#include "answer/answer.h"
#include "constants/profile.h"

/* correlation: n_constants x support of the chosen model, or NULL; n_guarded: terms in which x^n stands for max(0,x)^n.
 */
kbass_status kb_answer_constants(kb_answer *answer, const kb_frame *frame, const kb_search_result *found,
                                 const kb_constant_estimate *estimates, const double *correlation, size_t n_guarded,
                                 kbass_error *error);

#endif
