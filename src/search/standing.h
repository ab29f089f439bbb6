/* The best models of a search by now, for whoever cannot wait until it ends: the thread that leads the search notes
 * them, any other may take a copy.
 */
#ifndef KB_SEARCH_STANDING_H
#define KB_SEARCH_STANDING_H

#include "evidence/pool.h"
#include "search/neighbours.h"

typedef struct kb_standing kb_standing;

/* n_columns: of the answer; searches among others are not noted. */
kbass_status kb_standing_create(size_t n_columns, kb_standing **out, kbass_error *error);
void kb_standing_destroy(kb_standing *standing);
/* The pool of a search is sorted: is its best model better than the one that stands? More rows say more, then fewer
   windows, then the evidence. Nothing where nobody asks (run->standing). */
void kb_standing_note(const kb_search *search);
/* A fit of the search: where no model stands yet it does, before the others of its batch are fitted. Any thread. */
void kb_standing_first(const kb_search *search, const kb_fit *fit);
/* A copy of what stands, an empty pool where no model was noted, and how many were fitted by then. *pool is cleared by
   the caller. */
kbass_status kb_standing_take(kb_standing *standing, kb_pool *pool, size_t *n_models, kbass_error *error);

#endif
