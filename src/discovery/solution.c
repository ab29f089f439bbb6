/* The solution at times and places within the record. */
#include <math.h>

#include "answer/axes_solution.h"
#include "base/apart.h"
#include "base/memory.h"
#include "base/status.h"
#include "base/linalg.h"
#include "em/states.h"
#include "forecast/spread.h"
#include "posterior/band.h"
#include "posterior/ode_solution.h"
#include "posterior/pde1d_solution.h"
#include "discovery/discovery.h"

static kbass_status check_times(double first, double span, size_t n, const double *times, kbass_error *error)
{
    double last = first, slack = 1e-9 * span;
    for (size_t i = 0; i < n; i++) {
        if (!(times[i] >= last - slack) || !(times[i] <= first + span + slack))
            return kb_fail(error, KBASS_ERROR_ARGUMENT, "time %g is not ascending within the record, %g to %g",
                           times[i], first, first + span);
        last = times[i];
    }
    return KBASS_OK;
}

const kb_field_samples *kb_discovery_samples(const kbass_discovery *d, size_t run)
{
    if (d->pde1d) return d->pde1d->run_samples[run];
    if (d->pde_nd) return d->pde_nd->run_samples[run];
    return d->data->n_axes > 1 ? kb_published_samples(d->paper) : NULL;
}

/* The axis as a share of what was measured: a period may reach farther. */
double kb_discovery_reach(const kbass_discovery *d, size_t run, size_t axis)
{
    double period = kb_discovery_samples(d, run)->period[axis];
    if (d->pde1d && axis == 1 && d->pde1d->setups[run].line.periodic) period = d->pde1d->setups[run].line.period;
    return period > 0 ? period : 1;
}

static kbass_status check_positions(const kbass_discovery *d, size_t run, size_t n, const double *positions,
                                    kbass_error *error)
{
    const kb_field_samples *samples = kb_discovery_samples(d, run);
    size_t space = d->data->n_axes - 1;
    for (size_t i = 0; i < n * space; i++) {
        size_t axis = i % space + 1;
        double first = samples->first[axis], span = samples->span[axis] * kb_discovery_reach(d, run, axis),
               slack = 1e-9 * span;
        if (!(positions[i] >= first - slack) || !(positions[i] <= first + span + slack))
            return kb_fail(error, KBASS_ERROR_ARGUMENT, "position %g is not within the record, %g to %g", positions[i],
                           first, first + span);
    }
    return KBASS_OK;
}

kbass_status kb_discovery_check_run(const kbass_discovery *d, size_t run, kbass_error *error)
{
    size_t n = kbass_data_runs(d->data);
    return run < n ? KBASS_OK : kb_fail(error, KBASS_ERROR_ARGUMENT, "run %zu: there are %zu, counted from 0", run, n);
}

/* Where the solution is asked for. */
typedef struct {
    const kbass_discovery *discovery;
    size_t run, n;
    const double *times, *positions;
    bool is_mean;  /* no band is asked for */
    kb_run *clock; /* asked whether to go on; NULL: none */
} whereabouts;

typedef struct {
    const whereabouts *at;
    double *mean, *sd;
    kbass_status status;
    kbass_error *error;
} evaluation;

static void patches_apart(void *context)
{
    evaluation *e = context;
    const whereabouts *at = e->at;
    const kbass_discovery *d = at->discovery;
    e->status = kb_axes_solution(d->pde_nd, &d->found, at->run, at->n, at->times, at->positions, at->clock, e->mean,
                                 e->sd, e->error);
}

static kbass_status patches_of(const whereabouts *at, double *mean, double *sd, kbass_error *error)
{
    evaluation e = {at, mean, sd, KBASS_OK, error};
    kb_apart(patches_apart, &e);
    return e.status;
}

/* The band of the chosen model with constants that are uncertain: that of its posterior. */
static kbass_status widen(const whereabouts *at, const kb_fit *fit, double *sd, kbass_error *error)
{
    const kbass_discovery *d = at->discovery;
    kbass_posterior *p = NULL;
    if (!sd || at->is_mean || !d->constants_spread.n || fit != d->found.pool.fits[0] ||
        kbass_discovery_posterior(d, at->run, &p, NULL) != KBASS_OK)
        return KBASS_OK;
    size_t size = kb_spread_size(p, &p->models[0]), values = at->n * p->n_states;
    double *mean = KB_NEW(double, values), *factor = KB_NEW(double, values *size);
    kbass_status status = mean && factor ? KBASS_OK : kb_out_of_memory(error, "the band");
    if (status == KBASS_OK && p->n_states == d->data->n_states)
        status = kb_spread(p, &p->models[0], at->n, at->times, at->positions, mean, factor, error);
    for (size_t i = 0; status == KBASS_OK && p->n_states == d->data->n_states && i < values; i++)
        sd[i] = sqrt(kb_dot(size, factor + i * size, factor + i * size));
    kb_free(mean);
    kb_free(factor);
    kbass_posterior_destroy(p);
    return status;
}

static kbass_status states_of(const void *context, const kb_fit *fit, double *mean, double *sd, kbass_error *error)
{
    const whereabouts *at = context;
    const kbass_discovery *d = at->discovery;
    const kb_ode_problem *p = d->ode;
    kb_follow follow = kb_ode_problem_follow(p);
    kbass_status status = kb_run_spares(at->clock) ? KBASS_OK : kb_run_cut(error);
    if (status == KBASS_OK)
        status = kb_ode_solution(p->record, p->dictionary, p->columns, d->found.windows, fit, &follow, at->run, at->n,
                                 at->times, mean, sd, error);
    return status == KBASS_OK ? widen(at, fit, sd, error) : status;
}

static kbass_status fields_of(const void *context, const kb_fit *fit, double *mean, double *sd, kbass_error *error)
{
    const whereabouts *at = context;
    const kbass_discovery *d = at->discovery;
    const kb_pde1d_problem *l = d->pde1d;
    kbass_status status = kb_run_spares(at->clock) ? KBASS_OK : kb_run_cut(error);
    if (status == KBASS_OK)
        status = kb_pde1d_solution(l->n_runs, d->found.engine.setups, at->run, l->dictionary, l->columns,
                                   d->found.windows, fit, at->n, at->times, at->positions, mean, sd, error);
    return status == KBASS_OK ? widen(at, fit, sd, error) : status;
}

static kbass_status em_states_of(const whereabouts *at, double *mean, double *sd, kbass_error *error)
{
    const kbass_discovery *d = at->discovery;
    return kb_em_states_solution(d->ode, d->found.engine.state, at->run, at->n, at->times, mean, sd, error);
}

static kbass_status solve_states(const whereabouts *at, double *mean, double *sd, kbass_error *error)
{
    const kbass_discovery *d = at->discovery;
    const kb_record *record = d->ode->record;
    kbass_status status =
        check_times(record->origin[at->run], record->span * record->duration[at->run], at->n, at->times, error);
    if (status != KBASS_OK) return status;
    if (d->paper) return kb_published_solution(d->paper, at->n, at->times, NULL, mean, sd, error);
    if (d->found.engine.state) return em_states_of(at, mean, sd, error);
    size_t n_fits = at->is_mean ? 1 : d->found.pool.n;
    return kb_band(n_fits, d->found.pool.fits, KB_RIVALS_OF_STATES, at->n * record->n_states, states_of, at, mean, sd,
                   error);
}

static kbass_status solve_fields(const whereabouts *at, double *mean, double *sd, kbass_error *error)
{
    const kbass_discovery *d = at->discovery;
    const kb_field_samples *samples = kb_discovery_samples(d, at->run);
    kbass_status status =
        check_times(samples->first[0], samples->span[0] * samples->extent[0], at->n, at->times, error);
    if (status == KBASS_OK) status = check_positions(d, at->run, at->n, at->positions, error);
    if (status != KBASS_OK) return status;
    if (d->paper) return kb_published_solution(d->paper, at->n, at->times, at->positions, mean, sd, error);
    if (d->pde_nd) return patches_of(at, mean, sd, error);
    if (!sd) return fields_of(at, d->found.pool.fits[0], mean, NULL, error);
    return kb_band(d->found.pool.n, d->found.pool.fits, KB_RIVALS_OF_FIELDS, at->n * samples->n_fields, fields_of, at,
                   mean, sd, error);
}

static kbass_status check_place(const kbass_discovery *d, size_t run, const double *positions, kbass_error *error)
{
    if (!d->answer || !d->answer->result.n_equations)
        return kb_fail(error, KBASS_ERROR_ARGUMENT, "there is no solution yet: no run has found a model");
    if (!positions != (d->data->n_axes == 1))
        return kb_fail(error, KBASS_ERROR_ARGUMENT, "positions are needed for fields over space, and only for them");
    return kb_discovery_check_run(d, run, error);
}

static kbass_status solve(const whereabouts *at, double *mean, double *sd, kbass_error *error)
{
    return at->discovery->ode ? solve_states(at, mean, sd, error) : solve_fields(at, mean, sd, error);
}

/* Of the chosen model, without the band that its rivals would be asked for. */
static kbass_status solve_mean(whereabouts at, double *mean, kbass_error *error)
{
    const kbass_discovery *d = at.discovery;
    if (!d->ode && !d->paper) return solve(&at, mean, NULL, error);
    double *sd = KB_NEW(double, at.n * d->data->n_states);
    at.is_mean = true;
    kbass_status status = sd ? solve(&at, mean, sd, error) : kb_out_of_memory(error, "the solution");
    kb_free(sd);
    return status;
}

/* Along one axis each call integrates with the tangents of all its points: so many at once. */
static kbass_status solve_pieces(whereabouts at, double *mean, double *sd, kbass_error *error)
{
    enum { AT_ONCE = 20000 };
    const kbass_discovery *d = at.discovery;
    size_t n = at.n, states = d->data->n_states, most = d->pde1d ? AT_ONCE : n;
    kbass_status status = KBASS_OK;
    for (size_t first = 0; status == KBASS_OK && first < n; first += at.n) {
        at.n = n - first < most ? n - first : most;
        double *own_sd = sd ? sd + first * states : NULL;
        status = kb_run_spares(at.clock) ? KBASS_OK : kb_run_cut(error);
        if (status == KBASS_OK)
            status =
                sd ? solve(&at, mean + first * states, own_sd, error) : solve_mean(at, mean + first * states, error);
        at.times += at.n;
        if (at.positions) at.positions += at.n * (d->data->n_axes - 1);
    }
    return status;
}

kbass_status kb_discovery_solve_at(const kbass_discovery *d, size_t run, size_t n, const double *times,
                                   const double *positions, double *mean, double *sd, kb_run *clock, kbass_error *error)
{
    const whereabouts at = {.discovery = d, .run = run, .n = n, .times = times, .positions = positions, .clock = clock};
    return solve_pieces(at, mean, sd, error);
}

kbass_status kbass_discovery_solution(const kbass_discovery *d, size_t run, size_t n, const double *times,
                                      const double *positions, double *mean, double *sd, kbass_error *error)
{
    kbass_status status = check_place(d, run, positions, error);
    if (status != KBASS_OK || kb_discovery_find(d, run, n, times, positions, mean, sd)) return status;
    return kb_discovery_solve_at(d, run, n, times, positions, mean, sd, NULL, error);
}

kbass_status kb_discovery_solution_at(const void *context, size_t n, const double *times, const double *positions,
                                      double *values, kbass_error *error)
{
    const kb_discovery_run_of *of = context;
    const kbass_discovery *d = of->discovery;
    return kbass_discovery_solution(d, of->run, n, times, d->ode ? NULL : positions, values, NULL, error);
}
