#include "search/share.h"

#include <string.h>

#include "base/memory.h"
#include "base/status.h"
#include "search/packed_proposals.h"

bool kb_share_is_possible(kb_run *run) { return run->reduce && !kb_run_stopped(run); }

bool kb_share_is_own(const kb_run *run, size_t i)
{
    return (int)(i % (size_t)run->reduce->n_ranks) == run->reduce->rank;
}

/* Bytes that a fit takes at most, by whichever rank it was done. */
static size_t room_of(const kb_fit *fit, const kb_pool *pool)
{
    kb_fit widest = {.support = fit->support, .n_windows = pool->max_windows};
    return kb_fit_bytes(&widest, pool->n_columns, pool->n_start);
}

/* Of the rank that has most. */
static size_t largest_share(const kb_run *run, size_t n, kb_fit *const *fits, const kb_pool *pool)
{
    size_t most = 0, ranks = (size_t)run->reduce->n_ranks;
    for (size_t rank = 0; rank < ranks; rank++) {
        size_t sum = 0;
        for (size_t i = rank; i < n; i += ranks) sum += room_of(fits[i], pool);
        most = sum > most ? sum : most;
    }
    return most;
}

kbass_status kb_share_exchange(kb_run *run, size_t n, kb_fit *const *fits, const kb_pool *pool, kbass_error *error)
{
    const kbass_reduce *r = run->reduce;
    size_t ranks = (size_t)r->n_ranks, each = largest_share(run, n, fits, pool), used = 0;
    unsigned char *own = kb_allocate(each + 1, 1), *all = kb_allocate(ranks * each + 1, 1);
    kbass_status status = own && all ? KBASS_OK : kb_out_of_memory(error, "the fits of other ranks");
    for (size_t i = 0; status == KBASS_OK && i < n; i++) {
        if (!kb_share_is_own(run, i)) continue;
        kb_fit_pack(fits[i], pool->n_columns, pool->n_start, own + used);
        used += room_of(fits[i], pool);
    }
    if (status == KBASS_OK && each) r->gather(r->user, each, own, all);
    for (size_t rank = 0; status == KBASS_OK && rank < ranks; rank++) {
        const unsigned char *at = all + rank * each;
        for (size_t i = rank; i < n; i += ranks) {
            if (!kb_share_is_own(run, i)) kb_fit_unpack(at, pool->n_columns, pool->n_start, fits[i]);
            at += room_of(fits[i], pool);
        }
    }
    kb_free(own);
    kb_free(all);
    kb_run_agree(run);
    return status;
}

kbass_status kb_share_pieces(kb_run *run, size_t n, size_t size, void *pieces, kbass_error *error)
{
    const kbass_reduce *r = run->reduce;
    size_t ranks = (size_t)r->n_ranks, each = (n + ranks - 1) / ranks;
    unsigned char *list = pieces, *own = kb_allocate(each * size + 1, 1),
                  *all = kb_allocate(ranks * each * size + 1, 1);
    kbass_status status = own && all ? KBASS_OK : kb_out_of_memory(error, "the other ranks");
    for (size_t i = (size_t)r->rank; status == KBASS_OK && i < n; i += ranks)
        memcpy(own + i / ranks * size, list + i * size, size);
    if (status == KBASS_OK && n) r->gather(r->user, each * size, own, all);
    for (size_t i = 0; status == KBASS_OK && i < n; i++)
        memcpy(list + i * size, all + (i % ranks * each + i / ranks) * size, size);
    kb_free(own);
    kb_free(all);
    kb_run_agree(run);
    return status;
}

/* Bytes of the proposals that are this rank's. */
static size_t own_bytes(const kb_run *run, size_t n, const kb_proposals *list)
{
    size_t size = 0;
    for (size_t i = 0; i < n; i++)
        if (kb_share_is_own(run, i)) size += kb_proposals_bytes(list[i].pool, 0);
    return size;
}

static void pack_own(const kb_run *run, size_t n, const kb_proposals *list, unsigned char *at)
{
    for (size_t i = 0; i < n; i++) {
        if (!kb_share_is_own(run, i)) continue;
        kb_proposals_pack(list[i].pool, 0, list[i].n_starts, list[i].n_lost, at);
        at += kb_proposals_bytes(list[i].pool, 0);
    }
}

/* Those of one other rank. */
static kbass_status unpack_other(const kb_run *run, size_t rank, size_t n, kb_proposals *list, const unsigned char *at,
                                 kbass_error *error)
{
    kbass_status status = KBASS_OK;
    for (size_t i = rank; status == KBASS_OK && i < n; i += (size_t)run->reduce->n_ranks) {
        status = kb_proposals_unpack(at, &list[i], error);
        if (status == KBASS_OK) at += kb_proposals_bytes(list[i].pool, 0);
    }
    return status;
}

/* The largest number that a rank has. */
static kbass_status largest(const kb_run *run, uint64_t own, size_t *most, kbass_error *error)
{
    const kbass_reduce *r = run->reduce;
    uint64_t *all = KB_NEW(uint64_t, (size_t)r->n_ranks);
    if (!all) return kb_out_of_memory(error, "the other ranks");
    r->gather(r->user, sizeof own, &own, all);
    *most = 0;
    for (int i = 0; i < r->n_ranks; i++) *most = all[i] > *most ? all[i] : *most;
    kb_free(all);
    return KBASS_OK;
}

kbass_status kb_share_proposals(kb_run *run, size_t n, kb_proposals *list, kbass_error *error)
{
    const kbass_reduce *r = run->reduce;
    size_t each = 0, ranks = (size_t)r->n_ranks;
    kbass_status status = largest(run, own_bytes(run, n, list), &each, error);
    if (status != KBASS_OK) return status;
    unsigned char *own = kb_allocate(each + 1, 1), *all = kb_allocate(ranks * each + 1, 1);
    if (!own || !all) status = kb_out_of_memory(error, "the proposals of other ranks");
    if (status == KBASS_OK) {
        pack_own(run, n, list, own);
        r->gather(r->user, each, own, all);
    }
    for (size_t rank = 0; status == KBASS_OK && rank < ranks; rank++)
        if ((int)rank != r->rank) status = unpack_other(run, rank, n, list, all + rank * each, error);
    kb_free(own);
    kb_free(all);
    kb_run_agree(run);
    return status;
}

kbass_status kb_share_first(kb_run *run, size_t size, const unsigned char *bytes, unsigned char **common,
                            kbass_error *error)
{
    typedef struct {
        kb_work_key sum;
        uint64_t size;
    } label;
    const kbass_reduce *r = run->reduce;
    size_t ranks = (size_t)r->n_ranks, each = 0;
    bool is_same = true;
    label own = {kb_work_key_begin("share"), size}, *labels = KB_NEW(label, ranks);
    kb_run_agree(run);
    if (!labels) return kb_out_of_memory(error, "the other ranks");
    kb_work_key_add(&own.sum, bytes, size);
    r->gather(r->user, sizeof own, &own, labels);
    for (size_t i = 0; i < ranks; i++) {
        is_same = is_same && !memcmp(&labels[i], &labels[0], sizeof *labels);
        each = labels[i].size > each ? labels[i].size : each;
    }
    kb_free(labels);
    if (is_same) return KBASS_OK;
    unsigned char *mine = kb_allocate(each, 1), *all = kb_allocate(ranks * each, 1);
    if (mine && all) {
        memcpy(mine, bytes, size);
        r->gather(r->user, each, mine, all);
        *common = mine; /* the first rank's, which all begins with */
        memcpy(mine, all, each);
        mine = NULL;
    }
    kbass_status status = *common ? KBASS_OK : kb_out_of_memory(error, "the other ranks");
    kb_free(mine);
    kb_free(all);
    return status;
}
