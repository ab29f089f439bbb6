#include "propose/ode/refine.h"

#include <math.h>
#include <string.h>

enum { ROUNDS = 8, MOVES = 30 };
static const double tau_relative = 1e-4, gain_tolerance = 0.02; /* nats, of the objective */

static void save(kb_annealer *w)
{
    const kb_ode_field *f = w->fields[0];
    memcpy(w->saved_z, f->z, f->n_states * f->level->rank * sizeof *f->z);
    memcpy(w->saved_w, f->w, f->columns->n * sizeof *f->w);
    memcpy(w->saved_v, f->v, f->n_states * sizeof *f->v);
}

static void restore(kb_annealer *w)
{
    kb_ode_field *f = w->fields[0];
    memcpy(f->z, w->saved_z, f->n_states * f->level->rank * sizeof *f->z);
    memcpy(f->w, w->saved_w, f->columns->n * sizeof *f->w);
    memcpy(f->v, w->saved_v, f->n_states * sizeof *f->v);
}

static double settle(kb_annealer *w, kb_run *run)
{
    for (int round = 0; round < 2; round++)
        if (!kb_run_continue(run, w->support.n) || !kb_ode_field_solve(w->fields[0], &w->support, 12, gain_tolerance) ||
            !kb_ode_field_learn_noise(w->fields[0], &w->support))
            return -INFINITY;
    if (!kb_ode_field_solve(w->fields[0], &w->support, 12, gain_tolerance)) return -INFINITY;
    return kb_ode_field_evidence(w->fields[0], &w->support);
}

/* Weights of the trial support: the quadratic's means. */
static void set_weights(kb_annealer *w)
{
    kb_ode_field *f = w->fields[0];
    double *mean = w->work, *work = w->work + w->trial.n;
    kb_message_evidence(w->message, f->columns, &w->trial, mean, work);
    memset(f->w, 0, f->columns->n * sizeof *f->w);
    for (size_t q = 0; q < w->trial.n; q++) f->w[w->trial.column[q]] = mean[q];
}

/* Proposes by up to `moves` moves and accepts when the true evidence rises above `best`. */
static bool advance(kb_annealer *w, size_t moves, double *best)
{
    kb_ode_field *f = w->fields[0];
    kb_support_copy(&w->support, &w->trial);
    if (!kb_message_climb(w->message, f->columns, &w->trial, moves, w->work)) return false;
    if (w->trial.n > w->support.n + 40) return false;
    save(w);
    set_weights(w);
    double found =
        kb_ode_field_solve(f, &w->trial, 25, gain_tolerance) ? kb_ode_field_evidence(f, &w->trial) : -INFINITY;
    if (found > *best) {
        *best = found;
        kb_support_copy(&w->trial, &w->support);
        return true;
    }
    restore(w);
    return false;
}

double kb_refine(const kb_ode_problem *p, kb_annealer *w, size_t level, kb_run *run)
{
    kb_ode_field *f = w->fields[0];
    double best = -INFINITY;
    kb_ode_field_set_level(f, p->levels[level]);
    for (size_t i = 0; i < f->n_states; i++) f->tau[i] = tau_relative * p->slope_squares[i];
    for (int round = 0; round < ROUNDS && kb_run_continue(run, w->support.n); round++) {
        best = settle(w, run);
        if (!isfinite(best) || !kb_ode_field_message(f, &p->all, w->message)) return -INFINITY;
        if (!advance(w, MOVES, &best) && !advance(w, 1, &best)) break;
    }
    return best;
}
