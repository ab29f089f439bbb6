/* One workspace for each thread of a search, and the only place where they are made. */
#ifndef KB_SEARCH_WORKERS_H
#define KB_SEARCH_WORKERS_H

#include "weights/likelihood.h"

typedef struct {
    kb_likelihood *likelihood;
    kb_message *message; /* about all columns */
    double *work;        /* kb_message_work */
    kb_support trial;
} kb_search_worker;

typedef struct {
    int n;
    kb_search_worker **list;
    kb_likelihood **team; /* theirs, which may help each other */
} kb_workers;

/* Makes the likelihood of one thread. */
typedef kbass_status (*kb_likelihood_make)(const void *context, kb_likelihood **out, kbass_error *error);

/* `n` workers in place of those that there were, fewer where memory is short; what was made before an error stays, to
 * be destroyed. */
kbass_status kb_workers_create(int n, kb_likelihood_make make, const void *context, const kb_columns *columns,
                               kb_workers *workers, kbass_error *error);
void kb_workers_destroy(kb_workers *workers);

#endif
