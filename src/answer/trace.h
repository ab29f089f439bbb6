/* What the user is told, as lines of a trace (base/trace.h). */
#ifndef KB_ANSWER_TRACE_H
#define KB_ANSWER_TRACE_H

#include "base/trace.h"

void kb_trace_answer(const kb_trace *trace, const kbass_result *result);

#endif
