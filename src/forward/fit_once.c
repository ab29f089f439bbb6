/* A fit that a checkpoint may know already (base/checkpoint.h): what a fit comes to depends on the dynamics, the
 * windows and where it begins, and on nothing else.
 */
#include "base/memory.h"
#include "forward/shoot.h"

static void add(kb_work_key *key, size_t n, const double *numbers)
{
    kb_work_key_add(key, numbers, n * sizeof *numbers);
}

/* Measurements and resolution: the same for all fits of a shooter, and for all shooters on the same dynamics. */
static kb_work_key identity_of(const kb_dynamics *d)
{
    size_t n = d->observation_start[d->n_rows];
    kb_work_key key = kb_work_key_begin("dynamics");
    kb_work_key_add(&key, &d->resolution, sizeof d->resolution);
    kb_work_key_add(&key, d->observation_start, (d->n_rows + 1) * sizeof *d->observation_start);
    kb_work_key_add(&key, d->group, n * sizeof *d->group);
    add(&key, n, d->observed);
    if (d->relative) add(&key, n, d->relative);
    add(&key, d->n_start, d->start_variance);
    if (d->known_variance) add(&key, d->n_groups, d->known_variance);
    kb_work_key_add(&key, &d->noise_model, sizeof d->noise_model);
    return key;
}

kb_work_key kb_shooter_fit_key(kb_shooter *s, const kb_fit *fit, int max_iterations, double rival)
{
    const uint64_t counts[] = {fit->n_windows, fit->support.n, (uint64_t)max_iterations, s->holds_weights};
    kb_work_key key = kb_work_key_begin("fit");
    if (!s->identity.high) s->identity = identity_of(s->dynamics);
    kb_work_key_add(&key, &s->identity, sizeof s->identity);
    kb_work_key_add(&key, counts, sizeof counts);
    kb_work_key_add(&key, s->windows->first, s->windows->n * sizeof *s->windows->first);
    kb_work_key_add(&key, s->windows->last, s->windows->n * sizeof *s->windows->last);
    kb_work_key_add(&key, fit->support.column, fit->support.n * sizeof *fit->support.column);
    add(&key, s->columns->n, fit->w);
    add(&key, s->windows->n * s->n, fit->start);
    add(&key, s->n_groups, fit->variance);
    add(&key, 1, &rival);
    add(&key, 1, &s->dynamics->noise_floor);
    return key;
}

bool kb_shooter_recall(const kb_shooter *s, kb_work_key key, kb_fit *fit)
{
    size_t size = 0;
    const unsigned char *known = kb_checkpoint_find(s->checkpoint, key, &size);
    if (known) kb_fit_unpack(known, s->columns->n, s->n, fit);
    return known;
}

void kb_shooter_keep(const kb_shooter *s, kb_work_key key, const kb_fit *fit)
{
    size_t columns = s->columns->n, n = s->n;
    unsigned char *bytes = kb_allocate(kb_fit_bytes(fit, columns, n), 1);
    if (bytes) {
        kb_fit_pack(fit, columns, n, bytes);
        kb_checkpoint_keep(s->checkpoint, key, kb_fit_bytes(fit, columns, n), bytes);
    }
    kb_free(bytes);
}

/* What was given up for the clock is not kept. */
void kb_shooter_fit(kb_shooter *s, kb_fit *fit, int max_iterations, double rival)
{
    if (!s->checkpoint || s->deadline > 0) {
        kb_shooter_fit_now(s, fit, max_iterations, rival);
        return;
    }
    kb_work_key key = kb_shooter_fit_key(s, fit, max_iterations, rival);
    if (kb_shooter_recall(s, key, fit)) return;
    kb_shooter_fit_now(s, fit, max_iterations, rival);
    if (!(s->run && kb_run_overdue(s->run) > 0)) kb_shooter_keep(s, key, fit);
}
