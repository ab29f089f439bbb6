/* Models from result files: the JSON that src/report/json.c writes and docs/schema.md describes. */
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "base/number.h"
#include "base/status.h"
#include "dictionary/text.h"
#include "simulate/model.h"
#include "simulate/pde.h"
#include "simulate/result_file.h"
#include "simulate/result_rows.h"

typedef struct {
    const char *path;
    json_t *root;
    char **equations;
    size_t n_equations;
    double *initial;
    kb_input_curves inputs;
    kbass_error *error;
} result_file;

static kbass_status wrong_field(const result_file *file, const char *field, const char *needed)
{
    return kb_result_file_wrong(file->path, field, needed, file->error);
}

/* ---------------------------------------------------------------- equations */

/* Appends " + weight*term"; `end` has room for it. */
static char *append_term(char *end, bool first, double weight, const char *term)
{
    char number[KB_NUMBER_SIZE];
    kb_number_print(fabs(weight), number);
    const char *sign = first ? (weight < 0 ? " -" : " ") : weight < 0 ? " - " : " + ";
    return end + sprintf(end, kb_is_sum(term) ? "%s%s*(%s)" : "%s%s*%s", sign, number, term);
}

/* The selected terms as "x_t = 1.02*y - 0.5*x^2". */
static kbass_status write_equation(result_file *file, json_t *item, size_t equation)
{
    json_t *terms = json_object_get(item, "terms");
    size_t room = json_string_length(json_object_get(item, "lhs")) + 8;
    for (size_t i = 0; i < json_array_size(terms); i++)
        room += json_string_length(json_object_get(json_array_get(terms, i), "term")) + KB_NUMBER_SIZE + 8;
    char *text = file->equations[equation] = KB_NEW(char, room);
    if (!text) return kb_out_of_memory(file->error, file->path);

    char *start = text + sprintf(text, "%s =", json_string_value(json_object_get(item, "lhs"))), *end = start;
    for (size_t i = 0; i < json_array_size(terms); i++) {
        json_t *term = json_array_get(terms, i);
        if (!json_is_true(json_object_get(term, "selected"))) continue;
        end = append_term(end, end == start, json_number_value(json_object_get(term, "weight")),
                          json_string_value(json_object_get(term, "term")));
    }
    if (end == start) strcpy(start, " 0");
    return KBASS_OK;
}

static kbass_status write_equations(result_file *file)
{
    json_t *list = json_object_get(file->root, "equations");
    kbass_status status = KBASS_OK;
    file->equations = KB_NEW(char *, json_array_size(list));
    if (!file->equations) return kb_out_of_memory(file->error, file->path);
    file->n_equations = json_array_size(list);
    for (size_t i = 0; i < file->n_equations && status == KBASS_OK; i++)
        status = write_equation(file, json_array_get(list, i), i);
    return status;
}

/* ---------------------------------------------------------------- where it starts */

static kbass_status read_initial(result_file *file, const kb_model *model)
{
    char field[128];
    json_t *initial = json_object_get(file->root, "initial");
    file->initial = KB_NEW(double, model->n_states);
    if (!file->initial) return kb_out_of_memory(file->error, file->path);
    for (size_t i = 0; i < model->n_states; i++) {
        json_t *value = json_object_get(initial, model->names[i]);
        snprintf(field, sizeof field, "initial.%s", model->names[i]);
        if (!json_is_number(value)) return wrong_field(file, field, "a number");
        file->initial[i] = json_number_value(value);
    }
    return KBASS_OK;
}

/* Without a posterior (--method em, --equation-for) the inputs have names alone: somebody has to say what they are. */
static kbass_status name_inputs(result_file *file, json_t *settings)
{
    const char *names = json_string_value(json_object_get(settings, "input"));
    const char *delay = json_string_value(json_object_get(settings, "input_delay"));
    char *copy = names && *names ? kb_strdup(names) : NULL, *rest = copy;
    if (!names || !*names) return KBASS_OK;
    if (delay && *delay) {
        kb_free(copy);
        return wrong_field(file, "posterior", "the delay of the inputs, which it has not");
    }
    kbass_status status = copy ? kb_input_curves_allocate(strlen(names), &file->inputs, file->error)
                               : kb_out_of_memory(file->error, file->path);
    if (status == KBASS_OK) file->inputs.n = 0;
    for (char *name; status == KBASS_OK && (name = kb_piece_next(&rest, ','));) {
        file->inputs.curves[file->inputs.n].is_held = json_is_true(json_object_get(settings, "input_hold"));
        if (!(file->inputs.names[file->inputs.n++] = kb_strdup(name)))
            status = kb_out_of_memory(file->error, file->path);
    }
    kb_free(copy);
    return status;
}

/* Of several runs those of the first, where the solution starts. */
static kbass_status read_inputs(result_file *file)
{
    json_t *posterior = json_object_get(file->root, "posterior");
    json_t *first = json_array_get(json_object_get(file->root, "run_posteriors"), 0);
    json_t *list = json_object_get(first ? first : posterior, "inputs");
    if (!json_array_size(list)) return name_inputs(file, json_object_get(file->root, "settings"));
    return kb_result_file_inputs(file->path, first ? "run_posteriors[0]" : "posterior", list, &file->inputs,
                                 file->error);
}

static kbass_status create_model(result_file *file, kb_model **model)
{
    const char *time_name = json_string_value(json_object_get(json_object_get(file->root, "data"), "time_name"));
    if (!time_name) return wrong_field(file, "data.time_name", "text");
    kbass_status status = kb_model_create(file->n_equations, (const char *const *)file->equations, time_name,
                                          &file->inputs, model, file->error);
    if (status == KBASS_ERROR_SYNTAX) kb_error_prefix(file->error, "%s: ", file->path);
    return status;
}

static void close_file(result_file *file)
{
    for (size_t i = 0; i < file->n_equations; i++) kb_free(file->equations[i]);
    kb_free(file->equations);
    kb_free(file->initial);
    kb_input_curves_clear(&file->inputs);
}

/* ---------------------------------------------------------------- fields over space */

/* "x=0:6.28, t=0:3": one period of the axis, the times that were measured. */
static kbass_status write_domain(const result_file *file, char *text, size_t size)
{
    json_t *data = json_object_get(file->root, "data"), *axes = json_object_get(data, "axes");
    double first = NAN, last = NAN, period = json_number_value(json_object_get(file->root, "period"));
    const char *axis = json_string_value(json_array_get(axes, 1)), *time = json_string_value(json_array_get(axes, 0));
    json_t *low = axis ? json_array_get(json_object_get(json_object_get(data, "span"), axis), 0) : NULL;
    char numbers[4][KB_NUMBER_SIZE];
    kbass_status status = kb_result_file_number(file->path, file->root, "first_time", &first, file->error);
    if (status == KBASS_OK) status = kb_result_file_number(file->path, file->root, "last_time", &last, file->error);
    if (status != KBASS_OK) return status;
    if (!time || !json_is_number(low)) return wrong_field(file, "data.span", "numbers by axis");
    const double ends[] = {json_number_value(low), json_number_value(low) + period, first, last};
    for (size_t i = 0; i < 4; i++) kb_number_print(ends[i], numbers[i]);
    snprintf(text, size, "%s=%s:%s, %s=%s:%s", axis, numbers[0], numbers[1], time, numbers[2], numbers[3]);
    return KBASS_OK;
}

/* "u=...; v=..." */
static kbass_status write_profiles(const result_file *file, char **out)
{
    json_t *initial = json_object_get(file->root, "initial"), *value = NULL;
    const char *name = NULL;
    size_t size = 1, used = 0;
    json_object_foreach(initial, name, value)
    {
        if (!json_is_string(value)) return wrong_field(file, "initial", "text by field");
        size += strlen(name) + json_string_length(value) + 4;
    }
    *out = KB_NEW(char, size);
    if (!*out) return kb_out_of_memory(file->error, file->path);
    json_object_foreach(initial, name, value) used +=
        (size_t)snprintf(*out + used, size - used, "%s%s=%s", used ? "; " : "", name, json_string_value(value));
    return KBASS_OK;
}

/* From a periodic profile, written as an expression. */
static kbass_status from_profiles(const result_file *file, kb_pde **pde)
{
    char domain[300], *profiles = NULL;
    kbass_status status = write_domain(file, domain, sizeof domain);
    if (status == KBASS_OK) status = write_profiles(file, &profiles);
    if (status == KBASS_OK) {
        status = kb_pde_parse(file->n_equations, (const char *const *)file->equations, domain, profiles, "periodic",
                              pde, file->error);
        if (status != KBASS_OK) kb_error_prefix(file->error, "%s: ", file->path);
    }
    kb_free(profiles);
    return status;
}

kbass_status kb_pde_from_result(const char *path, json_t *root, kb_pde **pde, kbass_error *error)
{
    result_file file = {.path = path, .root = root, .error = error};
    kbass_status status = write_equations(&file);
    if (status == KBASS_OK)
        status = json_is_number(json_object_get(root, "period"))
                     ? from_profiles(&file, pde)
                     : kb_result_rows(path, root, file.n_equations, (const char *const *)file.equations, pde, error);
    close_file(&file);
    return status;
}

/* ---------------------------------------------------------------- states over time */

kbass_status kb_model_from_result(const char *path, json_t *root, kb_model **out, kbass_error *error)
{
    result_file file = {.path = path, .root = root, .error = error};
    kb_model *model = NULL;
    double first = NAN, last = NAN;

    kbass_status status = write_equations(&file);
    if (status == KBASS_OK) status = read_inputs(&file);
    if (status == KBASS_OK) status = create_model(&file, &model);
    if (status == KBASS_OK) status = kb_model_own_inputs(model, error);
    if (status == KBASS_OK) status = read_initial(&file, model);
    if (status == KBASS_OK) status = kb_result_file_number(path, root, "first_time", &first, error);
    if (status == KBASS_OK) status = kb_result_file_number(path, root, "last_time", &last, error);
    if (status == KBASS_OK) status = kb_model_start(model, file.initial, first, last, error);

    if (status == KBASS_OK) *out = model;
    else kb_model_destroy(model);
    close_file(&file);
    return status;
}
