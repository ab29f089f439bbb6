#include "forecast/stage.h"

#include <math.h>
#include <string.h>

#include "base/linalg.h"
#include "base/memory.h"
#include "base/status.h"
#include "forecast/spread.h"

/* ---------------------------------------------------------------- the stage */

static kbass_status make_dictionary(kb_stage *s, kbass_error *error)
{
    const kbass_posterior *p = s->posterior;
    const kb_belief *b = s->belief;
    kbass_settings settings;
    size_t size = strlen(p->state_names[0]) + 1;
    for (size_t i = 0; i < b->n_terms; i++) size += strlen(b->term[i]) + 2;
    char *terms = KB_NEW(char, size);
    if (!terms) return kb_out_of_memory(error, "the terms");
    strcpy(terms, p->state_names[0]); /* a dictionary is never empty */
    for (size_t i = 0; i < b->n_terms; i++) strcat(strcat(terms, ", "), b->term[i]);
    kb_settings_default(&settings);
    settings.terms = terms;
    kbass_status status =
        kb_dictionary_create_fields(&settings, p->n_states, (const char *const *)p->state_names, p->n_axes,
                                    (const char *const *)p->axis_names, &s->dictionary, error);
    kb_free(terms);
    return status;
}

static kbass_status make_columns(kb_stage *s, kbass_error *error)
{
    const kb_belief *b = s->belief;
    kb_columns *c = &s->columns;
    c->equation = KB_NEW(size_t, b->n_terms);
    c->term = KB_NEW(size_t, b->n_terms);
    c->scale = KB_NEW(double, b->n_terms);
    c->unit = KB_NEW(double, b->n_terms);
    kbass_status status = kb_support_create(b->n_terms, &s->support, error);
    if (status == KBASS_OK && (!c->equation || !c->term || !c->scale || !c->unit))
        status = kb_out_of_memory(error, "the terms");
    for (; status == KBASS_OK && c->n < b->n_terms; c->n++) {
        c->equation[c->n] = b->equation[c->n];
        c->term[c->n] = kb_dictionary_find(s->dictionary, b->term[c->n]);
        c->scale[c->n] = 1;
        c->unit[c->n] = s->posterior->sd[b->equation[c->n]] / s->posterior->span[0];
        kb_support_add(&s->support, c->n);
    }
    return status;
}

kbass_status kb_stage_create(const kbass_posterior *posterior, const kb_belief *belief, kb_stage **out,
                             kbass_error *error)
{
    kb_stage *s = KB_NEW(kb_stage, 1);
    if (!s) return kb_out_of_memory(error, "the fields");
    s->posterior = posterior;
    s->belief = belief;
    kbass_status status = make_dictionary(s, error);
    if (status == KBASS_OK) status = make_columns(s, error);
    if (status == KBASS_OK) *out = s;
    else kb_stage_destroy(s);
    return status;
}

void kb_stage_destroy(kb_stage *s)
{
    if (!s) return;
    kb_dictionary_destroy(s->dictionary);
    kb_free(s->columns.equation);
    kb_free(s->columns.term);
    kb_free(s->columns.scale);
    kb_free(s->columns.unit);
    kb_support_clear(&s->support);
    kb_free(s);
}

void kb_stage_weights(const kb_stage *s, const double *weights, double *scaled)
{
    for (size_t i = 0; i < s->columns.n; i++) scaled[i] = weights[i] / s->columns.unit[i];
}

void kb_stage_unscale(const kb_stage *s, size_t n, double *values)
{
    size_t F = s->posterior->n_states;
    for (size_t i = 0; i < n * F; i++) values[i] = s->posterior->mean[i % F] + s->posterior->sd[i % F] * values[i];
}

/* ---------------------------------------------------------------- a line through points */

static double scaled(const kbass_posterior *p, size_t axis, double x) { return (x - p->origin[axis]) / p->span[axis]; }

static kbass_status place_points(const kbass_posterior *p, double from, size_t n, const double *times,
                                 const double *positions, kb_field_samples *c, kbass_error *error)
{
    *c = (kb_field_samples){
        .n_points = n, .n_axes = 2, .n_fields = p->n_states, .n_values = n * p->n_states, .mean = p->mean, .sd = p->sd};
    c->point = KB_NEW(double, 2 * n);
    c->value = KB_NEW(double, n * p->n_states);
    c->measured = KB_NEW(double, n * p->n_states);
    c->grid[0] = KB_NEW(double, n + 1);
    if (!c->point || !c->value || !c->measured || !c->grid[0]) return kb_out_of_memory(error, "the points");
    for (size_t a = 0; a < 2; a++) {
        c->first[a] = p->origin[a];
        c->span[a] = p->span[a];
        c->extent[a] = scaled(p, a, p->last[a]);
        c->spacing[a] = p->spacing[a];
    }
    c->grid[0][c->n_grid[0]++] = scaled(p, 0, from);
    for (size_t i = 0; i < n; i++) {
        c->point[i] = fmax(scaled(p, 0, times[i]), c->grid[0][c->n_grid[0] - 1]);
        c->point[n + i] = scaled(p, 1, positions[i]);
        if (c->point[i] > c->grid[0][c->n_grid[0] - 1]) c->grid[0][c->n_grid[0]++] = c->point[i];
    }
    for (size_t i = 0; i < c->n_values; i++) c->measured[i] = 1;
    return KBASS_OK;
}

kbass_status kb_course_create(const kb_stage *s, kb_ends ends, double from, size_t n, const double *times,
                              const double *positions, size_t max_tangents, kb_course *out, kbass_error *error)
{
    const kbass_posterior *p = s->posterior;
    kb_pde1d_settings settings = p->line;
    settings.ends = ends;
    *out = (kb_course){.line = NULL};
    kbass_status status = place_points(p, from, n, times, positions, &out->samples, error);
    if (status == KBASS_OK)
        status = kb_pde1d_create(&out->samples, s->dictionary, &s->columns, &settings, &p->profile, max_tangents,
                                 &out->line, error);
    if (status == KBASS_OK && (out->line->dynamics.n_start != p->n_start || out->line->n_boundary != p->n_boundary))
        status = kb_fail(error, KBASS_ERROR_DATA, "the result's \"posterior.grid.boundary\" has %zu modes, needed %zu",
                         p->n_boundary, out->line->n_boundary);
    if (status == KBASS_OK) {
        memcpy(out->line->bound, p->bound, p->n_states * sizeof *p->bound);
        memcpy(out->line->boundary_scale, p->boundary, p->n_boundary * sizeof *p->boundary);
    } else {
        kb_course_clear(out);
    }
    return status;
}

void kb_course_clear(kb_course *c)
{
    if (c->line) c->line->dynamics.destroy(&c->line->dynamics);
    kb_free(c->samples.point);
    kb_free(c->samples.value);
    kb_free(c->samples.measured);
    kb_free(c->samples.grid[0]);
    *c = (kb_course){.line = NULL};
}

/* ---------------------------------------------------------------- linearised */

/* Factor of the scaled parameters: the posterior's, its weights in scaled units. */
static bool scaled_factor(const kb_stage *s, const kb_stretch *stretch, double *L)
{
    size_t k = s->belief->n_terms, size = k + s->posterior->n_start;
    if (!kb_covariance_factor(size, stretch->covariance, L)) return false;
    for (size_t j = 0; j < size; j++)
        for (size_t i = 0; i < k; i++) L[i + j * size] /= s->columns.unit[i];
    return true;
}

/* Runs a course with tangents from the stretch's start; L is the factor, predicted and tangents those of the line. */
static kbass_status run(const kb_stage *s, const kb_stretch *stretch, kb_course *course, double *L, double *predicted,
                        double *tangents, kbass_error *error)
{
    kb_dynamics *d = &course->line->dynamics;
    double *w = KB_NEW(double, s->columns.n);
    kbass_status status = w ? KBASS_OK : kb_out_of_memory(error, "the fields");
    if (status == KBASS_OK && !scaled_factor(s, stretch, L))
        status =
            kb_fail(error, KBASS_ERROR_NUMERICAL, "the covariance of weights and start is not positive semidefinite");
    if (status == KBASS_OK) {
        kb_stage_weights(s, s->belief->weight, w);
        d->set_model(d, &s->support, w, tangents ? &s->support : NULL);
        if (!d->predict(d, 0, d->n_rows - 1, stretch->start, predicted, tangents))
            status = kb_fail(error, KBASS_ERROR_NUMERICAL, "the fitted model cannot be integrated over these times");
    }
    kb_free(w);
    return status;
}

kbass_status kb_spread_fields(const kbass_posterior *p, const kb_belief *b, const kb_stretch *stretch, size_t n,
                              const double *times, const double *positions, double *mean, double *factor,
                              kbass_error *error)
{
    size_t size = b->n_terms + p->n_start, values = n * p->n_states;
    kb_stage *s = NULL;
    kb_course course = {.line = NULL};
    double *L = KB_NEW(double, size *size), *tangents = factor ? KB_NEW(double, values *size) : NULL;
    kbass_status status = L && (!factor || tangents) ? KBASS_OK : kb_out_of_memory(error, "the fields");
    if (status == KBASS_OK) status = kb_stage_create(p, b, &s, error);
    if (status == KBASS_OK)
        status = kb_course_create(s, KB_ENDS_FITTED, stretch->first, n, times, positions, b->n_terms, &course, error);
    if (status == KBASS_OK) status = run(s, stretch, &course, L, mean, tangents, error);
    if (status == KBASS_OK) kb_stage_unscale(s, n, mean);
    if (status == KBASS_OK && factor) { /* factor' = L' tangents' */
        kb_gemm(KB_TRANSPOSED, KB_PLAIN, size, values, size, 1, L, size, tangents, size, 0, factor, size);
        for (size_t i = 0; i < values * size; i++) factor[i] *= p->sd[i / size % p->n_states];
    }
    kb_course_clear(&course);
    kb_stage_destroy(s);
    kb_free(L);
    kb_free(tangents);
    return status;
}

kbass_status kb_stage_end(const kb_stage *s, double **mean, double **factor, size_t *size, kbass_error *error)
{
    const kbass_posterior *p = s->posterior;
    const kb_stretch *stretch = &s->belief->windows[s->belief->n_windows - 1];
    size_t P = s->belief->n_terms + p->n_start;
    kb_course course = {.line = NULL};
    double *L = KB_NEW(double, P *P), *predicted = KB_NEW(double, p->n_states);
    double *tangents = KB_NEW(double, p->n_states *P);
    kbass_status status = L && predicted && tangents ? KBASS_OK : kb_out_of_memory(error, "the fields");
    if (status == KBASS_OK)
        status = kb_course_create(s, KB_ENDS_FITTED, stretch->first, 1, &p->last[0], &p->first[1], s->belief->n_terms,
                                  &course, error);
    if (status == KBASS_OK) status = run(s, stretch, &course, L, predicted, tangents, error);
    if (status == KBASS_OK) {
        const kb_pde1d *line = course.line;
        *size = line->size;
        *mean = KB_NEW(double, line->size);
        *factor = KB_NEW(double, line->size *P);
        if (!*mean || !*factor) status = kb_out_of_memory(error, "the fields");
        else {
            memcpy(*mean, line->state, line->size * sizeof **mean);
            kb_gemm(KB_TRANSPOSED, KB_PLAIN, P, line->size, P, 1, L, P, line->tangent, line->stride, 0, *factor, P);
        }
    }
    kb_course_clear(&course);
    kb_free(L);
    kb_free(predicted);
    kb_free(tangents);
    return status;
}
