/* The pool of models fitted through the integrated equation; one entry per structure. */
#ifndef KB_EVIDENCE_POOL_H
#define KB_EVIDENCE_POOL_H

#include "forward/shoot.h"

typedef struct {
    size_t n, capacity;
    kb_fit **fits;
    bool *explored; /* its neighbours have been proposed */
    size_t n_columns, n_start, max_windows;
} kb_pool;

void kb_pool_init(kb_pool *pool, size_t n_columns, size_t n_start, size_t max_windows);
void kb_pool_clear(kb_pool *pool);
/* The entry with this structure, or NULL. */
kb_fit *kb_pool_find(const kb_pool *pool, const kb_support *support);
/* A new entry with this structure, weights by column and starts still zero. */
kbass_status kb_pool_add(kb_pool *pool, const kb_support *support, kb_fit **out, kbass_error *error);
/* Moves the entries of `from` to the end of `pool`, in order; empties `from`. A structure may then have several
   entries, other places to begin: after they are fitted and sorted, the best of each stays. */
kbass_status kb_pool_merge(kb_pool *pool, kb_pool *from, kbass_error *error);
void kb_pool_unite(kb_pool *pool);
/* Valid entries first, by falling evidence. */
void kb_pool_sort(kb_pool *pool);
/* Copies of the valid entries of `pool`, in their order, replace those of `copy`. */
kbass_status kb_pool_copy(const kb_pool *pool, kb_pool *copy, kbass_error *error);
void kb_pool_swap(kb_pool *a, kb_pool *b);
/* Forgets all but the first `n` and the best two of every size up to `largest`; the pool is sorted. */
void kb_pool_thin(kb_pool *pool, size_t n, size_t largest);
/* Forgets all entries after the first `n`. */
void kb_pool_trim(kb_pool *pool, size_t n);
/* Drops models that have all terms of the best one and more and are so many nats behind it. */
void kb_pool_drop_longer(kb_pool *pool, double behind);

#endif
