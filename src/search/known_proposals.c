#include "search/known_proposals.h"

#include <stdint.h>
#include <string.h>

#include "base/memory.h"
#include "base/status.h"
#include "search/share.h"

/* Who is asked what, and what the pool holds before. */
static kb_work_key key_of(const kb_source *source, unsigned when, const kb_proposals *p)
{
    const kb_pool *pool = p->pool;
    const uint64_t counts[] = {when,          p->first_run,      p->n_runs, pool->n_columns,
                               pool->n_start, pool->max_windows, pool->n};
    kb_work_key key = kb_work_key_begin(source->name);
    kb_work_key_add(&key, counts, sizeof counts);
    for (size_t i = 0; i < pool->n; i++)
        kb_work_key_add(&key, pool->fits[i]->support.column,
                        pool->fits[i]->support.n * sizeof *pool->fits[i]->support.column);
    return key;
}

/* Attempts and losses, how many fits, then each: its terms, how many windows, and the fit. */
typedef struct {
    uint64_t n_starts, n_lost, n_fits;
} heading;

typedef struct {
    uint64_t n_terms, n_windows;
} piece;

static size_t size_of(const kb_pool *pool, size_t first)
{
    size_t size = sizeof(heading);
    for (size_t i = first; i < pool->n; i++)
        size += sizeof(piece) + pool->fits[i]->support.n * sizeof(size_t) +
                kb_fit_bytes(pool->fits[i], pool->n_columns, pool->n_start);
    return size;
}

static void pack(const kb_pool *pool, size_t first, heading head, unsigned char *at)
{
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

static kbass_status unpack(const unsigned char *at, kb_proposals *p, kbass_error *error)
{
    kb_pool *pool = p->pool;
    heading head;
    kb_support support;
    kbass_status status = kb_support_create(pool->n_columns, &support, error);
    memcpy(&head, at, sizeof head);
    at += sizeof head;
    p->n_starts += head.n_starts;
    p->n_lost += head.n_lost;
    for (uint64_t i = 0; status == KBASS_OK && i < head.n_fits; i++) {
        kb_fit *fit = NULL;
        piece own;
        memcpy(&own, at, sizeof own);
        at += sizeof own;
        support.n = own.n_terms;
        memcpy(support.column, at, own.n_terms * sizeof(size_t));
        at += own.n_terms * sizeof(size_t);
        status = kb_pool_add(pool, &support, &fit, error);
        if (status != KBASS_OK) break;
        fit->n_windows = own.n_windows;
        kb_fit_unpack(at, pool->n_columns, pool->n_start, fit);
        at += kb_fit_bytes(fit, pool->n_columns, pool->n_start);
    }
    kb_support_clear(&support);
    return status;
}

/* All ranks go on from what the first one says, should time have cut theirs short elsewhere. */
static kbass_status agree(kb_proposals *p, size_t first, heading head, kbass_error *error)
{
    size_t size = size_of(p->pool, first);
    unsigned char *bytes = kb_allocate(size, 1), *common = NULL;
    if (!bytes) return kb_out_of_memory(error, "proposals");
    pack(p->pool, first, head, bytes);
    kbass_status status = kb_share_first(p->run, size, bytes, &common, error);
    if (status == KBASS_OK && common) {
        kb_pool_trim(p->pool, first);
        p->n_starts -= head.n_starts;
        p->n_lost -= head.n_lost;
        status = unpack(common, p, error);
    }
    kb_free(common);
    kb_free(bytes);
    return status;
}

/* What the source says is kept unless it was cut short. */
static kbass_status ask_now(const kb_source *source, kb_work_key key, kb_proposals *p, kbass_error *error)
{
    size_t first = p->pool->n;
    heading head = {p->n_starts, p->n_lost, 0};
    kbass_status status = source->propose(p, error);
    if (status != KBASS_OK) return status;
    head = (heading){p->n_starts - head.n_starts, p->n_lost - head.n_lost, p->pool->n - first};
    if (kb_share_is_possible(p->run)) status = agree(p, first, head, error);
    if (status != KBASS_OK || kb_run_stopped(p->run) || !p->run->checkpoint) return status;
    head.n_fits = p->pool->n - first;
    size_t size = size_of(p->pool, first);
    unsigned char *bytes = kb_allocate(size, 1);
    if (bytes) {
        pack(p->pool, first, head, bytes);
        kb_checkpoint_keep(p->run->checkpoint, key, size, bytes);
    }
    kb_free(bytes);
    return KBASS_OK;
}

kbass_status kb_source_ask(const kb_source *source, unsigned when, kb_proposals *p, kbass_error *error)
{
    size_t size = 0;
    if (!p->run->checkpoint && !kb_share_is_possible(p->run)) return source->propose(p, error);
    kb_work_key key = key_of(source, when, p);
    const unsigned char *known = kb_checkpoint_find(p->run->checkpoint, key, &size);
    return known ? unpack(known, p, error) : ask_now(source, key, p, error);
}
