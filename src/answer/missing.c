#include "answer/missing.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "answer/misfits.h"
#include "answer/probe.h"
#include "base/memory.h"
#include "base/status.h"
#include "collocation/kernel_likelihood.h"
#include "forward/shoot.h"
#include "search/workers.h"

enum { MOST_STATES = 4 }; /* states: of systems whose missing terms are looked for; seconds */

/* ---------------------------------------------------------------- residuals */

/* Of a model that was followed; time and x (scaled) by observation, x NULL without space. */
static bool sum_followed(const kb_probe *q, const double *time, const double *x, kb_tiles *t)
{
    kb_shooter *s = kb_shooter_of(q->likelihood);
    kb_dynamics *d = s->dynamics;
    const kb_windows *windows = q->likelihood->windows;
    d->set_model(d, &q->fit->support, q->fit->w, NULL);
    for (size_t w = 0; w < windows->n; w++) {
        size_t first = windows->first[w], last = windows->last[w], begin = d->observation_start[first];
        if (!d->predict(d, first, last, q->fit->start + w * q->likelihood->n_start, s->predicted, NULL)) return false;
        bool is_shared = w + 1 < windows->n && windows->first[w + 1] == last;
        size_t end = d->observation_start[is_shared ? last : last + 1]; /* border rows once */
        for (size_t o = begin; o < end; o++) {
            double variance = q->fit->variance[d->group[o]] * s->comparison.relative[o];
            kb_tiles_add(&t[d->group[o]], time[o], x ? x[o] : 0,
                         (d->observed[o] - s->predicted[o - begin]) / sqrt(variance));
        }
    }
    return true;
}

/* Of a field on a mesh: of a grid's lines, or of every point. */
static double coordinate(const kb_patch *p, size_t point, size_t axis)
{
    size_t inner = 1;
    if (!p->gridded) return p->axis[axis]->data[point];
    for (size_t a = 0; a < axis; a++) inner *= p->axis[a]->n_data;
    return p->axis[axis]->data[point / inner % p->axis[axis]->n_data];
}

static void sum_patch(const kb_kernel_likelihood *k, size_t patch, kb_tiles *t)
{
    const kb_patch *p = k->solver->patches[patch];
    double *r = k->solver->workspaces[0]->data;
    for (size_t f = 0; f < p->n_fields; f++) {
        double sd = sqrt(k->state->variance[f]);
        kb_patch_residual(p, f, k->state->z + k->solver->offset[patch] + f * p->n, r, r + p->n_points);
        for (size_t i = 0; i < p->n_points; i++)
            if (p->measured[i + f * p->n_points] > 0)
                kb_tiles_add(&t[f], coordinate(p, i, 0), coordinate(p, i, 1), -r[i] / sd);
    }
}

static bool sum_patches(const kb_probe *q, kb_tiles *t)
{
    kb_kernel_likelihood *k = kb_kernel_likelihood_of(q->likelihood);
    if (!kb_kernel_likelihood_restore(k, q->fit)) return false;
    for (size_t p = 0; p < k->solver->n_patches; p++) sum_patch(k, p, t);
    return true;
}

/* ---------------------------------------------------------------- states and fields */

static bool can_probe(const kb_frame *frame, const kb_search_result *found)
{
    if (!kb_has_model(found) || found->noise_is_relative || frame->dictionary->n_states > MOST_STATES) return false;
    for (size_t i = 0; i < frame->dictionary->n_states; i++)
        if (!frame->dictionary->has_equation[i]) return false;
    return frame->columns->n_fixed == 0 && found->pool.fits[0]->support.n > 0;
}

static kbass_status take(kbass_status status, kb_probe *q, kb_shooter *shooter, const kb_search_result *found)
{
    if (status != KBASS_OK) return status;
    q->likelihood = &shooter->likelihood;
    q->likelihood->windows = found->windows;
    return KBASS_OK;
}

/* One likelihood for each thread; the first asks, the others take up windows of it. */
static kbass_status take_all(kb_probe *q, int threads, kb_likelihood_make make, const void *context,
                             const kb_search_result *found, kbass_error *error)
{
    int n = found->windows->n > 1 ? threads : 1;
    kbass_status status = kb_workers_create(n, make, context, &q->columns, &q->workers, error);
    if (status != KBASS_OK) return status;
    for (int i = 0; i < q->workers.n; i++) q->workers.list[i]->likelihood->windows = found->windows;
    q->likelihood = q->workers.list[0]->likelihood;
    return KBASS_OK;
}

/* A name that cannot stand in some of the wider terms, or a model that cannot be followed again: nothing is said. */
static kbass_status say_nothing(kbass_status status) { return status == KBASS_ERROR_MEMORY ? status : KBASS_OK; }

typedef struct {
    const kb_ode_problem *problem;
    const kb_search_result *found;
    const kb_probe *probe;
} state_probe;

static kbass_status make_trajectories(const void *context, kb_likelihood **out, kbass_error *error)
{
    const state_probe *c = context;
    kb_shooter *shooter = NULL;
    kbass_status status = kb_shooter_create(c->problem->record, c->probe->wide, &c->probe->columns,
                                            c->found->windows->n, c->probe->columns.n, &shooter, error);
    if (status == KBASS_OK) *out = &shooter->likelihood;
    return status;
}

/* Scaled, by observation. */
static void place_times(const kb_record *record, const kb_dynamics *d, double *time)
{
    for (size_t row = 0; row < d->n_rows; row++)
        for (size_t o = d->observation_start[row]; o < d->observation_start[row + 1]; o++) time[o] = record->time[row];
}

kbass_status kb_missing_of_states(const kb_ode_problem *p, const kb_search_result *found, kb_run *run,
                                  kb_answer *answer, kbass_error *error)
{
    kb_probe q = {.run = run};
    kb_frame frame = kb_ode_problem_frame(p);
    const kb_record *record = p->record;
    const state_probe context = {p, found, &q};
    const kb_tile_frame tiled = {record->first, record->span, NAN, NAN};
    if (!can_probe(&frame, found)) return KBASS_OK;
    kb_tiles *t = KB_NEW(kb_tiles, record->n_states);
    double *time = KB_NEW(double, record->n_rows * record->n_states);
    kbass_status status = t && time ? KBASS_OK : kb_out_of_memory(error, "the residuals");
    if (status == KBASS_OK) status = kb_probe_begin(&q, &frame, found, NULL, NULL, error);
    if (status == KBASS_OK) status = take_all(&q, p->threads, make_trajectories, &context, found, error);
    if (status == KBASS_OK) {
        place_times(record, kb_shooter_of(q.likelihood)->dynamics, time);
        status = kb_probe_terms(&q, answer, error);
    }
    if (status == KBASS_OK && sum_followed(&q, time, NULL, t))
        status = kb_misfits_list(record->n_states, t, &tiled, answer, error);
    kb_free(t);
    kb_free(time);
    kb_probe_clear(&q);
    return say_nothing(status);
}

/* Observations in the order of the samples' points, field by field at each. */
static void place_observations(size_t n_runs, kb_field_samples *const *run_samples, double *time, double *x)
{
    size_t o = 0;
    for (size_t run = 0; run < n_runs; run++) {
        const kb_field_samples *c = run_samples[run];
        for (size_t p = 0; p < c->n_points; p++)
            for (size_t f = 0; f < c->n_fields; f++) {
                if (c->measured[p + f * c->n_points] == 0) continue;
                time[o] = c->point[p];
                x[o++] = c->point[p + c->n_points];
            }
    }
}

/* Fields that were followed: terms, and places where there is one domain. */
static kbass_status ask_followed(kb_probe *q, size_t n_runs, kb_field_samples *const *run_samples, bool has_places,
                                 kb_answer *answer, kbass_error *error)
{
    const kb_field_samples *c = run_samples[0];
    const kb_tile_frame tiled = {c->first[0], c->span[0], c->first[1], c->span[1]};
    size_t n_values = 0;
    for (size_t run = 0; run < n_runs; run++) n_values += run_samples[run]->n_values;
    kb_tiles *t = KB_NEW(kb_tiles, c->n_fields);
    double *time = KB_NEW(double, n_values), *x = KB_NEW(double, n_values);
    kbass_status status = t && time && x ? KBASS_OK : kb_out_of_memory(error, "the residuals");
    if (status == KBASS_OK) status = kb_probe_terms(q, answer, error);
    if (status == KBASS_OK && has_places) {
        place_observations(n_runs, run_samples, time, x);
        if (sum_followed(q, time, x, t)) status = kb_misfits_list(c->n_fields, t, &tiled, answer, error);
    }
    kb_free(t);
    kb_free(time);
    kb_free(x);
    return status;
}

/* What a thread's likelihood of the wider terms is made of. */
typedef struct {
    const kb_pde1d_problem *problem;
    const kb_search_result *found;
    const kb_probe *probe;
} field_probe;

static kbass_status make_lines(const void *context, kb_likelihood **out, kbass_error *error)
{
    const field_probe *f = context;
    const kb_columns *columns = &f->probe->columns;
    kb_pde1d_runs *all_runs = NULL;
    kb_shooter *shooter = NULL;
    kbass_status status = kb_pde1d_runs_create(f->problem->n_runs, f->found->engine.setups, f->probe->wide, columns,
                                               columns->n, &all_runs, error);
    if (status == KBASS_OK)
        status = kb_shooter_create_on(&all_runs->dynamics, columns, f->found->windows->n, columns->n, &shooter, error);
    if (status == KBASS_OK) *out = &shooter->likelihood;
    return status;
}

kbass_status kb_missing_of_fields(const kb_pde1d_problem *l, const kb_search_result *found, kb_run *run,
                                  kb_answer *answer, kbass_error *error)
{
    kb_probe q = {.run = run};
    kb_frame frame = kb_pde1d_problem_frame(l);
    const field_probe context = {l, found, &q};
    const int highest[] = {0, KB_HIGHEST_ORDER};
    if (!can_probe(&frame, found)) return KBASS_OK;
    kbass_status status = kb_probe_begin(&q, &frame, found, l->run_samples[0]->span, highest, error);
    if (status == KBASS_OK) status = take_all(&q, l->threads, make_lines, &context, found, error);
    if (status == KBASS_OK && q.likelihood->n_start == found->pool.n_start)
        status = ask_followed(&q, l->n_runs, l->run_samples, l->has_one_domain, answer, error);
    kb_probe_clear(&q);
    return say_nothing(status);
}

/* ---------------------------------------------------------------- several axes */

/* By the modes of the fit, where the tangents of all wider terms are bearable. */
static kbass_status ask_fourier(kb_probe *q, const kb_pde_nd_problem *e, const kb_search_result *found,
                                kb_answer *answer, kbass_error *error)
{
    static const double most_bytes = 5e8;
    const kb_field_samples *c = e->run_samples[0];
    kb_fourier_model *fourier = NULL;
    kb_shooter *shooter = NULL;
    double tangents = (double)(q->columns.n + found->pool.n_start), bytes = 16 * tangents * (double)c->n_values;
    if (bytes > most_bytes) return KBASS_OK;
    kbass_status status =
        kb_fourier_model_create(c, q->wide, &q->columns, found->engine.fourier, q->columns.n, &fourier, error);
    if (status == KBASS_OK)
        status =
            kb_shooter_create_on(&fourier->dynamics, &q->columns, found->windows->n, q->columns.n, &shooter, error);
    status = take(status, q, shooter, found);
    if (status != KBASS_OK || q->likelihood->n_start != found->pool.n_start) return status;
    return ask_followed(q, 1, e->run_samples, true, answer, error);
}

static kbass_status ask_kernel(kb_probe *q, const kb_pde_nd_problem *e, const kb_search_result *found,
                               kb_answer *answer, kbass_error *error)
{
    const kb_field_samples *c = e->run_samples[0];
    const kb_tile_frame tiled = {c->first[0], c->span[0], c->first[1], c->span[1]};
    kb_kernel_likelihood *kernel = NULL;
    kbass_status status =
        kb_kernel_likelihood_create(e->domain, q->wide, &q->columns, &found->engine.proposal, &kernel, error);
    if (status != KBASS_OK) return status;
    q->likelihood = &kernel->likelihood;
    status = kb_probe_terms(q, answer, error);
    kb_tiles *t = KB_NEW(kb_tiles, c->n_fields);
    if (status == KBASS_OK && !t) status = kb_out_of_memory(error, "the residuals");
    if (status == KBASS_OK && e->n_runs == 1 && sum_patches(q, t))
        status = kb_misfits_list(c->n_fields, t, &tiled, answer, error);
    kb_free(t);
    return status;
}

kbass_status kb_missing_of_axes(const kb_pde_nd_problem *e, const kb_search_result *found, kb_answer *answer,
                                kbass_error *error)
{
    kb_probe q = {0};
    kb_frame frame = kb_pde_nd_problem_frame(e);
    int highest[KB_MAX_AXES] = {0};
    if (!can_probe(&frame, found) || !(found->engine.fourier || found->engine.proposal.w)) return KBASS_OK;
    for (size_t axis = 0; axis < frame.dictionary->n_axes; axis++)
        highest[axis] = e->domain->patches[0]->axis[axis]->highest;
    kbass_status status = kb_probe_begin(&q, &frame, found, e->run_samples[0]->span, highest, error);
    if (status == KBASS_OK) status = (found->engine.fourier ? ask_fourier : ask_kernel)(&q, e, found, answer, error);
    kb_probe_clear(&q);
    return say_nothing(status);
}
