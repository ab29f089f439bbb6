/* The posterior of a finished search: its best fits, linearised once more. */
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/status.h"
#include "posterior/band.h"
#include "posterior/posterior.h"


typedef struct {
    const kb_dictionary *dictionary;
    const kb_columns *columns;
    const kb_windows *windows;
    const double *mean, *sd, *row_time; /* per state; scaled times of the rows */
    double first, span;                 /* of time */
    bool has_units;                     /* the start is the state, scaled; else it is modes */
} setting;

/* Scaled covariance V of the support's weights and the start to the data's units, behind the rows of given terms. */
static void scale_covariance(const setting *s, const kb_fit *fit, size_t n_start, const double *V, double *out)
{
    size_t k = fit->support.n, size = k + n_start, fixed = s->columns->n_fixed, whole = size + fixed;
    for (size_t j = 0; j < size; j++)
        for (size_t i = 0; i < size; i++) {
            double unit = 1;
            unit *= i < k ? s->columns->unit[fit->support.column[i]] : s->has_units ? s->sd[i - k] : 1;
            unit *= j < k ? s->columns->unit[fit->support.column[j]] : s->has_units ? s->sd[j - k] : 1;
            out[fixed + i + (fixed + j) * whole] = unit * V[i + j * size];
        }
}

static bool name_terms(const setting *s, const kb_fit *fit, kb_belief *b)
{
    const kb_columns *c = s->columns;
    bool complete = true;
    for (size_t i = 0; i < b->n_terms; i++) {
        bool is_fixed = i < c->n_fixed;
        size_t column = is_fixed ? 0 : fit->support.column[i - c->n_fixed];
        b->equation[i] = is_fixed ? c->fixed_equation[i] : c->equation[column];
        b->term[i] = kb_strdup(kb_dictionary_name(s->dictionary, is_fixed ? c->fixed_term[i] : c->term[column]));
        double unit = is_fixed ? s->sd[b->equation[i]] / pow(s->span, s->dictionary->time_order) : c->unit[column];
        b->weight[i] = unit * (is_fixed ? c->fixed_weight[i] : fit->w[column]);
        complete = b->term[i] && complete;
    }
    return complete;
}

static kbass_status add_model(kbass_posterior *p, const setting *s, const kb_measure *measure, const kb_fit *fit,
                              double log_odds, const double *V, kbass_error *error)
{
    size_t n = p->n_start, size = fit->support.n + n;
    kb_belief *b = &p->models[p->n_models];
    kbass_status status = kb_belief_allocate(p, s->columns->n_fixed + fit->support.n, s->windows->n, b, error);
    if (status != KBASS_OK) return status;
    p->n_models++;
    b->log_odds = log_odds;
    for (size_t i = 0; i < p->n_states; i++) b->noise[i] = sqrt(fit->variance[i]) * kb_measure_unit(measure, i);
    for (size_t window = 0; window < s->windows->n; window++) {
        kb_stretch *stretch = &b->windows[window];
        const double *start = fit->start + window * n;
        stretch->first = s->first + s->span * s->row_time[s->windows->first[window]];
        stretch->last = s->first + s->span * s->row_time[s->windows->last[window]];
        for (size_t i = 0; i < n; i++) stretch->start[i] = s->has_units ? s->mean[i] + s->sd[i] * start[i] : start[i];
        scale_covariance(s, fit, n, V + window * size * size, stretch->covariance);
    }
    return name_terms(s, fit, b) ? KBASS_OK : kb_out_of_memory(error, "the posterior");
}

static size_t largest_support(size_t n_fits, kb_fit *const *fits)
{
    size_t most = 0;
    for (size_t i = 0; i < n_fits; i++)
        if (fits[i]->support.n > most) most = fits[i]->support.n;
    return most;
}

/* The best fit and those whose odds against it count, at most `most`, on the windows of the last fits. */
static kbass_status add_models(kbass_posterior *p, const setting *s, kb_shooter *shooter, size_t n_fits,
                               kb_fit *const *fits, size_t most, kbass_error *error)
{
    size_t size = shooter->max_columns + p->n_start;
    double *V = KB_NEW(double, s->windows->n * size * size);
    kbass_status status = V ? KBASS_OK : kb_out_of_memory(error, "the posterior");
    shooter->windows = s->windows;
    p->is_relative = shooter->dynamics->noise_model != KB_NOISE_ADDITIVE;
    for (size_t i = 0; status == KBASS_OK && i < n_fits && p->n_models < most; i++) {
        double log_odds = kb_fit_log_odds(fits[i], fits[0]);
        if (fits[i]->n_windows != s->windows->n) continue;
        bool is_known = kb_shooter_covariances(shooter, fits[i], V);
        if (is_known) status = add_model(p, s, &shooter->measure, fits[i], log_odds, V, error);
        else if (i == 0) break;
    }
    kb_free(V);
    return status;
}

static kbass_status finish(kbass_status status, kbass_posterior *p, kbass_posterior **out)
{
    if (status == KBASS_OK && p->n_models) *out = p;
    else kbass_posterior_destroy(p);
    return status;
}

kbass_status kb_posterior_of_states(const kbass_data *data, const kb_record *record, const kb_dictionary *dictionary,
                                    const kb_columns *columns, const kb_windows *windows, size_t n_fits,
                                    kb_fit *const *fits, kbass_posterior **out, kbass_error *error)
{
    kbass_posterior *p = NULL;
    kb_shooter *shooter = NULL;
    setting s = {dictionary, columns, windows, record->mean, record->sd, record->time, record->first, record->span, true};
    if (record->n_runs > 1) return KBASS_OK; /* which of them goes on is not told */
    for (size_t i = 0; i < record->n_states; i++)
        if (!dictionary->has_equation[i]) return KBASS_OK; /* its future is nobody's to tell */
    n_fits = kb_count_near(n_fits, fits);
    kbass_status status = kb_posterior_create(data, record->n_states, KB_RIVALS_OF_STATES, &p, error);
    if (status == KBASS_OK)
        status = kb_shooter_create(record, dictionary, columns, windows->n, largest_support(n_fits, fits), &shooter, error);
    if (status == KBASS_OK) status = add_models(p, &s, shooter, n_fits, fits, KB_RIVALS_OF_STATES, error);
    kb_shooter_destroy(shooter);
    return finish(status, p, out);
}

/* What starts in modes mean: the grid, the profile, the scales. */
static kbass_status keep_line(kbass_posterior *p, const kb_line *line, const kb_profile *profile, kbass_error *error)
{
    const kb_cloud *cloud = line->cloud;
    p->line = line->settings;
    p->profile = *profile;
    p->n_boundary = line->n_boundary;
    p->boundary = KB_NEW(double, line->n_boundary);
    if (!p->boundary) return kb_out_of_memory(error, "the posterior");
    memcpy(p->boundary, line->boundary_scale, line->n_boundary * sizeof *p->boundary);
    memcpy(p->spacing, cloud->spacing, sizeof p->spacing);
    memcpy(p->mean, cloud->mean, p->n_states * sizeof *p->mean);
    memcpy(p->sd, cloud->sd, p->n_states * sizeof *p->sd);
    memcpy(p->bound, line->bound, p->n_states * sizeof *p->bound);
    return KBASS_OK;
}

kbass_status kb_posterior_of_fields(const kbass_data *data, const kb_cloud *cloud, const kb_dictionary *dictionary,
                                    const kb_columns *columns, const kb_line_settings *settings, const kb_profile *profile,
                                    const kb_windows *windows, size_t n_fits, kb_fit *const *fits, kbass_posterior **out,
                                    kbass_error *error)
{
    kbass_posterior *p = NULL;
    kb_line *line = NULL;
    kb_shooter *shooter = NULL;
    size_t near = kb_count_near(n_fits, fits), k = largest_support(near, fits);
    setting s = {dictionary, columns, windows, cloud->mean, cloud->sd, cloud->grid[0], cloud->first[0], cloud->span[0], false};
    kbass_status status = kb_line_create(cloud, dictionary, columns, settings, profile, k, &line, error);
    if (status != KBASS_OK) return status;
    size_t n_start = line->dynamics.n_start;
    status = kb_shooter_create_on(&line->dynamics, columns, windows->n, k, &shooter, error);
    if (status == KBASS_OK) status = kb_posterior_create(data, n_start, KB_RIVALS_OF_FIELDS, &p, error);
    if (status == KBASS_OK) status = keep_line(p, line, profile, error);
    if (status == KBASS_OK) status = add_models(p, &s, shooter, near, fits, KB_RIVALS_OF_FIELDS, error);
    kb_shooter_destroy(shooter);
    return finish(status, p, out);
}
