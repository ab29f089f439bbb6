/* Proposals as bytes: for a checkpoint (base/checkpoint.h), or for other ranks. */
#ifndef KB_SEARCH_PACKED_PROPOSALS_H
#define KB_SEARCH_PACKED_PROPOSALS_H

#include "search/task.h"

/* Of attempts, losses and the entries of the pool from the first on. */
size_t kb_proposals_bytes(const kb_pool *pool, size_t first);
void kb_proposals_pack(const kb_pool *pool, size_t first, size_t n_starts, size_t n_lost, unsigned char *bytes);
/* Adds what was packed: entries to the pool, attempts and losses to those counted. */
kbass_status kb_proposals_unpack(const unsigned char *bytes, kb_proposals *proposals, kbass_error *error);

/* The same by the run's checkpoint, if there is one: keeps; adds what it knows, false: nothing. */
void kb_proposals_keep(const kb_proposals *proposals, size_t first, size_t n_starts, size_t n_lost, kb_work_key key);
bool kb_proposals_recall(kb_proposals *proposals, kb_work_key key, kbass_status *status, kbass_error *error);

#endif
