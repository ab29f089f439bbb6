#include "weights/likelihood.h"

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

void kb_likelihood_fit(kb_likelihood *l, kb_fit *fit, int max_iterations, double rival)
{
    if (!l->checkpoint || l->deadline > 0) {
        l->fit(l, fit, max_iterations, rival);
        return;
    }
    kb_work_key key = l->key(l, fit, max_iterations, rival);
    if (kb_likelihood_recall(l, key, fit)) return;
    l->fit(l, fit, max_iterations, rival);
    if (!(l->run && kb_run_overdue(l->run) > 0)) kb_likelihood_keep(l, key, fit);
}
