/* The last stage: the best models to convergence, and the odds of the terms nobody tried. */
#ifndef KB_POLISH_H
#define KB_POLISH_H

#include "discover/explore.h"
#include "discover/result.h"

kbass_status kb_polish(kb_arena *arena, kb_search_result *result, kbass_error *error);

#endif
