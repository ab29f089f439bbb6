#include "forward/ode/flow.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/status.h"

enum { LAST_STAGE = 6 };                   /* of the explicit stepper */
enum { STEPS_AT_LEAST = 2000 };            /* steps: that any trajectory may take */
enum { STEPS_PER_TIME = 30 };              /* steps: more for each sample; a stiff law is not worth more */
static const double unmeasured_bound = 40; /* sd of a velocity as the curve through the positions has it */
static const double smallest_step = 1e-14; /* times that are closer are one */
static const double jump_slack = 1e-12;    /* a jump that is no farther ahead is behind */

static size_t count_dependences(const kb_dictionary *d)
{
    size_t n = 0;
    for (size_t term = 0; term < d->n_terms; term++)
        for (size_t j = 0; j < d->n_states; j++) n += kb_dictionary_depends(d, term, j);
    return n;
}

static void list_dependences(kb_flow *f)
{
    const kb_dictionary *d = f->dictionary;
    size_t n = 0;
    for (size_t term = 0; term < d->n_terms; term++) {
        f->depends_start[term] = n;
        for (size_t j = 0; j < d->n_states; j++)
            if (!d->is_input[j] && kb_dictionary_depends(d, term, j)) f->depends[n++] = j;
    }
    f->depends_start[d->n_terms] = n;
}

static bool allocate_states(kb_flow *f, size_t max_tangents)
{
    size_t n = f->n, terms = f->dictionary->n_terms, P = max_tangents + n, room = P < KB_FLOW_BLOCK ? KB_FLOW_BLOCK : P;
    f->depends_start = KB_NEW(size_t, terms + 1);
    f->depends = KB_NEW(size_t, count_dependences(f->dictionary));
    f->bound = KB_NEW(double, n);
    f->x = KB_NEW(double, f->dictionary->n_variables);
    f->values = KB_NEW(double, terms);
    f->forces = KB_NEW(double, KB_FLOW_STAGES *terms);
    f->slopes = KB_NEW(double, terms *n);
    f->work = KB_NEW(double, kb_dictionary_work(f->dictionary, 1));
    f->stage = KB_NEW(double, KB_FLOW_STAGES *n);
    f->rate = KB_NEW(double, KB_FLOW_STAGES *n);
    f->state = KB_NEW(double, n);
    f->trial = KB_NEW(double, n);
    f->delta = KB_NEW(double, n);
    f->known = KB_NEW(double, n);
    f->error = KB_NEW(double, n);
    f->unused = KB_NEW(double, n);
    f->jacobian = KB_NEW(double, KB_FLOW_STAGES *n *n);
    f->lu = KB_NEW(double, n *n);
    f->pivot = KB_NEW(int, n);
    f->tangent = KB_NEW(double, n *P);
    f->tangent_stage = KB_NEW(double, n *room);
    f->tangent_rate = KB_NEW(double, KB_FLOW_STAGES *n *room);
    return f->bound && f->x && f->values && f->slopes && f->work && f->stage && f->rate && f->state && f->trial &&
           f->delta && f->jacobian && f->lu && f->pivot && f->tangent && f->tangent_stage && f->tangent_rate &&
           f->known && f->error && f->unused && f->depends_start && f->depends && f->forces;
}

kbass_status kb_flow_create(const kb_record *record, const kb_dictionary *dictionary, const kb_columns *columns,
                            size_t max_tangents, kb_flow **out, kbass_error *error)
{
    kb_flow *f = KB_NEW(kb_flow, 1);
    if (!f) return kb_out_of_memory(error, "the flow");
    f->record = record;
    f->dictionary = dictionary;
    f->columns = columns;
    f->n = record->n_states;
    f->tolerance = 3e-8;
    kbass_status status = kb_rhs_create(dictionary, columns, max_tangents, &f->rhs, error);
    if (status == KBASS_OK && !allocate_states(f, max_tangents)) status = kb_out_of_memory(error, "the flow");
    if (status != KBASS_OK) {
        kb_flow_destroy(f);
        return status;
    }
    for (size_t i = 0; i < f->n; i++)
        for (size_t row = 0; row < record->n_rows; row++)
            f->bound[i] = dictionary->is_input[i] ? INFINITY
                          : !record->count[i]
                              ? unmeasured_bound
                              : fmax(f->bound[i], 4 * fabs(record->value[row + i * record->n_rows]) + 2);
    list_dependences(f);
    *out = f;
    return KBASS_OK;
}

void kb_flow_destroy(kb_flow *f)
{
    if (!f) return;
    void *arrays[] = {f->bound,        f->x,     f->values, f->slopes,  f->work,
                      f->stage,        f->rate,  f->state,  f->trial,   f->delta,
                      f->jacobian,     f->lu,    f->pivot,  f->tangent, f->tangent_stage,
                      f->tangent_rate, f->known, f->error,  f->unused,  f->depends_start,
                      f->depends,      f->forces};
    kb_rhs_clear(&f->rhs);
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++) kb_free(arrays[i]);
    kb_free(f);
}

void kb_flow_model(kb_flow *f, const kb_support *support, const double *w, const kb_support *tangents)
{
    kb_rhs_set(&f->rhs, support, w, tangents);
    f->n_parameters = f->rhs.n_tangents + f->n;
    f->rated = NAN;
    f->stiff = false;
}

/* dq/ds of a followed state: the derivative of the cubic Hermite interpolant, or of the input's curve */
static double followed_rate(const kb_flow *f, size_t state, double s)
{
    const kb_follow *c = &f->follow;
    double slope;
    if (f->dictionary->is_input[state]) {
        kb_record_input(f->record, f->run, state, s, &slope);
        return slope;
    }
    size_t first = c->start[f->run], n = c->start[f->run + 1] - first - 1;
    double h = f->record->duration[f->run] / (double)n, position = fmin(fmax(s / h, 0), (double)n - 1e-9);
    size_t i = first + (size_t)position + state * c->n;
    double x = position - floor(position), d = (c->value[i + 1] - c->value[i]) / h;
    return 6 * x * (1 - x) * d + (1 - x) * (1 - 3 * x) * c->slope[i] + x * (3 * x - 2) * c->slope[i + 1];
}

double kb_flow_followed(const kb_flow *f, size_t state, double s)
{
    const kb_follow *c = &f->follow;
    if (f->dictionary->is_input[state]) return kb_record_input(f->record, f->run, state, s, NULL);
    size_t first = c->start[f->run], n = c->start[f->run + 1] - first - 1;
    double h = f->record->duration[f->run] / (double)n, position = fmin(fmax(s / h, 0), (double)n - 1e-9);
    size_t i = first + (size_t)position + state * c->n;
    double x = position - floor(position), y = 1 - x;
    return y * y * ((1 + 2 * x) * c->value[i] + x * h * c->slope[i]) +
           x * x * ((1 + 2 * y) * c->value[i + 1] - y * h * c->slope[i + 1]);
}

/* An input at a time of the present stretch, at whose ends a held one has the value within. */
static double input_at(const kb_flow *f, size_t state, double s)
{
    const kb_record *r = f->record;
    bool is_held = kb_inputs_curve(r->inputs, r->is_slice ? r->run : f->run, state)->is_held;
    return kb_record_input(r, f->run, state, is_held ? f->middle : s, NULL);
}

static bool holds(const kb_flow *f, size_t run) { return run == KB_ALL_RUNS || run == f->run; }

void kb_flow_rate(kb_flow *f, double s, const double *q, double *rate, double *jacobian)
{
    size_t n = f->n;
    for (size_t i = 0; i < n; i++) {
        double value = f->dictionary->is_input[i] ? input_at(f, i, s) : q[i];
        f->x[i] = f->record->mean[i] + f->record->sd[i] * value;
    }
    f->x[n] = f->record->origin[f->run] + f->record->span * s;
    kb_dictionary_at_point(f->dictionary, f->rhs.n_model_terms, f->rhs.terms, f->x, f->values,
                           jacobian ? f->slopes : NULL, f->work);
    for (size_t i = 0; i < n; i++) rate[i] = f->dictionary->has_equation[i] ? 0 : followed_rate(f, i, s);
    for (size_t e = 0; e < f->rhs.n_entries; e++)
        if (holds(f, f->rhs.entry_run[e]))
            rate[f->rhs.entry_equation[e]] += f->rhs.entry_coefficient[e] * f->values[f->rhs.entry_slot[e]];
    if (!jacobian) return;
    memset(jacobian, 0, n * n * sizeof *jacobian);
    for (size_t e = 0; e < f->rhs.n_entries; e++) {
        size_t slot = f->rhs.entry_slot[e], term = f->rhs.terms[slot];
        double *row = jacobian + f->rhs.entry_equation[e] * n;
        const double *slope = f->slopes + slot * n;
        if (!holds(f, f->rhs.entry_run[e])) continue;
        for (size_t i = f->depends_start[term]; i < f->depends_start[term + 1]; i++) {
            size_t j = f->depends[i];
            row[j] += f->rhs.entry_coefficient[e] * slope[j] * f->record->sd[j];
        }
    }
}

void kb_flow_keep_forces(kb_flow *f, int stage)
{
    size_t own = f->rhs.n_model_terms, others = f->rhs.n_terms - own;
    double *forces = f->forces + (size_t)stage * f->dictionary->n_terms;
    memcpy(forces, f->values, own * sizeof *forces);
    if (others) kb_dictionary_at_point(f->dictionary, others, f->rhs.terms + own, f->x, forces + own, NULL, f->work);
}

void kb_flow_force(const kb_flow *f, int stage, size_t first, size_t n, double factor, size_t stride, double *out)
{
    const double *forces = f->forces + (size_t)stage * f->dictionary->n_terms;
    for (size_t p = first; p < first + n && p < f->rhs.n_tangents; p++)
        if (holds(f, f->rhs.tangent_run[p]))
            out[f->rhs.tangent_equation[p] * stride + p - first] +=
                factor * f->rhs.tangent_scale[p] * forces[f->rhs.tangent_slot[p]];
}

static bool inside_bounds(const kb_flow *f)
{
    for (size_t i = 0; i < f->n; i++)
        if (!(fabs(f->trial[i]) <= f->bound[i])) return false;
    return true;
}

/* Steps from s to `end`; `budget` counts steps down, rejected ones included. */
static bool advance(kb_flow *f, double s, double end, bool with_tangents, long *budget)
{
    double order = f->stiff ? 4 : 5, h = fmin(f->next_step, end - s);
    while (end - s > smallest_step) {
        bool last = s + h * 1.0000001 >= end;
        if (last) h = end - s;
        if (--*budget < 0 || !(h > smallest_step)) return false;
        double error = f->stiff ? kb_implicit_step(f, s, h) : kb_explicit_step(f, s, h);
        if (!(error <= 1)) {
            h *= isfinite(error) ? fmax(0.2, 0.9 * pow(error, -1 / order)) : 0.2;
            continue;
        }
        f->escaped = !inside_bounds(f);
        if (f->escaped) return false;
        if (with_tangents && !(f->stiff ? kb_implicit_tangent(f, s, h) : kb_explicit_tangent(f, s, h))) return false;
        memcpy(f->state, f->trial, f->n * sizeof *f->state);
        memcpy(f->rate, f->rate + LAST_STAGE * f->n, f->n * sizeof *f->rate);
        f->rated = s + h;
        double grow = fmin(5, 0.9 * pow(fmax(error, 1e-8), -1 / order));
        if (!last || grow < 1) f->next_step = h * grow;
        else f->next_step = fmax(f->next_step, h * grow);
        s = last ? end : s + h;
        h = f->next_step;
    }
    return true;
}

/* The same, stopping where inputs jump. */
static bool advance_between_jumps(kb_flow *f, double s, double end, bool with_tangents, long *budget)
{
    double jump = kb_record_next_jump(f->record, f->run, s + jump_slack);
    if (f->record->inputs) f->rated = NAN; /* they may have jumped */
    for (; jump < end; jump = kb_record_next_jump(f->record, f->run, s + jump_slack)) {
        f->middle = 0.5 * (s + jump);
        *budget += STEPS_PER_TIME;
        if (!advance(f, s, jump, with_tangents, budget)) return false;
        s = jump;
        f->rated = NAN;
    }
    f->middle = 0.5 * (s + end);
    return advance(f, s, end, with_tangents, budget);
}

/* Inputs are what they are: the others need not carry them along. */
static void put_inputs(const kb_flow *f, double s, double *state)
{
    for (size_t i = 0; i < f->n; i++)
        if (f->dictionary->is_input[i]) state[i] = kb_record_input(f->record, f->run, i, s, NULL);
}

static bool integrate(kb_flow *f, size_t n_times, const double *times, const double *start, double *states,
                      double *tangents)
{
    size_t n = f->n, P = f->n_parameters;
    long budget = STEPS_AT_LEAST + STEPS_PER_TIME * (long)n_times;
    f->escaped = false;
    f->rated = NAN;
    memcpy(f->state, start, n * sizeof *start);
    memset(f->tangent, 0, n * P * sizeof *f->tangent);
    for (size_t i = 0; i < n; i++)
        if (f->dictionary->has_equation[i]) f->tangent[i * P + f->rhs.n_tangents + i] = 1;
    f->next_step = 0.01 * (times[n_times - 1] - times[0]);
    for (size_t k = 0; k < n_times; k++) {
        if (k > 0 && !advance_between_jumps(f, times[k - 1], times[k], tangents != NULL, &budget)) return false;
        memcpy(states + k * n, f->state, n * sizeof *states);
        put_inputs(f, times[k], states + k * n);
        if (tangents) memcpy(tangents + k * n * P, f->tangent, n * P * sizeof *tangents);
    }
    return true;
}

bool kb_flow_integrate(kb_flow *f, size_t n_times, const double *times, const double *start, double *states,
                       double *tangents)
{
    if (!f->stiff && integrate(f, n_times, times, start, states, tangents)) return true;
    if (!f->stiff && f->escaped) return false; /* no stepper brings it back */
    f->stiff = true;
    return integrate(f, n_times, times, start, states, tangents);
}
