#include "simulate/result_file.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/status.h"

kbass_status kb_result_file_wrong(const char *path, const char *field, const char *needed, kbass_error *error)
{
    return kb_fail(error, KBASS_ERROR_DATA, "%s: \"%s\" is missing or not %s", path, field, needed);
}

static kbass_status check_term(const char *path, json_t *item, size_t equation, size_t index, kbass_error *error)
{
    char field[96];
    const char *needed = NULL, *key = NULL;
    double weight = json_number_value(json_object_get(item, "weight"));
    if (!json_is_string(json_object_get(item, "term"))) key = "term", needed = "text";
    else if (!json_is_boolean(json_object_get(item, "selected"))) key = "selected", needed = "true or false";
    else if (json_is_true(json_object_get(item, "selected")) &&
             (!json_is_number(json_object_get(item, "weight")) || !isfinite(weight)))
        key = "weight", needed = "a number";
    if (!key) return KBASS_OK;
    snprintf(field, sizeof field, "equations[%zu].terms[%zu].%s", equation, index, key);
    return kb_result_file_wrong(path, field, needed, error);
}

static kbass_status check_equation(const char *path, json_t *item, size_t equation, kbass_error *error)
{
    char field[64];
    json_t *terms = json_object_get(item, "terms");
    kbass_status status = KBASS_OK;
    snprintf(field, sizeof field, "equations[%zu].lhs", equation);
    if (!json_is_string(json_object_get(item, "lhs"))) return kb_result_file_wrong(path, field, "text", error);
    snprintf(field, sizeof field, "equations[%zu].terms", equation);
    if (!json_is_array(terms)) return kb_result_file_wrong(path, field, "a list", error);
    for (size_t i = 0; i < json_array_size(terms) && status == KBASS_OK; i++)
        status = check_term(path, json_array_get(terms, i), equation, i, error);
    return status;
}

static kbass_status check_equations(const char *path, json_t *root, kbass_error *error)
{
    json_t *list = json_object_get(root, "equations");
    kbass_status status = KBASS_OK;
    if (!json_is_array(list)) return kb_result_file_wrong(path, "equations", "a list", error);
    if (!json_array_size(list)) return kb_fail(error, KBASS_ERROR_DATA, "%s: the result has no equations", path);
    for (size_t i = 0; i < json_array_size(list) && status == KBASS_OK; i++)
        status = check_equation(path, json_array_get(list, i), i, error);
    return status;
}

static bool is_text(const char *result) { return result[strspn(result, " \t\r\n")] == '{'; }

json_t *kb_result_parse(const char *result, size_t flags, json_error_t *problem)
{
    return is_text(result) ? json_loads(result, flags, problem) : json_load_file(result, flags, problem);
}

const char *kb_result_name(const char *result) { return is_text(result) ? "the result" : result; }

kbass_status kb_result_file_load(const char *result, json_t **root, kbass_error *error)
{
    json_error_t problem;
    const char *path = kb_result_name(result);
    *root = kb_result_parse(result, 0, &problem);
    if (*root) return check_equations(path, *root, error);
    if (problem.line < 0) return kb_fail(error, KBASS_ERROR_FILE, "%s", problem.text);
    return kb_fail(error, KBASS_ERROR_DATA, "%s:%d: not a result file: %s", path, problem.line, problem.text);
}

kbass_status kb_result_file_number(const char *path, json_t *root, const char *key, double *value, kbass_error *error)
{
    char field[64];
    json_t *number = json_object_get(json_object_get(root, "data"), key);
    snprintf(field, sizeof field, "data.%s", key);
    if (!json_is_number(number)) return kb_result_file_wrong(path, field, "a number", error);
    *value = json_number_value(number);
    return KBASS_OK;
}

kbass_status kb_result_file_check_inputs(const char *path, json_t *root, kbass_error *error)
{
    const char *input = json_string_value(json_object_get(json_object_get(root, "settings"), "input"));
    if (!input || !*input) return KBASS_OK;
    return kb_fail(error, KBASS_ERROR_DATA,
                   "%s: the law has the known input %.100s, whose values are not in the result: "
                   "discover --solution writes the solution over the record",
                   path, input);
}

size_t kb_result_file_axes(json_t *root)
{
    json_t *axes = json_object_get(json_object_get(root, "data"), "axes");
    return json_is_array(axes) ? json_array_size(axes) : 1;
}
