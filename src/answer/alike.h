/* What the data cannot tell apart, in the user's names: terms that others can stand for (evidence/substitutes.h),
 * combinations of states that stay constant, states at rest (docs/math.md, section 10).
 */
#ifndef KB_ANSWER_ALIKE_H
#define KB_ANSWER_ALIKE_H

#include "answer/answer.h"
#include "evidence/without_law.h"
#include "gp/record.h"

/* Fills answer->result.alike; a term that others can stand for is undecided from then on. record: NULL for fields. */
kbass_status kb_answer_alike(kb_answer *answer, const kb_frame *frame, const kb_search_result *found,
                             const kb_without_law *without, const kb_record *record, kbass_error *error);

/* The combination of states that varies least against its noise. covariance (n x n) of values over their noise's sds,
   in place: vectors; lambda: n. True when that combination is constant within the noise of so many rows and all others
   move.
 */
bool kb_is_conserved(size_t n, double *covariance, double *lambda, double rows);
/* Coefficients as a text: "a + b", "a - 2 b", "a + 0.713 b". coefficients are scaled as they are written; those below a
   share of the largest contribution (coefficient times spread) are left out. False when fewer than two remain. */
bool kb_combination_text(size_t n, const char *const *names, double *coefficients, const double *spread, char *text,
                         size_t size);

#endif
