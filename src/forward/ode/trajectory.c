#include "forward/ode/trajectory.h"

#include <string.h>

#include "base/memory.h"
#include "base/status.h"

static const double state_variance = 4; /* of the state's variance: that of its start beforehand */

static void set_model(kb_dynamics *self, const kb_support *support, const double *w, const kb_support *tangents)
{
    kb_flow_model(((kb_trajectory *)self)->flow, support, w, tangents);
}

static bool is_observed(const kb_trajectory *t, size_t row, size_t state)
{
    return t->flow->dictionary->has_equation[state] && t->record->measured[row + state * t->record->n_rows] > 0;
}

static bool predict(kb_dynamics *self, size_t first, size_t last, const double *start, double *predicted,
                    double *tangents)
{
    kb_trajectory *t = (kb_trajectory *)self;
    size_t n = t->flow->n, P = t->flow->n_parameters, o = 0;
    t->flow->run = kb_record_run(t->record, first);
    if (!kb_flow_integrate(t->flow, last - first + 1, t->record->time + first, start, t->states,
                           tangents ? t->tangents : NULL))
        return false;
    for (size_t row = first; row <= last; row++)
        for (size_t i = 0; i < n; i++) {
            if (!is_observed(t, row, i)) continue;
            size_t at = (row - first) * n + i;
            predicted[o] = t->states[at];
            if (tangents) memcpy(tangents + o * P, t->tangents + at * P, P * sizeof *tangents);
            o++;
        }
    return true;
}

static bool carry(kb_dynamics *self, size_t first, size_t row, const double *start, double *carried)
{
    kb_trajectory *t = (kb_trajectory *)self;
    size_t n = t->flow->n;
    t->flow->run = kb_record_run(t->record, first);
    if (!kb_flow_integrate(t->flow, row - first + 1, t->record->time + first, start, t->states, NULL)) return false;
    memcpy(carried, t->states + (row - first) * n, n * sizeof *carried);
    return true;
}

static kbass_status guess(kb_dynamics *self, size_t row, double *start, kbass_error *error)
{
    kb_trajectory *t = (kb_trajectory *)self;
    if (!t->flow->follow.n) return kb_fail(error, KBASS_ERROR_NUMERICAL, "there is no bare field to take a start from");
    t->flow->run = kb_record_run(t->record, row);
    for (size_t i = 0; i < t->flow->n; i++) start[i] = kb_flow_followed(t->flow, i, t->record->time[row]);
    return KBASS_OK;
}

static void destroy(kb_dynamics *self)
{
    kb_trajectory *t = (kb_trajectory *)self;
    if (!t) return;
    kb_flow_destroy(t->flow);
    kb_free(t->states);
    kb_free(t->tangents);
    kb_free(self->start_variance);
    kb_free(self->observation_start);
    kb_free(self->observed);
    kb_free(self->group);
    kb_free(self->relative);
    kb_free(t);
}

static void list_observations(kb_trajectory *t)
{
    kb_dynamics *d = &t->dynamics;
    size_t o = 0, n = t->record->n_states;
    for (size_t row = 0; row < d->n_rows; row++) {
        d->observation_start[row] = o;
        for (size_t i = 0; i < n; i++) {
            if (!is_observed(t, row, i)) continue;
            d->observed[o] = t->record->value[row + i * d->n_rows];
            double root = t->record->measured[row + i * d->n_rows];
            if (d->relative) d->relative[o] = 1 / (root * root);
            d->group[o++] = i;
        }
    }
    d->observation_start[d->n_rows] = o;
    for (size_t i = 0; i < n; i++) d->start_variance[i] = t->flow->dictionary->has_equation[i] ? state_variance : 0;
}

kbass_status kb_trajectory_create(const kb_record *record, const kb_dictionary *dictionary, const kb_columns *columns,
                                  size_t max_tangents, kb_trajectory **out, kbass_error *error)
{
    size_t n = record->n_states, rows = record->n_rows;
    kb_trajectory *t = KB_NEW(kb_trajectory, 1);
    if (!t) return kb_out_of_memory(error, "shooting");
    kb_dynamics *d = &t->dynamics;
    *d = (kb_dynamics){.n_start = n,
                       .n_rows = rows,
                       .n_runs = record->n_runs,
                       .run_start = record->run_start,
                       .n_groups = n,
                       .mean = record->mean,
                       .sd = record->sd,
                       .noise_model = record->noise_model,
                       .known_variance = record->known_variance,
                       .noise_floor = KB_LEAST_NOISE,
                       .starts_are_states = true,
                       .set_model = set_model,
                       .predict = predict,
                       .carry = carry,
                       .integrals = kb_trajectory_integrals,
                       .n_terms = dictionary->n_terms,
                       .guess = guess,
                       .destroy = destroy};
    t->record = record;
    t->states = KB_NEW(double, rows *n);
    t->tangents = KB_NEW(double, rows *n *(max_tangents + n));
    d->start_variance = KB_NEW(double, n);
    d->observation_start = KB_NEW(size_t, rows + 1);
    d->observed = KB_NEW(double, rows *n);
    d->group = KB_NEW(size_t, rows * n);
    if (record->has_error_bars) d->relative = KB_NEW(double, rows *n);
    bool complete = t->states && t->tangents && d->start_variance && d->observation_start && d->observed && d->group &&
                    (d->relative || !record->has_error_bars);
    kbass_status status = complete ? kb_flow_create(record, dictionary, columns, max_tangents, &t->flow, error)
                                   : kb_out_of_memory(error, "shooting");
    if (status == KBASS_OK) {
        list_observations(t);
        *out = t;
    } else {
        destroy(d);
    }
    return status;
}
