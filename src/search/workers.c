#include "search/workers.h"

#include <math.h>

#include "base/budget.h"
#include "base/memory.h"
#include "base/status.h"

static void destroy(kb_search_worker *worker)
{
    if (!worker) return;
    if (worker->likelihood) worker->likelihood->destroy(worker->likelihood);
    kb_message_destroy(worker->message);
    kb_support_clear(&worker->trial);
    kb_free(worker->work);
    kb_free(worker);
}

static kbass_status create(kb_likelihood_make make, const void *context, const kb_columns *columns,
                           kb_search_worker **out, kbass_error *error)
{
    kb_search_worker *worker = KB_NEW(kb_search_worker, 1);
    if (!worker) return kb_out_of_memory(error, "a thread's workspace");
    kbass_status status = make(context, &worker->likelihood, error);
    if (status == KBASS_OK && !(worker->work = KB_NEW(double, kb_message_work(columns->n))))
        status = kb_out_of_memory(error, "a thread's workspace");
    if (status == KBASS_OK) status = kb_message_create(columns->n, &worker->message, error);
    if (status == KBASS_OK) status = kb_support_create(columns->n, &worker->trial, error);
    if (status == KBASS_OK) *out = worker;
    else destroy(worker);
    return status;
}

/* As many as the first and what memory is left allow: a quarter of it stays for the fits. */
static int affordable(int n, double bytes)
{
    static const double share = 0.75;
    double more = bytes > 0 ? floor(share * fmax(kb_budget_left(), 0) / bytes) : INFINITY;
    return more < n - 1 ? 1 + (int)more : n;
}

static kbass_status make_team(kb_workers *workers, kbass_error *error)
{
    workers->team = KB_NEW(kb_likelihood *, (size_t)workers->n);
    if (!workers->team) return kb_out_of_memory(error, "the threads");
    for (int i = 0; i < workers->n; i++) {
        kb_likelihood *l = workers->team[i] = workers->list[i]->likelihood;
        l->team = workers->team;
        l->n_team = (size_t)workers->n;
    }
    return KBASS_OK;
}

kbass_status kb_workers_create(int n, kb_likelihood_make make, const void *context, const kb_columns *columns,
                               kb_workers *workers, kbass_error *error)
{
    kbass_status status = KBASS_OK;
    kb_workers_destroy(workers);
    if (n <= 0) return KBASS_OK;
    workers->list = KB_NEW(kb_search_worker *, (size_t)n);
    if (!workers->list) return kb_out_of_memory(error, "the threads");
    double before = kb_budget_used();
    while (status == KBASS_OK && workers->n < n) {
        status = create(make, context, columns, &workers->list[workers->n], error);
        workers->n += status == KBASS_OK;
        if (workers->n == 1) n = affordable(n, kb_budget_used() - before);
    }
    return status == KBASS_OK ? make_team(workers, error) : status;
}

void kb_workers_destroy(kb_workers *workers)
{
    for (int i = 0; i < workers->n; i++) destroy(workers->list[i]);
    kb_free(workers->list);
    kb_free(workers->team);
    *workers = (kb_workers){0};
}
