/* What a search does, as lines of a trace (base/trace.h): a heading for each stage, its best models, and a sum over all
 * of them, which changes when any of them does.
 */
#ifndef KB_SEARCH_TRACE_H
#define KB_SEARCH_TRACE_H

#include "discover/explore.h"
#include "discover/seeker.h"

/* The pool on the present windows, after a stage of this name. */
void kb_trace_pool(const kb_arena *arena, const char *stage);
/* The kernel engine's pool; and one of its states, the one at hand. */
void kb_trace_states(const kb_seeker *seeker, const char *stage);
void kb_trace_state(const kb_seeker *seeker, const char *stage, const kb_state *state);
/* What the user is told. */
void kb_trace_result(const kb_trace *trace, const kbass_result *result);

#endif
