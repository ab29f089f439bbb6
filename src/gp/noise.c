#include "gp/noise.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/status.h"

/* The state of "x = ..."; moves the text behind the sign. n_states when no state is named. */
static kbass_status read_state(const kbass_data *data, const char **text, size_t *state, kbass_error *error)
{
    const char *name = *text + strspn(*text, " "), *end = *text + strcspn(*text, "=,");
    *state = data->n_states;
    if (*end != '=') return KBASS_OK;
    *text = end + 1;
    while (end > name && end[-1] == ' ') end--;
    size_t length = (size_t)(end - name);
    for (*state = 0; *state < data->n_states; ++*state) {
        const char *known = data->state_names[*state];
        if (strlen(known) == length && !strncmp(known, name, length)) return KBASS_OK;
    }
    return kb_fail(error, KBASS_ERROR_ARGUMENT, "noise: there is no %s \"%.*s\"", data->n_axes > 1 ? "field" : "state",
                   (int)length, name);
}

/* Each state once, and once what all others have. */
static kbass_status read_list(const kbass_data *data, const char *noise, const double *sd, double *variance,
                              bool *is_given, kbass_error *error)
{
    for (const char *rest = noise; *rest;) {
        size_t only = 0;
        char *end = NULL;
        kbass_status status = read_state(data, &rest, &only, error);
        if (status != KBASS_OK) return status;
        if (is_given[only])
            return kb_fail(error, KBASS_ERROR_ARGUMENT, "noise: found %s%s twice in \"%.100s\"",
                           only < data->n_states ? "that of " : "a number for all states",
                           only < data->n_states ? data->state_names[only] : "", noise);
        is_given[only] = true;
        double known = strtod(rest, &end);
        if (end == rest || !(known > 0) || !isfinite(known))
            return kb_fail(error, KBASS_ERROR_ARGUMENT,
                           "noise: \"%s\" is not a standard deviation above 0 (0.1, 5%%, or x=0.1, y=2%%)", noise);
        bool is_share = *end == '%';
        for (size_t i = 0; i < data->n_states; i++)
            if (only == data->n_states || only == i) variance[i] = pow(is_share ? known / 100 : known / sd[i], 2);
        rest = end + is_share;
        rest += strspn(rest, " ,");
    }
    return KBASS_OK;
}

kbass_status kb_noise_read(const kbass_data *data, const char *noise, const double *sd, double *variance,
                           kbass_error *error)
{
    bool *is_given = KB_NEW(bool, data->n_states + 1);
    kbass_status status =
        is_given ? read_list(data, noise, sd, variance, is_given, error) : kb_out_of_memory(error, "the noise");
    kb_free(is_given);
    return status;
}

static kbass_status read_relative(const kbass_data *data, const char *noise, const double *mean, const double *sd,
                                  double *variance, kbass_error *error)
{
    double *unit = KB_NEW(double, data->n_states);
    if (!unit) return kb_out_of_memory(error, "the noise");
    for (size_t i = 0; i < data->n_states; i++) unit[i] = 1;
    kbass_status status = kb_noise_read(data, noise, unit, variance, error);
    for (size_t i = 0; i < data->n_states; i++) variance[i] *= 1 + mean[i] * mean[i] / (sd[i] * sd[i]);
    kb_free(unit);
    return status;
}

static kbass_status check_positive(const kbass_data *data, const bool *has_equation, kbass_error *error)
{
    for (size_t row = 0; row < data->n_rows; row++)
        for (size_t i = 0; i < data->n_states; i++) {
            double value = data->values[row * data->n_states + i];
            if (has_equation[i] && value <= 0)
                return kb_fail(error, KBASS_ERROR_DATA,
                               "noise-model log needs positive values, found %s = %g at %s = %g "
                               "(--noise-model multiplicative allows any)",
                               data->state_names[i], value, data->time_name, data->times[row]);
        }
    return KBASS_OK;
}

kbass_status kb_noise_read_model(const kbass_data *data, const kbass_settings *settings, const bool *has_equation,
                                 const double *mean, const double *sd, kb_noise_model *model, double *variance,
                                 kbass_error *error)
{
    kbass_status status = KBASS_OK;
    *model = (kb_noise_model)settings->noise_model;
    if (data->sigma && (*model != KB_NOISE_ADDITIVE || (settings->noise && *settings->noise)))
        return kb_fail(error, KBASS_ERROR_ARGUMENT, "%s: the data have error bars, which say how large their noise is",
                       *model != KB_NOISE_ADDITIVE ? "noise-model" : "noise");
    if (*model == KB_NOISE_ADDITIVE) return KBASS_OK;
    if (*model == KB_NOISE_LOG) status = check_positive(data, has_equation, error);
    if (status == KBASS_OK && settings->noise) status = read_relative(data, settings->noise, mean, sd, variance, error);
    return status;
}

double kb_noise_reference(const kbass_data *data, size_t state)
{
    double n = 0, precision = 0;
    for (size_t row = 0; data->sigma && row < data->n_rows; row++) {
        double sigma = data->sigma[row * data->n_states + state];
        if (isnan(data->values[row * data->n_states + state]) || isnan(sigma)) continue;
        n++;
        precision += 1 / (sigma * sigma);
    }
    return n > 0 ? n / precision : 0;
}
