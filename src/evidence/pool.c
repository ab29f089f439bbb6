#include "evidence/pool.h"

#include <math.h>

#include "base/memory.h"
#include "base/status.h"

void kb_pool_init(kb_pool *pool, size_t n_columns, size_t n_start, size_t max_windows)
{
    *pool = (kb_pool){.n_columns = n_columns, .n_start = n_start, .max_windows = max_windows};
}

void kb_pool_clear(kb_pool *pool)
{
    kb_pool_trim(pool, 0);
    kb_free(pool->fits);
    kb_free(pool->explored);
    pool->fits = NULL;
    pool->explored = NULL;
    pool->capacity = 0;
}

kb_fit *kb_pool_find(const kb_pool *pool, const kb_support *support)
{
    for (size_t i = 0; i < pool->n; i++)
        if (kb_support_equal(&pool->fits[i]->support, support)) return pool->fits[i];
    return NULL;
}

static bool grow(kb_pool *pool)
{
    size_t capacity = pool->capacity ? 2 * pool->capacity : 64;
    kb_fit **fits = kb_reallocate(pool->fits, pool->n, capacity, sizeof *fits);
    if (!fits) return false;
    pool->fits = fits;
    bool *explored = kb_reallocate(pool->explored, pool->n, capacity, sizeof *explored);
    if (!explored) return false;
    pool->explored = explored;
    pool->capacity = capacity;
    return true;
}

kbass_status kb_pool_add(kb_pool *pool, const kb_support *support, kb_fit **out, kbass_error *error)
{
    kb_fit *fit = NULL;
    if (pool->n == pool->capacity && !grow(pool)) return kb_out_of_memory(error, "the pool of models");
    kbass_status status = kb_fit_create(pool->n_columns, pool->n_start, pool->max_windows, support->n, &fit, error);
    if (status != KBASS_OK) return status;
    kb_support_copy(support, &fit->support);
    fit->log_evidence = -INFINITY;
    pool->explored[pool->n] = false;
    pool->fits[pool->n++] = fit;
    *out = fit;
    return KBASS_OK;
}

kbass_status kb_pool_merge(kb_pool *pool, kb_pool *from, kbass_error *error)
{
    for (size_t i = 0; i < from->n; i++) {
        if (pool->n == pool->capacity && !grow(pool)) return kb_out_of_memory(error, "the pool of models");
        pool->explored[pool->n] = from->explored[i];
        pool->fits[pool->n++] = from->fits[i];
        from->fits[i] = NULL;
    }
    from->n = 0;
    return KBASS_OK;
}

void kb_pool_unite(kb_pool *pool)
{
    size_t n = pool->n;
    pool->n = 0;
    for (size_t i = 0; i < n; i++) {
        if (kb_pool_find(pool, &pool->fits[i]->support)) {
            kb_fit_destroy(pool->fits[i]);
            continue;
        }
        pool->fits[pool->n] = pool->fits[i];
        pool->explored[pool->n++] = pool->explored[i];
    }
}

static double rank_of(const kb_fit *fit) { return fit->valid ? fit->log_evidence : -INFINITY; }

void kb_pool_sort(kb_pool *pool)
{
    for (size_t i = 1; i < pool->n; i++) {
        kb_fit *fit = pool->fits[i];
        bool explored = pool->explored[i];
        size_t j = i;
        for (; j > 0 && rank_of(pool->fits[j - 1]) < rank_of(fit); j--) {
            pool->fits[j] = pool->fits[j - 1];
            pool->explored[j] = pool->explored[j - 1];
        }
        pool->fits[j] = fit;
        pool->explored[j] = explored;
    }
}

void kb_pool_trim(kb_pool *pool, size_t n)
{
    while (pool->n > n) kb_fit_destroy(pool->fits[--pool->n]);
}

kbass_status kb_pool_copy(const kb_pool *pool, kb_pool *copy, kbass_error *error)
{
    kbass_status status = KBASS_OK;
    kb_pool_trim(copy, 0);
    for (size_t i = 0; status == KBASS_OK && i < pool->n; i++) {
        kb_fit *fit = NULL;
        if (!pool->fits[i]->valid) continue;
        status = kb_pool_add(copy, &pool->fits[i]->support, &fit, error);
        if (status == KBASS_OK) kb_fit_copy(pool->fits[i], fit, pool->n_columns, pool->n_start);
    }
    return status;
}

void kb_pool_swap(kb_pool *a, kb_pool *b)
{
    kb_pool other = *a;
    *a = *b;
    *b = other;
}

void kb_pool_thin(kb_pool *pool, size_t n, size_t largest)
{
    size_t kept = 0;
    for (size_t i = 0; i < pool->n; i++) {
        size_t size = pool->fits[i]->support.n, same = 0;
        for (size_t j = 0; j < kept; j++) same += pool->fits[j]->support.n == size;
        bool stays = pool->fits[i]->valid && (i < n || (size <= largest && same < 2));
        if (!stays) {
            kb_fit_destroy(pool->fits[i]);
            continue;
        }
        pool->fits[kept] = pool->fits[i];
        pool->explored[kept++] = pool->explored[i];
    }
    pool->n = kept;
}

void kb_pool_drop_longer(kb_pool *pool, double behind)
{
    size_t kept = 1;
    if (!pool->n || !pool->fits[0]->valid) return;
    for (size_t i = 1; i < pool->n; i++) {
        bool is_behind = rank_of(pool->fits[i]) < pool->fits[0]->log_evidence - behind;
        if (is_behind && kb_support_contains(&pool->fits[i]->support, &pool->fits[0]->support)) {
            kb_fit_destroy(pool->fits[i]);
            continue;
        }
        pool->fits[kept] = pool->fits[i];
        pool->explored[kept++] = pool->explored[i];
    }
    pool->n = kept;
}
