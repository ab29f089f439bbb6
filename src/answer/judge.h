/* The verdict on an answer: gathers the numbers of answer/verdict.h from what a search found and from what the same
 * data are worth without a law, and says why.
 */
#ifndef KB_ANSWER_JUDGE_H
#define KB_ANSWER_JUDGE_H

#include "answer/answer.h"
#include "problem/ode.h"
#include "problem/pde1d.h"
#include "problem/pde_nd.h"

/* Fills answer->result.law, where there is a model. clock: of the run, KBASS_ERROR_TIME when it has no time left. */
kbass_status kb_judge_states(const kb_ode_problem *problem, const kb_search_result *found, kb_answer *answer,
                             kbass_error *error);
/* Of fields: additive noise only; others are not judged. */
kbass_status kb_judge_fields(const kb_pde1d_problem *problem, const kb_search_result *found, kb_run *clock,
                             kb_answer *answer, kbass_error *error);
kbass_status kb_judge_axes(const kb_pde_nd_problem *problem, kb_kernel_kind kind, const kb_search_result *found,
                           kb_run *clock, kb_answer *answer, kbass_error *error);
/* Of an engine whose evidence is in other units (kernel, published): by the noise that its solution leaves. */
kbass_status kb_judge_noise_left(const kbass_data *data, const kbass_settings *settings, const kb_frame *frame,
                                 kb_run *clock, kb_answer *answer, kbass_error *error);
/* A law for whose judgement a stopped run leaves no time: undecided. found: empty for the published method. */
kbass_status kb_judge_unfinished(const kb_search_result *found, kb_answer *answer, kbass_error *error);

#endif
