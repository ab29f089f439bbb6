/* One thread's workspace: all that a start or a refinement needs, allocated once. */
#ifndef KB_WORKER_H
#define KB_WORKER_H

#include "discover/problem.h"
#include "ep/ep.h"

typedef struct {
    size_t n_fields;
    kb_field **fields; /* one per patch */
    kb_ep *ep;
    kb_message *message;
    double *work; /* enough for kb_anneal, for messages about all columns, and for kb_field_at */
    kb_support support, trial;
    double *saved_z, *saved_w, *saved_v;
} kb_worker;

kbass_status kb_worker_create(const kb_problem *problem, kb_worker **out, kbass_error *error);
void kb_worker_destroy(kb_worker *worker);

#endif
