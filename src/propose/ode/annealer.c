#include "propose/ode/annealer.h"

#include "base/memory.h"
#include "base/status.h"
#include "propose/ode/anneal.h"

static size_t work_size(const kb_ode_problem *p)
{
    size_t anneal = kb_anneal_work(p), message = kb_message_work(p->columns->n), point = p->n_mesh + p->max_rank;
    size_t most = anneal > message ? anneal : message;
    return most > point ? most : point;
}

kbass_status kb_annealer_create(const kb_ode_problem *p, kb_annealer **out, kbass_error *error)
{
    size_t n = p->columns->n;
    kb_annealer *w = KB_NEW(kb_annealer, 1);
    if (!w) return kb_out_of_memory(error, "a thread's workspace");
    w->fields = KB_NEW(kb_ode_field *, p->n_patches);
    w->n_fields = p->n_patches;
    kbass_status status = w->fields ? KBASS_OK : kb_out_of_memory(error, "a thread's workspace");
    for (size_t i = 0; status == KBASS_OK && i < w->n_fields; i++)
        status =
            kb_ode_field_create(p->slices[i], p->dictionary, p->columns, p->n_mesh, p->max_rank, &w->fields[i], error);
    if (status == KBASS_OK) status = kb_ep_create(n, &w->ep, error);
    if (status == KBASS_OK) status = kb_message_create(n, &w->message, error);
    if (status == KBASS_OK) status = kb_support_create(n, &w->support, error);
    if (status == KBASS_OK) status = kb_support_create(n, &w->trial, error);
    if (status == KBASS_OK) status = kb_ode_state_create(w->n_fields, w->fields, &w->saved, error);
    if (status == KBASS_OK) {
        w->work = KB_NEW(double, work_size(p));
        if (!w->work) status = kb_out_of_memory(error, "a thread's workspace");
    }
    if (status == KBASS_OK) *out = w;
    else kb_annealer_destroy(w);
    return status;
}

void kb_annealer_destroy(kb_annealer *w)
{
    if (!w) return;
    for (size_t i = 0; w->fields && i < w->n_fields; i++) kb_ode_field_destroy(w->fields[i]);
    kb_free(w->fields);
    kb_ep_destroy(w->ep);
    kb_message_destroy(w->message);
    kb_support_clear(&w->support);
    kb_support_clear(&w->trial);
    kb_free(w->work);
    kb_ode_state_destroy(w->saved);
    kb_free(w);
}

kbass_status kb_annealers_create(const kb_ode_problem *p, kb_annealer ***out, kbass_error *error)
{
    size_t n = (size_t)p->threads;
    *out = KB_NEW(kb_annealer *, n);
    kbass_status status = *out ? KBASS_OK : kb_out_of_memory(error, "the threads");
    for (size_t i = 0; status == KBASS_OK && i < n; i++) status = kb_annealer_create(p, &(*out)[i], error);
    return status;
}

void kb_annealers_destroy(const kb_ode_problem *p, kb_annealer **workers)
{
    for (int i = 0; workers && i < p->threads; i++) kb_annealer_destroy(workers[i]);
    kb_free(workers);
}
