/* Explaining a term: the chosen model without it or, when it is out, with it, fitted like the models of the pool. */
#ifndef KB_SEARCH_EXPLAIN_H
#define KB_SEARCH_EXPLAIN_H

#include "search/neighbours.h"
#include "search/result.h"

/* Fills result->explained for the columns that --explain asked about; needs the worker's message about the chosen
   model. The pool stays as it is: asking changes no answer. */
kbass_status kb_explain(kb_search *search, kb_search_result *result, kbass_error *error);

#endif
