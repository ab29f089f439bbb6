#include "forecast/restart.h"

#include <math.h>
#include <string.h>

#include "base/linalg.h"
#include "base/memory.h"
#include "base/status.h"
#include "dictionary/text.h"
#include "dictionary/units.h"
#include "forecast/spread.h"

enum { MOST_STEPS = 60 };
static const double small = 0.01;      /* prior standard deviations, times 0.1: of the differences that make J */
static const double still = 1e-6;      /* squared length of a step, in posterior standard deviations */
static const double most_damped = 1e8; /* in units of the prior's precision: no step helps any more */
static const double noiseless = 1e-9;  /* of a value: the least noise it is taken to have */

/* ---------------------------------------------------------------- measurements */

void kb_measurements_clear(kb_measurements *m)
{
    kb_free(m->times);
    kb_free(m->positions);
    kb_free(m->values);
    *m = (kb_measurements){0};
}

static kbass_status check_axes(const kbass_posterior *p, const kbass_data *data, kbass_error *error)
{
    if (data->n_axes != p->n_axes)
        return kb_fail(error, KBASS_ERROR_DATA, "the data have %zu ax%s, the law %zu", data->n_axes,
                       data->n_axes == 1 ? "is" : "es", p->n_axes);
    for (size_t a = 1; a < p->n_axes; a++)
        if (strcmp(data->axis_names[a], p->axis_names[a]))
            return kb_fail(error, KBASS_ERROR_DATA, "found the axis \"%.60s\", needed \"%.60s\", as the law has it",
                           data->axis_names[a], p->axis_names[a]);
    return KBASS_OK;
}

/* What the data call a unit is that of the law, where both tell one. list: "t:h, s:g/l". */
static kbass_status check_unit(const char *list, const kbass_data *data, const char *name, kbass_error *error)
{
    const char *unit = kb_data_unit(data, name);
    char *copy = list && unit ? kb_strdup(list) : NULL, *rest = copy;
    kbass_status status = KBASS_OK;
    for (char *piece; status == KBASS_OK && copy && (piece = kb_piece_next(&rest, ','));) {
        kb_symbols symbols = {0};
        kb_unit a, b;
        char *own = strrchr(piece, ':');
        if (!own) continue;
        *own++ = '\0';
        if (strcmp(kb_trim(piece), name) || kb_unit_parse(&symbols, kb_trim(own), &a, NULL) != KBASS_OK ||
            kb_unit_parse(&symbols, unit, &b, NULL) != KBASS_OK || kb_unit_is_same(&symbols, &a, &b))
            continue;
        status = kb_fail(error, KBASS_ERROR_DATA, "the data have %.60s in %.40s, the law has it in %.40s", name, unit,
                         kb_trim(own));
    }
    kb_free(copy);
    return status;
}

static kbass_status check_units(const kbass_posterior *p, const kbass_data *data, kbass_error *error)
{
    kbass_status status = KBASS_OK;
    for (size_t a = 0; status == KBASS_OK && a < p->n_axes; a++)
        status = check_unit(p->units, data, data->axis_names[a], error);
    for (size_t i = 0; status == KBASS_OK && i < p->n_states; i++)
        status = check_unit(p->units, data, p->state_names[i], error);
    return status;
}

kbass_status kb_measurements_create(const kbass_posterior *p, const kbass_data *data, size_t run, kb_measurements *out,
                                    kbass_error *error)
{
    kbass_data own = kb_data_run(data, run);
    size_t F = p->n_states;
    kbass_status status = check_axes(p, data, error);
    if (status == KBASS_OK) status = check_units(p, data, error);
    if (status != KBASS_OK) return status;
    *out = (kb_measurements){.n = own.n_rows,
                             .times = KB_NEW(double, own.n_rows),
                             .positions = p->n_axes > 1 ? KB_NEW(double, own.n_rows *(p->n_axes - 1)) : NULL,
                             .values = KB_NEW(double, own.n_rows *F)};
    if (!out->times || !out->values || (p->n_axes > 1 && !out->positions))
        status = kb_out_of_memory(error, "the measurements");
    for (size_t i = 0; status == KBASS_OK && i < F; i++) {
        size_t column = kb_data_find_state(&own, p->state_names[i]);
        if (column == own.n_states) {
            status = kb_fail(error, KBASS_ERROR_DATA,
                             "the data have no column \"%.60s\", which the law has an equation for", p->state_names[i]);
            break;
        }
        for (size_t row = 0; row < own.n_rows; row++)
            out->values[row * F + i] = own.values[row * own.n_states + column];
    }
    if (status == KBASS_OK) {
        memcpy(out->times, own.times, own.n_rows * sizeof *own.times);
        if (p->n_axes > 1) memcpy(out->positions, own.positions, own.n_rows * (p->n_axes - 1) * sizeof *own.positions);
    } else {
        kb_measurements_clear(out);
    }
    return status;
}

double kb_belief_noise(const kbass_posterior *p, const kb_belief *b, size_t state, double value)
{
    double sd = p->is_relative ? b->noise[state] * fabs(value) : b->noise[state];
    return fmax(sd, noiseless * fabs(value));
}

/* ---------------------------------------------------------------- the posterior to be */

static bool copy_texts(size_t n, char *const *from, char ***to)
{
    *to = KB_NEW(char *, n);
    bool complete = *to != NULL;
    for (size_t i = 0; complete && i < n; i++) complete = ((*to)[i] = kb_strdup(from[i])) != NULL;
    return complete;
}

static bool copy_numbers(size_t n, const double *from, double **to)
{
    *to = KB_NEW(double, n);
    if (*to && from) memcpy(*to, from, n * sizeof **to);
    return *to != NULL;
}

/* Everything but the models; scaled time begins with the new record. */
static kbass_status copy_frame(const kbass_posterior *p, double first, double last, kbass_posterior **out,
                               kbass_error *error)
{
    kbass_posterior *q = KB_NEW(kbass_posterior, 1);
    if (!q) return kb_out_of_memory(error, "the posterior");
    *q = *p;
    q->state_names = q->axis_names = NULL;
    q->mean = q->sd = q->bound = q->boundary = NULL;
    q->run = q->units = NULL;
    q->inputs = (kb_input_curves){0};
    q->n_models = 0;
    q->models = KB_NEW(kb_belief, 1);
    bool complete = q->models && copy_texts(p->n_states, p->state_names, &q->state_names) &&
                    copy_texts(p->n_axes, p->axis_names, &q->axis_names) &&
                    copy_numbers(p->n_states, p->mean, &q->mean) && copy_numbers(p->n_states, p->sd, &q->sd) &&
                    copy_numbers(p->n_states, p->bound, &q->bound) &&
                    copy_numbers(p->n_boundary, p->boundary, &q->boundary);
    q->origin[0] = q->first[0] = first;
    q->last[0] = last;
    *out = q;
    return complete ? kb_input_curves_copy(&p->inputs, &q->inputs, error) : kb_out_of_memory(error, "the posterior");
}

static kbass_status copy_model(const kb_belief *from, kbass_posterior *q, kbass_error *error)
{
    kb_belief *b = &q->models[0];
    kbass_status status = kb_belief_allocate(q, from->n_terms, 1, b, error);
    if (status != KBASS_OK) return status;
    q->n_models = 1;
    b->n_constant_terms = from->n_constant_terms;
    memcpy(b->equation, from->equation, b->n_terms * sizeof *b->equation);
    memcpy(b->weight, from->weight, b->n_terms * sizeof *b->weight);
    memcpy(b->noise, from->noise, q->n_states * sizeof *b->noise);
    for (size_t i = 0; i < b->n_terms; i++)
        if (!(b->term[i] = kb_strdup(from->term[i]))) return kb_out_of_memory(error, "the posterior");
    b->windows[0].first = q->first[0];
    b->windows[0].last = q->last[0];
    return KBASS_OK;
}

/* ---------------------------------------------------------------- the prior of weights and start */

/* A start's prior: the first measurement with its noise; where the first row has none, the first that there is, or the
   start that is known from the old record, with their own size for a standard deviation. Fields: N(0, 1) by mode. */
static void set_start_prior(const kbass_posterior *p, const kb_belief *from, const kb_measurements *m, size_t n_rows,
                            double *start, double *sd)
{
    for (size_t i = 0; i < p->n_start; i++) {
        size_t row = 0;
        start[i] = 0;
        sd[i] = 1;
        if (p->n_axes > 1) continue;
        while (row < n_rows && !isfinite(m->values[row * p->n_states + i])) row++;
        start[i] = row < n_rows ? m->values[row * p->n_states + i] : from->windows[0].start[i];
        sd[i] = kb_belief_noise(p, from, i, start[i]);
        if (row) sd[i] = fmax(fabs(start[i]), 10 * sd[i]);
    }
}

/* Weights as believed, the start apart from them: (n_terms + n_start)^2. */
static void set_prior(const kb_belief *from, size_t n_start, const double *sd, double *V)
{
    size_t k = from->n_terms, size = k + n_start;
    memset(V, 0, size * size * sizeof *V);
    for (size_t j = 0; j < k; j++) memcpy(V + j * size, from->windows[0].covariance + j * size, k * sizeof *V);
    for (size_t i = 0; i < n_start; i++) V[(k + i) * (size + 1)] = sd ? sd[i] * sd[i] : 0;
}

/* ---------------------------------------------------------------- the fit */

typedef struct {
    kbass_posterior *posterior;
    const kb_measurements *measurements;
    size_t n_rows, size, n_values;
    double *weight, *start;     /* the prior's means */
    double *V, *L;              /* its covariance and factor */
    double *e, *trial, *step;   /* size */
    double *A, *g;              /* size^2; size */
    double *mean, *factor, *sd; /* of the rows' values; factor n_values x size */
} fit;

static kbass_status fit_allocate(fit *f, kbass_error *error)
{
    size_t n = f->size, m = f->n_values;
    f->weight = KB_NEW(double, f->posterior->models[0].n_terms);
    f->start = KB_NEW(double, f->posterior->n_start);
    f->V = KB_NEW(double, n *n);
    f->L = KB_NEW(double, n *n);
    f->A = KB_NEW(double, n *n);
    f->e = KB_NEW(double, n);
    f->trial = KB_NEW(double, n);
    f->step = KB_NEW(double, n);
    f->g = KB_NEW(double, n);
    f->mean = KB_NEW(double, m);
    f->sd = KB_NEW(double, m);
    f->factor = KB_NEW(double, m *n);
    return f->weight && f->start && f->V && f->L && f->A && f->e && f->trial && f->step && f->g && f->mean && f->sd &&
                   f->factor
               ? KBASS_OK
               : kb_out_of_memory(error, "the start");
}

static void fit_clear(fit *f)
{
    double *all[] = {f->weight, f->start, f->V, f->L, f->A, f->e, f->trial, f->step, f->g, f->mean, f->sd, f->factor};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) kb_free(all[i]);
}

/* Weights and start at e: (w, s) = (w0, s0) + L e */
static void fit_go(fit *f, const double *e)
{
    kb_belief *b = &f->posterior->models[0];
    size_t k = b->n_terms, n = f->posterior->n_start;
    memcpy(f->step, f->weight, k * sizeof *f->step);
    memcpy(f->step + k, f->start, n * sizeof *f->step);
    kb_gemv(KB_PLAIN, f->size, f->size, 1, f->L, f->size, e, 1, f->step);
    memcpy(b->weight, f->step, k * sizeof *b->weight);
    memcpy(b->windows[0].start, f->step + k, n * sizeof *b->windows[0].start);
}

/* Is the value part of the likelihood? Of states the first row's is the prior. */
static bool counts(const fit *f, size_t value)
{
    bool is_prior = f->posterior->n_axes == 1 && value < f->posterior->n_states;
    return !is_prior && isfinite(f->measurements->values[value]);
}

/* Predictions and J = d value / d e at e, and |e|^2 + sum ((y - m) / sd)^2; INFINITY where it cannot be integrated. */
static kbass_status fit_measure(fit *f, const double *e, double *loss, kbass_error *error)
{
    kbass_posterior *p = f->posterior;
    kb_stretch *s = &p->models[0].windows[0];
    fit_go(f, e);
    for (size_t i = 0; i < f->size * f->size; i++) s->covariance[i] = small * small * f->V[i];
    kbass_status status = kb_spread(p, &p->models[0], f->n_rows, f->measurements->times, f->measurements->positions,
                                    f->mean, f->factor, error);
    *loss = INFINITY;
    if (status != KBASS_OK) return status == KBASS_ERROR_NUMERICAL ? KBASS_OK : status;
    double sum = kb_dot(f->size, e, e);
    for (size_t v = 0; v < f->n_values; v++) {
        if (!counts(f, v)) continue;
        double z = (f->measurements->values[v] - f->mean[v]) / f->sd[v];
        sum += z * z;
    }
    *loss = isfinite(sum) ? sum : INFINITY;
    for (size_t i = 0; i < f->n_values * f->size; i++) f->factor[i] /= small;
    return KBASS_OK;
}

/* A = I + J'J / sd^2, g = J'(y - m) / sd^2 - e */
static void fit_normal(fit *f)
{
    size_t n = f->size;
    memset(f->A, 0, n * n * sizeof *f->A);
    for (size_t i = 0; i < n; i++) {
        f->A[i * (n + 1)] = 1;
        f->g[i] = -f->e[i];
    }
    for (size_t v = 0; v < f->n_values; v++) {
        if (!counts(f, v)) continue;
        double precision = 1 / (f->sd[v] * f->sd[v]), *row = f->factor + v * n;
        kb_axpy(n, precision * (f->measurements->values[v] - f->mean[v]), row, f->g);
        for (size_t j = 0; j < n; j++) kb_axpy(n, precision * row[j], row, f->A + j * n);
    }
}

/* The step of (A + damping) step = g; false where it cannot be solved. factor: size^2 */
static bool fit_step(const fit *f, double damping, double *factor)
{
    size_t n = f->size;
    memcpy(factor, f->A, n * n * sizeof *factor);
    for (size_t i = 0; i < n; i++) factor[i * (n + 1)] += damping;
    if (!kb_cholesky(n, factor, n)) return false;
    memcpy(f->step, f->g, n * sizeof *f->step);
    kb_cholesky_solve(n, 1, factor, n, f->step, n);
    return true;
}

/* step' A step: its squared length in posterior standard deviations */
static double length_of(const fit *f, double *work)
{
    kb_gemv(KB_PLAIN, f->size, f->size, 1, f->A, f->size, f->step, 0, work);
    return kb_dot(f->size, f->step, work);
}

/* Gauss-Newton with damping that falls when a step helps and rises when it does not. */
static kbass_status fit_run(fit *f, double *factor, bool *converged, kbass_error *error)
{
    double loss = INFINITY, damping = 0;
    kbass_status status = fit_measure(f, f->e, &loss, error);
    *converged = false;
    if (status == KBASS_OK && !isfinite(loss))
        status = kb_fail(error, KBASS_ERROR_NUMERICAL, "the law cannot be integrated over the first measurements");
    if (status == KBASS_OK) fit_normal(f);
    for (int i = 0; status == KBASS_OK && i < MOST_STEPS && !*converged && damping < most_damped; i++) {
        double other = INFINITY;
        bool solved = fit_step(f, damping, factor);
        bool is_still = solved && length_of(f, f->trial) <= still;
        for (size_t j = 0; j < f->size; j++) f->trial[j] = f->e[j] + f->step[j];
        if (solved) status = fit_measure(f, f->trial, &other, error);
        if (status == KBASS_OK && other <= loss) {
            memcpy(f->e, f->trial, f->size * sizeof *f->e);
            loss = other;
            damping = damping > 1e-3 ? damping / 10 : 0;
            fit_normal(f);
            *converged = is_still;
        } else {
            damping = fmax(10 * damping, 1e-2);
            *converged = is_still; /* as near as rounding lets it come */
        }
    }
    return status;
}

/* Weights, start and covariance at e: L A^-1 L' */
static bool fit_finish(fit *f, double *factor)
{
    size_t n = f->size;
    fit_go(f, f->e);
    memcpy(factor, f->A, n * n * sizeof *factor);
    if (!kb_cholesky(n, factor, n)) return false;
    for (size_t j = 0; j < n; j++)
        for (size_t i = 0; i < n; i++) f->V[i + j * n] = f->L[j + i * n]; /* L' */
    kb_lower_solve(n, n, factor, n, f->V, n);
    kb_gram(n, n, 1, f->V, n, 0, f->posterior->models[0].windows[0].covariance, n);
    kb_symmetrise(n, f->posterior->models[0].windows[0].covariance, n);
    return true;
}

static kbass_status fit_start(const kb_belief *from, const kb_measurements *m, size_t n_rows, kbass_posterior *q,
                              kbass_error *error)
{
    kb_belief *b = &q->models[0];
    fit f = {.posterior = q,
             .measurements = m,
             .n_rows = n_rows,
             .size = b->n_terms + q->n_start,
             .n_values = n_rows * q->n_states};
    double *factor = KB_NEW(double, f.size *f.size), *sd = KB_NEW(double, q->n_start);
    bool converged = false;
    kbass_status status = factor && sd ? fit_allocate(&f, error) : kb_out_of_memory(error, "the start");
    if (status == KBASS_OK) {
        memcpy(f.weight, from->weight, b->n_terms * sizeof *f.weight);
        set_start_prior(q, from, m, n_rows, f.start, sd);
        set_prior(from, q->n_start, sd, f.V);
        for (size_t v = 0; v < f.n_values; v++)
            f.sd[v] = kb_belief_noise(q, b, v % q->n_states, isfinite(m->values[v]) ? m->values[v] : 1);
        if (!kb_covariance_factor(f.size, f.V, f.L))
            status =
                kb_fail(error, KBASS_ERROR_NUMERICAL, "the covariance of the weights is not positive semidefinite");
    }
    if (status == KBASS_OK) status = fit_run(&f, factor, &converged, error);
    if (status == KBASS_OK && (!converged || !fit_finish(&f, factor)))
        status = kb_fail(error, KBASS_ERROR_NUMERICAL,
                         "the law finds no start for the first %zu measurements: fewer of them may do", n_rows);
    kb_free(factor);
    kb_free(sd);
    fit_clear(&f);
    return status;
}

static void take_state(const kb_belief *from, const double *state, kbass_posterior *q)
{
    kb_stretch *s = &q->models[0].windows[0];
    memcpy(s->start, state, q->n_start * sizeof *s->start);
    set_prior(from, q->n_start, NULL, s->covariance);
    s->last = q->last[0] = s->first;
}

kbass_status kb_posterior_restart(const kbass_posterior *p, const kb_measurements *m, size_t n_rows,
                                  const double *state, kbass_posterior **out, kbass_error *error)
{
    const kb_belief *from = &p->models[0];
    kbass_posterior *q = NULL;
    kbass_status status = copy_frame(p, m->times[0], m->times[n_rows - 1], &q, error);
    if (status == KBASS_OK) status = copy_model(from, q, error);
    if (status == KBASS_OK && state) take_state(from, state, q);
    else if (status == KBASS_OK) status = fit_start(from, m, n_rows, q, error);
    if (status == KBASS_OK) *out = q;
    else kbass_posterior_destroy(q);
    return status;
}
