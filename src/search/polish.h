/* The last stage: the best models to convergence, and the odds of the terms nobody tried. */
#ifndef KB_SEARCH_POLISH_H
#define KB_SEARCH_POLISH_H

#include "search/task.h"

kbass_status kb_polish(kb_pass *pass, kbass_error *error);

#endif
