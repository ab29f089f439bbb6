/* What the answer says of the noise: its size with an interval, the tests of the residuals, and warnings in words. */
#ifndef KB_ANSWER_NOISE_REPORT_H
#define KB_ANSWER_NOISE_REPORT_H

#include "answer/answer.h"

kbass_status kb_answer_noise(kb_answer *answer, const kb_frame *frame, const kb_search_result *found,
                             kbass_error *error);

#endif
