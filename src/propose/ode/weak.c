#include "propose/ode/weak.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/status.h"
#include "problem/wide.h"
#include "propose/weak/structures.h"
#include "search/schedule.h"

static void noise_of(const kb_ode_problem *p, double *variance)
{
    bool is_additive = p->record->noise_model == KB_NOISE_ADDITIVE; /* else powers are left as they are */
    for (size_t i = 0; i < p->record->n_states; i++) {
        double known = p->record->known_variance[i];
        variance[i] = !is_additive ? 0 : known > 0 ? known : p->noise_variance;
    }
}

kbass_status kb_propose_structure(const kb_ode_problem *p, const kb_support *support, const double *w, kb_pool *pool,
                                  kbass_error *error)
{
    kb_fit *fit = NULL;
    if (kb_pool_find(pool, support)) return KBASS_OK;
    kbass_status status = kb_pool_add(pool, support, &fit, error);
    if (status != KBASS_OK) return status;
    memcpy(fit->w, w, p->columns->n * sizeof *fit->w);
    for (size_t i = 0; i < p->record->n_states; i++) fit->variance[i] = fmax(p->noise_variance, KB_LEAST_NOISE);
    return KBASS_OK;
}

kbass_status kb_propose_weak(kb_proposals *asked, kbass_error *error)
{
    const kb_ode_problem *p = asked->problem;
    const kb_schedule *s = &kb_schedule_of_long_states.value;
    kb_weak_schedule schedule = {(size_t)s->weak_widths, s->weak_narrowest, s->weak_widest, s->weak_rows,
                                 s->weak_close};
    kb_weak_states *weak = NULL;
    kb_weak_proposals list = {0};
    if (!p->is_long || !kb_ode_problem_is_large(p) || p->columns->run) return KBASS_OK;
    double *variance = KB_NEW(double, p->record->n_states);
    kbass_status status = variance ? KBASS_OK : kb_out_of_memory(error, "the weak form");
    if (status == KBASS_OK) {
        noise_of(p, variance);
        status = kb_weak_states_create(p->record, p->dictionary, p->columns, variance, &weak, error);
    }
    if (status == KBASS_OK) status = kb_weak_propose(weak, &schedule, p->period, &list, error);
    for (size_t i = 0; status == KBASS_OK && i < list.n; i++)
        status = kb_propose_structure(p, &list.proposals[i].support, list.proposals[i].w, asked->pool, error);
    asked->n_starts += list.n;
    kb_weak_proposals_clear(&list);
    kb_weak_states_destroy(weak);
    kb_free(variance);
    return status;
}

kbass_status kb_propose_integral(kb_proposals *asked, kbass_error *error)
{
    const kb_ode_problem *p = asked->problem;
    kbass_status status = KBASS_OK;
    for (size_t i = 0; p->structures && status == KBASS_OK && i < p->structures->n; i++)
        status = kb_propose_structure(p, &p->structures->supports[i], p->structures->w[i], asked->pool, error);
    if (p->structures) asked->n_starts += p->structures->n;
    return status;
}
