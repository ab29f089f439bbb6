#include <math.h>
#include <string.h>

#include "base/status.h"
#include "propose/kernel/search.h"
#include "propose/kernel/trace.h"

static const double first_tau = 0.512; /* variance of the scaled equation: loose; not measured */
static const double tau_factor = 0.25; /* ratio: from one stage to the next */
static const double likely = 0.5;      /* probability: from which EP's columns are in */
static const double most_discord = 4;  /* sds: by which patches may disagree about a weight */
enum { STAGES = 5 };                   /* stages: of falling tau; not measured */
enum { ROUNDS = 2 };                   /* rounds: of E and M step in a stage */
enum { STEPS = 3 };                    /* steps: Gauss-Newton, of an M step */
enum { PATIENCE = 2 };                 /* stages: that may be worse before the descent ends */
enum { LENGTH_TRIALS = 8 };            /* steps: of the length scales in a stage */
enum { LOOSEN_FROM = 2 };              /* stage: from which length scales are shortened where weights depend on them */

bool kb_kernel_search_begin(kb_kernel_search *s, kb_kernel_state *state)
{
    state->steps = (kb_steps){0, 0};
    state->tau = 1;
    state->freedom = 0;
    state->support.n = 0;
    memset(state->w, 0, s->columns->n * sizeof *state->w);
    for (size_t i = 0; i < s->solver->n_fields; i++)
        state->variance[i] = fmax(s->domain->variance[i], kb_patch_solver_variance_floor(s->solver, i));
    return kb_patch_solver_regress(s->solver, state) && kb_patch_solver_message(s->solver, state, &s->solver->all);
}

/* What EP finds likely in the solver's message, with EP's weights: columns left out before may come back. */
bool kb_kernel_search_propose(kb_kernel_search *s, double threshold, kb_kernel_state *state)
{
    kb_kernel_search_take_message(s);
    if (!kb_kernel_search_select(s, threshold, &state->support)) return false;
    memset(state->w, 0, s->columns->n * sizeof *state->w);
    for (size_t q = 0; q < state->support.n; q++)
        state->w[state->support.column[q]] = s->mean[state->support.column[q]];
    return true;
}

/* The length scales of the structure at hand by evidence; false when they stay. */
static bool settle_lengths(kb_kernel_search *s, kb_kernel_state *state)
{
    kb_steps before = state->steps;
    if (!(kb_kernel_search_evaluate(s, state, STEPS, false) > -INFINITY)) return false;
    if (!s->pool.n) kb_kernel_pool_keep(s, state); /* something to answer with if the run is stopped */
    kb_kernel_search_tune(s, state, s->spare[1], false, 1, LENGTH_TRIALS);
    return state->steps.time != before.time || state->steps.space != before.space;
}

/* Solves and weighs the structure at hand; once more if EP prefers another. *agree: whether the patches do; otherwise
   what a stiffer equation sees is the basis. False in trouble. */
static bool pass_stage(kb_kernel_search *s, kb_kernel_state *state, bool *agree)
{
    for (int round = 0; round < ROUNDS; round++) {
        if (!(kb_kernel_search_evaluate(s, state, STEPS, true) > -INFINITY)) return false;
        *agree = kb_patch_solver_discord(s->solver, state) <= most_discord;
        if (*agree || !s->pool.n) kb_kernel_pool_keep(s, state);
        kb_support_copy(&state->support, &s->trial);
        if (!kb_kernel_search_propose(s, likely, state)) return false;
        if (kb_support_equal(&state->support, &s->trial)) break;
    }
    return true;
}

/* Shorter length scales where they matter to the weights; what was weighed at the longer ones is forgotten. */
static bool loosen(kb_kernel_search *s, kb_kernel_state *state)
{
    if (!(kb_kernel_search_evaluate(s, state, STEPS, false) > -INFINITY) ||
        !kb_kernel_search_shorten(s, state, s->spare[1]))
        return false;
    kb_kernel_pool_clear(&s->pool);
    kb_kernel_pool_keep(s, state);
    return true;
}

static void descend(kb_kernel_search *s)
{
    kb_kernel_state *state = s->spare[0];
    double best = -INFINITY;
    bool lengths_move = true, agree = true; /* the bare field knows lengths only roughly, and of the whole domain */
    if (!kb_run_continue(s->run, 0) || !kb_kernel_search_begin(s, state) || !kb_kernel_search_propose(s, likely, state))
        return;
    for (int stage = 0, worse = 0; stage < STAGES && worse < PATIENCE; stage++) {
        state->tau = first_tau * pow(tau_factor, stage);
        lengths_move = lengths_move && settle_lengths(s, state);
        if (!pass_stage(s, state, &agree)) return;
        if (agree && stage >= LOOSEN_FROM && loosen(s, state)) {
            best = -INFINITY;
            if (!pass_stage(s, state, &agree)) return;
        }
        if (!agree) return;
        s->least_tau = state->tau;
        kb_trace_kernel_state(s, "descent", state);
        worse = state->log_evidence > best ? 0 : worse + 1;
        best = fmax(best, state->log_evidence);
        kb_run_advance(s->run, 0.5 * (stage + 1) / STAGES);
    }
}

kbass_status kb_kernel_search_descend(kb_kernel_search *s, kbass_error *error)
{
    descend(s);
    return kb_kernel_search_status(s, error);
}

kbass_status kb_kernel_search_descent(kb_kernel_search *s, kbass_error *error)
{
    kbass_status status = kb_kernel_search_descend(s, error);
    return status == KBASS_OK ? kb_kernel_search_ascend(s, error) : status;
}
