#include "propose/kernel/homotopy.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

#include "base/linalg.h"
#include "base/memory.h"
#include "base/status.h"
#include "propose/kernel/search.h"
#include "propose/kernel/trace.h"

enum { STAGES = 9 };           /* stages: of falling tau and shrinking length scales; the recipe's */
enum { LEARN_NOISE_FROM = 5 }; /* stage: before it the noise is the bare field's */
enum { PRUNE_FROM = 6 };       /* stage: from which unlikely columns leave */
enum { DECIDE_FROM = 7 };      /* stage: from which only likely columns stay */
enum { ROUNDS = 2 };           /* rounds: of E and M step in a stage */
enum { STEPS_PER_ROUND = 2 };  /* steps: Gauss-Newton, of an M step */
enum { FEW_TERMS = 5 };        /* terms a field: of what paths agree on; laws have few, noise is fitted by many */
enum { MOST_TERMS = 8 };       /* terms a field: larger structures are kept where there are no others */
const kb_scope kb_kernel_scope = {0.44, 0.65, false, false};
static const double last_tau = 9e-3;          /* variance of the scaled equation: at the last stage; the recipe's */
static const double prune_below = 0.05;       /* probability: of columns that leave */
static const double decide_below = 0.5;       /* probability: of columns that leave at the end */
static const double noise_share = 0.25;       /* of the bare field's noise variance: where the noise begins */
static const double start_share[] = {1, 0.6}; /* of the bare field's length scale in time: one path each */

static double threshold(int stage) { return stage < PRUNE_FROM ? 0 : stage < DECIDE_FROM ? prune_below : decide_below; }

/* Everything in play, the fields from the data alone, at a quarter of the noise the bare field sees. */
static bool begin(kb_kernel_search *s, int time_step, kb_kernel_state *state)
{
    state->steps = (kb_steps){time_step, 0};
    state->freedom = 0;
    kb_support_copy(&s->solver->all, &state->support);
    memset(state->w, 0, s->columns->n * sizeof *state->w);
    for (size_t i = 0; i < s->solver->n_fields; i++)
        state->variance[i] = fmax(noise_share * s->domain->variance[i], kb_patch_solver_variance_floor(s->solver, i));
    return kb_patch_solver_regress(s->solver, state);
}

/* The structure that EP sees now; dropped columns may come back as long as they are likely. */
static bool reconsider(kb_kernel_search *s, int stage, kb_kernel_state *state)
{
    kb_kernel_search_take_message(s);
    if (!kb_kernel_search_select(s, threshold(stage), &state->support)) return false;
    if (!(threshold(stage) > 0)) return true;
    memset(state->w, 0, s->columns->n * sizeof *state->w);
    for (size_t q = 0; q < state->support.n; q++)
        state->w[state->support.column[q]] = s->mean[state->support.column[q]];
    return true;
}

static bool pass_stage(kb_kernel_search *s, int stage, int first_step, kb_kernel_state *state)
{
    double share = stage / (double)(STAGES - 1);
    kb_steps steps = {first_step + (int)lrint(share * kb_ladder_step(s->domain->scope.time)),
                      (int)lrint(share * kb_ladder_step(s->domain->scope.space))};
    state->tau = pow(last_tau, share);
    if (!kb_patch_solver_move(s->solver, state, steps)) return false;
    for (int round = 0; round < ROUNDS; round++) {
        kb_solve_options options = {STEPS_PER_ROUND, stage >= LEARN_NOISE_FROM, round == ROUNDS - 1, &s->solver->all};
        if (!kb_run_continue(s->run, state->support.n) || !kb_patch_solver_iterate(s->solver, state, &options))
            return false;
        bool is_small = state->support.n <= MOST_TERMS * s->solver->n_fields,
             is_all = stage == STAGES - 1 && !s->pool.n;
        if (round == ROUNDS - 1 && (is_small || is_all)) kb_kernel_pool_keep(s, state);
        if (!reconsider(s, stage, state)) return false;
    }
    return true;
}

enum { PATHS = sizeof start_share / sizeof *start_share };

/* False where it ends before its last stage. */
static bool follow_path(kb_kernel_search *s, int path, kb_kernel_state *state)
{
    int first_step = kb_ladder_step(start_share[path]);
    if (!begin(s, first_step, state)) return false;
    for (int stage = 0; stage < STAGES; stage++) {
        if (!pass_stage(s, stage, first_step, state)) return false;
        kb_trace_kernel_state(s, "homotopy", state);
        kb_run_advance(s->run, 0.6 * (path * STAGES + stage + 1) / (PATHS * STAGES));
    }
    return true;
}

static bool has_choice(const kb_columns *columns)
{
    for (size_t j = 0; j < columns->n; j++)
        if (!columns->required[j]) return true;
    return false;
}

/* Two paths agree on a structure of few terms, or on one and another that holds it. */
static bool are_alike(const kb_kernel_search *s, const kb_support *a, const kb_support *b)
{
    const kb_support *small = a->n < b->n ? a : b, *large = a->n < b->n ? b : a;
    return kb_support_contains(large, small) && large->n <= FEW_TERMS * s->solver->n_fields;
}

/* All paths; *agree: they do, though they come from different length scales. With nothing to choose, the first that
   ends with weights is enough for those who go on from them. */
static kbass_status follow_paths(kb_kernel_search *s, bool *agree, kbass_error *error)
{
    bool is_open = has_choice(s->columns);
    kb_kernel_state *state = s->spare[0], *first = s->spare[1];
    *agree = is_open;
    for (int path = 0; path < PATHS && (is_open || !s->pool.n); path++) {
        bool has_ended = follow_path(s, path, path ? state : first);
        *agree = *agree && has_ended && (!path || are_alike(s, &state->support, &first->support));
    }
    kb_kernel_pool_sort(&s->pool);
    return kb_kernel_search_status(s, error);
}

/* ---------------------------------------------------------------- proposals */

/* The best, and within the last places those simpler than all that are better. */
static kbass_status list_proposals(const kb_kernel_search *s, size_t most, kb_kernel_fit *proposals, size_t *n,
                                   kbass_error *error)
{
    kbass_status status = KBASS_OK;
    size_t simplest = SIZE_MAX, reserved = most / 4;
    for (size_t i = 0; status == KBASS_OK && i < s->pool.n && *n < most; i++) {
        const kb_kernel_state *state = s->pool.states[i];
        bool is_simpler = state->support.n < simplest;
        if (!(state->log_evidence > -INFINITY) || (*n >= most - reserved && !is_simpler)) continue;
        if (is_simpler) simplest = state->support.n;
        status = kb_kernel_fit_create(s->solver, state, &proposals[*n], error);
        if (status == KBASS_OK) (*n)++;
    }
    return status;
}

static kbass_status screen_and_follow(kb_kernel_search *s, bool *agree, kbass_error *error)
{
    bool is_small = s->solver->n_patches == 1 && has_choice(s->columns);
    kbass_status status = is_small ? kb_kernel_search_screen(s, error) : KBASS_OK;
    if (status == KBASS_OK) status = follow_paths(s, agree, error);
    *agree = *agree && !is_small;
    return status;
}

kbass_status kb_kernel_search_run(kb_kernel_search *s, kbass_error *error)
{
    bool agree = false;
    kbass_status status = screen_and_follow(s, &agree, error);
    return status == KBASS_OK ? kb_kernel_search_ascend(s, error) : status;
}

/* Paths that disagree on a few of many small patches leave it to larger ones. */
static bool has_to_answer(const kb_kernel_search *s)
{
    const kb_patched_domain *t = s->domain;
    return !t->scope.is_quick || t->n_searched == t->n_patches || !has_choice(s->columns) || kb_run_stopped(s->run);
}

/* What all paths agree on needs no weighing by evidence before the forward engine weighs it. */
kbass_status kb_kernel_propose(const kb_patched_domain *domain, const kb_columns *columns, kb_run *run, size_t most,
                               kb_kernel_fit *proposals, size_t *n, kbass_error *error)
{
    kb_kernel_search *s = NULL;
    bool agree = false;
    kbass_status status = kb_kernel_search_create(domain, columns, run, &s, error);
    *n = 0;
    if (status == KBASS_OK) status = screen_and_follow(s, &agree, error);
    bool answers = status == KBASS_OK && (agree || has_to_answer(s));
    if (answers && !agree) status = kb_kernel_search_ascend(s, error);
    if (answers && status == KBASS_OK) status = list_proposals(s, most, proposals, n, error);
    kb_kernel_search_destroy(s);
    return status;
}
