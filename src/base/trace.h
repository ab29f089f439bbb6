/* A record of what a search does, stage by stage, so that two versions of it can be compared (tools/check-traces).
 *
 * The library writes nothing by itself: lines go to whom a tool or a test names. Only the thread that leads the search
 * traces, so that lines come in an order that threads do not change.
 */
#ifndef KB_TRACE_H
#define KB_TRACE_H

#include "kbass/kbass.h"

typedef struct {
    void (*take)(void *context, const char *line);
    void *context;
} kb_trace;

/* Nothing when trace is NULL. */
void kb_trace_line(const kb_trace *trace, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* From now on the discovery's runs are traced; NULL ends it. Borrowed. In api.c. */
void kb_discovery_trace(kbass_discovery *discovery, const kb_trace *trace);

#endif
