/* The chosen model in a wider dictionary: which of the terms that the narrow one lacks would help, and how clearly.
 */
#ifndef KB_ANSWER_PROBE_H
#define KB_ANSWER_PROBE_H

#include "answer/answer.h"
#include "search/workers.h"

/* The model's terms first, every pair of equation and term a column of scale 1. */
typedef struct {
    const kb_dictionary *narrow;
    kb_dictionary *wide;
    kb_columns columns;
    size_t n_own; /* columns of the model */
    kb_fit *fit;
    kb_likelihood *likelihood;
    kb_workers workers; /* whose first it is, one a thread; or none */
    kb_run *run;        /* whose ranks may share the message; NULL: none */
    kb_message *message;
    kb_support all;
    double freedom; /* of the noise that scores are in units of; INFINITY: it is known */
    double *scores; /* by column; NaN where there is none */
} kb_probe;

/* span, highest: as kb_wider_dictionary. The caller makes the likelihood then. */
kbass_status kb_probe_begin(kb_probe *q, const kb_frame *frame, const kb_search_result *found, const double *span,
                            const int *highest, kbass_error *error);
/* Names the terms that are clearly missing, into the answer. */
kbass_status kb_probe_terms(kb_probe *q, kb_answer *answer, kbass_error *error);
void kb_probe_clear(kb_probe *q);

#endif
