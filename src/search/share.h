/* Fits and proposals shared out among the ranks of one run (kbass_reduce). All ranks hold the same pool and take the
 * same steps; of the fits that a step asks for each rank does its own, and then all have all of them. What a rank
 * decides by its own clock is only a wish until all agree (kb_run_agree); after that nothing is shared any more, and
 * ranks may part.
 */
#ifndef KB_SEARCH_SHARE_H
#define KB_SEARCH_SHARE_H

#include "search/task.h"

/* Are there other ranks, still at work? */
bool kb_share_is_possible(kb_run *run);
/* Is piece i of a list this rank's? */
bool kb_share_is_own(const kb_run *run, size_t i);
/* Every rank's own fits of a list to all; and whether to stop is agreed. */
kbass_status kb_share_exchange(kb_run *run, size_t n, kb_fit *const *fits, const kb_pool *pool, kbass_error *error);
/* The same for a list of pieces of some bytes each. */
kbass_status kb_share_pieces(kb_run *run, size_t n, size_t size, void *pieces, kbass_error *error);
/* The same for a list of proposals, each with a pool of its own, empty where it is another rank's. */
kbass_status kb_share_proposals(kb_run *run, size_t n, kb_proposals *list, kbass_error *error);
/* The first rank's bytes, where this rank's are others; NULL in *common where all ranks have the same. Agrees likewise.
 */
kbass_status kb_share_first(kb_run *run, size_t size, const unsigned char *bytes, unsigned char **common,
                            kbass_error *error);

#endif
