/* The kernel engine as a source of proposals (search/task.h). */
#ifndef KB_PROPOSE_KERNEL_PROPOSALS_H
#define KB_PROPOSE_KERNEL_PROPOSALS_H

#include "search/task.h"

/* Fields over one axis: its best models. */
kbass_status kb_propose_on_patches(kb_proposals *proposals, kbass_error *error);
/* Fields over several axes: what the bare field suggests, likely terms and less likely ones, which is enough where the
   fields can be followed from there. */
kbass_status kb_propose_on_bare_field(kb_proposals *proposals, kbass_error *error);

#endif
