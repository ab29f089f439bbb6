#include "em/states.h"

#include <math.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

#include "base/linalg.h"
#include "base/memory.h"
#include "base/status.h"
#include "em/fields.h"
#include "propose/ode/pool_entry.h"
#include "propose/ode/refine.h"
#include "propose/ode/starts.h"

enum { POOL = 48 };                      /* structures: kept, the best; not measured */
enum { MOVES = 12 };                     /* moves: tried about the best in a round; not measured */
enum { ROUNDS = 6 };                     /* rounds: of moves; most searches end by themselves */
enum { TUNINGS = 12 };                   /* steps: of the hyperparameters of one structure; not measured */
static const double worth = 0.5;         /* nats: that other hyperparameters have to gain */
static const double better = 0.05;       /* nats: that another structure has to gain */
static const double tau_factor = 4;      /* ratio: of neighbours on the ladder of tau */
static const double least_tau = 1e-7;    /* of the mean squared slope: below it the mesh is what is seen */
static const double greatest_tau = 1e-1; /* of the mean squared slope: above it the equation binds nothing */
static const size_t level_step = 2;      /* of the ladder of length scales */

typedef struct {
    const kb_ode_problem *problem;
    kb_run *run;
    kb_annealer *worker;
    size_t n, n_weighed;
    kb_ode_state *states[POOL]; /* distinct structures */
} em;

/* ---------------------------------------------------------------- the pool */

static int by_falling_evidence(const void *a, const void *b)
{
    double x = (*(kb_ode_state *const *)a)->log_evidence, y = (*(kb_ode_state *const *)b)->log_evidence;
    return (x < y) - (x > y);
}

static void sort(em *s) { qsort(s->states, s->n, sizeof *s->states, by_falling_evidence); }

static kb_ode_state *find(const em *s, const kb_support *support)
{
    for (size_t i = 0; i < s->n; i++)
        if (kb_support_equal(&s->states[i]->support, support)) return s->states[i];
    return NULL;
}

/* A place for a model of this evidence; NULL when it is not worth one, or without memory. */
static kb_ode_state *place_for(em *s, const kb_support *support, double evidence)
{
    kb_ode_state *place = find(s, support);
    if (!isfinite(evidence)) return NULL;
    if (!place && s->n < POOL) {
        if (kb_ode_state_create(s->worker->n_fields, s->worker->fields, &place, NULL) != KBASS_OK) return NULL;
        place->log_evidence = -INFINITY;
        s->states[s->n++] = place;
    }
    if (!place) {
        sort(s);
        place = s->states[s->n - 1];
    }
    return evidence > place->log_evidence ? place : NULL;
}

/* The worker's fields with this structure. */
static void keep(em *s, const kb_annealer *w, const kb_support *support, size_t level, double evidence)
{
    kb_ode_state *place = place_for(s, support, evidence);
    if (!place) return;
    kb_ode_state_save(place, w->n_fields, w->fields);
    kb_support_copy(support, &place->support);
    place->level = level;
    place->log_evidence = evidence;
}

static void load(em *s, const kb_ode_state *state)
{
    kb_annealer_set_level(s->problem, s->worker, state->level);
    kb_ode_state_load(state, s->worker->n_fields, s->worker->fields);
    kb_support_copy(&state->support, &s->worker->support);
}

/* ---------------------------------------------------------------- starts */

static void run_starts(em *s, kb_annealer **workers, kb_search_result *result)
{
    const kb_ode_problem *p = s->problem;
    kb_anneal_start starts[KB_MOST_STARTS];
    size_t n = kb_anneal_starts(p, starts), level = kb_refine_level(p), done = 0;
#pragma omp parallel for schedule(dynamic) num_threads(p->threads)
    for (size_t i = 0; i < n; i++) {
        kb_annealer *w = workers[omp_get_thread_num()];
        double evidence = -INFINITY;
        if (kb_run_stopped(s->run)) continue;
        if (kb_anneal_start_run(p, &starts[i], w, s->run)) evidence = kb_refine(p, w, level, s->run);
#pragma omp critical(kb_progress)
        {
            keep(s, w, &w->support, level, evidence);
            s->run->fraction = 0.05 + 0.55 * (double)++done / (double)n;
            result->n_starts++;
            result->n_lost += !isfinite(evidence);
        }
    }
    sort(s);
}

/* ---------------------------------------------------------------- hyperparameters */

/* One step: 0 tau, 1 the length scale; false at the end of its range. */
static bool displace(em *s, kb_ode_state *state, int direction, int sign)
{
    const kb_ode_problem *p = s->problem;
    if (direction == 0) {
        for (size_t i = 0; i < p->record->n_states; i++) state->tau[i] *= sign > 0 ? tau_factor : 1 / tau_factor;
        double relative = state->tau[0] / p->slope_squares[0];
        return relative > least_tau && relative < greatest_tau;
    }
    if (sign < 0 && state->level < level_step) return false;
    size_t level = sign > 0 ? state->level + level_step : state->level - level_step;
    state->level = level;
    return level < p->n_levels;
}

/* Solves and weighs a copy of a state at other hyperparameters; the worker is left there. */
static double weigh_at(em *s, const kb_ode_state *from, const kb_ode_state *at)
{
    kb_annealer *w = s->worker;
    load(s, from);
    kb_annealer_set_level(s->problem, w, at->level);
    for (size_t p = 0; p < w->n_fields; p++)
        memcpy(w->fields[p]->tau, at->tau, s->problem->record->n_states * sizeof *at->tau);
    s->n_weighed++;
    return kb_refine_settle(w, s->run);
}

static void tune(em *s, kb_ode_state *state, kb_ode_state *trial, int budget)
{
    for (int direction = 0; direction < 2; direction++)
        for (int sign = -1; sign <= 1; sign += 2) {
            bool moved = false;
            while (budget-- > 0 && !kb_run_stopped(s->run)) {
                memcpy(trial->tau, state->tau, s->problem->record->n_states * sizeof *trial->tau);
                trial->level = state->level;
                if (!displace(s, trial, direction, sign)) break;
                double found = weigh_at(s, state, trial);
                if (!(found > state->log_evidence + worth)) break;
                keep(s, s->worker, &state->support, trial->level, found);
                moved = true;
            }
            if (moved) break;
        }
}

/* ---------------------------------------------------------------- structure */

/* How far below the best a model may be, at the best one's noise, and still be given noise of its own; more when it is
   simpler, since it was weighed at that of a model that can bend further. */
static double reach(const em *s, bool is_simpler)
{
    double n = 0;
    for (size_t i = 0; i < s->problem->record->n_states; i++) n += (double)s->problem->record->count[i];
    return is_simpler ? 2 * n + 10 : 0.05 * n + 5;
}

/* Weighs worker->trial from the incumbent's fields; also one that is known, since it may stand at a poor minimum. */
static void weigh(em *s, const kb_ode_state *incumbent)
{
    kb_annealer *w = s->worker;
    if (kb_run_stopped(s->run)) return;
    kb_ode_state_load(incumbent, w->n_fields, w->fields);
    double found = kb_refine_weigh(w);
    s->n_weighed++;
    keep(s, w, &w->trial, incumbent->level, found);
    if (!(found > incumbent->log_evidence - reach(s, w->trial.n < incumbent->support.n))) return;
    kb_support_copy(&w->trial, &w->support);
    keep(s, w, &w->trial, incumbent->level, kb_refine_settle(w, s->run));
}

static bool is_among(size_t n, const kb_move *moves, size_t dropped)
{
    for (size_t i = 0; i < n; i++)
        if (moves[i].drop == dropped && moves[i].add == KB_NO_COLUMN) return true;
    return false;
}

static bool leaves_none(const kb_columns *columns, const kb_support *support, size_t column)
{
    size_t n = 0;
    for (size_t q = 0; q < support->n; q++) n += columns->equation[support->column[q]] == columns->equation[column];
    return n <= 1;
}

/* The best moves on the quadratic, and every deletion. `best` is no state of the pool, which changes. */
static bool weigh_neighbours(em *s, const kb_ode_state *best)
{
    kb_annealer *w = s->worker;
    const kb_columns *columns = s->problem->columns;
    kb_move moves[MOVES];
    load(s, best);
    if (!kb_ode_fields_message(w->n_fields, w->fields, &s->problem->all, w->message)) return false;
    size_t n = kb_message_moves(w->message, columns, &best->support, KB_SWAPS, MOVES, moves, w->work);
    for (size_t i = 0; i < n; i++) {
        kb_support_copy(&best->support, &w->trial);
        kb_move_apply(&moves[i], columns, &w->trial);
        weigh(s, best);
    }
    for (size_t q = 0; q < best->support.n; q++) {
        size_t column = best->support.column[q];
        if (columns->required[column] || leaves_none(columns, &best->support, column) || is_among(n, moves, column))
            continue;
        kb_support_copy(&best->support, &w->trial);
        kb_support_remove(&w->trial, column);
        weigh(s, best);
    }
    sort(s);
    return true;
}

/* Those near the best also at its hyperparameters: evidences are compared at equal terms. */
static void align(em *s, const kb_ode_state *best)
{
    for (size_t i = 0; i < s->n && !kb_run_stopped(s->run); i++) {
        kb_ode_state *state = s->states[i];
        bool is_there = state->level == best->level && state->tau[0] == best->tau[0];
        if (is_there || !(state->log_evidence > best->log_evidence - KB_EM_REPORTED)) continue;
        double found = weigh_at(s, state, best);
        keep(s, s->worker, &state->support, best->level, found);
    }
    sort(s);
}

static void copy(const em *s, const kb_ode_state *from, kb_ode_state *to)
{
    load((em *)s, from);
    kb_ode_state_save(to, s->worker->n_fields, s->worker->fields);
    kb_support_copy(&from->support, &to->support);
    to->level = from->level;
    to->log_evidence = from->log_evidence;
}

static void ascend(em *s, kb_ode_state *best, kb_ode_state *trial)
{
    for (int round = 0; round < ROUNDS && s->n && !kb_run_stopped(s->run); round++) {
        s->run->fraction = 0.6 + 0.35 * round / ROUNDS;
        tune(s, s->states[0], trial, TUNINGS);
        sort(s);
        copy(s, s->states[0], best);
        align(s, best);
        copy(s, s->states[0], best);
        if (!weigh_neighbours(s, best)) return;
        if (!(s->states[0]->log_evidence > best->log_evidence + better)) return;
    }
}

/* ---------------------------------------------------------------- the answer */

static double misfit_of(const em *s)
{
    double squares = 0, count = 0;
    for (size_t p = 0; p < s->worker->n_fields; p++) {
        kb_ode_field *f = s->worker->fields[p];
        for (size_t i = 0; i < f->n_states; i++) {
            kb_ode_field_data_residual(f, f->z, i, f->residual);
            squares += kb_dot(f->record->n_rows, f->residual, f->residual);
            count += (double)f->record->count[i];
        }
    }
    return sqrt(squares / count);
}

static kbass_status enter(em *s, const kb_ode_state *state, kb_pool *pool, kbass_error *error)
{
    kb_fit *fit = NULL;
    kb_annealer *w = s->worker;
    const kb_record *record = s->problem->record;
    size_t k = state->support.n;
    kbass_status status = kb_pool_add(pool, &state->support, &fit, error);
    if (status != KBASS_OK) return status;
    load(s, state);
    fit->n_windows = record->n_runs;
    for (size_t run = 0; run < record->n_runs; run++)
        for (size_t i = 0; i < record->n_states; i++)
            fit->start[run * record->n_states + i] = kb_annealer_at(s->problem, w, i, record->run_start[run]);
    for (size_t q = 0; q < k; q++) fit->w[state->support.column[q]] = state->w[state->support.column[q]];
    memcpy(fit->variance, state->v, record->n_states * sizeof *fit->variance);
    fit->log_evidence = state->log_evidence;
    fit->misfit = misfit_of(s);
    fit->converged = true;
    fit->valid = kb_ode_fields_factorise(w->n_fields, w->fields, &state->support);
    if (!fit->valid) return KBASS_OK;
    memcpy(fit->covariance, w->fields[0]->G, k * k * sizeof *fit->covariance);
    fit->valid = kb_cholesky_inverse(k, fit->covariance, k);
    kb_symmetrise(k, fit->covariance, k);
    return KBASS_OK;
}

/* The chosen model without a column, or with it, as --explain asks: at its hyperparameters, from its fields. */
static kbass_status explain_column(em *s, kb_search_result *result, size_t column, kb_ode_state *other,
                                   kbass_error *error)
{
    kb_annealer *w = s->worker;
    load(s, result->engine.state);
    if (!kb_ode_fields_message(w->n_fields, w->fields, &s->problem->all, w->message)) return KBASS_OK;
    kb_support_copy(&result->engine.state->support, &w->trial);
    if (kb_support_has(&w->trial, column)) kb_support_remove(&w->trial, column);
    else kb_support_add(&w->trial, column);
    if (!isfinite(kb_refine_weigh(w))) return KBASS_OK;
    kb_support_copy(&w->trial, &w->support);
    double found = kb_refine_settle(w, s->run);
    if (!isfinite(found)) return KBASS_OK;
    kb_ode_state_save(other, w->n_fields, w->fields);
    kb_support_copy(&w->support, &other->support);
    other->level = result->engine.state->level;
    other->log_evidence = found;
    kbass_status status = enter(s, other, &result->explained, error);
    if (status == KBASS_OK) result->explained_column[result->explained.n - 1] = column;
    return status;
}

static kbass_status explain(em *s, kb_search_result *result, kbass_error *error)
{
    const kb_ode_problem *p = s->problem;
    kb_ode_state *other = NULL;
    kb_pool_init(&result->explained, p->columns->n, p->record->n_states, p->record->n_runs);
    result->explained_column = KB_NEW(size_t, p->columns->n);
    if (!result->explained_column) return kb_out_of_memory(error, "the explanations");
    kbass_status status = kb_ode_state_create(s->worker->n_fields, s->worker->fields, &other, error);
    for (size_t column = 0; status == KBASS_OK && column < p->columns->n; column++)
        if (p->columns->explained[column]) status = explain_column(s, result, column, other, error);
    kb_ode_state_destroy(other);
    return status;
}

static kbass_status form_result(em *s, kb_search_result *result, kbass_error *error)
{
    const kb_ode_problem *p = s->problem;
    kb_annealer *w = s->worker;
    kbass_status status = KBASS_OK;
    for (size_t i = 0; status == KBASS_OK && i < s->n; i++)
        if (s->states[i]->log_evidence > s->states[0]->log_evidence - KB_EM_REPORTED)
            status = enter(s, s->states[i], &result->pool, error);
    result->n_models = s->n_weighed;
    result->engine.n_patches = p->n_patches;
    if (status != KBASS_OK || !result->pool.n || !result->pool.fits[0]->valid) return status;
    status = kb_ode_state_create(w->n_fields, w->fields, &result->engine.state, error);
    if (status != KBASS_OK) return status;
    copy(s, s->states[0], result->engine.state);
    load(s, result->engine.state);
    if (kb_ode_fields_message(w->n_fields, w->fields, &p->all, w->message))
        status = kb_search_result_measure(result, w->message, p->columns, w->work, error);
    if (status != KBASS_OK || kb_run_stopped(s->run)) return status;
    status = explain(s, result, error);
    return status == KBASS_OK ? kb_em_states_follow(p, result, error) : status;
}

static kbass_status search(em *s, kb_annealer **workers, kb_search_result *result, kbass_error *error)
{
    kb_ode_state *best = NULL, *trial = NULL;
    double clock = kb_run_stage(s->run, KBASS_STAGE_SEARCH, 0.05, 0.95);
    s->worker = workers[0];
    kbass_status status = kb_ode_state_create(s->worker->n_fields, s->worker->fields, &best, error);
    if (status == KBASS_OK) status = kb_ode_state_create(s->worker->n_fields, s->worker->fields, &trial, error);
    if (status == KBASS_OK) run_starts(s, workers, result);
    if (status == KBASS_OK) ascend(s, best, trial);
    result->seconds[KBASS_STAGE_SEARCH] = kb_clock() - clock;
    clock = kb_run_stage(s->run, KBASS_STAGE_POLISH, 0.95, 1);
    if (status == KBASS_OK) status = form_result(s, result, error);
    result->seconds[KBASS_STAGE_POLISH] = kb_clock() - clock;
    result->settled = !kb_run_stopped(s->run);
    kb_ode_state_destroy(best);
    kb_ode_state_destroy(trial);
    for (size_t i = 0; i < s->n; i++) kb_ode_state_destroy(s->states[i]);
    return status;
}

kbass_status kb_em_states_search(const kb_ode_problem *p, kb_run *run, kb_search_result *result, kbass_error *error)
{
    em s = {.problem = p, .run = run};
    kb_annealer **workers = NULL;
    memset(result, 0, sizeof *result);
    kb_pool_init(&result->pool, p->columns->n, p->record->n_states, p->record->n_runs);
    kbass_status status = kb_windows_divide_runs(p->record->n_runs, p->record->run_start, 1, &result->windows, error);
    if (status == KBASS_OK) status = kb_annealers_create(p, &workers, error);
    if (status == KBASS_OK) status = search(&s, workers, result, error);
    kb_annealers_destroy(p, workers);
    return status;
}
