#include "search/known_proposals.h"

#include <stdint.h>

#include "base/memory.h"
#include "base/status.h"
#include "search/packed_proposals.h"
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

/* All ranks go on from what the first one says, should time have cut theirs short elsewhere. */
static kbass_status agree(kb_proposals *p, size_t first, size_t n_starts, size_t n_lost, kbass_error *error)
{
    size_t size = kb_proposals_bytes(p->pool, first);
    unsigned char *bytes = kb_allocate(size, 1), *common = NULL;
    if (!bytes) return kb_out_of_memory(error, "proposals");
    kb_proposals_pack(p->pool, first, n_starts, n_lost, bytes);
    kbass_status status = kb_share_first(p->run, size, bytes, &common, error);
    if (status == KBASS_OK && common) {
        kb_pool_trim(p->pool, first);
        p->n_starts -= n_starts;
        p->n_lost -= n_lost;
        status = kb_proposals_unpack(common, p, error);
    }
    kb_free(common);
    kb_free(bytes);
    return status;
}

/* What the source says is kept unless it was cut short. */
static kbass_status ask_now(const kb_source *source, kb_work_key key, kb_proposals *p, kbass_error *error)
{
    size_t first = p->pool->n, n_starts = p->n_starts, n_lost = p->n_lost;
    kbass_status status = source->propose(p, error);
    if (status != KBASS_OK) return status;
    if (kb_share_is_possible(p->run)) status = agree(p, first, p->n_starts - n_starts, p->n_lost - n_lost, error);
    if (status == KBASS_OK && !kb_run_stopped(p->run))
        kb_proposals_keep(p, first, p->n_starts - n_starts, p->n_lost - n_lost, key);
    return status;
}

kbass_status kb_source_ask(const kb_source *source, unsigned when, kb_proposals *p, kbass_error *error)
{
    kbass_status status = KBASS_OK;
    if (!p->run->checkpoint && !kb_share_is_possible(p->run)) return source->propose(p, error);
    kb_work_key key = key_of(source, when, p);
    return kb_proposals_recall(p, key, &status, error) ? status : ask_now(source, key, p, error);
}
