/* Shooting as a likelihood: the interface that a search sees. What a fit comes to depends on the dynamics, the windows
 * and where it begins, and on nothing else.
 */
#include <math.h>

#include "forward/shoot.h"
#include "forward/shoot_share.h"

static void add(kb_work_key *key, size_t n, const double *numbers)
{
    kb_work_key_add(key, numbers, n * sizeof *numbers);
}

/* Measurements and resolution: the same for all fits of a shooter, and for all shooters on the same dynamics. */
static kb_work_key identity_of(const kb_dynamics *d)
{
    size_t n = d->observation_start[d->n_rows];
    kb_work_key key = kb_work_key_begin("dynamics");
    kb_work_key_add(&key, &d->resolution, sizeof d->resolution);
    kb_work_key_add(&key, d->observation_start, (d->n_rows + 1) * sizeof *d->observation_start);
    kb_work_key_add(&key, d->group, n * sizeof *d->group);
    add(&key, n, d->observed);
    if (d->relative) add(&key, n, d->relative);
    add(&key, d->n_start, d->start_variance);
    if (d->known_variance) add(&key, d->n_groups, d->known_variance);
    kb_work_key_add(&key, &d->noise_model, sizeof d->noise_model);
    return key;
}

static kb_work_key key(kb_likelihood *l, const kb_fit *fit, int max_iterations, double rival)
{
    kb_shooter *s = kb_shooter_of(l);
    const uint64_t counts[] = {fit->n_windows, fit->support.n, (uint64_t)max_iterations, l->holds_weights};
    kb_work_key out = kb_work_key_begin("fit");
    if (!s->identity.high) s->identity = identity_of(s->dynamics);
    kb_work_key_add(&out, &s->identity, sizeof s->identity);
    kb_work_key_add(&out, counts, sizeof counts);
    kb_work_key_add(&out, l->windows->first, l->windows->n * sizeof *l->windows->first);
    kb_work_key_add(&out, l->windows->last, l->windows->n * sizeof *l->windows->last);
    kb_work_key_add(&out, fit->support.column, fit->support.n * sizeof *fit->support.column);
    add(&out, l->columns->n, fit->w);
    add(&out, l->windows->n * l->n_start, fit->start);
    add(&out, l->n_groups, fit->variance);
    add(&out, 1, &rival);
    add(&out, 1, &l->aim);
    add(&out, 1, &s->dynamics->noise_floor);
    return out;
}

static void fit(kb_likelihood *l, kb_fit *fit, int max_iterations, double rival)
{
    kb_shooter_fit(kb_shooter_of(l), fit, max_iterations, rival);
}

static bool message(kb_likelihood *l, const kb_fit *fit, const kb_support *all, kb_message *message)
{
    return kb_shooter_message(kb_shooter_of(l), fit, all, message);
}

static bool integrals(kb_likelihood *l, const kb_fit *fit, bool mixes, kb_message *message)
{
    return kb_shooter_integrals(kb_shooter_of(l), fit, mixes, message);
}

static void follow(kb_likelihood *l, const double *dw, double *start)
{
    kb_shooter_follow(kb_shooter_of(l), dw, start);
}

static bool covariances(kb_likelihood *l, const kb_fit *fit, double *covariances)
{
    return kb_shooter_covariances(kb_shooter_of(l), fit, covariances);
}

static bool solution(kb_likelihood *l, const kb_fit *fit, size_t window, size_t row, double *start)
{
    return kb_shooter_state(kb_shooter_of(l), fit, window, row, start);
}

static kbass_status guess(kb_likelihood *l, size_t row, double *start, kbass_error *error)
{
    kb_dynamics *d = kb_shooter_of(l)->dynamics;
    return d->guess(d, row, start, error);
}

/* By the operations of tangents that are dear, where none was timed yet. */
static double cost(const kb_likelihood *l, size_t n_columns)
{
    static const double speed = 3e10; /* operations per second of matrix products; measured on one machine of 2023 */
    const kb_shooter *s = (const kb_shooter *)l;
    if (!(s->pace > 0) && s->dynamics->tangents_are_dear && s->dynamics->cost)
        return s->dynamics->cost(s->dynamics, n_columns) / speed;
    return s->pace * (double)kb_windows_rows(l->windows) * (double)(n_columns + l->n_start);
}

static double noise_floor(const kb_likelihood *l) { return ((const kb_shooter *)l)->dynamics->noise_floor; }

static bool is_observed(const kb_dynamics *d, size_t group)
{
    size_t o = 0, n = d->observation_start[d->n_rows];
    while (o < n && d->group[o] != group) o++;
    return o < n;
}

/* Where the noise is known, only the residuals tell whether the data are followed. */
static double noise(const kb_likelihood *l, const kb_fit *fit)
{
    const kb_dynamics *d = ((const kb_shooter *)l)->dynamics;
    double sum = 0, n = 0;
    for (size_t i = 0; i < l->n_groups; i++) {
        if (!is_observed(d, i)) continue;
        bool is_known = d->known_variance[i] > 0;
        sum += log(is_known ? fmax(fit->variance[i], fit->misfit * fit->misfit) : fit->variance[i]);
        n++;
    }
    return n > 0 ? exp(sum / n) : INFINITY;
}

static bool describe_noise(kb_likelihood *l, const kb_fit *fit, double *unit, double *freedom)
{
    kb_shooter *s = kb_shooter_of(l);
    for (size_t i = 0; i < l->n_groups; i++) {
        unit[i] = kb_comparison_unit(&s->comparison, i);
        freedom[i] = kb_shooter_freedom(s, fit, i);
    }
    return s->dynamics->noise_model != KB_NOISE_ADDITIVE;
}

static void destroy(kb_likelihood *l) { kb_shooter_destroy(kb_shooter_of(l)); }

static bool share(kb_likelihood *l, const kbass_reduce *reduce, size_t n_columns)
{
    return kb_shooter_share(kb_shooter_of(l), reduce, n_columns);
}

void kb_shooter_implement(kb_shooter *s, const kb_columns *columns)
{
    const kb_dynamics *d = s->dynamics;
    s->likelihood = (kb_likelihood){.columns = columns,
                                    .n_start = d->n_start,
                                    .n_groups = d->n_groups,
                                    .n_rows = d->n_rows,
                                    .n_runs = d->n_runs,
                                    .run_start = d->run_start,
                                    .starts_are_states = d->starts_are_states,
                                    .fit = fit,
                                    .key = key,
                                    .message = message,
                                    .follow = follow,
                                    .integrals = d->integrals ? integrals : NULL,
                                    .covariances = covariances,
                                    .solution = solution,
                                    .guess = d->guess ? guess : NULL,
                                    .cost = cost,
                                    .share = share,
                                    .floor = noise_floor,
                                    .noise = noise,
                                    .describe_noise = describe_noise,
                                    .destroy = destroy};
}
