#include "simulate/model.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "base/status.h"
#include "dictionary/text.h"

void kb_model_destroy(kb_model *model)
{
    if (!model) return;
    for (size_t i = 0; model->names && i < model->n_states + 1 + model->inputs.n; i++) kb_free(model->names[i]);
    for (size_t i = 0; model->equations && i < model->n_states; i++) kb_free(model->equations[i]);
    for (size_t i = 0; model->rates && i < model->n_states; i++) kb_expression_destroy(model->rates[i]);
    kb_free(model->names);
    kb_free(model->equations);
    kb_free(model->rates);
    kb_free(model->initial);
    if (!model->borrows_inputs) kb_input_curves_clear(&model->inputs);
    kb_free(model);
}

/* ---------------------------------------------------------------- create */

static kbass_status allocate(size_t n_states, const kb_input_curves *inputs, kb_model **out, kbass_error *error)
{
    kb_model *model = *out = KB_NEW(kb_model, 1);
    if (!model) return kb_out_of_memory(error, "a model");
    model->n_states = n_states;
    model->first = model->last = NAN;
    model->borrows_inputs = true;
    if (inputs) model->inputs = *inputs;
    model->names = KB_NEW(char *, n_states + 1 + model->inputs.n);
    model->equations = KB_NEW(char *, n_states);
    model->rates = KB_NEW(kb_expression *, n_states);
    bool all = model->names && model->equations && model->rates;
    return all ? KBASS_OK : kb_out_of_memory(error, "a model");
}

static bool is_second_order(const char *name, size_t length) { return length > 3 && !strcmp(name + length - 3, "_tt"); }

/* The state of "x_t = ..." or, x_t itself, of "x_tt = ...", in place of the equation's copy; NULL when the left-hand
   side is neither. */
static char *state_of(char *equation)
{
    equation[strcspn(equation, "=")] = '\0';
    char *name = kb_trim(equation);
    size_t length = strlen(name);
    if (is_second_order(name, length)) {
        name[length - 1] = '\0';
        return kb_is_identifier(name) ? name : NULL;
    }
    if (length < 3 || strcmp(name + length - 2, "_t") != 0) return NULL;
    name[length - 2] = '\0';
    return kb_is_identifier(name) ? name : NULL;
}

static kbass_status read_left(kb_model *model, size_t index, const char *equation, kbass_error *error)
{
    while (kb_is_blank(*equation)) equation++;
    if (!strchr(equation, '='))
        return kb_fail_at(error, equation, strlen(equation) + 1,
                          "\"%.100s\" has no \"=\": an equation is written x_t = y", equation);
    char *left = kb_strdup(equation);
    if (!left) return kb_out_of_memory(error, "an equation");
    const char *name = state_of(left);
    kbass_status status = KBASS_OK;
    if (!name)
        status = kb_fail_at(error, equation, 1,
                            "\"%.100s\" does not begin with a state's time derivative, such as x_t =", equation);
    else if (!(model->names[index] = kb_strdup(name)) || !(model->equations[index] = kb_strdup(equation)))
        status = kb_out_of_memory(error, "an equation");
    else kb_trim(model->equations[index]);
    kb_free(left);
    return status;
}

static kbass_status check_names(const kb_model *model, kbass_error *error)
{
    for (size_t i = 0; i < model->n_states; i++) {
        const char *name = model->names[i];
        if (strcmp(name, model->names[model->n_states]) == 0)
            return kb_fail_at(error, model->equations[i], 1, "\"%s\" is time and cannot be a state", name);
        for (size_t k = 0; k < i; k++)
            if (strcmp(name, model->names[k]) == 0)
                return kb_fail_at(error, model->equations[i], 1,
                                  "two equations for the state \"%s\": \"%.80s\" and \"%.80s\"", name,
                                  model->equations[k], model->equations[i]);
    }
    return KBASS_OK;
}

static kbass_status read_right(kb_model *model, size_t index, kbass_error *error)
{
    kb_variables variables = {model->n_states + 1 + model->inputs.n, (const char *const *)model->names};
    const char *right = strchr(model->equations[index], '=') + 1;
    right += strspn(right, " \t");
    kbass_status status = kb_expression_parse(right, variables, &model->rates[index], error);
    if (status == KBASS_ERROR_SYNTAX && error) {
        size_t length = strlen(error->message);
        if (strncmp(error->message, "unknown name", 12) == 0)
            snprintf(error->message + length, sizeof error->message - length, "; every state needs an equation");
        kb_error_prefix(error, "the equation of %s: ", model->names[index]);
    }
    if (status != KBASS_OK) return status;
    size_t work = kb_expression_work(model->rates[index], 1);
    if (work > model->n_work) model->n_work = work;
    return KBASS_OK;
}

/* The state's equation is among them. */
static bool has_equation(size_t n, const char *const *equations, const char *state)
{
    for (size_t i = 0; i < n; i++) {
        const char *text = equations[i] + strspn(equations[i], " \t\n");
        size_t length = strcspn(text, "= \t\n");
        if (length == strlen(state) + 2 && !strncmp(text, state, length - 2) && !strncmp(text + length - 2, "_t", 2))
            return true;
    }
    return false;
}

/* "x_t = x_t" where x_tt = ... is given alone; NULL otherwise. The caller owns it. */
static kbass_status write_definition(size_t n, const char *const *equations, size_t i, char **out, kbass_error *error)
{
    const char *text = equations[i] + strspn(equations[i], " \t\n");
    size_t length = strcspn(text, "= \t\n");
    char *name = KB_NEW(char, length + 1), *definition = KB_NEW(char, 2 * length + 8);
    if (!name || !definition) {
        kb_free(name);
        kb_free(definition);
        return kb_out_of_memory(error, "a model");
    }
    memcpy(name, text, length);
    bool is_needed = is_second_order(name, length);
    if (is_needed) {
        name[length - 3] = '\0';
        is_needed = !has_equation(n, equations, name);
        sprintf(definition, "%s_t = %s_t", name, name);
    }
    kb_free(name);
    if (is_needed) *out = definition;
    else kb_free(definition);
    return KBASS_OK;
}

static kbass_status copy_input_names(kb_model *model, kbass_error *error)
{
    for (size_t i = 0; i < model->inputs.n; i++)
        if (!(model->names[model->n_states + 1 + i] = kb_strdup(model->inputs.names[i])))
            return kb_out_of_memory(error, "a model");
    return KBASS_OK;
}

static kbass_status create(size_t n_equations, const char *const *equations, const char *time_name,
                           const kb_input_curves *inputs, kb_model **out, kbass_error *error)
{
    kb_model *model = NULL;
    kbass_status status = allocate(n_equations, inputs, &model, error);
    for (size_t i = 0; i < n_equations && status == KBASS_OK; i++) status = read_left(model, i, equations[i], error);
    if (status == KBASS_OK && !(model->names[n_equations] = kb_strdup(time_name)))
        status = kb_out_of_memory(error, "a model");
    if (status == KBASS_OK) status = copy_input_names(model, error);
    if (status == KBASS_OK) status = check_names(model, error);
    for (size_t i = 0; i < n_equations && status == KBASS_OK; i++) status = read_right(model, i, error);

    if (status == KBASS_OK) *out = model;
    else kb_model_destroy(model);
    return status;
}

kbass_status kb_model_create(size_t n_equations, const char *const *equations, const char *time_name,
                             const kb_input_curves *inputs, kb_model **out, kbass_error *error)
{
    if (!n_equations)
        return kb_fail(error, KBASS_ERROR_ARGUMENT, "a model needs at least one equation, such as x_t = -x");
    char **definitions = KB_NEW(char *, n_equations);
    const char **all = KB_NEW(const char *, 2 * n_equations);
    size_t n = 0;
    kbass_status status = definitions && all ? KBASS_OK : kb_out_of_memory(error, "a model");
    for (size_t i = 0; i < n_equations && status == KBASS_OK; i++) {
        status = write_definition(n_equations, equations, i, &definitions[i], error);
        if (definitions[i]) all[n++] = definitions[i];
        all[n++] = equations[i];
    }
    if (status == KBASS_OK) status = create(n, all, time_name, inputs, out, error);
    for (size_t i = 0; definitions && i < n_equations; i++) kb_free(definitions[i]);
    kb_free(definitions);
    kb_free(all);
    return status;
}

kbass_status kb_model_start(kb_model *model, const double *initial, double first, double last, kbass_error *error)
{
    model->initial = KB_NEW(double, model->n_states);
    if (!model->initial) return kb_out_of_memory(error, "a model");
    memcpy(model->initial, initial, model->n_states * sizeof *initial);
    model->first = first;
    model->last = last;
    return KBASS_OK;
}

/* ---------------------------------------------------------------- inputs */

kbass_status kb_model_own_inputs(kb_model *model, kbass_error *error)
{
    kb_input_curves own = {0};
    if (!model->borrows_inputs) return KBASS_OK;
    kbass_status status = kb_input_curves_copy(&model->inputs, &own, error);
    if (status != KBASS_OK) return status;
    model->inputs = own;
    model->borrows_inputs = false;
    return KBASS_OK;
}

kbass_status kb_model_set_inputs(kb_model *model, const kbass_data *data, size_t run, kbass_error *error)
{
    kbass_status status = run < kbass_data_runs(data)
                              ? kb_model_own_inputs(model, error)
                              : kb_fail(error, KBASS_ERROR_ARGUMENT, "there is no run %zu", run);
    return status == KBASS_OK ? kb_input_curves_take(&model->inputs, data, run, NAN, error) : status;
}

/* The columns that are no states are inputs. */
static kbass_status name_inputs(size_t n_equations, const char *const *equations, const kbass_data *data, bool hold,
                                kb_input_curves *out, kbass_error *error)
{
    kbass_status status = kb_input_curves_allocate(data->n_states, out, error);
    if (status != KBASS_OK) return status;
    out->n = 0;
    for (size_t i = 0; i < data->n_states; i++) {
        if (has_equation(n_equations, equations, data->state_names[i])) continue;
        out->curves[out->n].is_held = hold;
        if (!(out->names[out->n++] = kb_strdup(data->state_names[i]))) status = kb_out_of_memory(error, "the inputs");
    }
    if (status != KBASS_OK) kb_input_curves_clear(out);
    return status;
}

kbass_status kb_model_parse(size_t n_equations, const char *const *equations, const kbass_data *data, bool hold,
                            kb_model **out, kbass_error *error)
{
    kb_input_curves curves = {0};
    kb_model *model = NULL;
    if (!data) return kb_model_create(n_equations, equations, "t", NULL, out, error);
    kbass_status status = name_inputs(n_equations, equations, data, hold, &curves, error);
    if (status == KBASS_OK) status = kb_model_create(n_equations, equations, data->time_name, &curves, &model, error);
    if (status == KBASS_OK) status = kb_model_set_inputs(model, data, 0, error);
    kb_input_curves_clear(&curves);
    if (status == KBASS_OK) *out = model;
    else kb_model_destroy(model);
    return status;
}

kbass_status kb_model_rates(const kb_model *model, size_t n_points, const double *times, const double *states,
                            double *rates, kbass_error *error)
{
    size_t n = model->n_states;
    double *x = KB_NEW(double, n + 1 + model->inputs.n), *work = KB_NEW(double, model->n_work);
    kbass_status status = x && work ? KBASS_OK : kb_out_of_memory(error, "the right-hand sides");
    for (size_t i = 0; status == KBASS_OK && i < model->inputs.n; i++)
        if (!model->inputs.curves[i].n) status = kb_input_curves_check(&model->inputs, model->names[n], 0, 0, error);
    for (size_t point = 0; status == KBASS_OK && point < n_points; point++) {
        memcpy(x, states + point * n, n * sizeof *x);
        x[n] = times ? times[point] : 0;
        kb_input_curves_at(&model->inputs, x[n], x[n], x + n + 1);
        for (size_t i = 0; i < n; i++) kb_expression_values(model->rates[i], 1, x, 1, &rates[point * n + i], work);
    }
    kb_free(x);
    kb_free(work);
    return status;
}
