#include "propose/ode/refine.h"

#include <math.h>
#include <string.h>

enum { ROUNDS = 8 };                       /* rounds: of moves; most end by themselves */
enum { MOVES = 30 };                       /* moves: taken at once, before one by one */
static const double tau_relative = 1e-4;   /* of the mean squared slope: tau of the refined field; the recipe's */
static const double gain_tolerance = 0.02; /* nats: of the objective, at which a solve ends */

double kb_refine_settle(kb_annealer *w, kb_run *run)
{
    for (int round = 0; round < 2; round++)
        if (!kb_run_continue(run, w->support.n) ||
            !kb_ode_fields_solve(w->n_fields, w->fields, &w->support, 12, gain_tolerance) ||
            !kb_ode_fields_learn_noise(w->n_fields, w->fields, &w->support))
            return -INFINITY;
    if (!kb_ode_fields_solve(w->n_fields, w->fields, &w->support, 12, gain_tolerance)) return -INFINITY;
    return kb_ode_fields_evidence(w->n_fields, w->fields, &w->support);
}

/* Weights of the trial support: the quadratic's means. */
static void set_weights(kb_annealer *w)
{
    const kb_columns *columns = w->fields[0]->columns;
    double *mean = w->work, *work = w->work + w->trial.n;
    kb_message_evidence(w->message, columns, &w->trial, mean, work);
    for (size_t p = 0; p < w->n_fields; p++) {
        memset(w->fields[p]->w, 0, columns->n * sizeof *mean);
        for (size_t q = 0; q < w->trial.n; q++) w->fields[p]->w[w->trial.column[q]] = mean[q];
    }
}

double kb_refine_weigh(kb_annealer *w)
{
    set_weights(w);
    bool is_solved = kb_ode_fields_solve(w->n_fields, w->fields, &w->trial, 25, gain_tolerance);
    return is_solved ? kb_ode_fields_evidence(w->n_fields, w->fields, &w->trial) : -INFINITY;
}

/* Proposes by up to `moves` moves and accepts when the true evidence rises above `best`. */
static bool advance(kb_annealer *w, size_t moves, double *best)
{
    kb_support_copy(&w->support, &w->trial);
    if (!kb_message_climb(w->message, w->fields[0]->columns, &w->trial, moves, w->work)) return false;
    if (w->trial.n > w->support.n + 40) return false;
    kb_ode_state_save(w->saved, w->n_fields, w->fields);
    double found = kb_refine_weigh(w);
    if (found > *best) {
        *best = found;
        kb_support_copy(&w->trial, &w->support);
        return true;
    }
    kb_ode_state_load(w->saved, w->n_fields, w->fields);
    return false;
}

void kb_annealer_set_level(const kb_ode_problem *p, kb_annealer *w, size_t level)
{
    for (size_t patch = 0; patch < w->n_fields; patch++)
        kb_ode_field_set_level(w->fields[patch], p->levels[level * p->n_patches + patch]);
}

double kb_refine(const kb_ode_problem *p, kb_annealer *w, size_t level, kb_run *run)
{
    double best = -INFINITY;
    kb_annealer_set_level(p, w, level);
    for (size_t patch = 0; patch < w->n_fields; patch++)
        for (size_t i = 0; i < p->record->n_states; i++) w->fields[patch]->tau[i] = tau_relative * p->slope_squares[i];
    for (int round = 0; round < ROUNDS && kb_run_continue(run, w->support.n); round++) {
        best = kb_refine_settle(w, run);
        if (!isfinite(best) || !kb_ode_fields_message(w->n_fields, w->fields, &p->all, w->message)) return -INFINITY;
        if (!advance(w, MOVES, &best) && !advance(w, 1, &best)) break;
    }
    return best;
}
