/* Terms that are one on this record: where the law leaves a state at rest (z_t = 0), y and y*z differ by a number. The
 * one without it stands for all of them, in probabilities, weights and rivals; that they are one is said beside them
 * (docs/math.md, section 10).
 */
#ifndef KB_ANSWER_SAME_H
#define KB_ANSWER_SAME_H

#include "evidence/average.h"
#include "search/result.h"
#include "weights/frame.h"

/* Does the law that was found leave this state where it is, along one run in one window? */
bool kb_is_at_rest(const kb_frame *frame, const kb_search_result *found, size_t state);
/* out: column and ratio for each of the frame's columns; the caller frees both with kb_same_clear. */
kbass_status kb_same_find(const kb_frame *frame, const kb_search_result *found, kb_same *out, kbass_error *error);
void kb_same_clear(kb_same *same);

#endif
