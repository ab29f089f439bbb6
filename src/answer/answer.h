/* The answer: what the pool of fitted models says, in the user's names and units. Probabilities, groups of terms and
 * averaged weights are those of evidence/average.h. */
#ifndef KB_ANSWER_ANSWER_H
#define KB_ANSWER_ANSWER_H

#include "search/result.h"
#include "weights/frame.h"

typedef struct {
    kbass_result result;
    void **owned;
    size_t n_owned, capacity;
} kb_answer;

kbass_status kb_answer_create(const kb_frame *frame, const kb_search_result *found, kbass_outcome outcome,
                              kb_answer **out, kbass_error *error);
void kb_answer_destroy(kb_answer *answer);

/* Shared with the published method: the skeleton with names, no equations yet; memory that dies with the answer; "x_t =
 * ...". */
kbass_status kb_answer_begin(const kb_frame *frame, kb_answer **out, kbass_error *error);
void *kb_answer_own(kb_answer *answer, size_t count, size_t size);
/* A copy that dies with the answer; NULL when memory runs out. */
char *kb_answer_text(kb_answer *answer, const char *text);
/* One more warning, a copy of the text. */
kbass_status kb_answer_warn(kb_answer *answer, const char *text, kbass_error *error);
/* The equations of a fit as text, n_equations; NULL when memory runs out. */
const char *const *kb_answer_law(kb_answer *answer, const kb_frame *frame, const kb_fit *fit);
/* What is known of the columns, in the data's units: n columns each. */
typedef struct {
    const double *weight, *own_sd, *probability; /* own: in the chosen model, or the likeliest that has it */
    const double *average, *average_sd;          /* over models */
    const double *sd, *low, *high; /* over the models that have it: sd and 95 % interval; NULL: by own_sd alone */
} kb_weights;
/* Fills the equations from the columns and the selection. */
kbass_status kb_answer_equations(kb_answer *answer, const kb_frame *frame, const kb_weights *weights,
                                 const kb_support *selected, kbass_error *error);

#endif
