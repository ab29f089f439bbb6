/* --paper-trace: a CSV file with a row for each term at each E step. */
#ifndef KB_PUBLISHED_TRACE_H
#define KB_PUBLISHED_TRACE_H

#include "published/estep.h"

typedef struct kb_published_trace kb_published_trace;

kbass_status kb_published_trace_open(const char *path, kb_published_trace **out, kbass_error *error);
kbass_status kb_published_trace_write(kb_published_trace *trace, const kb_published_posterior *posterior, long step,
                                      kbass_error *error);
/* The file takes its place if `status`, that of the run, is KBASS_OK; else what was there stays. Accepts NULL. */
kbass_status kb_published_trace_close(kb_published_trace *trace, kbass_status status, kbass_error *error);

#endif
