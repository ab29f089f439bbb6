#include "gp/inputs.h"

#include <math.h>

#include "base/memory.h"
#include "base/status.h"

kbass_status kb_inputs_gather(const kbass_data *data, size_t run, size_t state, double *times, double *values,
                              size_t *n, kbass_error *error)
{
    *n = 0;
    for (size_t row = kb_data_run_start(data, run); row < kb_data_run_start(data, run + 1); row++) {
        double value = data->values[row * data->n_states + state], time = data->times[row];
        if (isnan(value)) continue;
        if (*n && time == times[*n - 1]) {
            if (value == values[*n - 1]) continue;
            return kb_fail(error, KBASS_ERROR_DATA, "input: \"%s\" has two values at %s = %g: %g and %g",
                           data->state_names[state], data->time_name, time, values[*n - 1], value);
        }
        times[*n] = time;
        values[(*n)++] = value;
    }
    return KBASS_OK;
}

/* Times at which something else was measured lie within those of the input. */
static kbass_status check_reach(const kbass_data *data, size_t run, size_t state, size_t n, const double *times,
                                kbass_error *error)
{
    size_t first = kb_data_run_start(data, run), last = kb_data_run_start(data, run + 1) - 1;
    const char *in = data->n_runs ? " in run " : "", *name = data->n_runs ? data->run_names[run] : "";
    if (n < 2)
        return kb_fail(error, KBASS_ERROR_DATA, "input: \"%s\" has %zu value%s%s%s, at least 2 are needed",
                       data->state_names[state], n, n == 1 ? "" : "s", in, name);
    if (times[0] == data->times[first] && times[n - 1] == data->times[last]) return KBASS_OK;
    return kb_fail(
        error, KBASS_ERROR_DATA,
        "input: \"%s\" is known from %s = %g to %g%s%s, and the record goes from %g to %g: it has to be known "
        "throughout",
        data->state_names[state], data->time_name, times[0], times[n - 1], in, name, data->times[first],
        data->times[last]);
}

kbass_status kb_inputs_create(const kbass_data *data, const bool *is_input, bool is_held, kb_inputs **out,
                              kbass_error *error)
{
    kb_inputs *inputs = KB_NEW(kb_inputs, 1);
    double *times = KB_NEW(double, data->n_rows), *values = KB_NEW(double, data->n_rows);
    size_t runs = kbass_data_runs(data), states = data->n_states, n = 0;
    if (inputs) inputs->curves = KB_NEW(kb_curve, states * runs);
    bool there = inputs && inputs->curves && times && values;
    kbass_status status = there ? KBASS_OK : kb_out_of_memory(error, "the inputs");
    if (inputs) *inputs = (kb_inputs){states, runs, inputs->curves};
    for (size_t i = 0; status == KBASS_OK && i < states * runs; i++) {
        size_t run = i / states, state = i % states;
        if (!is_input[state]) continue;
        status = kb_inputs_gather(data, run, state, times, values, &n, error);
        if (status == KBASS_OK) status = check_reach(data, run, state, n, times, error);
        if (status == KBASS_OK && !kb_curve_create(n, times, values, is_held, &inputs->curves[i]))
            status = kb_out_of_memory(error, "the inputs");
    }
    kb_free(times);
    kb_free(values);
    if (status == KBASS_OK) *out = inputs;
    else kb_inputs_destroy(inputs);
    return status;
}

void kb_inputs_set_delays(kb_inputs *inputs, const double *delays)
{
    for (size_t i = 0; i < inputs->n_states * inputs->n_runs; i++)
        inputs->curves[i].delay = delays[i % inputs->n_states];
}

void kb_inputs_destroy(kb_inputs *inputs)
{
    if (!inputs) return;
    for (size_t i = 0; inputs->curves && i < inputs->n_states * inputs->n_runs; i++) kb_curve_clear(&inputs->curves[i]);
    kb_free(inputs->curves);
    kb_free(inputs);
}
