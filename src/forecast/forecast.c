/* Forecasts: draws of weights and last state, each carried on by its own equation. The Gaussian of both at the record's
 * end comes from the fit, linearised (spread.h); from there on nothing is.
 */
#include <math.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

#include "base/linalg.h"
#include "base/apart.h"
#include "base/memory.h"
#include "base/run.h"
#include "base/random.h"
#include "base/status.h"
#include "forecast/outlook.h"
#include "forecast/request.h"
#include "forecast/row.h"
#include "forecast/spread.h"
#include "forecast/stage.h"
#include "simulate/model.h"

enum { MOST_STEPS = 200000 };
static const double farther = 10; /* than in the fit may fields go before they count as lost */

/* One model at the record's end: weights + L e, state = mean + factor e. */
typedef struct {
    const kb_belief *belief;
    size_t size, n_parameters, n_state; /* of e; of L; of the state: states, or fields at the nodes, scaled */
    double *L, *mean, *factor;
    kb_stage *stage;      /* of fields over one axis */
    kb_row_course course; /* of fields over several: with points */
    double *points;
} departure;

/* ---------------------------------------------------------------- the record's end */

static void leave(departure *d)
{
    kb_free(d->L);
    kb_free(d->mean);
    kb_free(d->factor);
    kb_stage_destroy(d->stage);
    kb_free(d->points);
}

static kbass_status depart_states(const kb_forecast_request *q, departure *d, kbass_error *error)
{
    const kbass_posterior *p = q->posterior;
    const kb_stretch *last = &d->belief->windows[d->belief->n_windows - 1];
    d->n_state = p->n_states;
    d->mean = KB_NEW(double, p->n_states);
    d->factor = KB_NEW(double, p->n_states * d->size);
    if (!d->mean || !d->factor) return kb_out_of_memory(error, "the forecast");
    if (!q->options->state) return kb_spread_states(p, d->belief, last, 1, &p->last[0], d->mean, d->factor, error);
    memcpy(d->mean, q->options->state, p->n_states * sizeof *d->mean);
    return KBASS_OK;
}

static kbass_status depart_fields(const kb_forecast_request *q, departure *d, kbass_error *error)
{
    kbass_status status = kb_stage_create(q->posterior, d->belief, &d->stage, error);
    return status == KBASS_OK ? kb_stage_end(d->stage, &d->mean, &d->factor, &d->n_state, error) : status;
}

/* Points of n_axes numbers, within the domain to the last digit. */
static kbass_status list_row_points(const kb_forecast_request *q, departure *d, kbass_error *error)
{
    const kbass_posterior *p = q->posterior;
    size_t axes = p->n_axes, n = q->n_times * q->n_places;
    d->points = KB_NEW(double, n *axes);
    if (!d->points) return kb_out_of_memory(error, "the forecast");
    for (size_t i = 0; i < n; i++) {
        double *at = d->points + i * axes;
        at[0] = fmax(q->times[i / q->n_places], p->last[0]);
        for (size_t a = 1; a < axes; a++)
            at[a] = fmin(fmax(q->places[i % q->n_places * (axes - 1) + a - 1], p->row.low[a - 1]), p->row.high[a - 1]);
    }
    d->course = (kb_row_course){.posterior = p, .belief = d->belief, .ends = q->ends, .n = n, .points = d->points};
    return kb_row_course_begin(&d->course, error);
}

static kbass_status depart_row(const kb_forecast_request *q, departure *d, kbass_error *error)
{
    const kb_belief *b = d->belief;
    size_t k = b->n_terms, rank = b->rank, n = q->posterior->row.n_last;
    d->size = rank;
    d->n_parameters = k;
    d->n_state = n;
    d->L = KB_NEW(double, k *rank + 1);
    d->mean = KB_NEW(double, n);
    d->factor = KB_NEW(double, n *rank + 1);
    if (!d->L || !d->mean || !d->factor) return kb_out_of_memory(error, "the forecast");
    for (size_t i = 0; i < k; i++)
        for (size_t j = 0; j < rank; j++) d->L[i + j * k] = b->factor[i * rank + j];
    memcpy(d->mean, b->last, n * sizeof *d->mean);
    memcpy(d->factor, b->factor + k * rank, n * rank * sizeof *d->factor);
    return list_row_points(q, d, error);
}

static kbass_status depart(const kb_forecast_request *q, const kb_belief *belief, departure *d, kbass_error *error)
{
    const kb_stretch *last = &belief->windows[belief->n_windows - 1];
    *d = (departure){.belief = belief, .size = belief->n_terms + q->posterior->n_start};
    if (kb_posterior_has_row(q->posterior)) return depart_row(q, d, error);
    d->n_parameters = d->size;
    d->L = KB_NEW(double, d->size * d->size);
    if (!d->L) return kb_out_of_memory(error, "the forecast");
    if (!kb_covariance_factor(d->size, last->covariance, d->L))
        return kb_fail(error, KBASS_ERROR_NUMERICAL,
                       "the covariance of weights and state is not positive semidefinite");
    return q->posterior->n_axes > 1 ? depart_fields(q, d, error) : depart_states(q, d, error);
}

/* ---------------------------------------------------------------- draws */

/* The draw's own stream: which model it is of, and its e. */
static size_t choose_model(const kb_forecast_request *q, kb_random *random, size_t draw)
{
    size_t model = 0;
    kb_random_seed(random, q->options->seed ^ (0xd1342543de82ef95u * (draw + 1)));
    double u = kb_random_uniform(random);
    if (!q->options->average) return 0;
    while (model + 1 < q->posterior->n_models && u >= kbass_posterior_probability(q->posterior, model))
        u -= kbass_posterior_probability(q->posterior, model++);
    return model;
}

/* parameters = (weights, start) + L e, state = mean + factor e */
static void draw_departure(const kb_forecast_request *q, const departure *d, kb_random *random, double *e,
                           double *parameters, double *state)
{
    size_t k = d->belief->n_terms, n = q->posterior->n_start;
    for (size_t i = 0; i < d->size; i++) e[i] = kb_random_normal(random);
    memcpy(parameters, d->belief->weight, k * sizeof *parameters);
    memcpy(parameters + k, d->belief->windows[d->belief->n_windows - 1].start, n * sizeof *parameters);
    memcpy(state, d->mean, d->n_state * sizeof *state);
    kb_gemv(KB_PLAIN, d->n_parameters, d->size, 1, d->L, d->n_parameters, e, 1, parameters);
    kb_gemv(KB_TRANSPOSED, d->size, d->n_state, 1, d->factor, d->size, e, 1, state);
}

/* A draw that cannot be followed to the end is no error: what it does not reach stays NaN. */
static kbass_status follow_states(const kb_forecast_request *q, const departure *d, const double *parameters,
                                  const double *state, double *values, bool *too_far, kbass_error *error)
{
    kb_model *model = NULL;
    const kbass_posterior *p = q->posterior;
    kbass_status status = kb_belief_model(p, d->belief, parameters, &model, error);
    if (status == KBASS_OK)
        status = kb_model_follow(model, MOST_STEPS, fmin(p->last[0], q->times[0]), state, q->n_times, q->times, values,
                                 too_far, error);
    kb_model_destroy(model);
    return status == KBASS_ERROR_NUMERICAL ? KBASS_OK : status;
}

static void follow_fields(const kb_forecast_request *q, const departure *d, kb_course *course, const double *parameters,
                          double *scaled, const double *state, double *values)
{
    kb_dynamics *dynamics = &course->line->dynamics;
    kb_stage_weights(d->stage, parameters, scaled);
    dynamics->set_model(dynamics, &d->stage->support, scaled, NULL);
    kb_pde1d_continue(course->line, state, parameters + d->belief->n_terms, values);
    kb_stage_unscale(d->stage, q->n_times * q->n_places, values);
}

/* One thread's workspace. */
typedef struct {
    kb_course course;
    double *e, *parameters, *scaled, *state;
} hand;

static kbass_status hand_begin(const kb_forecast_request *q, const departure *d, const double *times,
                               const double *positions, hand *h, kbass_error *error)
{
    *h = (hand){.e = KB_NEW(double, d->size + 1),
                .parameters = KB_NEW(double, d->n_parameters + 1),
                .scaled = KB_NEW(double, d->size),
                .state = KB_NEW(double, d->n_state)};
    if (!h->e || !h->parameters || !h->scaled || !h->state) return kb_out_of_memory(error, "the forecast");
    if (!d->stage) return KBASS_OK;
    kbass_status status = kb_course_create(d->stage, q->ends, q->posterior->last[0], q->n_times * q->n_places, times,
                                           positions, 0, &h->course, error);
    for (size_t f = 0; status == KBASS_OK && f < q->posterior->n_states; f++) h->course.line->bound[f] *= farther;
    return status;
}

static void hand_end(hand *h)
{
    kb_course_clear(&h->course);
    kb_free(h->e);
    kb_free(h->parameters);
    kb_free(h->scaled);
    kb_free(h->state);
}

static kbass_status carry_draw(const kb_forecast_request *q, const departure *d, size_t model, size_t draw, hand *h,
                               kbass_error *error)
{
    kb_random random;
    kbass_forecast *f = q->forecast;
    double *values = f->values + draw * f->n_times * f->n_values;
    if (choose_model(q, &random, draw) != model) return KBASS_OK;
    draw_departure(q, d, &random, h->e, h->parameters, h->state);
    f->is_done[draw] = true;
    if (d->points) {
        kbass_status status = kb_row_course_follow(&d->course, h->parameters, h->state, values, error);
        return status == KBASS_ERROR_NUMERICAL ? KBASS_OK : status;
    }
    if (!d->stage) return follow_states(q, d, h->parameters, h->state, values, &f->is_too_far[draw], error);
    follow_fields(q, d, &h->course, h->parameters, h->scaled, h->state, values);
    return KBASS_OK;
}

/* All draws of one model, in threads. */
static kbass_status carry_draws(const kb_forecast_request *q, const departure *d, size_t model, const double *times,
                                const double *positions, kbass_error *error)
{
    kbass_status worst = KBASS_OK;
#pragma omp parallel num_threads(q->threads)
    {
        hand h;
        kbass_error problem = {.message = ""};
        kbass_status status = hand_begin(q, d, times, positions, &h, &problem);
#pragma omp for schedule(dynamic)
        for (size_t draw = 0; draw < q->forecast->n_draws; draw++)
            if (status == KBASS_OK && kb_forecast_is_own(q->options->reduce, draw) &&
                kb_run_continue(q->run, d->belief->n_terms)) {
                status = carry_draw(q, d, model, draw, &h, &problem);
                kb_run_advance(q->run, (double)(draw + 1) / (double)q->forecast->n_draws);
            }
#pragma omp critical
        if (status != KBASS_OK && worst == KBASS_OK) {
            worst = status;
            if (error) *error = problem;
        }
        hand_end(&h);
    }
    return worst;
}

typedef struct {
    const kb_forecast_request *request;
    const double *times, *positions;
    kbass_status status;
    kbass_error *error;
} carrying;

/* The draws of all models that are asked for. */
static void carry_apart(void *context)
{
    carrying *j = context;
    const kb_forecast_request *q = j->request;
    size_t n = q->options->average ? q->posterior->n_models : 1;
    for (size_t m = 0; j->status == KBASS_OK && m < n; m++) {
        departure d;
        j->status = depart(q, &q->posterior->models[m], &d, j->error);
        if (j->status == KBASS_OK) j->status = carry_draws(q, &d, m, j->times, j->positions, j->error);
        leave(&d);
    }
}

/* A forecast that was stopped has the draws that were done. */
static void keep_done(kbass_forecast *f)
{
    size_t kept = 0, each = f->n_times * f->n_values;
    for (size_t draw = 0; draw < f->n_draws; draw++) {
        if (!f->is_done[draw]) continue;
        if (kept < draw) memcpy(f->values + kept * each, f->values + draw * each, each * sizeof *f->values);
        f->is_too_far[kept++] = f->is_too_far[draw];
    }
    f->n_draws = kept;
}

/* ---------------------------------------------------------------- the public door */

static kbass_status forecast_allocate(const kb_forecast_request *q, kbass_forecast **out, kbass_error *error)
{
    kbass_forecast *f = KB_NEW(kbass_forecast, 1);
    if (!f) return kb_out_of_memory(error, "the forecast");
    f->n_draws = q->options->n_draws;
    f->n_times = q->n_times;
    f->n_values = (q->posterior->n_axes > 1 ? q->n_places : 1) * q->posterior->n_states;
    size_t n = f->n_draws * f->n_times, all = n * f->n_values;
    f->times = KB_NEW(double, f->n_times);
    f->values = n / f->n_draws == f->n_times && all / f->n_values == n ? KB_NEW(double, all) : NULL;
    f->is_done = KB_NEW(bool, f->n_draws);
    f->is_too_far = KB_NEW(bool, f->n_draws);
    if (!f->times || !f->values || !f->is_done || !f->is_too_far) {
        kbass_forecast_destroy(f);
        return kb_out_of_memory(error, "the draws of the forecast");
    }
    memcpy(f->times, q->times, f->n_times * sizeof *f->times);
    for (size_t i = 0; i < all; i++) f->values[i] = NAN;
    *out = f;
    return KBASS_OK;
}

/* Every place at every time, as points. */
static kbass_status list_points(const kb_forecast_request *q, double **times, double **positions, kbass_error *error)
{
    size_t n = q->n_times * q->n_places;
    *times = KB_NEW(double, n);
    *positions = KB_NEW(double, n);
    if (!*times || !*positions) return kb_out_of_memory(error, "the forecast");
    for (size_t i = 0; i < n; i++) {
        (*times)[i] = q->times[i / q->n_places];
        (*positions)[i] = q->places[i % q->n_places];
    }
    return KBASS_OK;
}

kbass_status kbass_posterior_forecast(const kbass_posterior *posterior, const kbass_forecast_options *options,
                                      size_t n_times, const double *times, size_t n_places, const double *places,
                                      kbass_forecast **forecast, kbass_error *error)
{
    static const size_t size_0_2 = offsetof(kbass_forecast_options, user) + sizeof options->user;
    kbass_forecast_options own = {0};
    kb_options_take(options, options->size, size_0_2, &own, sizeof own);
    kb_run run;
    kb_run_begin(&run, own.progress, own.user, own.time_limit);
    run.stage = "draws";
    run.until = 1;
    run.is_of_known_length = true;
    kb_forecast_request q = {.run = &run,
                             .posterior = posterior,
                             .options = &own,
                             .n_times = n_times,
                             .n_places = posterior->n_axes > 1 ? n_places : 1,
                             .times = times,
                             .places = places,
                             .threads = kb_threads(own.threads)};
    double *point_times = NULL, *positions = NULL;
    kbass_status status = kb_forecast_check(&q, error);
    if (status == KBASS_OK) status = forecast_allocate(&q, &q.forecast, error);
    if (status == KBASS_OK && posterior->n_axes > 1 && !kb_posterior_has_row(posterior))
        status = list_points(&q, &point_times, &positions, error);
    carrying j = {&q, point_times, positions, status, error};
    if (status == KBASS_OK) kb_apart(carry_apart, &j);
    status = j.status;
    if (status == KBASS_OK) status = kb_forecast_exchange(q.forecast, own.reduce, error);
    if (status == KBASS_OK) keep_done(q.forecast);
    if (status == KBASS_OK && !q.forecast->n_draws)
        status = kb_fail(error, KBASS_ERROR_TIME, "the forecast was stopped before a draw was done");
    kb_free(point_times);
    kb_free(positions);
    if (status == KBASS_OK) *forecast = q.forecast;
    else kbass_forecast_destroy(q.forecast);
    return status;
}
