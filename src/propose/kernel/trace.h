/* What the kernel engine's search does, as lines of a trace (base/trace.h): the state at hand, or the pool with a sum
 * over all of it.
 */
#ifndef KB_PROPOSE_KERNEL_TRACE_H
#define KB_PROPOSE_KERNEL_TRACE_H

#include "propose/kernel/search.h"

void kb_trace_kernel_pool(const kb_kernel_search *search, const char *stage);
void kb_trace_kernel_state(const kb_kernel_search *search, const char *stage, const kb_kernel_state *state);

#endif
