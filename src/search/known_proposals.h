/* Proposals that a checkpoint may know already (base/checkpoint.h). */
#ifndef KB_SEARCH_KNOWN_PROPOSALS_H
#define KB_SEARCH_KNOWN_PROPOSALS_H

#include "search/task.h"

/* Asks one source, unless what it said is known. */
kbass_status kb_source_ask(const kb_source *source, unsigned when, kb_proposals *proposals, kbass_error *error);

#endif
