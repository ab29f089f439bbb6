#include "search/standing.h"

#include <pthread.h>

#include "base/memory.h"
#include "base/status.h"

enum { MOST_KEPT = 12 }; /* models: a chosen one and the rivals that an answer names */

struct kb_standing {
    pthread_mutex_t lock;
    size_t n_columns, n_models;
    kb_pool pool; /* the best first; empty: there is none */
};

kbass_status kb_standing_create(size_t n_columns, kb_standing **out, kbass_error *error)
{
    kb_standing *s = *out = KB_NEW(kb_standing, 1);
    if (!s) return kb_out_of_memory(error, "the best model by now");
    s->n_columns = n_columns;
    pthread_mutex_init(&s->lock, NULL);
    return KBASS_OK;
}

void kb_standing_destroy(kb_standing *s)
{
    if (!s) return;
    kb_pool_clear(&s->pool);
    pthread_mutex_destroy(&s->lock);
    kb_free(s);
}

static bool is_better(const kb_fit *fit, const kb_fit *standing)
{
    if (fit->n_rows != standing->n_rows) return fit->n_rows > standing->n_rows;
    if (fit->n_windows != standing->n_windows) return fit->n_windows < standing->n_windows;
    return fit->log_evidence > standing->log_evidence || kb_support_equal(&fit->support, &standing->support);
}

/* Those that are fitted to as much as the best one is. */
static kbass_status copy(const kb_pool *from, kb_pool *to, kbass_error *error)
{
    kbass_status status = KBASS_OK;
    kb_pool_init(to, from->n_columns, from->n_start, from->max_windows);
    for (size_t i = 0; status == KBASS_OK && i < from->n && to->n < MOST_KEPT; i++) {
        const kb_fit *fit = from->fits[i];
        kb_fit *own = NULL;
        if (!fit->valid || fit->n_rows != from->fits[0]->n_rows || fit->n_windows != from->fits[0]->n_windows) continue;
        status = kb_pool_add(to, &fit->support, &own, error);
        if (status == KBASS_OK) kb_fit_copy(fit, own, from->n_columns, from->n_start);
    }
    return status;
}

void kb_standing_note(const kb_search *search)
{
    kb_standing *s = search->run->standing;
    const kb_pool *pool = search->pool;
    kb_pool own;
    if (!s || !pool->n || !pool->fits[0]->valid || pool->n_columns != s->n_columns) return;
    if (s->pool.n && !is_better(pool->fits[0], s->pool.fits[0])) return;
    if (copy(pool, &own, NULL) == KBASS_OK) {
        pthread_mutex_lock(&s->lock);
        kb_pool_swap(&s->pool, &own);
        s->n_models = atomic_load(&search->run->n_models);
        pthread_mutex_unlock(&s->lock);
    }
    kb_pool_clear(&own);
}

void kb_standing_first(const kb_search *search, const kb_fit *fit)
{
    kb_standing *s = search->run->standing;
    const kb_pool *pool = search->pool;
    kb_pool own;
    kb_fit *first = NULL;
    if (!s || !fit->valid || pool->n_columns != s->n_columns) return;
    kb_pool_init(&own, pool->n_columns, pool->n_start, pool->max_windows);
    pthread_mutex_lock(&s->lock);
    if (!s->pool.n && kb_pool_add(&own, &fit->support, &first, NULL) == KBASS_OK) {
        kb_fit_copy(fit, first, pool->n_columns, pool->n_start);
        kb_pool_swap(&s->pool, &own);
        s->n_models = atomic_load(&search->run->n_models);
    }
    pthread_mutex_unlock(&s->lock);
    kb_pool_clear(&own);
}

kbass_status kb_standing_take(kb_standing *s, kb_pool *pool, size_t *n_models, kbass_error *error)
{
    pthread_mutex_lock(&s->lock);
    kbass_status status = copy(&s->pool, pool, error);
    *n_models = s->n_models;
    pthread_mutex_unlock(&s->lock);
    return status;
}
