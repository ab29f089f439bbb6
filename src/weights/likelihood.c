#include "weights/likelihood.h"

#include <string.h>

#include "base/memory.h"

bool kb_likelihood_recall(const kb_likelihood *l, kb_work_key key, kb_fit *fit)
{
    size_t size = 0;
    const unsigned char *known = kb_checkpoint_find(l->checkpoint, key, &size);
    if (known) kb_fit_unpack(known, l->columns->n, l->n_start, fit);
    return known;
}

void kb_likelihood_keep(const kb_likelihood *l, kb_work_key key, const kb_fit *fit)
{
    size_t size = kb_fit_bytes(fit, l->columns->n, l->n_start);
    unsigned char *bytes = kb_allocate(size, 1);
    if (bytes) {
        kb_fit_pack(fit, l->columns->n, l->n_start, bytes);
        kb_checkpoint_keep(l->checkpoint, key, size, bytes);
    }
    kb_free(bytes);
}

static bool is_under_way(const kb_likelihood *l) { return l->state_key.high || l->state_key.low; }

void kb_likelihood_keep_state(kb_likelihood *l, const kb_fit *fit, size_t n, const double *numbers)
{
    if (!is_under_way(l) || !kb_checkpoint_wants_state(l->checkpoint, &l->state_kept)) return;
    size_t own = n * sizeof *numbers, size = own + kb_fit_bytes(fit, l->columns->n, l->n_start);
    unsigned char *bytes = kb_allocate(size, 1);
    if (bytes) {
        memcpy(bytes, numbers, own);
        kb_fit_pack(fit, l->columns->n, l->n_start, bytes + own);
        kb_checkpoint_keep_state(l->checkpoint, l->state_key, size, bytes);
    }
    kb_free(bytes);
}

bool kb_likelihood_take_state(const kb_likelihood *l, kb_fit *fit, size_t n, double *numbers)
{
    size_t size = 0, own = n * sizeof *numbers;
    const unsigned char *known = is_under_way(l) ? kb_checkpoint_find(l->checkpoint, l->state_key, &size) : NULL;
    if (!known || size <= own) return false;
    memcpy(numbers, known, own);
    kb_fit_unpack(known + own, l->columns->n, l->n_start, fit);
    return true;
}

/* A fit whose states are kept. */
static void fit_by_states(kb_likelihood *l, kb_work_key key, kb_fit *fit, int max_iterations, double rival)
{
    size_t size = 0;
    l->state_key = kb_work_key_begin("state of a fit");
    kb_work_key_add(&l->state_key, &key, sizeof key);
    l->state_kept = kb_clock();
    l->fit(l, fit, max_iterations, rival);
    bool is_done = !(l->run && kb_run_overdue(l->run) > 0);
    if (is_done) kb_likelihood_keep(l, key, fit);
    if (is_done && kb_checkpoint_find(l->checkpoint, l->state_key, &size) && size)
        kb_checkpoint_keep_state(l->checkpoint, l->state_key, 0, NULL);
    l->state_key = (kb_work_key){0, 0};
}

void kb_likelihood_fit(kb_likelihood *l, kb_fit *fit, int max_iterations, double rival)
{
    if (!l->checkpoint || l->deadline > 0) {
        l->fit(l, fit, max_iterations, rival);
        return;
    }
    kb_work_key key = l->key(l, fit, max_iterations, rival);
    if (!kb_likelihood_recall(l, key, fit)) fit_by_states(l, key, fit, max_iterations, rival);
}
