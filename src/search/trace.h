/* What a search does, as lines of a trace (base/trace.h): a heading for each stage, its best models, and a sum over all
 * of them, which changes when any of them does.
 */
#ifndef KB_SEARCH_TRACE_H
#define KB_SEARCH_TRACE_H

#include "search/neighbours.h"

/* The pool on the present windows, after a stage of this name. */
void kb_trace_pool(const kb_search *search, const char *stage);

#endif
