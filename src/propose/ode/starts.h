/* EP-EM from a grid of length scales and noise levels, as a source of proposals for states (search/task.h). */
#ifndef KB_PROPOSE_ODE_STARTS_H
#define KB_PROPOSE_ODE_STARTS_H

#include "search/task.h"

/* Each start's annealed structure; and that one refined by evidence, which records of one patch have. */
kbass_status kb_propose_annealed(kb_proposals *proposals, kbass_error *error);
kbass_status kb_propose_refined(kb_proposals *proposals, kbass_error *error);

#endif
