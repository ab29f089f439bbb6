/* The public models: of states over time, or of fields over time and space. */
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "dictionary/text.h"
#include "base/status.h"
#include "simulate/model.h"
#include "simulate/pde.h"
#include "simulate/result_file.h"

struct kbass_model {
    kb_model *states; /* one of the two, */
    kb_pde *fields;   /* the other is NULL */
    kbass_axis time;  /* of states */
};

static kbass_status wrong_kind(const char *what, const char *needed, kbass_error *error)
{
    return kb_fail(error, KBASS_ERROR_ARGUMENT, "%s: needed a model of %s", what, needed);
}

static kbass_status for_fields(const kbass_model *model, const char *what, kbass_error *error)
{
    return model->fields ? KBASS_OK : wrong_kind(what, "fields over space", error);
}

static kbass_status for_states(const kbass_model *model, const char *what, kbass_error *error)
{
    return model->states ? KBASS_OK : wrong_kind(what, "states over time", error);
}

/* ---------------------------------------------------------------- where they come from */

/* Takes what was made over, also when it fails. */
static kbass_status hand_over(kbass_status status, kb_model *states, kb_pde *fields, kbass_model **out,
                              kbass_error *error)
{
    kbass_model *model = status == KBASS_OK ? KB_NEW(kbass_model, 1) : NULL;
    if (status == KBASS_OK && !model) status = kb_out_of_memory(error, "a model");
    if (status != KBASS_OK) {
        kb_model_destroy(states);
        kb_pde_destroy(fields);
        return status;
    }
    *model = (kbass_model){.states = states, .fields = fields};
    if (states)
        model->time = (kbass_axis){.name = states->names[states->n_states],
                                   .low = states->first,
                                   .high = states->last,
                                   .first = states->first,
                                   .last = states->last};
    *out = model;
    return KBASS_OK;
}

static size_t n_systems(void)
{
    size_t n = 0;
    while (kb_model_name(n)) n++;
    return n;
}

const char *kbass_model_name(size_t index)
{
    size_t n = n_systems();
    return index < n ? kb_model_name(index) : kb_pde_name(index - n);
}

const char *kbass_model_summary(size_t index)
{
    size_t n = n_systems();
    return index < n ? kb_model_summary(index) : kb_pde_summary(index - n);
}

enum { MOST_NAMES = 64 };

static kbass_status unknown_name(const char *name, kbass_error *error)
{
    const char *names[MOST_NAMES];
    char advice[300];
    size_t n = 0;
    for (; n < MOST_NAMES && kbass_model_name(n); n++) names[n] = kbass_model_name(n);
    kb_name_advice(name, n, names, advice, sizeof advice);
    return kb_fail(error, KBASS_ERROR_ARGUMENT, "unknown system \"%.60s\"%s", name, advice);
}

kbass_status kbass_model_named(const char *name, kbass_model **out, kbass_error *error)
{
    kb_model *states = NULL;
    kb_pde *fields = NULL;
    kbass_status status = kb_model_named(name, &states, error);
    if (status == KBASS_OK && !states) status = kb_pde_named(name, &fields, error);
    if (status == KBASS_OK && !states && !fields) status = unknown_name(name, error);
    return hand_over(status, states, fields, out, error);
}

kbass_status kbass_model_parse(size_t n_equations, const char *const *equations, const kbass_model_options *options,
                               kbass_model **out, kbass_error *error)
{
    const kbass_model_options none = {0}, *o = options ? options : &none;
    kb_model *states = NULL;
    kb_pde *fields = NULL;
    kbass_status status = o->domain
                              ? kb_pde_parse(n_equations, equations, o->domain, o->initial, o->boundary, &fields, error)
                              : kb_model_parse(n_equations, equations, o->inputs, o->hold != 0, &states, error);
    return hand_over(status, states, fields, out, error);
}

kbass_status kbass_model_from_result(const char *result, kbass_model **out, kbass_error *error)
{
    json_t *root = NULL;
    kb_model *states = NULL;
    kb_pde *fields = NULL;
    const char *path = kb_result_name(result);
    kbass_status status = kb_result_file_load(result, &root, error);
    if (status == KBASS_OK)
        status = kb_result_file_axes(root) > 1 ? kb_pde_from_result(path, root, &fields, error)
                                               : kb_model_from_result(path, root, &states, error);
    json_decref(root);
    return hand_over(status, states, fields, out, error);
}

void kbass_model_destroy(kbass_model *model)
{
    if (!model) return;
    kb_model_destroy(model->states);
    kb_pde_destroy(model->fields);
    kb_free(model);
}

/* ---------------------------------------------------------------- what they are */

size_t kbass_model_states(const kbass_model *model)
{
    return model->states ? model->states->n_states : model->fields->n_fields;
}

const char *kbass_model_state_name(const kbass_model *model, size_t state)
{
    if (state >= kbass_model_states(model)) return NULL;
    return model->states ? model->states->names[state] : model->fields->names[state];
}

const char *kbass_model_equation(const kbass_model *model, size_t state)
{
    if (state >= kbass_model_states(model)) return NULL;
    return model->states ? model->states->equations[state] : model->fields->equations[state];
}

size_t kbass_model_axes(const kbass_model *model) { return model->fields ? model->fields->n_axes : 1; }

const kbass_axis *kbass_model_axis(const kbass_model *model, size_t axis)
{
    if (axis >= kbass_model_axes(model)) return NULL;
    return model->fields ? &model->fields->axes[axis] : &model->time;
}

const double *kbass_model_initial(const kbass_model *model) { return model->states ? model->states->initial : NULL; }

const char *kbass_model_input_name(const kbass_model *model, size_t input)
{
    return model->states && input < model->states->inputs.n ? model->states->inputs.names[input] : NULL;
}

kbass_status kbass_model_set_inputs(kbass_model *model, const kbass_data *data, size_t run, kbass_error *error)
{
    kbass_status status = for_states(model, "inputs", error);
    return status == KBASS_OK ? kb_model_set_inputs(model->states, data, run, error) : status;
}

/* ---------------------------------------------------------------- of states */

kbass_status kbass_model_integrate(const kbass_model *model, double start, const double *initial, size_t n_times,
                                   const double *times, double *states, kbass_error *error)
{
    kbass_status status = for_states(model, "integration from a state", error);
    return status == KBASS_OK ? kb_model_integrate(model->states, start, initial, n_times, times, states, error)
                              : status;
}

kbass_status kbass_model_rates(const kbass_model *model, size_t n_points, const double *times, const double *states,
                               double *rates, kbass_error *error)
{
    kbass_status status = for_states(model, "right-hand sides at a state", error);
    return status == KBASS_OK ? kb_model_rates(model->states, n_points, times, states, rates, error) : status;
}

/* ---------------------------------------------------------------- of fields */

kbass_status kbass_model_within(kbass_model *model, const char *ranges, kbass_error *error)
{
    kbass_status status = for_fields(model, "a part of the domain", error);
    return status == KBASS_OK ? kb_pde_within(model->fields, ranges, error) : status;
}

kbass_status kbass_model_sample(const kbass_model *model, size_t n_points, const double *points, double *values,
                                kbass_error *error)
{
    kbass_status status = for_fields(model, "samples at points", error);
    return status == KBASS_OK ? kb_pde_sample(model->fields, n_points, points, values, error) : status;
}

kbass_status kbass_model_grid(const kbass_model *model, const size_t *counts, kbass_data **data, kbass_error *error)
{
    kbass_status status = for_fields(model, "samples on a grid", error);
    return status == KBASS_OK ? kb_pde_grid(model->fields, counts, data, error) : status;
}

kbass_status kbass_model_scattered(const kbass_model *model, size_t n_points, uint64_t seed, kbass_data **data,
                                   kbass_error *error)
{
    kbass_status status = for_fields(model, "scattered samples", error);
    return status == KBASS_OK ? kb_pde_scattered(model->fields, n_points, seed, data, error) : status;
}

kbass_status kbass_model_write(const kbass_model *model, const size_t *counts, double noise_percent, uint64_t seed,
                               const char *path, kbass_error *error)
{
    kbass_status status = for_fields(model, "a grid in a file", error);
    return status == KBASS_OK ? kb_pde_write(model->fields, counts, noise_percent, seed, path, error) : status;
}
