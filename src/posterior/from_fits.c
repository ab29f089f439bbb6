/* The posterior of a finished search: its best fits, linearised once more. */
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/status.h"
#include "posterior/band.h"
#include "posterior/ode_solution.h"
#include "posterior/posterior.h"

typedef struct {
    const kb_dictionary *dictionary;
    const kb_columns *columns;
    const kb_windows *windows;
    const double *mean, *sd; /* per state */
    double span;             /* of time */
    bool has_units;          /* the start is the state, scaled; else it is modes */
    size_t n_start;          /* in the fits; a run may use fewer */
    const size_t *source;    /* of states: which of the record's each of the posterior's is; NULL: the same */
    size_t n_parts;
    struct part *parts;
} setting;

/* One run's share of the fits. */
typedef struct part {
    kbass_posterior *posterior;
    double first;           /* time */
    const double *row_time; /* scaled; of the rows from row_start on */
    size_t row_start;
    size_t first_window, end_window;
} part;

static size_t source(const setting *s, size_t i) { return s->source ? s->source[i] : i; }

/* Scaled covariance V of the support's weights and the start to the data's units, behind the rows of given terms. */
static void scale_covariance(const setting *s, const kb_fit *fit, size_t n_start, const double *V, double *out)
{
    size_t k = fit->support.n, size = k + n_start, stride = k + s->n_start, fixed = s->columns->n_fixed,
           whole = size + fixed;
    for (size_t j = 0; j < size; j++)
        for (size_t i = 0; i < size; i++) {
            double unit = 1;
            size_t from_i = i < k ? i : k + source(s, i - k), from_j = j < k ? j : k + source(s, j - k);
            unit *= i < k ? s->columns->unit[fit->support.column[i]] : s->has_units ? s->sd[from_i - k] : 1;
            unit *= j < k ? s->columns->unit[fit->support.column[j]] : s->has_units ? s->sd[from_j - k] : 1;
            out[fixed + i + (fixed + j) * whole] = unit * V[from_i + from_j * stride];
        }
}

static const double unmeasurable = 1e6; /* sd of noise: a velocity's, which is not measured and cannot be asked for */

static bool is_measured(const kb_dynamics *d, size_t group)
{
    for (size_t o = 0; o < d->observation_start[d->n_rows]; o++)
        if (d->group[o] == group) return true;
    return false;
}

static kbass_status add_model(const part *run, const setting *s, const kb_comparison *comparison, const kb_fit *fit,
                              double log_odds, const double *V, kbass_error *error)
{
    kbass_posterior *p = run->posterior;
    size_t n = p->n_start, size = fit->support.n + s->n_start, n_windows = run->end_window - run->first_window;
    kb_belief *b = &p->models[p->n_models];
    kbass_status status = kb_belief_allocate(p, s->columns->n_fixed + fit->support.n, n_windows, b, error);
    if (status != KBASS_OK) return status;
    p->n_models++;
    b->log_odds = log_odds;
    for (size_t i = 0; i < p->n_states; i++) {
        size_t group = s->has_units ? source(s, i) : i;
        double root = is_measured(comparison->dynamics, group) ? sqrt(fit->variance[group]) : unmeasurable;
        b->noise[i] = root * kb_comparison_unit(comparison, group);
    }
    for (size_t window = run->first_window; window < run->end_window; window++) {
        kb_stretch *stretch = &b->windows[window - run->first_window];
        const double *start = fit->start + window * s->n_start;
        stretch->first = run->first + s->span * run->row_time[s->windows->first[window] - run->row_start];
        stretch->last = run->first + s->span * run->row_time[s->windows->last[window] - run->row_start];
        for (size_t i = 0; i < n; i++) {
            size_t from = source(s, i);
            stretch->start[i] = s->has_units ? s->mean[from] + s->sd[from] * start[from] : start[i];
        }
        scale_covariance(s, fit, n, V + window * size * size, stretch->covariance);
    }
    const kb_frame frame = {
        .dictionary = s->dictionary, .columns = s->columns, .mean = s->mean, .sd = s->sd, .span = s->span};
    status = kb_belief_name_terms(&frame, fit, b, error);
    for (size_t i = 0; s->source && i < b->n_terms; i++) { /* from the record's states to the posterior's */
        size_t state = 0;
        while (state + 1 < p->n_states && s->source[state] != b->equation[i]) state++;
        b->equation[i] = state;
    }
    return status;
}

static size_t largest_support(size_t n_fits, kb_fit *const *fits)
{
    size_t most = 0;
    for (size_t i = 0; i < n_fits; i++)
        if (fits[i]->support.n > most) most = fits[i]->support.n;
    return most;
}

/* The best fit and those whose odds against it count, at most `most`, on the windows of the last fits. */
static kbass_status add_models(const setting *s, kb_shooter *shooter, size_t n_fits, kb_fit *const *fits, size_t most,
                               kbass_error *error)
{
    size_t size = shooter->max_columns + s->n_start, n = 0;
    double *V = KB_NEW(double, s->windows->n *size *size);
    kbass_status status = V ? KBASS_OK : kb_out_of_memory(error, "the posterior");
    shooter->likelihood.windows = s->windows;
    for (size_t i = 0; i < s->n_parts; i++)
        s->parts[i].posterior->is_relative = shooter->dynamics->noise_model != KB_NOISE_ADDITIVE;
    for (size_t i = 0; status == KBASS_OK && i < n_fits && n < most; i++) {
        double log_odds = kb_fit_log_odds(fits[i], fits[0]);
        if (fits[i]->n_windows != s->windows->n) continue;
        bool is_known =
            s->has_units ? kb_states_covariances(shooter, fits[i], V) : kb_shooter_covariances(shooter, fits[i], V);
        if (!is_known && i == 0) break;
        for (size_t k = 0; is_known && status == KBASS_OK && k < s->n_parts; k++)
            status = add_model(&s->parts[k], s, &shooter->comparison, fits[i], log_odds, V, error);
        n += is_known;
    }
    kb_free(V);
    return status;
}

static kbass_status finish(kbass_status status, setting *s, kbass_posterior **out)
{
    for (size_t i = 0; s->parts && i < s->n_parts; i++) {
        kbass_posterior *p = s->parts[i].posterior;
        if (status == KBASS_OK && p && p->n_models) out[i] = p;
        else kbass_posterior_destroy(p);
    }
    kb_free(s->parts);
    return status;
}

static kbass_status make_parts(setting *s, const size_t *window_start, kbass_error *error)
{
    s->parts = KB_NEW(part, s->n_parts);
    if (!s->parts) return kb_out_of_memory(error, "the posterior");
    for (size_t i = 0; i < s->n_parts; i++)
        s->parts[i] = (part){.first_window = window_start[i], .end_window = window_start[i + 1]};
    return KBASS_OK;
}

/* Inputs are no states of a posterior: it keeps their curves. */
static kbass_status take_inputs(const kb_record *record, const kb_dictionary *dictionary, size_t run,
                                kbass_posterior *p, kbass_error *error)
{
    size_t states = 0, inputs = 0;
    for (size_t i = 0; i < record->n_states; i++) inputs += dictionary->is_input[i];
    kbass_status status = kb_input_curves_allocate(inputs, &p->inputs, error);
    if (status != KBASS_OK) return status;
    p->inputs.n = 0;
    for (size_t i = 0; i < record->n_states; i++) {
        char *name = p->state_names[i];
        p->state_names[i] = NULL;
        if (!dictionary->is_input[i]) {
            p->state_names[states++] = name;
            continue;
        }
        const kb_curve *c = kb_inputs_curve(record->inputs, run, i);
        kb_curve *own = &p->inputs.curves[p->inputs.n];
        p->inputs.names[p->inputs.n++] = name;
        if (!kb_curve_create(c->n, c->time, c->value, c->is_held, own)) status = kb_out_of_memory(error, "the inputs");
        own->delay = c->delay;
    }
    p->n_states = p->n_start = states;
    return status;
}

kbass_status kb_posterior_of_states(const kbass_data *data, const kb_record *record, const kb_dictionary *dictionary,
                                    const kb_columns *columns, const kb_windows *windows, const size_t *window_start,
                                    size_t n_fits, kb_fit *const *fits, kbass_posterior **out, kbass_error *error)
{
    kb_shooter *shooter = NULL;
    setting s = {.dictionary = dictionary,
                 .columns = columns,
                 .windows = windows,
                 .mean = record->mean,
                 .sd = record->sd,
                 .span = record->span,
                 .has_units = true,
                 .n_start = record->n_states,
                 .n_parts = record->n_runs};
    for (size_t i = 0; i < record->n_states; i++)
        if (!dictionary->has_equation[i] && !dictionary->is_input[i])
            return KBASS_OK; /* its future is nobody's to tell */
    size_t *kept = KB_NEW(size_t, record->n_states), n_kept = 0;
    if (!kept) return kb_out_of_memory(error, "the posterior");
    for (size_t i = 0; i < record->n_states; i++)
        if (dictionary->has_equation[i]) kept[n_kept++] = i;
    s.source = kept;
    n_fits = kb_count_near(n_fits, fits);
    kbass_status status = make_parts(&s, window_start, error);
    for (size_t i = 0; status == KBASS_OK && i < s.n_parts; i++) {
        s.parts[i].first = record->origin[i];
        s.parts[i].row_time = record->time;
        status = kb_posterior_create(data, i, record->n_states, KB_RIVALS_OF_STATES, &s.parts[i].posterior, error);
        if (status == KBASS_OK) status = take_inputs(record, dictionary, i, s.parts[i].posterior, error);
    }
    if (status == KBASS_OK)
        status =
            kb_shooter_create(record, dictionary, columns, windows->n, largest_support(n_fits, fits), &shooter, error);
    if (status == KBASS_OK) status = add_models(&s, shooter, n_fits, fits, KB_RIVALS_OF_STATES, error);
    kb_shooter_destroy(shooter);
    kb_free(kept);
    return finish(status, &s, out);
}

/* What starts in modes mean: the grid, the profile, the scales. */
static kbass_status keep_line(kbass_posterior *p, const kb_pde1d *line, const kb_profile *profile, kbass_error *error)
{
    const kb_field_samples *samples = line->samples;
    p->line = line->settings;
    p->profile = *profile;
    p->n_boundary = line->n_boundary;
    p->boundary = KB_NEW(double, line->n_boundary);
    if (!p->boundary) return kb_out_of_memory(error, "the posterior");
    memcpy(p->boundary, line->boundary_scale, line->n_boundary * sizeof *p->boundary);
    memcpy(p->origin, samples->first, 2 * sizeof *p->origin);
    memcpy(p->span, samples->span, 2 * sizeof *p->span);
    memcpy(p->spacing, samples->spacing, sizeof p->spacing);
    memcpy(p->mean, samples->mean, p->n_states * sizeof *p->mean);
    memcpy(p->sd, samples->sd, p->n_states * sizeof *p->sd);
    memcpy(p->bound, line->bound, p->n_states * sizeof *p->bound);
    return KBASS_OK;
}

static kbass_status make_part(const kbass_data *data, size_t run, const kb_pde1d_runs *all_runs,
                              const kb_profile *profile, part *own, kbass_error *error)
{
    const kb_pde1d *line = all_runs->lines[run];
    own->first = line->samples->first[0];
    own->row_time = line->samples->grid[0];
    own->row_start = all_runs->run_start[run];
    kbass_status status =
        kb_posterior_create(data, run, line->dynamics.n_start, KB_RIVALS_OF_FIELDS, &own->posterior, error);
    return status == KBASS_OK ? keep_line(own->posterior, line, profile, error) : status;
}

kbass_status kb_posterior_of_fields(const kbass_data *data, const kb_pde1d_setup *setups,
                                    const kb_dictionary *dictionary, const kb_columns *columns,
                                    const kb_windows *windows, const size_t *window_start, size_t n_fits,
                                    kb_fit *const *fits, kbass_posterior **out, kbass_error *error)
{
    kb_pde1d_runs *all_runs = NULL;
    kb_shooter *shooter = NULL;
    const kb_field_samples *samples = setups[0].samples;
    size_t runs = kbass_data_runs(data), near = kb_count_near(n_fits, fits), k = largest_support(near, fits);
    setting s = {.dictionary = dictionary,
                 .columns = columns,
                 .windows = windows,
                 .mean = samples->mean,
                 .sd = samples->sd,
                 .span = samples->span[0],
                 .n_parts = runs};
    kbass_status status = kb_pde1d_runs_create(runs, setups, dictionary, columns, k, &all_runs, error);
    if (status != KBASS_OK) return status;
    s.n_start = all_runs->dynamics.n_start;
    status = kb_shooter_create_on(&all_runs->dynamics, columns, windows->n, k, &shooter, error);
    if (status == KBASS_OK) status = make_parts(&s, window_start, error);
    for (size_t i = 0; status == KBASS_OK && i < runs; i++)
        status = make_part(data, i, all_runs, &setups[i].profile, &s.parts[i], error);
    if (status == KBASS_OK) status = add_models(&s, shooter, near, fits, KB_RIVALS_OF_FIELDS, error);
    kb_shooter_destroy(shooter);
    return finish(status, &s, out);
}
