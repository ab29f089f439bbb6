/* Fields over several space axes through the integrated equation: from the kernel engine's proposals, on short windows
 * first (docs/math.md, section 27).
 *
 * The kernel engine smooths what it fits, which biases small weights; here only the start is smoothed. There is no
 * answer where the fields cannot be followed: not to the noise, or not at a bearable cost.
 */
#ifndef KB_CROSSING_H
#define KB_CROSSING_H

#include "problem/pde_nd.h"
#include "search/result.h"

bool kb_crossing_is_possible(const kb_pde_nd_problem *problem);
/* From the structures and weights of `proposals`. When the fields were followed the result has its pool, windows and
   fourier, and is left alone otherwise. */
kbass_status kb_crossing_search(const kb_pde_nd_problem *problem, const kb_pool *proposals, kb_run *run,
                                kb_search_result *result, kbass_error *error);

#endif
