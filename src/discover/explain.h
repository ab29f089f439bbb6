/* Explaining a term: the chosen model without it or, when it is out, with it, fitted like the models of the pool. */
#ifndef KB_EXPLAIN_H
#define KB_EXPLAIN_H

#include "discover/explore.h"
#include "discover/result.h"

/* Fills result->explained for the columns that --explain asked about; needs the explorer's message about the chosen
   model. The pool stays as it is: asking changes no answer. */
kbass_status kb_explain(kb_arena *arena, kb_search_result *result, kbass_error *error);

#endif
