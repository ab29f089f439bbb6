/* The last stage: the best models to convergence, and the odds of the terms nobody tried. */
#ifndef KB_SEARCH_POLISH_H
#define KB_SEARCH_POLISH_H

#include "search/neighbours.h"
#include "search/result.h"

kbass_status kb_polish(kb_search *search, kb_search_result *result, kbass_error *error);

#endif
