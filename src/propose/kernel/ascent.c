#include <math.h>
#include <stdint.h>
#include <string.h>

#include "base/status.h"
#include "propose/kernel/search.h"
#include "propose/kernel/trace.h"

enum { ROUNDS = 5 };                  /* rounds: of hyperparameters and moves about the best; not measured */
enum { MOVES = 4 };                   /* moves: of a structure in a round, the most promising; not measured */
enum { RIVALS = 3 };                  /* models: that are given hyperparameters of their own in a round; not measured */
enum { KEPT = 4 };                    /* models: that stay in play whatever their size; not measured */
enum { FEW_TERMS = 5 };               /* terms a field: up to so many, each is also tried without */
enum { PROPOSALS = 40 };              /* room: structures of a round */
static const int length_step = 5;     /* steps of the ladder: a factor 1.3 */
static const double greatest_tau = 3; /* variance of the scaled equation: above it nothing is bound */
static const double worth = 0.5;      /* nats: that other hyperparameters have to gain */
static const double better = 0.05;    /* nats: that a rival has to gain */
static const double freedom = 2; /* degrees of freedom: of Student's t for the equation's residuals; not measured */
static const double most_moved = 0.5; /* sds: by which a shorter length scale may move weights */

/* ---------------------------------------------------------------- hyperparameters */

/* One step along a direction: 0 tau, 1 time, 2 space; false at the end of its range. */
static bool displace(kb_kernel_search *s, kb_kernel_state *state, int direction, int sign)
{
    kb_steps steps = state->steps;
    if (direction == 0) {
        state->tau *= sign > 0 ? KB_TAU_FACTOR : 1.0 / KB_TAU_FACTOR;
        return state->tau > 0.99 * fmax(KB_LEAST_TAU, s->least_tau) && state->tau < greatest_tau;
    }
    if (direction == 1) steps.time -= sign * length_step;
    else steps.space -= sign * length_step;
    if (steps.time < s->coarsest.time || steps.space < s->coarsest.space) return false;
    return steps.time <= s->domain->finest.time && steps.space <= s->domain->finest.space &&
           kb_patch_solver_move(s->solver, state, steps);
}

void kb_kernel_search_tune(kb_kernel_search *s, kb_kernel_state *state, kb_kernel_state *trial, bool with_tau,
                           int sweeps, int budget)
{
    bool improved = true;
    for (int sweep = 0; sweep < sweeps && state->log_evidence > -INFINITY; sweep++) {
        improved = false;
        for (int direction = with_tau ? 0 : 1; direction < 3; direction++)
            for (int sign = -1; sign <= 1; sign += 2) {
                bool moved = false;
                while (budget-- > 0) {
                    kb_kernel_state_copy(s->solver, state, trial);
                    if (!displace(s, trial, direction, sign)) break;
                    if (!(kb_kernel_search_evaluate(s, trial, 3, false) > state->log_evidence + worth)) break;
                    kb_kernel_state_copy(s->solver, trial, state);
                    moved = improved = true;
                }
                if (moved) break;
            }
        if (!improved) break;
    }
    state->is_settled = with_tau;
    state->is_tuned = with_tau && !improved && budget >= 0; /* else sweeps or evaluations ran out */
}

/* The evidence is about the field, of which the weights are a small part: it may prefer a scale that biases them. */
bool kb_kernel_search_shorten(kb_kernel_search *s, kb_kernel_state *state, kb_kernel_state *trial)
{
    bool moved = false;
    for (int direction = 1; direction < 3; direction++)
        for (;;) {
            kb_kernel_state_copy(s->solver, state, trial);
            if (!displace(s, trial, direction, -1) || !(kb_kernel_search_evaluate(s, trial, 3, false) > -INFINITY))
                break;
            if (!(kb_patch_solver_distance(s->solver, trial, state->w) >
                  most_moved * most_moved * (double)state->support.n))
                break;
            kb_kernel_state_copy(s->solver, trial, state);
            moved = true;
        }
    if (moved) s->coarsest = state->steps;
    return moved;
}

/* ---------------------------------------------------------------- structure */

typedef struct {
    size_t n, capacity;
    kb_support *list;
} supports;

static void propose(supports *proposals, const kb_support *support)
{
    for (size_t i = 0; i < proposals->n; i++)
        if (kb_support_equal(&proposals->list[i], support)) return;
    if (proposals->n < proposals->capacity) kb_support_copy(support, &proposals->list[proposals->n++]);
}

static bool leaves_none(const kb_columns *columns, const kb_support *support, size_t column)
{
    size_t n = 0;
    for (size_t q = 0; q < support->n; q++) n += columns->equation[support->column[q]] == columns->equation[column];
    return n <= 1;
}

/* The best moves on the quadratic, every deletion from a small model, and the choice of EP. */
static void list_proposals(kb_kernel_search *s, const kb_support *support, supports *proposals)
{
    kb_move moves[MOVES];
    size_t n = kb_message_moves(s->message, &s->view, support, KB_SWAPS, MOVES, moves, s->work);
    proposals->n = 0;
    for (size_t i = 0; i < n; i++) {
        kb_support_copy(support, &s->trial);
        kb_move_apply(&moves[i], &s->view, &s->trial);
        propose(proposals, &s->trial);
    }
    for (size_t q = 0; q < support->n && support->n <= FEW_TERMS * s->solver->n_fields; q++) {
        if (s->columns->required[support->column[q]] || leaves_none(s->columns, support, support->column[q])) continue;
        kb_support_copy(support, &s->trial);
        kb_support_remove(&s->trial, support->column[q]);
        propose(proposals, &s->trial);
    }
    if (kb_kernel_search_select(s, 0.5, &s->chosen)) propose(proposals, &s->chosen);
}

/* Weighs a proposal from the incumbent's fields with the quadratic's weights. */
static void weigh(kb_kernel_search *s, const kb_kernel_state *incumbent, const kb_support *support,
                  kb_kernel_state *out)
{
    kb_kernel_state_copy(s->solver, incumbent, out);
    kb_kernel_search_weights(s, support, out->w);
    kb_support_copy(support, &out->support);
    out->is_settled = false;
    kb_kernel_search_evaluate(s, out, 5, false);
}

/* How far below the best a state may be and still be given hyperparameters of its own; more when it is simpler, since
   it was weighed at those of a model that can bend further. */
static double reach(const kb_kernel_search *s, bool is_simpler)
{
    double n = (double)s->solver->n_values;
    if (s->has_many_data) return is_simpler ? 20 : 5;
    return is_simpler ? 0.15 * n + 10 : 0.05 * n + 5;
}

/* The best of the pool among the proposals that has not been settled: NULL when none is near the incumbent. */
static kb_kernel_state *next_rival(kb_kernel_search *s, const kb_kernel_state *incumbent, const supports *proposals)
{
    kb_kernel_state *best = NULL;
    for (size_t i = 0; i < proposals->n; i++) {
        kb_kernel_state *found = (kb_kernel_state *)kb_kernel_pool_find(&s->pool, &proposals->list[i]);
        if (!found || found->is_settled) continue;
        double near = incumbent->log_evidence - reach(s, found->support.n < incumbent->support.n);
        if (!(found->log_evidence > near)) continue;
        if (!best || found->log_evidence > best->log_evidence) best = found;
    }
    return best;
}

/* A state at a rival's hyperparameters, if it is better there: evidences are compared at equal terms. */
static void meet(kb_kernel_search *s, kb_kernel_state *state, const kb_kernel_state *rival, kb_kernel_state *trial)
{
    kb_kernel_state_copy(s->solver, state, trial);
    trial->tau = rival->tau;
    if (!kb_patch_solver_move(s->solver, trial, rival->steps)) return;
    if (kb_kernel_search_evaluate(s, trial, 5, false) > state->log_evidence)
        kb_kernel_state_copy(s->solver, trial, state);
}

/* One round of moves from the incumbent; false when it stays. */
static bool round_of_moves(kb_kernel_search *s, kb_kernel_state *incumbent, supports *proposals)
{
    kb_kernel_state *trial = s->spare[1], *rival = s->spare[2];
    bool moved = false;
    int budget = s->solver->n_patches == 1 ? 10 : 4;
    kb_kernel_state_copy(s->solver, incumbent, trial);
    if (!(kb_kernel_search_evaluate(s, trial, 2, true) > -INFINITY)) return false;
    if (trial->log_evidence > incumbent->log_evidence) kb_kernel_state_copy(s->solver, trial, incumbent);
    list_proposals(s, &incumbent->support, proposals);
    for (size_t i = 0; i < proposals->n; i++) {
        if (kb_kernel_pool_find(&s->pool, &proposals->list[i])) continue;
        weigh(s, incumbent, &proposals->list[i], rival);
        kb_kernel_pool_keep(s, rival);
    }
    for (int i = 0; i < RIVALS; i++) {
        kb_kernel_state *found = next_rival(s, incumbent, proposals);
        if (!found) break;
        kb_kernel_search_tune(s, found, trial, true, 1, budget);
        kb_kernel_state_copy(s->solver, found, rival);
        if (rival->log_evidence > incumbent->log_evidence) meet(s, incumbent, rival, trial);
        if (rival->log_evidence > incumbent->log_evidence + better) {
            kb_kernel_pool_keep(s, incumbent);
            kb_kernel_state_copy(s->solver, rival, incumbent);
            moved = true;
        }
    }
    kb_kernel_pool_keep(s, incumbent);
    return moved;
}

/* ---------------------------------------------------------------- from the pool upwards */

/* Sorted, the best few and after them those simpler than all before; the others are forgotten. */
static void thin_out(kb_kernel_search *s)
{
    kb_kernel_pool *pool = &s->pool;
    size_t n = 0, simplest = SIZE_MAX;
    double best = pool->states[0]->log_evidence;
    for (size_t i = 0; i < pool->n; i++) {
        kb_kernel_state *state = pool->states[i];
        bool is_simpler = state->support.n < simplest;
        bool is_near = s->has_many_data || state->log_evidence > best - reach(s, true);
        if (is_simpler) simplest = state->support.n;
        if (is_near && (i < KEPT || is_simpler)) pool->states[n++] = state;
        else kb_kernel_state_destroy(state);
    }
    pool->n = n;
}

/* A state of the pool anew; a run that is stopped leaves it the evidence it had. */
static void evaluate_again(kb_kernel_search *s, kb_kernel_state *state, int iterations)
{
    double before = state->log_evidence;
    kb_kernel_search_evaluate(s, state, iterations, false);
    if (kb_run_stopped(s->run) && !(state->log_evidence > -INFINITY)) state->log_evidence = before;
}

static void take_hyperparameters(kb_kernel_search *s, const kb_kernel_state *from, kb_kernel_state *state)
{
    state->tau = from->tau;
    if (!kb_patch_solver_move(s->solver, state, from->steps)) state->log_evidence = -INFINITY;
    else evaluate_again(s, state, 5);
}

/* The pool's states with Student's t; of many data, where hyperparameters matter more than terms, at the best one's. */
static void weigh_pool(kb_kernel_search *s, int budget)
{
    kb_kernel_pool *pool = &s->pool;
    size_t first = 0;
    if (s->has_many_data) {
        evaluate_again(s, pool->states[0], 4);
        kb_kernel_search_tune(s, pool->states[0], s->spare[1], true, 2, budget);
        for (first = 1; first < pool->n && !kb_run_stopped(s->run); first++)
            take_hyperparameters(s, pool->states[0], pool->states[first]);
    }
    for (size_t i = first; i < pool->n && !kb_run_stopped(s->run); i++) evaluate_again(s, pool->states[i], 4);
    kb_kernel_pool_sort(pool);
}

/* The best states again, now with Student's t, those near the best at hyperparameters of their own. */
static void weigh_again(kb_kernel_search *s)
{
    kb_kernel_pool *pool = &s->pool;
    double best = -INFINITY;
    int budget = s->solver->n_patches == 1 ? 16 : 8;
    size_t simplest = SIZE_MAX;
    thin_out(s);
    s->freedom = freedom;
    weigh_pool(s, budget);
    for (size_t i = 0; i < pool->n && !kb_run_stopped(s->run); i++) {
        kb_kernel_state *state = pool->states[i];
        if (!state->is_settled && state->log_evidence > best - reach(s, state->support.n < simplest))
            kb_kernel_search_tune(s, state, s->spare[1], true, 2, budget);
        best = fmax(best, state->log_evidence);
        if (state->support.n < simplest) simplest = state->support.n;
    }
    kb_kernel_pool_sort(pool);
}

/* Those simpler than all that are better get hyperparameters of their own, too. */
static void settle_simpler(kb_kernel_search *s)
{
    kb_kernel_pool *pool = &s->pool;
    size_t simplest = SIZE_MAX;
    kb_kernel_pool_sort(pool);
    for (size_t i = 0; i < pool->n && !kb_run_stopped(s->run); i++) {
        kb_kernel_state *state = pool->states[i];
        bool is_near = state->log_evidence > pool->states[0]->log_evidence - reach(s, true);
        if (state->support.n >= simplest || !is_near) continue;
        simplest = state->support.n;
        if (!state->is_settled) kb_kernel_search_tune(s, state, s->spare[1], true, 2, 8);
    }
    kb_kernel_pool_sort(pool);
}

static kbass_status create_supports(const kb_kernel_search *s, supports *out, kb_support *list, kbass_error *error)
{
    kbass_status status = KBASS_OK;
    *out = (supports){0, PROPOSALS, list};
    for (size_t i = 0; status == KBASS_OK && i < PROPOSALS; i++)
        status = kb_support_create(s->columns->n, &list[i], error);
    return status;
}

kbass_status kb_kernel_search_ascend(kb_kernel_search *s, kbass_error *error)
{
    kb_support list[PROPOSALS] = {{0, NULL}};
    supports proposals;
    kb_kernel_state *incumbent = s->spare[0];
    if (!s->pool.n) return kb_kernel_search_status(s, error);
    kbass_status status = create_supports(s, &proposals, list, error);
    kb_kernel_pool_sort(&s->pool);
    if (status == KBASS_OK) {
        weigh_again(s);
        kb_trace_kernel_pool(s, "weighed again");
        kb_kernel_state_copy(s->solver, s->pool.states[0], incumbent);
        for (int round = 0; round < ROUNDS && !kb_run_stopped(s->run); round++) {
            kb_run_advance(s->run, 0.6 + 0.4 * round / ROUNDS);
            bool moved = round_of_moves(s, incumbent, &proposals);
            kb_trace_kernel_pool(s, "moves");
            if (moved) continue;
            settle_simpler(s);
            if (kb_support_equal(&s->pool.states[0]->support, &incumbent->support)) break;
            kb_kernel_state_copy(s->solver, s->pool.states[0], incumbent);
        }
        settle_simpler(s);
        kb_trace_kernel_pool(s, "ascended");
        status = kb_kernel_search_status(s, error);
    }
    for (size_t i = 0; i < PROPOSALS; i++) kb_support_clear(&list[i]);
    return status;
}

static bool is_at(const kb_kernel_state *state, const kb_kernel_state *other)
{
    return state->tau == other->tau && state->steps.time == other->steps.time &&
           state->steps.space == other->steps.space;
}

void kb_kernel_search_align(kb_kernel_search *s, double nats)
{
    kb_kernel_state *best = s->spare[0];
    for (int round = 0; round < ROUNDS && s->pool.n && !kb_run_stopped(s->run); round++) {
        kb_kernel_state_copy(s->solver, s->pool.states[0], best);
        for (size_t i = 1; i < s->pool.n && s->pool.states[i]->log_evidence > best->log_evidence - nats; i++)
            if (!is_at(s->pool.states[i], best)) meet(s, s->pool.states[i], best, s->spare[1]);
        kb_kernel_pool_sort(&s->pool);
        if (kb_support_equal(&s->pool.states[0]->support, &best->support)) break;
    }
}
