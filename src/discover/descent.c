#include <math.h>
#include <string.h>

#include "base/status.h"
#include "discover/seeker.h"

static const double first_tau = 0.512, tau_factor = 0.25, likely = 0.5;
enum { STAGES = 5, ROUNDS = 2, STEPS = 3, PATIENCE = 2, LENGTH_TRIALS = 8 };

static bool begin(kb_seeker *s, kb_state *state)
{
    state->steps = (kb_steps){0, 0};
    state->tau = 1;
    state->freedom = 0;
    state->support.n = 0;
    memset(state->w, 0, s->columns->n * sizeof *state->w);
    for (size_t i = 0; i < s->mosaic->n_fields; i++)
        state->variance[i] = fmax(s->terrain->gp->variance[i], kb_mosaic_variance_floor(s->mosaic, i));
    return kb_mosaic_regress(s->mosaic, state) && kb_mosaic_listen(s->mosaic, state, &s->mosaic->all);
}

/* What EP finds likely in the mosaic's message, with EP's weights: columns left out before may come back. */
static bool reconsider(kb_seeker *s, kb_state *state)
{
    kb_seeker_take_message(s);
    if (!kb_seeker_select(s, likely, &state->support)) return false;
    memset(state->w, 0, s->columns->n * sizeof *state->w);
    for (size_t q = 0; q < state->support.n; q++)
        state->w[state->support.column[q]] = s->ep->mean[state->support.column[q]];
    return true;
}

/* Solves and weighs the structure at hand, at length scales of its own if asked (of scattered data the bare field knows
   them only roughly); once more if EP prefers another. */
static bool pass_stage(kb_seeker *s, kb_state *state, bool lengths, kbass_error *error)
{
    for (int round = 0; round < ROUNDS; round++) {
        if (lengths && round == 0 && kb_seeker_evaluate(s, state, STEPS, false) > -INFINITY) {
            kb_pool_keep(s, state, error);
            kb_seeker_settle(s, state, s->spare[1], false, 1, LENGTH_TRIALS);
        }
        if (!(kb_seeker_evaluate(s, state, STEPS, true) > -INFINITY)) return false;
        kb_pool_keep(s, state, error);
        kb_support_copy(&state->support, &s->trial);
        if (!reconsider(s, state)) return false;
        if (kb_support_equal(&state->support, &s->trial)) break;
    }
    return true;
}

void kb_seeker_descend(kb_seeker *s, kbass_error *error)
{
    kb_state *state = s->spare[0];
    double best = -INFINITY;
    if (!kb_run_continue(s->run, 0) || !begin(s, state) || !reconsider(s, state)) return;
    for (int stage = 0, worse = 0; stage < STAGES && worse < PATIENCE; stage++) {
        state->tau = first_tau * pow(tau_factor, stage);
        if (!pass_stage(s, state, stage == 0 && !s->terrain->cloud->gridded, error)) return;
        worse = state->log_evidence > best ? 0 : worse + 1;
        best = fmax(best, state->log_evidence);
        kb_run_advance(s->run, 0.5 * (stage + 1) / STAGES);
    }
}
