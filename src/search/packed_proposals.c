#include "search/packed_proposals.h"

#include <stdint.h>
#include <string.h>

#include "base/memory.h"

/* Attempts and losses, how many fits, then each: its terms, how many windows, and the fit. */
typedef struct {
    uint64_t n_starts, n_lost, n_fits;
} heading;

typedef struct {
    uint64_t n_terms, n_windows;
} piece;

size_t kb_proposals_bytes(const kb_pool *pool, size_t first)
{
    size_t size = sizeof(heading);
    for (size_t i = first; i < pool->n; i++)
        size += sizeof(piece) + pool->fits[i]->support.n * sizeof(size_t) +
                kb_fit_bytes(pool->fits[i], pool->n_columns, pool->n_start);
    return size;
}

void kb_proposals_pack(const kb_pool *pool, size_t first, size_t n_starts, size_t n_lost, unsigned char *at)
{
    const heading head = {n_starts, n_lost, pool->n - first};
    memcpy(at, &head, sizeof head);
    at += sizeof head;
    for (size_t i = first; i < pool->n; i++) {
        const kb_fit *fit = pool->fits[i];
        const piece own = {fit->support.n, fit->n_windows};
        memcpy(at, &own, sizeof own);
        at += sizeof own;
        memcpy(at, fit->support.column, fit->support.n * sizeof(size_t));
        at += fit->support.n * sizeof(size_t);
        kb_fit_pack(fit, pool->n_columns, pool->n_start, at);
        at += kb_fit_bytes(fit, pool->n_columns, pool->n_start);
    }
}

/* Reads one fit; returns what follows it. */
static const unsigned char *unpack_fit(const unsigned char *at, kb_pool *pool, kb_support *support,
                                       kbass_status *status, kbass_error *error)
{
    kb_fit *fit = NULL;
    piece own;
    memcpy(&own, at, sizeof own);
    at += sizeof own;
    support->n = own.n_terms;
    memcpy(support->column, at, own.n_terms * sizeof(size_t));
    at += own.n_terms * sizeof(size_t);
    *status = kb_pool_add(pool, support, &fit, error);
    if (*status != KBASS_OK) return at;
    fit->n_windows = own.n_windows;
    kb_fit_unpack(at, pool->n_columns, pool->n_start, fit);
    return at + kb_fit_bytes(fit, pool->n_columns, pool->n_start);
}

kbass_status kb_proposals_unpack(const unsigned char *at, kb_proposals *p, kbass_error *error)
{
    heading head;
    kb_support support;
    kbass_status status = kb_support_create(p->pool->n_columns, &support, error);
    memcpy(&head, at, sizeof head);
    at += sizeof head;
    p->n_starts += head.n_starts;
    p->n_lost += head.n_lost;
    for (uint64_t i = 0; status == KBASS_OK && i < head.n_fits; i++)
        at = unpack_fit(at, p->pool, &support, &status, error);
    kb_support_clear(&support);
    return status;
}

void kb_proposals_keep(const kb_proposals *p, size_t first, size_t n_starts, size_t n_lost, kb_work_key key)
{
    if (!p->run->checkpoint) return;
    size_t size = kb_proposals_bytes(p->pool, first);
    unsigned char *bytes = kb_allocate(size, 1);
    if (bytes) {
        kb_proposals_pack(p->pool, first, n_starts, n_lost, bytes);
        kb_checkpoint_keep(p->run->checkpoint, key, size, bytes);
    }
    kb_free(bytes);
}

bool kb_proposals_recall(kb_proposals *p, kb_work_key key, kbass_status *status, kbass_error *error)
{
    size_t size = 0;
    const unsigned char *known = kb_checkpoint_find(p->run->checkpoint, key, &size);
    if (known) *status = kb_proposals_unpack(known, p, error);
    return known;
}
