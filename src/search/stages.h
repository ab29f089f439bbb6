/* The stages of a pass: from proposals to the whole record, what a stopped run does, and runs that are searched alone.
 */
#ifndef KB_SEARCH_STAGES_H
#define KB_SEARCH_STAGES_H

#include "search/task.h"

/* Proposals, and all stages from them; of several runs, where the task says so, each alone first. */
kbass_status kb_stages_run(kb_pass *pass, kbass_error *error);
/* A stopped run: what was fitted to the whole record stays; where nothing was, the best models are in the moment that
   is granted, and their likeliest neighbours. */
kbass_status kb_stages_rescue(kb_pass *pass, kbass_error *error);
/* Sources that are asked then join the pool, and the search goes on from there. */
kbass_status kb_stages_ask(kb_pass *pass, unsigned when, kbass_error *error);

#endif
