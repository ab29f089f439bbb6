#include "tasks/proposed.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/status.h"
#include "problem/part.h"
#include "search/polish.h"
#include "search/refine.h"
#include "search/share.h"
#include "tasks/dense_windows.h"

static const kb_task task = KB_PROPOSED_TASK(kb_schedule_of_dense_axis);

static const kb_schedule *const schedule = &kb_schedule_of_dense_axis.value;

bool kb_is_dense(const kb_pde1d_problem *l)
{
    bool is_free = !l->columns->run && !l->columns->constraints;
    return is_free && kb_pde1d_values(l) >= schedule->fewest_values &&
           kb_pde1d_is_gridded(l, (size_t)schedule->least_rows);
}

/* ---------------------------------------------------------------- windows and the part */

/* Windows of about a third of the visible wavelength in time: twice the lag at which half of the field is forgotten. */
static void choose_windows(kb_proposed *s)
{
    for (size_t run = 0; run < s->whole.n_runs; run++) {
        const kb_field_samples *c = s->whole.run_samples[run];
        double rows = (double)c->n_grid[0] - 1,
               each =
                   fmax(schedule->window_waves * s->proposals.wavelength[0] / c->spacing[0], schedule->least_rows - 1);
        s->windows[run] = (size_t)fmax(1, floor(rows / each + 0.5));
    }
}

static size_t every(size_t n, size_t wanted) { return n > wanted ? (n + wanted - 1) / wanted : 1; }

/* A few windows of each run, thinned to what decides. */
static kbass_status make_part(const kb_proposed *s, kb_pde1d_problem **part, kbass_error *error)
{
    size_t n = 0, runs = s->whole.n_runs, part_windows = (size_t)schedule->part_windows;
    kb_stretch *stretches = KB_NEW(kb_stretch, part_windows * runs);
    if (!stretches) return kb_out_of_memory(error, "a part of the data");
    for (size_t run = 0; run < runs; run++) {
        const kb_field_samples *c = s->whole.run_samples[run];
        size_t windows = s->windows[run], taken = windows < part_windows ? windows : part_windows,
               last = c->n_grid[0] - 1, rows = last / windows + 1;
        for (size_t i = 0; i < taken; i++) {
            size_t window = (2 * i + 1) * windows / (2 * taken);
            stretches[n++] = (kb_stretch){.run = run,
                                          .first = window * last / windows,
                                          .rows = rows,
                                          .every_line = every(rows, (size_t)schedule->part_lines),
                                          .every_point = every(c->n_grid[1], (size_t)schedule->part_points)};
        }
    }
    kbass_status status = kb_pde1d_part_create(&s->whole, n, stretches, part, error);
    kb_free(stretches);
    return status;
}

/* ---------------------------------------------------------------- all data */

static void take_periods(kb_proposed *s, const kb_pass *part)
{
    size_t n = s->whole.n_runs, each = part->n_runs / n;
    for (size_t run = 0; run < n; run++) {
        kb_pde1d_setup *setup = &s->whole.setups[run];
        setup->line.period = kb_one_axis_of(part)->setups[run * each].line.period;
        if (setup->line.periodic) setup->profile.period = setup->line.period;
    }
}

/* Is it worth a fit to all data? The best model's own message tells as much of models that only have more terms, and
   those that it promises anything are fitted in the end. */
static bool goes_on(const kb_pool *pool, const kb_fit *fit)
{
    const kb_fit *best = pool->fits[0];
    if (fit == best) return true;
    return fit->valid && fit->log_evidence > best->log_evidence - schedule->worth_keeping &&
           !kb_support_contains(&fit->support, &best->support);
}

/* The best models of the part, on all data: first on the coarsest grid, where most of the way is cheap, then on the
   part's, or where windows became longer, which need more, on their own. A run that is stopped is granted a moment for
   it, and stays there. */
static kbass_status fit_all(const kb_proposed *s, kb_pass *part, kb_pass *p, kbass_error *error)
{
    const kb_pool *pool = part->search.pool;
    kb_line_grid coarsest = {0};
    bool is_joined = false;
    kbass_status status = kb_one_axis_begin_on(p, s->windows, coarsest, error);
    for (size_t i = 0; status == KBASS_OK && i < pool->n; i++) {
        const kb_fit *fit = pool->fits[i];
        if (goes_on(pool, fit)) status = kb_proposed_enter(p, &fit->support, fit->w, fit->variance, error);
    }
    if (kb_run_stopped(s->run)) p->search.deadline = kb_run_grace(s->run, schedule->grace);
    if (status == KBASS_OK) status = kb_proposed_fit(s, p, error);
    if (status == KBASS_OK) status = kb_dense_join_windows(s, p, &is_joined, error);
    if (status == KBASS_OK && is_joined) return kb_refine_resolution(p, schedule->still, error);
    if (status == KBASS_OK && !kb_run_stopped(s->run)) status = kb_proposed_refine(s, part, error);
    kb_line_grid grid = kb_one_axis_of(part)->grid;
    if (status != KBASS_OK || kb_run_stopped(s->run) || kb_line_grid_is_same(grid, coarsest)) return status;
    status = kb_one_axis_set_grid(p, grid, error);
    return status == KBASS_OK ? kb_proposed_fit(s, p, error) : status;
}

static kbass_status finish(const kb_proposed *s, kb_pass *part, bool *found, kbass_error *error)
{
    kb_pass p = kb_proposed_pass(s, &s->whole, s->result);
    kbass_status status = fit_all(s, part, &p, error);
    *found = status == KBASS_OK && (kb_proposed_follows(s, &p) || (kb_run_stopped(s->run) && kb_pass_has_model(&p)));
    double clock = kb_run_stage(s->run, KBASS_STAGE_POLISH, 0.9, 1);
    s->result->settled = true;
    s->result->part = part->result->part;
    if (*found) status = kb_one_axis_finish(&p, error);
    if (*found && status == KBASS_OK) status = kb_polish(&p, error);
    s->result->seconds[KBASS_STAGE_POLISH] = kb_clock() - clock;
    kb_proposed_end(&p);
    return status;
}

/* Profiles of an axis that does not close: those of the first lines where one window spans the record, else as they are
   anywhere in it. */
static kbass_status open_axis(kb_proposed *s, size_t run, kbass_error *error)
{
    kb_field_samples *c = s->whole.run_samples[run];
    kb_pde1d_setup *setup = &s->whole.setups[run];
    size_t lines = (size_t)schedule->profile_lines;
    double shortest = kb_pde1d_shortest(1, &c);
    setup->line.periodic = false;
    return s->windows[run] == 1 ? kb_pde1d_profile(1, &c, &setup->line, lines, shortest, &setup->profile, error)
                                : kb_pde1d_profile_throughout(c, &setup->line, lines, shortest, &setup->profile, error);
}

/* Axes whose period the best model of the part moved beyond what counts as closed: profiles alone hardly tell a window
   with quiet ends from a ring. */
static kbass_status doubt_periods(kb_proposed *s, const kb_pass *part, bool *is_opened, kbass_error *error)
{
    size_t n = s->whole.n_runs, each = part->n_runs / n;
    kbass_status status = KBASS_OK;
    *is_opened = false;
    for (size_t run = 0; status == KBASS_OK && !s->whole.settings->periodic && run < n; run++) {
        const kb_pde1d_settings *line = &kb_one_axis_of(part)->setups[run * each].line;
        if (!line->periodic || line->period <= 1 + schedule->farthest_period) continue;
        *is_opened = true;
        status = open_axis(s, run, error);
    }
    return status;
}

static kbass_status compare_and_finish(kb_proposed *s, bool *found, kbass_error *error)
{
    kb_search_result compared = {0};
    kb_pde1d_problem *part = NULL;
    bool is_opened = false;
    kbass_status status = make_part(s, &part, error);
    if (status != KBASS_OK) return status;
    kb_pass p = kb_proposed_pass(s, part, &compared);
    double clock = kb_run_stage(s->run, KBASS_STAGE_SEARCH, 0.2, 0.6);
    status = kb_one_axis_begin(&p, error);
    if (status == KBASS_OK) status = kb_proposed_compare_coarsely(s, &p, found, error);
    double searched = kb_clock() - clock;
    clock = kb_run_stage(s->run, KBASS_STAGE_ARBITRATE, 0.6, 0.9);
    compared.part = (size_t)kb_pde1d_values(part);
    if (status == KBASS_OK && *found) status = doubt_periods(s, &p, &is_opened, error);
    if (status == KBASS_OK && *found && !is_opened) {
        take_periods(s, &p);
        status = finish(s, &p, found, error);
    }
    s->result->seconds[KBASS_STAGE_ARBITRATE] += kb_clock() - clock - s->result->seconds[KBASS_STAGE_POLISH];
    s->result->seconds[KBASS_STAGE_SEARCH] += searched;
    s->result->n_models += compared.n_models;
    s->result->n_starts = s->proposals.n;
    kb_proposed_end(&p);
    kb_search_result_clear(&compared);
    kb_pde1d_part_destroy(part);
    return status == KBASS_OK && is_opened ? compare_and_finish(s, found, error) : status;
}

/* ---------------------------------------------------------------- life */

/* Profiles of a run at some periods, one after the other or, of threads and ranks, each its own. */
static kbass_status fit_periods(const kb_proposed *s, size_t run, size_t n, const double *periods, kb_profile *profiles,
                                kbass_error *error)
{
    const kb_field_samples *c = s->whole.run_samples[run];
    kb_field_samples *const samples[] = {s->whole.run_samples[run]};
    double shortest = kb_pde1d_shortest(1, samples);
    bool is_shared = kb_share_is_possible(s->run);
    kbass_status status = KBASS_OK;
#pragma omp parallel for schedule(dynamic) num_threads(s->whole.threads > 0 ? s->whole.threads : 1)
    for (size_t i = 0; i < n; i++) {
        kb_pde1d_settings trial = s->whole.setups[run].line;
        trial.period = periods[i];
        profiles[i].loss = INFINITY;
        if (kb_run_gives_up(s->run) || (is_shared && !kb_share_is_own(s->run, i))) continue;
        kbass_status found =
            kb_pde1d_profile_throughout(c, &trial, (size_t)schedule->profile_lines, shortest, &profiles[i], NULL);
#pragma omp critical(kb_periods)
        if (found != KBASS_OK) status = found;
    }
    if (status != KBASS_OK) return kb_fail(error, status, "no length scale fits the lines of the data");
    return is_shared ? kb_share_pieces(s->run, n, sizeof *profiles, profiles, error) : KBASS_OK;
}

/* From one period to another by steps; returns how many. periods NULL: they are only counted. */
static size_t list_periods(double from, double until, double by, double *periods)
{
    size_t n = 0;
    for (double period = from; period <= until; period += by) {
        if (!(period >= 1)) continue;
        if (periods) periods[n] = period;
        n++;
    }
    return n;
}

/* The best of them, if it is better than the best yet. */
static kbass_status take_best_period(const kb_proposed *s, size_t run, double from, double until, double by,
                                     kb_profile *best, kbass_error *error)
{
    size_t n = list_periods(from, until, by, NULL);
    double *periods = KB_NEW(double, n);
    kb_profile *profiles = KB_NEW(kb_profile, n);
    kbass_status status = periods && profiles ? KBASS_OK : kb_out_of_memory(error, "the period");
    if (status == KBASS_OK) {
        list_periods(from, until, by, periods);
        status = fit_periods(s, run, n, periods, profiles, error);
    }
    for (size_t i = 0; status == KBASS_OK && i < n; i++) {
        if (!(profiles[i].loss < best->loss)) continue;
        *best = profiles[i];
        s->whole.setups[run].line.period = periods[i];
    }
    kb_free(periods);
    kb_free(profiles);
    return status;
}

/* The period of an axis that may close beyond its last sample, from lines throughout the record: a look every 1/24 of
   the visible wavelength, then every half spacing about the best. Beyond 3 % of the axis it counts as open. */
static kbass_status find_period(const kb_proposed *s, size_t run, kb_profile *best, kbass_error *error)
{
    const kb_field_samples *c = s->whole.run_samples[run];
    kb_pde1d_setup *setup = &s->whole.setups[run];
    kb_field_samples *const samples[] = {s->whole.run_samples[run]};
    double half = c->spacing[1] / 2, step = fmax(s->proposals.wavelength[1] / 24, half);
    kbass_status status = kb_pde1d_profile_throughout(c, &setup->line, (size_t)schedule->profile_lines,
                                                      kb_pde1d_shortest(1, samples), best, error);
    if (status == KBASS_OK) status = take_best_period(s, run, 1, 1 + schedule->farthest_period, step, best, error);
    if (status != KBASS_OK || !(step > half)) return status;
    return take_best_period(s, run, setup->line.period - step, setup->line.period + step, half, best, error);
}

/* Lines that close leave no more noise than open ones do, or than the grid's own differences show: open lines have more
   modes, which follow some of it. */
static bool does_close(const kb_proposed *s, const kb_profile *closed, const kb_profile *open)
{
    return closed->noise <= schedule->closed_noise * fmax(open->noise, s->noise);
}

/* Where one window spans the record its start is that of the first lines; that the axis closes all lines have to say.
 */
static kbass_status doubt_closed_axis(kb_proposed *s, size_t run, const kb_profile *not_closed, kbass_error *error)
{
    kb_field_samples *c = s->whole.run_samples[run];
    kb_profile closed;
    kbass_status status = kb_pde1d_profile_throughout(c, &s->whole.setups[run].line, (size_t)schedule->profile_lines,
                                                      kb_pde1d_shortest(1, &c), &closed, error);
    if (status != KBASS_OK || does_close(s, &closed, not_closed)) return status;
    return open_axis(s, run, error);
}

/* Profiles as they are anywhere in the record, not only at its beginning. */
static kbass_status renew_profile(kb_proposed *s, size_t run, kbass_error *error)
{
    kb_field_samples *c = s->whole.run_samples[run];
    kb_pde1d_setup *setup = &s->whole.setups[run];
    kb_pde1d_settings open = {0};
    kb_profile closed = {.loss = INFINITY}, not_closed;
    bool is_told = s->whole.settings->periodic != NULL;
    if (s->windows[run] == 1 && (is_told || !setup->line.periodic)) return KBASS_OK;
    kbass_status status = kb_pde1d_profile_throughout(c, &open, (size_t)schedule->profile_lines,
                                                      kb_pde1d_shortest(1, &c), &not_closed, error);
    if (status != KBASS_OK) return status;
    if (s->windows[run] == 1) return doubt_closed_axis(s, run, &not_closed, error);
    if (setup->line.periodic) status = find_period(s, run, &closed, error);
    if (!is_told) setup->line.periodic = setup->line.periodic && does_close(s, &closed, &not_closed);
    setup->profile = setup->line.periodic ? closed : not_closed;
    return status;
}

static kbass_status renew_profiles(kb_proposed *s, kbass_error *error)
{
    kbass_status status = KBASS_OK;
    for (size_t run = 0; status == KBASS_OK && run < s->whole.n_runs; run++) status = renew_profile(s, run, error);
    return status;
}

static kbass_status prepare(kb_proposed *s, kbass_error *error)
{
    for (size_t run = 0; run < s->whole.n_runs; run++)
        s->whole.setups[run].line.steps = kb_pde1d_problem_steps(s->whole.run_samples[run], s->noise, 1);
    choose_windows(s);
    return renew_profiles(s, error);
}

kbass_status kb_dense_search(const kb_pde1d_problem *l, kb_run *run, kb_search_result *result, bool *found,
                             kbass_error *error)
{
    kb_proposed s;
    *found = false;
    memset(result, 0, sizeof *result);
    if (!kb_is_dense(l)) return KBASS_OK;
    kb_run_stage(run, KBASS_STAGE_SEARCH, 0.1, 0.2);
    kbass_status status = kb_proposed_create(&task, l, run, result, &s, error);
    if (status == KBASS_OK && s.proposals.n) status = prepare(&s, error);
    if (status == KBASS_OK && s.proposals.n) status = compare_and_finish(&s, found, error);
    if (status == KBASS_OK && !*found) kb_search_result_clear(result);
    kb_proposed_clear(&s);
    return status;
}
