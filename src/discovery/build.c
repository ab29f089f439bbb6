/* The problem of a discovery: what data and settings ask for, and what is refused. */
#include <math.h>
#include <stdlib.h>

#include "base/memory.h"
#include "base/status.h"
#include "data/doubts.h"
#include "dictionary/column_units.h"
#include "forecast/validate.h"
#include "discovery/discovery.h"

/* Where no model is fitted through the integrated equation, some questions have no answer. */
static kbass_status check_plain(const kbass_settings *settings, size_t n_axes, kbass_error *error)
{
    const char *what = settings->method == KB_METHOD_PAPER ? "the published method"
                       : settings->method == KB_METHOD_EM
                           ? "--method em"
                           : "fields over several space axes, or of second order in time";
    bool has_fields = n_axes > 1 && settings->method != KB_METHOD_PAPER;
    if (settings->noise_model != KB_NOISE_ADDITIVE && !has_fields)
        return kb_fail(error, KBASS_ERROR_ARGUMENT, "noise-model: only additive noise for %s", what);
    if (settings->constraint && *settings->constraint)
        return kb_fail(error, KBASS_ERROR_ARGUMENT, "constraint: weights are not constrained for %s", what);
    if (settings->explain && *settings->explain && settings->method == KB_METHOD_PAPER)
        return kb_fail(error, KBASS_ERROR_ARGUMENT, "explain: terms are not explained for %s", what);
    if (settings->vary && *settings->vary && settings->method == KB_METHOD_PAPER)
        return kb_fail(error, KBASS_ERROR_ARGUMENT,
                       "vary: weights do not differ between runs for %s: discover each run alone "
                       "and compare their weights",
                       what);
    return KBASS_OK;
}

static kbass_status check_published(const kbass_data *data, const kbass_settings *settings, kbass_error *error)
{
    if (settings->input && *settings->input)
        return kb_fail(error, KBASS_ERROR_ARGUMENT, "input: the published method takes no inputs");
    if (kbass_data_runs(data) > 1)
        return kb_fail(error, KBASS_ERROR_ARGUMENT, "method: the published method takes one run, found %zu",
                       kbass_data_runs(data));
    if (data->sigma)
        return kb_fail(error, KBASS_ERROR_ARGUMENT, "sigma: error bars are not used for the published method");
    return check_plain(settings, data->n_axes, error);
}

/* Data whose answer the kernel engine gives itself. */
static kbass_status build_patches(kbass_discovery *d, kbass_error *error)
{
    kbass_status status = check_plain(&d->settings, d->data->n_axes, error);
    return status == KBASS_OK ? kb_pde_nd_problem_create(d->data, &d->settings, d->dictionary, &d->pde_nd, error)
                              : status;
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Median distance of different times, and the longest run. */
static kbass_status measure_times(const kbass_data *data, double *duration, double *spacing, kbass_error *error)
{
    double *steps = KB_NEW(double, data->n_rows);
    size_t n = 0;
    if (!steps) return kb_out_of_memory(error, "the constants");
    *duration = *spacing = 0;
    for (size_t run = 0; run < kbass_data_runs(data); run++) {
        const kbass_data own = kb_data_run(data, run);
        for (size_t i = 1; i < own.n_rows; i++)
            if (own.times[i] > own.times[i - 1]) steps[n++] = own.times[i] - own.times[i - 1];
        *duration = fmax(*duration, own.times[own.n_rows - 1] - own.times[0]);
    }
    qsort(steps, n, sizeof *steps, ascending);
    *spacing = n ? steps[n / 2] : *duration;
    kb_free(steps);
    return KBASS_OK;
}

/* Ranges of the constants of --family. */
static kbass_status measure_ranges(kbass_discovery *d, kbass_error *error)
{
    const kbass_data *data = d->data;
    size_t n = data->n_states;
    double *lowest = KB_NEW(double, 2 * n), *highest = lowest ? lowest + n : NULL;
    if (!lowest) return kb_out_of_memory(error, "the constants");
    kb_measured_ranges measured = {.lowest = lowest, .highest = highest};
    for (size_t i = 0; i < 2 * n; i++) lowest[i] = NAN;
    for (size_t i = 0; i < data->n_rows * n; i++) {
        lowest[i % n] = fmin(lowest[i % n], data->values[i]);
        highest[i % n] = fmax(highest[i % n], data->values[i]);
    }
    kbass_status status = measure_times(data, &measured.duration, &measured.spacing, error);
    if (status == KBASS_OK) status = kb_dictionary_set_family_ranges(d->dictionary, &measured, error);
    kb_free(lowest);
    return status;
}

/* Powers with unknown exponents of states that pass 0 are those of max(0,x). */
static kbass_status prepare_constants(kbass_discovery *d, kbass_error *error)
{
    const kbass_data *data = d->data;
    double values[KB_MOST_CONSTANTS];
    if (!d->dictionary->n_constants) return KBASS_OK;
    if (d->settings.method != KB_METHOD_KBASS || data->n_axes > 2 || d->dictionary->time_order > 1)
        return kb_fail(error, KBASS_ERROR_ARGUMENT,
                       "unknown: constants inside terms are for our method, states or fields over one space axis");
    kbass_status status = measure_ranges(d, error);
    if (status != KBASS_OK) return status;
    bool *passes = KB_NEW(bool, data->n_states);
    if (!passes) return kb_out_of_memory(error, "the constants");
    for (size_t i = 0; i < data->n_rows * data->n_states; i++)
        passes[i % data->n_states] = passes[i % data->n_states] || data->values[i] <= 0;
    for (size_t i = data->n_states - data->n_hidden; i < data->n_states; i++) passes[i] = true;
    status = kb_dictionary_guard_powers(d->dictionary, passes, &d->n_guarded, error);
    kb_free(passes);
    for (size_t i = 0; i < d->dictionary->n_constants; i++) values[i] = d->dictionary->constants[i].value;
    return status == KBASS_OK ? kb_dictionary_set_constants(d->dictionary, values, error) : status;
}

/* A field that is only followed would have to be known between its samples: the integrated equation has no such, the
   kernel engine does. */
static bool has_all_equations(const kb_dictionary *dictionary)
{
    for (size_t f = 0; f < dictionary->n_states; f++)
        if (!dictionary->has_equation[f]) return false;
    return true;
}

static kbass_status build_fields(kbass_discovery *d, kbass_error *error)
{
    kbass_status status =
        kb_dictionary_create_fields(&d->settings, d->data->n_states, (const char *const *)d->data->state_names,
                                    d->data->n_axes, (const char *const *)d->data->axis_names, &d->dictionary, error);
    if (status != KBASS_OK) return status;
    status = prepare_constants(d, error);
    if (status != KBASS_OK) return status;
    if (d->settings.method == KB_METHOD_PAPER)
        return kb_published_create(d->data, &d->settings, d->dictionary, &d->paper, error);
    if (d->data->n_axes == 2 && d->dictionary->time_order == 1 && d->settings.method != KB_METHOD_EM &&
        has_all_equations(d->dictionary))
        return kb_pde1d_problem_create(d->data, &d->settings, d->dictionary, &d->pde1d, error);
    return build_patches(d, error);
}

kbass_status kb_discovery_build(kbass_discovery *d, const kbass_data *data, const kbass_settings *given,
                                kbass_error *error)
{
    kbass_status status = kb_settings_copy(given, &d->settings, error);
    const kbass_settings *settings = &d->settings;
    if (status == KBASS_OK) status = kb_settings_check(settings, error);
    if (status == KBASS_OK && settings->method == KB_METHOD_PAPER) status = check_published(data, settings, error);
    if (status == KBASS_OK && settings->vary && *settings->vary && kbass_data_runs(data) < 2)
        status = kb_fail(error, KBASS_ERROR_ARGUMENT,
                         "vary: needed several runs (several files, or a column of run numbers), found one");
    if (status == KBASS_OK && settings->vary && *settings->vary && settings->constraint && *settings->constraint)
        status =
            kb_fail(error, KBASS_ERROR_ARGUMENT,
                    "vary: weights that differ between runs and --constraint do not go together: take one of them");
    if (status == KBASS_OK) status = kb_data_copy(data, &d->data, error);
    if (status == KBASS_OK) status = kb_doubts_refuse(d->data, error);
    if (status == KBASS_OK) status = kb_data_check(d->data, error);
    if (status == KBASS_OK) status = kb_validation_check(d->data, &d->settings, error);
    if (status == KBASS_OK) status = kb_data_check_scale(d->data, error);
    if (status == KBASS_OK) status = kb_column_units(d->data, &d->settings, error);
    if (status == KBASS_OK && d->data->n_axes > 1) return build_fields(d, error);
    if (status == KBASS_OK) status = kb_data_add_velocities(d->data, settings->lhs, error);
    if (status == KBASS_OK)
        status = kb_dictionary_create(&d->settings, d->data->n_states, (const char *const *)d->data->state_names,
                                      d->data->time_name, &d->dictionary, error);
    if (status == KBASS_OK && d->settings.method == KB_METHOD_EM)
        status = check_plain(&d->settings, d->data->n_axes, error);
    if (status == KBASS_OK) status = prepare_constants(d, error);
    if (status == KBASS_OK) status = kb_ode_problem_create(d->data, &d->settings, d->dictionary, &d->ode, error);
    if (status == KBASS_OK && d->settings.method == KB_METHOD_PAPER)
        status = kb_published_create(d->data, &d->settings, d->dictionary, &d->paper, error);
    return status;
}
