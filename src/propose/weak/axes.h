/* The weak form as a source of proposals for fields on a grid over several axes (search/task.h). */
#ifndef KB_PROPOSE_WEAK_AXES_H
#define KB_PROPOSE_WEAK_AXES_H

#include "search/task.h"

kbass_status kb_propose_weak_fields(kb_proposals *proposals, kbass_error *error);

#endif
