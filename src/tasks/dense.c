#include "tasks/one_axis.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/status.h"
#include "problem/part.h"
#include "propose/weak/fields.h"
#include "search/polish.h"

enum {
    PROPOSALS = 6,
    AT_A_TIME = 2,
    PART_WINDOWS = 2,
    PART_LINES = 32,
    PART_POINTS = 192,
    PROFILE_LINES = 8,
    MOST_FITS = 5
};
enum { FEWEST_VALUES = 5000 };
static const double window_waves =
    1.0 / 3;                         /* visible wavelengths in a window: chaotic fields are lost in longer ones */
static const double as_good = 1.1;   /* noise that closed lines leave, in units of what open ones leave */
static const double nearer = 0.9;    /* squared misfit, of the fit before: worth another fit */
static const double farthest = 0.03; /* of the axis, that the period may lie beyond its end */

typedef struct {
    kb_pde1d_problem whole; /* the problem, with profiles of the whole record */
    kb_run *run;
    kb_field_proposals proposals;
    size_t *windows; /* by run */
    double noise;    /* mean over the fields */
    kb_search_result *result;
} dense_search;

static bool is_dense(const kb_pde1d_problem *l)
{
    size_t n = 0;
    for (size_t run = 0; run < l->n_runs; run++) {
        if (!l->run_samples[run]->gridded ||
            l->run_samples[run]->n_grid[0] < (size_t)kb_schedule_of_dense_axis.value.least_rows)
            return false;
        n += l->run_samples[run]->n_values;
    }
    return n >= FEWEST_VALUES && !l->columns->run && !l->columns->constraints;
}

/* ---------------------------------------------------------------- windows and the part */

/* Windows of about a third of the visible wavelength in time: twice the lag at which half of the field is forgotten. */
static void choose_windows(dense_search *s)
{
    for (size_t run = 0; run < s->whole.n_runs; run++) {
        const kb_field_samples *c = s->whole.run_samples[run];
        double rows = (double)c->n_grid[0] - 1, each = fmax(window_waves * s->proposals.wavelength[0] / c->spacing[0],
                                                            kb_schedule_of_dense_axis.value.least_rows - 1);
        s->windows[run] = (size_t)fmax(1, floor(rows / each + 0.5));
    }
}

static size_t every(size_t n, size_t wanted) { return n > wanted ? (n + wanted - 1) / wanted : 1; }

/* A few windows of each run, thinned to what decides. */
static kbass_status make_part(const dense_search *s, kb_pde1d_problem **part, kbass_error *error)
{
    size_t n = 0, runs = s->whole.n_runs;
    kb_stretch *stretches = KB_NEW(kb_stretch, PART_WINDOWS * runs);
    if (!stretches) return kb_out_of_memory(error, "a part of the data");
    for (size_t run = 0; run < runs; run++) {
        const kb_field_samples *c = s->whole.run_samples[run];
        size_t windows = s->windows[run], taken = windows < PART_WINDOWS ? windows : PART_WINDOWS,
               last = c->n_grid[0] - 1, rows = last / windows + 1;
        for (size_t i = 0; i < taken; i++) {
            size_t window = (2 * i + 1) * windows / (2 * taken);
            stretches[n++] = (kb_stretch){.run = run,
                                          .first = window * last / windows,
                                          .rows = rows,
                                          .every_line = every(rows, PART_LINES),
                                          .every_point = every(c->n_grid[1], PART_POINTS)};
        }
    }
    kbass_status status = kb_pde1d_part_create(&s->whole, n, stretches, part, error);
    kb_free(stretches);
    return status;
}

/* ---------------------------------------------------------------- models */

static const kb_task task = {.schedule = &kb_schedule_of_dense_axis.value,
                             .examine = kb_examine_residuals,
                             .begin = kb_one_axis_begin,
                             .raise_floor = kb_one_axis_raise_floor,
                             .lower_floor = kb_one_axis_lower_floor,
                             .noise = kb_one_axis_noise,
                             .end = kb_one_axis_end};

static kb_pass pass_of(const dense_search *s, const kb_pde1d_problem *problem, kb_search_result *result)
{
    kb_pass p = {.task = &task, .problem = problem, .n_runs = problem->n_runs, .result = result};
    p.search = (kb_search){.schedule = task.schedule, .run = s->run, .pool = &result->pool};
    return p;
}

static void end_pass(kb_pass *p)
{
    p->result->windows = p->search.windows;
    kb_workers_destroy(&p->search.workers);
    task.end(p);
}

/* Proposals begin near the end, where steps of a fit may share their tangents. */
static void share_tangents(kb_pass *p)
{
    for (int i = 0; i < p->search.workers.n; i++) kb_pass_shooter(p, i)->dynamics->tangents_are_dear = true;
}

static kbass_status set_grid(kb_pass *p, size_t grid, kbass_error *error)
{
    kbass_status status = kb_one_axis_set_grid(p, grid, error);
    if (status == KBASS_OK) share_tangents(p);
    return status;
}

static kbass_status enter(kb_pass *p, const kb_support *support, const double *w, const double *variance,
                          kbass_error *error)
{
    kb_fit *fit = NULL;
    kbass_status status = kb_pass_enter(p, support, &fit, error);
    if (status != KBASS_OK) return status;
    memcpy(fit->w, w, p->search.pool->n_columns * sizeof *w);
    for (size_t f = 0; f < kb_pass_likelihood(p)->n_groups; f++)
        fit->variance[f] = fmax(variance[f], task.schedule->least_floor);
    return KBASS_OK;
}

static bool follows(const dense_search *s, const kb_pass *p)
{
    if (!kb_pass_has_model(p)) return false;
    double misfit = p->search.pool->fits[0]->misfit, floor = kb_pass_floor(p);
    return misfit * misfit <= task.schedule->lost * (s->noise + floor);
}

static double best_square(const kb_pass *p)
{
    return kb_pass_has_model(p) ? p->search.pool->fits[0]->misfit * p->search.pool->fits[0]->misfit : INFINITY;
}

/* Fits the pool, and again as long as the best model does not follow yet but comes nearer: boundary values of open ends
   take their time. */
static kbass_status fit_until_followed(const dense_search *s, kb_pass *p, kbass_error *error)
{
    double before = INFINITY;
    kbass_status status = kb_pass_fit(p, (int)task.schedule->fit_iterations, error);
    for (int i = 0; i < MOST_FITS && status == KBASS_OK && !follows(s, p) && best_square(p) < nearer * before; i++) {
        before = best_square(p);
        if (!kb_run_stopped(s->run)) status = kb_pass_fit(p, (int)task.schedule->fit_iterations, error);
    }
    return status;
}

/* Proposals, a few at a time, until one of them follows the part: those with fewer votes are its neighbours, or worse.
 */
static kbass_status fit_proposals(const dense_search *s, kb_pass *p, kbass_error *error)
{
    kbass_status status = KBASS_OK;
    size_t each = s->whole.threads > AT_A_TIME ? (size_t)s->whole.threads : AT_A_TIME;
    for (size_t i = 0; status == KBASS_OK && i < s->proposals.n && !follows(s, p) && !kb_run_stopped(s->run);) {
        for (size_t end = i + each; status == KBASS_OK && i < end && i < s->proposals.n; i++) {
            const kb_field_proposal *proposal = &s->proposals.proposals[i];
            status = enter(p, &proposal->support, proposal->w, s->proposals.noise, error);
        }
        if (status == KBASS_OK) status = fit_until_followed(s, p, error);
    }
    return status;
}

/* ---------------------------------------------------------------- simpler rivals */

static bool has_only_pure(const dense_search *s, const kb_support *support)
{
    for (size_t q = 0; q < support->n; q++)
        if (!s->proposals.is_pure[support->column[q]]) return false;
    return true;
}

/* The pure terms of a model with one that damps. Messages of a model without it hardly see it: the short waves of its
   profiles are noise. */
static kbass_status enter_damped(const dense_search *s, kb_pass *p, const kb_fit *model, size_t damping,
                                 kb_support *support, double *w, kbass_error *error)
{
    support->n = 0;
    memset(w, 0, p->search.pool->n_columns * sizeof *w);
    for (size_t q = 0; q < model->support.n; q++) {
        size_t column = model->support.column[q];
        if (!s->proposals.is_pure[column]) continue;
        kb_support_add(support, column);
        w[column] = model->w[column];
    }
    kb_support_add(support, damping);
    w[damping] = kb_one_axis_damping(p->problem, damping);
    return kb_pool_find(p->search.pool, support) ? KBASS_OK : enter(p, support, w, s->proposals.noise, error);
}

static bool is_damped(const kb_pass *p, const kb_support *support)
{
    for (size_t q = 0; q < support->n; q++)
        if (kb_one_axis_damping(p->problem, support->column[q]) != 0) return true;
    return false;
}

static kbass_status enter_damped_all(const dense_search *s, kb_pass *p, kbass_error *error)
{
    const kb_fit *best = p->search.pool->fits[0];
    size_t n = p->search.pool->n_columns;
    double *w = KB_NEW(double, n);
    kb_support support = {0};
    kbass_status status = w ? kb_support_create(n, &support, error) : kb_out_of_memory(error, "the search");
    for (size_t q = 0; status == KBASS_OK && q < n; q++)
        if (kb_one_axis_damping(p->problem, q) != 0) status = enter_damped(s, p, best, q, &support, w, error);
    kb_support_clear(&support);
    kb_free(w);
    return status;
}

/* Beside a model that follows: the best proposal of pure terms alone, and damping in place of what is not pure. */
static kbass_status fit_simpler(const dense_search *s, kb_pass *p, kbass_error *error)
{
    kb_pool *pool = p->search.pool;
    const kb_fit *best = pool->fits[0];
    size_t before = pool->n, i = 0;
    kbass_status status = KBASS_OK;
    if (!has_only_pure(s, &best->support) || !is_damped(p, &best->support)) status = enter_damped_all(s, p, error);
    while (i < s->proposals.n && !has_only_pure(s, &s->proposals.proposals[i].support)) i++;
    const kb_field_proposal *simple = i < s->proposals.n ? &s->proposals.proposals[i] : NULL;
    if (status == KBASS_OK && simple && !kb_pool_find(pool, &simple->support))
        status = enter(p, &simple->support, simple->w, s->proposals.noise, error);
    return status == KBASS_OK && pool->n > before ? kb_pass_fit(p, (int)task.schedule->fit_iterations, error) : status;
}

static double count_values(const kb_pde1d_problem *l)
{
    double n = 0;
    for (size_t run = 0; run < l->n_runs; run++) n += (double)l->run_samples[run]->n_values;
    return n;
}

/* ---------------------------------------------------------------- the grid */

/* The best model on the next grid: does it stay where it is, by what all data will know of it? */
static kbass_status try_finer(const dense_search *s, kb_pass *p, const double *weights, bool *is_still,
                              kbass_error *error)
{
    double share = sqrt(count_values(p->problem) / count_values(&s->whole));
    kb_pool *pool = p->search.pool;
    kb_pool_trim(pool, 1);
    p->is_over = false;
    kbass_status status = kb_one_axis_refine(p, error);
    share_tangents(p);
    *is_still = status == KBASS_OK && p->is_over;
    if (status != KBASS_OK || p->is_over) return status;
    status = kb_pass_fit(p, (int)task.schedule->fit_iterations, error);
    *is_still = status == KBASS_OK &&
                (!kb_pass_has_model(p) || kb_weights_moved(pool->fits[0], weights) < task.schedule->still * share);
    return status;
}

/* The grid on which the best model's weights no longer depend on it; all models are fitted there. */
static kbass_status refine(const dense_search *s, kb_pass *p, kbass_error *error)
{
    kb_pool *pool = p->search.pool, before;
    size_t n = pool->n_columns;
    double *weights = KB_NEW(double, n);
    bool is_still = false;
    kbass_status status = weights ? KBASS_OK : kb_out_of_memory(error, "the search");
    kb_pool_init(&before, n, pool->n_start, pool->max_windows);
    while (status == KBASS_OK && !is_still && kb_pass_has_model(p) && !kb_run_stopped(s->run)) {
        size_t grid = kb_one_axis_of(p)->grid;
        memcpy(weights, pool->fits[0]->w, n * sizeof *weights);
        status = kb_pool_copy(pool, &before, error);
        if (status == KBASS_OK) status = try_finer(s, p, weights, &is_still, error);
        if (status != KBASS_OK) break;
        kb_pool_swap(pool, &before);
        if (!is_still) status = kb_pass_fit(p, (int)task.schedule->fit_iterations, error);
        else if (kb_one_axis_of(p)->grid != grid) status = set_grid(p, grid, error);
    }
    kb_pool_clear(&before);
    kb_free(weights);
    return status;
}

/* Structures compared on the part; *found: one of them follows it. */
static kbass_status compare(const dense_search *s, kb_pass *p, bool *found, kbass_error *error)
{
    kbass_status status = fit_proposals(s, p, error);
    *found = status == KBASS_OK && follows(s, p);
    if (*found) status = fit_simpler(s, p, error);
    if (*found && status == KBASS_OK)
        status = kb_pass_explore(p, (size_t)task.schedule->stage_beam, (int)task.schedule->stage_rounds, error);
    p->result->n_models = p->search.pool->n;
    kb_pool_trim(p->search.pool, (size_t)task.schedule->kept);
    if (status == KBASS_OK && *found) status = kb_one_axis_tune_period(p, error);
    if (status == KBASS_OK && *found) status = refine(s, p, error);
    *found = status == KBASS_OK && *found && follows(s, p);
    return status;
}

/* ---------------------------------------------------------------- all data */

static void take_periods(dense_search *s, const kb_pass *part)
{
    size_t n = s->whole.n_runs, each = part->n_runs / n;
    for (size_t run = 0; run < n; run++) {
        kb_pde1d_setup *setup = &s->whole.setups[run];
        setup->line.period = kb_one_axis_of(part)->setups[run * each].line.period;
        if (setup->line.periodic) setup->profile.period = setup->line.period;
    }
}

/* The best models of the part, on all data; a run that is stopped is granted a moment for it. */
static kbass_status fit_all(const dense_search *s, const kb_pass *part, kb_pass *p, kbass_error *error)
{
    const kb_pool *pool = part->search.pool;
    kbass_status status = kb_one_axis_begin_on(p, s->windows, kb_one_axis_of(part)->grid, error);
    if (status == KBASS_OK) share_tangents(p);
    for (size_t i = 0; status == KBASS_OK && i < pool->n; i++) {
        const kb_fit *fit = pool->fits[i];
        if (fit->valid && fit->log_evidence > pool->fits[0]->log_evidence - task.schedule->worth_keeping)
            status = enter(p, &fit->support, fit->w, fit->variance, error);
    }
    if (kb_run_stopped(s->run)) p->search.deadline = kb_clock() + task.schedule->grace;
    return status == KBASS_OK ? fit_until_followed(s, p, error) : status;
}

static kbass_status finish(const dense_search *s, const kb_pass *part, bool *found, kbass_error *error)
{
    kb_pass p = pass_of(s, &s->whole, s->result);
    kbass_status status = fit_all(s, part, &p, error);
    *found = status == KBASS_OK && (follows(s, &p) || (kb_run_stopped(s->run) && kb_pass_has_model(&p)));
    double clock = kb_run_stage(s->run, KBASS_STAGE_POLISH, 0.9, 1);
    s->result->settled = true;
    s->result->part = part->result->part;
    if (*found) status = kb_one_axis_finish(&p, error);
    if (*found && status == KBASS_OK) status = kb_polish(&p, error);
    s->result->seconds[KBASS_STAGE_POLISH] = kb_clock() - clock;
    end_pass(&p);
    return status;
}

static kbass_status compare_and_finish(dense_search *s, bool *found, kbass_error *error)
{
    kb_search_result compared = {0};
    kb_pde1d_problem *part = NULL;
    kbass_status status = make_part(s, &part, error);
    if (status != KBASS_OK) return status;
    kb_pass p = pass_of(s, part, &compared);
    double clock = kb_run_stage(s->run, KBASS_STAGE_SEARCH, 0.2, 0.6);
    status = kb_one_axis_begin(&p, error);
    if (status == KBASS_OK) share_tangents(&p);
    if (status == KBASS_OK) status = compare(s, &p, found, error);
    double searched = kb_clock() - clock;
    clock = kb_run_stage(s->run, KBASS_STAGE_ARBITRATE, 0.6, 0.9);
    compared.part = (size_t)count_values(part);
    if (status == KBASS_OK && *found) {
        take_periods(s, &p);
        status = finish(s, &p, found, error);
    }
    s->result->seconds[KBASS_STAGE_ARBITRATE] += kb_clock() - clock - s->result->seconds[KBASS_STAGE_POLISH];
    s->result->seconds[KBASS_STAGE_SEARCH] += searched;
    s->result->n_models += compared.n_models;
    s->result->n_starts = s->proposals.n;
    end_pass(&p);
    kb_search_result_clear(&compared);
    kb_pde1d_part_destroy(part);
    return status;
}

/* ---------------------------------------------------------------- life */

/* The period of an axis that may close beyond its last sample, from lines throughout the record: a look every 1/24 of
   the visible wavelength, then every half spacing about the best. Beyond 3 % of the axis it counts as open. */
static kbass_status find_period(const dense_search *s, size_t run, kb_profile *best, kbass_error *error)
{
    const kb_field_samples *c = s->whole.run_samples[run];
    kb_pde1d_setup *setup = &s->whole.setups[run];
    kb_field_samples *const samples[] = {s->whole.run_samples[run]};
    double shortest = kb_pde1d_shortest(1, samples), step = fmax(s->proposals.wavelength[1] / 24, c->spacing[1] / 2);
    kb_pde1d_settings trial = setup->line;
    kbass_status status = kb_pde1d_profile_throughout(c, &trial, PROFILE_LINES, shortest, best, error);
    for (int pass = 0; pass < 2; pass++) {
        double from = pass ? setup->line.period - step : 1, until = pass ? setup->line.period + step : 1 + farthest,
               by = pass ? c->spacing[1] / 2 : step;
        for (double period = from; status == KBASS_OK && period <= until && step >= by; period += by) {
            kb_profile profile;
            trial.period = period;
            if (!(period >= 1) || (pass && step <= by)) continue;
            status = kb_pde1d_profile_throughout(c, &trial, PROFILE_LINES, shortest, &profile, error);
            if (status != KBASS_OK || !(profile.loss < best->loss)) continue;
            *best = profile;
            setup->line.period = period;
        }
    }
    return status;
}

/* Where one window spans the record its start is that of the first lines; that the axis closes all lines have to say.
 */
static kbass_status doubt_closed_axis(kb_field_samples *c, kb_pde1d_setup *setup, const kb_profile *not_closed,
                                      kbass_error *error)
{
    kb_pde1d_settings trial = setup->line;
    kb_profile closed;
    double shortest = kb_pde1d_shortest(1, &c);
    kbass_status status = kb_pde1d_profile_throughout(c, &trial, PROFILE_LINES, shortest, &closed, error);
    if (status != KBASS_OK || closed.noise <= as_good * not_closed->noise) return status;
    setup->line.periodic = false;
    return kb_pde1d_profile(1, &c, &setup->line, PROFILE_LINES, shortest, &setup->profile, error);
}

/* Profiles as they are anywhere in the record, not only at its beginning. */
static kbass_status renew_profile(dense_search *s, size_t run, kbass_error *error)
{
    kb_field_samples *c = s->whole.run_samples[run];
    kb_pde1d_setup *setup = &s->whole.setups[run];
    kb_pde1d_settings open = {0};
    kb_profile closed = {.loss = INFINITY}, not_closed;
    bool is_told = s->whole.settings->periodic != NULL;
    if (s->windows[run] == 1 && (is_told || !setup->line.periodic)) return KBASS_OK;
    kbass_status status =
        kb_pde1d_profile_throughout(c, &open, PROFILE_LINES, kb_pde1d_shortest(1, &c), &not_closed, error);
    if (status != KBASS_OK) return status;
    if (s->windows[run] == 1) return doubt_closed_axis(c, setup, &not_closed, error);
    if (setup->line.periodic) status = find_period(s, run, &closed, error);
    if (!is_told) setup->line.periodic = setup->line.periodic && closed.noise <= as_good * not_closed.noise;
    setup->profile = setup->line.periodic ? closed : not_closed;
    return status;
}

static kbass_status renew_profiles(dense_search *s, kbass_error *error)
{
    kbass_status status = KBASS_OK;
    for (size_t run = 0; status == KBASS_OK && run < s->whole.n_runs; run++) status = renew_profile(s, run, error);
    return status;
}

static kbass_status prepare(dense_search *s, const kb_pde1d_problem *l, kbass_error *error)
{
    size_t fields = l->run_samples[0]->n_fields;
    s->whole.setups = KB_NEW(kb_pde1d_setup, l->n_runs);
    s->windows = KB_NEW(size_t, l->n_runs);
    if (!s->whole.setups || !s->windows) return kb_out_of_memory(error, "the search");
    memcpy(s->whole.setups, l->setups, l->n_runs * sizeof *l->setups);
    const kb_weak_whole whole = {.tiles = l->tiles, .run = s->run, .threads = l->threads};
    kbass_status status = kb_weak_fields_propose(l->n_runs, l->run_samples, l->tiles ? &whole : NULL, l->dictionary,
                                                 l->columns, PROPOSALS, &s->proposals, error);
    if (status != KBASS_OK || !s->proposals.n) return status;
    for (size_t f = 0; f < fields; f++) s->noise += s->proposals.noise[f] / (double)fields;
    for (size_t run = 0; run < l->n_runs; run++)
        s->whole.setups[run].line.steps = kb_pde1d_problem_steps(l->run_samples[run], s->noise, 1);
    choose_windows(s);
    return renew_profiles(s, error);
}

kbass_status kb_dense_search(const kb_pde1d_problem *l, kb_run *run, kb_search_result *result, bool *found,
                             kbass_error *error)
{
    dense_search s = {.whole = *l, .run = run, .result = result};
    *found = false;
    memset(result, 0, sizeof *result);
    if (!is_dense(l)) return KBASS_OK;
    s.whole.setups = NULL;
    kb_run_stage(run, KBASS_STAGE_SEARCH, 0.1, 0.2);
    kbass_status status = prepare(&s, l, error);
    if (status == KBASS_OK && s.proposals.n) status = compare_and_finish(&s, found, error);
    if (status == KBASS_OK && !*found) kb_search_result_clear(result);
    kb_field_proposals_clear(&s.proposals);
    kb_free(s.whole.setups);
    kb_free(s.windows);
    return status;
}
