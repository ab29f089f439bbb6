/* The strategy of a search, one for all kinds of data (docs/architecture.md):
 *
 *     pool = proposals of the task
 *     for each stage of the task:
 *         extend (fewer windows, or more rows); fit; set the noise floor
 *         if the data are lost: step back, search to the end there
 *         explore neighbours; thin
 *     if much is unexplained: more proposals; fit; explore
 *     for each finer resolution: fit; explore; until the weights stay
 *     polish; if the answer is doubtful: one more pass of another kind; keep the better
 *
 * A run that is stopped keeps what it has, or is granted a moment for a first answer.
 */
#ifndef KB_SEARCH_STRATEGY_H
#define KB_SEARCH_STRATEGY_H

#include "search/task.h"

/* `problem` is what the task is for; `result` is filled, and belongs to the caller also after an error. */
kbass_status kb_search_discover(const kb_task *task, const void *problem, size_t n_runs, kb_run *run,
                                kb_search_result *result, kbass_error *error);
/* One pass of it; before: the answer in doubt that it comes after, or NULL. */
kbass_status kb_search_pass(const kb_task *task, const void *problem, size_t n_runs, const kb_search_result *before,
                            kb_run *run, kb_search_result *result, kbass_error *error);

#endif
