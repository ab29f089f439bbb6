/* Weights that differ between runs (--vary): the models found once more, with a column for each run and varied term;
   the best of them is told. */
#ifndef KB_VARY_H
#define KB_VARY_H

#include "discover/answer.h"
#include "discover/landscape.h"
#include "discover/problem.h"

kbass_status kb_vary_states(const kb_problem *problem, const kb_search_result *found, kb_run *run, kb_answer *answer,
                            kbass_error *error);
kbass_status kb_vary_fields(const kb_landscape *landscape, const kb_search_result *found, kb_run *run,
                            kb_answer *answer, kbass_error *error);

#endif
