#include "answer/missing.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "answer/misfits.h"
#include "answer/wider_terms.h"
#include "base/linalg.h"
#include "base/memory.h"
#include "base/statistics.h"
#include "base/status.h"
#include "collocation/kernel_likelihood.h"
#include "forward/shoot.h"

enum { MOST_STATES = 4 }; /* states: of systems whose missing terms are looked for; seconds */
enum { MOST_TERMS = 3 };  /* terms: that are named */

/* The chosen model in a wider dictionary: its terms first, every pair of equation and term a column of scale 1. */
typedef struct {
    const kb_dictionary *narrow;
    kb_dictionary *wide;
    kb_columns columns;
    size_t n_own; /* columns of the model */
    kb_fit *fit;
    kb_likelihood *likelihood;
    kb_message *message;
    kb_support all;
    double freedom; /* of the noise that scores are in units of; INFINITY: it is known */
    double *scores; /* by column; NaN where there is none */
} probe;

/* ---------------------------------------------------------------- the chosen model in it */

static void add_column(probe *q, size_t equation, size_t term)
{
    kb_columns *c = &q->columns;
    c->equation[c->n] = equation;
    c->term[c->n] = term;
    c->scale[c->n++] = 1;
}

/* The model's columns in its order, then all that the narrow dictionary has not. */
static kbass_status make_columns(probe *q, const kb_frame *frame, const kb_fit *fit, kbass_error *error)
{
    size_t n_states = q->wide->n_states, room = fit->support.n + q->wide->n_terms * n_states;
    q->columns.equation = KB_NEW(size_t, room);
    q->columns.term = KB_NEW(size_t, room);
    q->columns.scale = KB_NEW(double, room);
    kbass_status status = kb_support_create(room, &q->all, error);
    if (status == KBASS_OK && (!q->columns.equation || !q->columns.term || !q->columns.scale))
        status = kb_out_of_memory(error, "the wider dictionary");
    for (size_t i = 0; status == KBASS_OK && i < fit->support.n; i++) {
        size_t column = fit->support.column[i];
        const char *name = kb_dictionary_name(q->narrow, frame->columns->term[column]);
        add_column(q, frame->columns->equation[column], kb_dictionary_find(q->wide, name));
    }
    q->n_own = q->columns.n;
    for (size_t state = 0; status == KBASS_OK && state < n_states; state++)
        for (size_t term = 0; term < q->wide->n_terms; term++)
            if (kb_dictionary_find(q->narrow, kb_dictionary_name(q->wide, term)) == q->narrow->n_terms)
                add_column(q, state, term);
    for (size_t i = 0; status == KBASS_OK && i < q->columns.n; i++) kb_support_add(&q->all, i);
    return status;
}

static kbass_status make_fit(probe *q, const kb_frame *frame, const kb_fit *from, size_t n_start, kbass_error *error)
{
    kbass_status status = kb_fit_create(q->columns.n, n_start, from->n_windows, q->n_own, &q->fit, error);
    if (status != KBASS_OK) return status;
    q->fit->n_windows = from->n_windows;
    q->fit->support.n = 0;
    q->freedom = from->values > 0 ? from->values - from->effective : INFINITY;
    for (size_t i = 0; i < q->n_own; i++) {
        size_t column = from->support.column[i], state = frame->columns->equation[column];
        kb_support_add(&q->fit->support, i);
        q->fit->w[i] =
            from->w[column] * frame->columns->unit[column] * pow(frame->span, q->narrow->time_order) / frame->sd[state];
    }
    memcpy(q->fit->start, from->start, from->n_windows * n_start * sizeof *q->fit->start);
    memcpy(q->fit->variance, from->variance, q->wide->n_states * sizeof *q->fit->variance);
    return KBASS_OK;
}

static void probe_clear(probe *q)
{
    if (q->likelihood) q->likelihood->destroy(q->likelihood);
    kb_message_destroy(q->message);
    kb_fit_destroy(q->fit);
    kb_support_clear(&q->all);
    kb_dictionary_destroy(q->wide);
    kb_free(q->columns.equation);
    kb_free(q->columns.term);
    kb_free(q->columns.scale);
    kb_free(q->scores);
}

/* ---------------------------------------------------------------- scores */

/* z_c = (g_c - G_cS G_SS^{-1} g_S) / sqrt(G_cc - G_cS G_SS^{-1} G_Sc), g = b - G w, S the model */
static bool score(const probe *q, double *factor, double *g, double *row)
{
    static const double collinear = 1e-6; /* of a column's own precision: the model has it already */
    size_t n = q->columns.n, k = q->n_own;
    const double *G = q->message->G;
    for (size_t j = 0; j < k; j++) memcpy(factor + j * k, G + j * n, k * sizeof *factor);
    if (!kb_cholesky(k, factor, k)) return false;
    for (size_t c = 0; c < n; c++) {
        g[c] = q->message->b[c];
        for (size_t j = 0; j < k; j++) g[c] -= G[c + j * n] * q->fit->w[j];
    }
    kb_lower_solve(k, 1, factor, k, g, k); /* of the model: L^{-1} g_S */
    for (size_t c = k; c < n; c++) {
        memcpy(row, G + c * n, k * sizeof *row);
        kb_lower_solve(k, 1, factor, k, row, k);
        double precision = G[c + c * n] - kb_dot(k, row, row);
        q->scores[c] = precision > collinear * G[c + c * n] ? (g[c] - kb_dot(k, row, g)) / sqrt(precision) : NAN;
    }
    return true;
}

/* Does the column's term name a time or a place? */
static bool has_axis(const probe *q, size_t c)
{
    const kb_dictionary *d = q->wide;
    for (size_t v = d->n_variables - d->n_axes; v < d->n_variables; v++)
        if (kb_dictionary_depends(d, q->columns.term[c], v)) return true;
    return false;
}

/* How likely one of n_tried scores z is so large by chance. The noise is that of f = freedom residuals which a missing
   term has enlarged, so z^2 < f; t = z sqrt((f - 1) / (f - z^2)) is Student's. Not so for waves and powers of time,
   which stand for anything in a short record. */
static double by_chance(const probe *q, size_t c, size_t n_tried)
{
    double f = q->freedom, z = fabs(q->scores[c]);
    if (!isfinite(f) || has_axis(q, c)) return kb_two_sided(z, n_tried);
    if (!(f > 1)) return 1;
    double t = z * sqrt((f - 1) / fmax(f - z * z, 0));
    return fmin(2 * kb_student_below(-t, f - 1) * (double)n_tried, 1);
}

static size_t most_missing(const probe *q, size_t n_tried)
{
    size_t best = q->n_own;
    double least = 1;
    for (size_t c = q->n_own; c < q->columns.n; c++) {
        double p = by_chance(q, c, n_tried);
        bool is_tie = p == least && fabs(q->scores[c]) > fabs(q->scores[best]); /* far out both are 0 */
        if (!(p < least || is_tie)) continue;
        least = p;
        best = c;
    }
    return best;
}

static kbass_status list_terms(const probe *q, kb_answer *answer, kbass_error *error)
{
    size_t n = q->columns.n, n_tried = 0, n_listed = 0;
    kbass_missing_term *list = kb_answer_own(answer, MOST_TERMS, sizeof *list);
    if (!list) return kb_out_of_memory(error, "the answer");
    for (size_t c = q->n_own; c < n; c++) n_tried += isfinite(q->scores[c]);
    while (n_listed < MOST_TERMS) {
        size_t best = most_missing(q, n_tried);
        if (best == n || !(by_chance(q, best, n_tried) < KB_BY_CHANCE)) break;
        const char *name = kb_dictionary_name(q->wide, q->columns.term[best]);
        char *term = kb_answer_own(answer, strlen(name) + 1, 1);
        if (!term) return kb_out_of_memory(error, "the answer");
        strcpy(term, name);
        list[n_listed++] =
            (kbass_missing_term){q->columns.equation[best], term, q->scores[best], by_chance(q, best, n_tried)};
        q->scores[best] = NAN;
    }
    answer->result.missing = list;
    answer->result.n_missing = n_listed;
    return KBASS_OK;
}

static kbass_status try_terms(probe *q, kb_answer *answer, kbass_error *error)
{
    size_t n = q->columns.n, k = q->n_own;
    double *factor = KB_NEW(double, k *k), *g = KB_NEW(double, n), *row = KB_NEW(double, k);
    q->scores = KB_NEW(double, n);
    kbass_status status = factor && g && row && q->scores ? KBASS_OK : kb_out_of_memory(error, "the wider dictionary");
    if (status == KBASS_OK && q->likelihood->message(q->likelihood, q->fit, &q->all, q->message) &&
        score(q, factor, g, row))
        status = list_terms(q, answer, error);
    kb_free(factor);
    kb_free(g);
    kb_free(row);
    return status;
}

/* ---------------------------------------------------------------- residuals */

/* Of a model that was followed; time and x (scaled) by observation, x NULL without space. */
static bool sum_followed(const probe *q, const double *time, const double *x, kb_tiles *t)
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

static bool sum_patches(const probe *q, kb_tiles *t)
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

static kbass_status begin(probe *q, const kb_frame *frame, const kb_search_result *found, const double *span,
                          const int *highest, kbass_error *error)
{
    const kb_fit *fit = found->pool.fits[0];
    q->narrow = frame->dictionary;
    kbass_status status = kb_wider_dictionary(frame, fit, span, highest, &q->wide, error);
    if (status == KBASS_OK) status = make_columns(q, frame, fit, error);
    if (status == KBASS_OK) status = make_fit(q, frame, fit, found->pool.n_start, error);
    if (status == KBASS_OK) status = kb_message_create(q->columns.n, &q->message, error);
    return status;
}

static kbass_status take(kbass_status status, probe *q, kb_shooter *shooter, const kb_search_result *found)
{
    if (status != KBASS_OK) return status;
    q->likelihood = &shooter->likelihood;
    q->likelihood->windows = found->windows;
    return KBASS_OK;
}

/* A name that cannot stand in some of the wider terms, or a model that cannot be followed again: nothing is said. */
static kbass_status say_nothing(kbass_status status) { return status == KBASS_ERROR_MEMORY ? status : KBASS_OK; }

kbass_status kb_missing_of_states(const kb_ode_problem *p, const kb_search_result *found, kb_answer *answer,
                                  kbass_error *error)
{
    probe q = {0};
    kb_shooter *shooter = NULL;
    kb_frame frame = kb_ode_problem_frame(p);
    const kb_record *record = p->record;
    const kb_tile_frame tiled = {record->first, record->span, NAN, NAN};
    if (!can_probe(&frame, found)) return KBASS_OK;
    kb_tiles *t = KB_NEW(kb_tiles, record->n_states);
    double *time = KB_NEW(double, record->n_rows * record->n_states);
    kbass_status status = t && time ? KBASS_OK : kb_out_of_memory(error, "the residuals");
    if (status == KBASS_OK) status = begin(&q, &frame, found, NULL, NULL, error);
    if (status == KBASS_OK)
        status = kb_shooter_create(record, q.wide, &q.columns, found->windows->n, q.columns.n, &shooter, error);
    status = take(status, &q, shooter, found);
    if (status == KBASS_OK) {
        const kb_dynamics *d = shooter->dynamics;
        for (size_t row = 0; row < d->n_rows; row++)
            for (size_t o = d->observation_start[row]; o < d->observation_start[row + 1]; o++)
                time[o] = record->time[row];
        status = try_terms(&q, answer, error);
    }
    if (status == KBASS_OK && sum_followed(&q, time, NULL, t))
        status = kb_misfits_list(record->n_states, t, &tiled, answer, error);
    kb_free(t);
    kb_free(time);
    probe_clear(&q);
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
static kbass_status ask_followed(probe *q, size_t n_runs, kb_field_samples *const *run_samples, bool has_places,
                                 kb_answer *answer, kbass_error *error)
{
    const kb_field_samples *c = run_samples[0];
    const kb_tile_frame tiled = {c->first[0], c->span[0], c->first[1], c->span[1]};
    size_t n_values = 0;
    for (size_t run = 0; run < n_runs; run++) n_values += run_samples[run]->n_values;
    kb_tiles *t = KB_NEW(kb_tiles, c->n_fields);
    double *time = KB_NEW(double, n_values), *x = KB_NEW(double, n_values);
    kbass_status status = t && time && x ? KBASS_OK : kb_out_of_memory(error, "the residuals");
    if (status == KBASS_OK) status = try_terms(q, answer, error);
    if (status == KBASS_OK && has_places) {
        place_observations(n_runs, run_samples, time, x);
        if (sum_followed(q, time, x, t)) status = kb_misfits_list(c->n_fields, t, &tiled, answer, error);
    }
    kb_free(t);
    kb_free(time);
    kb_free(x);
    return status;
}

kbass_status kb_missing_of_fields(const kb_pde1d_problem *l, const kb_search_result *found, kb_answer *answer,
                                  kbass_error *error)
{
    probe q = {0};
    kb_frame frame = kb_pde1d_problem_frame(l);
    kb_pde1d_runs *all_runs = NULL;
    kb_shooter *shooter = NULL;
    const int highest[] = {0, KB_HIGHEST_ORDER};
    if (!can_probe(&frame, found)) return KBASS_OK;
    kbass_status status = begin(&q, &frame, found, l->run_samples[0]->span, highest, error);
    if (status == KBASS_OK)
        status =
            kb_pde1d_runs_create(l->n_runs, found->engine.setups, q.wide, &q.columns, q.columns.n, &all_runs, error);
    if (status == KBASS_OK)
        status = kb_shooter_create_on(&all_runs->dynamics, &q.columns, found->windows->n, q.columns.n, &shooter, error);
    status = take(status, &q, shooter, found);
    if (status == KBASS_OK && q.likelihood->n_start == found->pool.n_start)
        status = ask_followed(&q, l->n_runs, l->run_samples, l->has_one_domain, answer, error);
    probe_clear(&q);
    return say_nothing(status);
}

/* ---------------------------------------------------------------- several axes */

/* By the modes of the fit, where the tangents of all wider terms are bearable. */
static kbass_status ask_fourier(probe *q, const kb_pde_nd_problem *e, const kb_search_result *found, kb_answer *answer,
                                kbass_error *error)
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

static kbass_status ask_kernel(probe *q, const kb_pde_nd_problem *e, const kb_search_result *found, kb_answer *answer,
                               kbass_error *error)
{
    const kb_field_samples *c = e->run_samples[0];
    const kb_tile_frame tiled = {c->first[0], c->span[0], c->first[1], c->span[1]};
    kb_kernel_likelihood *kernel = NULL;
    kbass_status status =
        kb_kernel_likelihood_create(e->domain, q->wide, &q->columns, &found->engine.proposal, &kernel, error);
    if (status != KBASS_OK) return status;
    q->likelihood = &kernel->likelihood;
    status = try_terms(q, answer, error);
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
    probe q = {0};
    kb_frame frame = kb_pde_nd_problem_frame(e);
    int highest[KB_MAX_AXES] = {0};
    if (!can_probe(&frame, found) || !(found->engine.fourier || found->engine.proposal.w)) return KBASS_OK;
    for (size_t axis = 0; axis < frame.dictionary->n_axes; axis++)
        highest[axis] = e->domain->patches[0]->axis[axis]->highest;
    kbass_status status = begin(&q, &frame, found, e->run_samples[0]->span, highest, error);
    if (status == KBASS_OK) status = (found->engine.fourier ? ask_fourier : ask_kernel)(&q, e, found, answer, error);
    probe_clear(&q);
    return say_nothing(status);
}
