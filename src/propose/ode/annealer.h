/* One thread's workspace: all that a start or a refinement needs, allocated once. */
#ifndef KB_PROPOSE_ODE_ANNEALER_H
#define KB_PROPOSE_ODE_ANNEALER_H

#include "problem/ode.h"
#include "collocation/ode_fields.h"
#include "ep/ep.h"

typedef struct {
    size_t n_fields;
    kb_ode_field **fields; /* one per patch */
    kb_ep *ep;
    kb_message *message;
    double *work; /* enough for kb_anneal, for messages about all columns, and for kb_ode_field_at */
    kb_support support, trial;
    kb_ode_state *saved;
} kb_annealer;

kbass_status kb_annealer_create(const kb_ode_problem *problem, kb_annealer **out, kbass_error *error);
void kb_annealer_destroy(kb_annealer *worker);
/* One for each of the problem's threads. *out is to be destroyed also when it fails. */
kbass_status kb_annealers_create(const kb_ode_problem *problem, kb_annealer ***out, kbass_error *error);
void kb_annealers_destroy(const kb_ode_problem *problem, kb_annealer **workers);

#endif
