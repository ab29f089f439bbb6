#include "simulate/result_file.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
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

/* ---------------------------------------------------------------- inputs */

/* Finite numbers, ascending where they are times. */
static bool read_points(json_t *list, size_t n, bool ascend, double *out)
{
    for (size_t i = 0; i < n; i++) {
        json_t *item = json_array_get(list, i);
        out[i] = json_number_value(item);
        if (!json_is_number(item) || !isfinite(out[i]) || (ascend && i && !(out[i] > out[i - 1]))) return false;
    }
    return true;
}

static kbass_status read_input(const char *path, const char *field, json_t *item, char **name, kb_curve *curve,
                               kbass_error *error)
{
    json_t *times = json_object_get(item, "times"), *values = json_object_get(item, "values");
    json_t *delay = json_object_get(item, "delay"), *held = json_object_get(item, "held");
    const char *its_name = json_string_value(json_object_get(item, "name"));
    size_t n = json_array_size(times);
    if (!its_name || !*its_name) return kb_result_file_wrong(path, field, "a name", error);
    if (!json_is_boolean(held) || !json_is_number(delay) || !(json_number_value(delay) >= 0))
        return kb_result_file_wrong(path, field, "held and delay", error);
    double *t = KB_NEW(double, n), *f = KB_NEW(double, n);
    kbass_status status = t && f ? KBASS_OK : kb_out_of_memory(error, path);
    bool are_points = n > 1 && n == json_array_size(values);
    if (status == KBASS_OK && (!are_points || !read_points(times, n, true, t) || !read_points(values, n, false, f)))
        status = kb_result_file_wrong(path, field, "as many values as ascending times", error);
    if (status == KBASS_OK && (!(*name = kb_strdup(its_name)) || !kb_curve_create(n, t, f, json_is_true(held), curve)))
        status = kb_out_of_memory(error, path);
    curve->delay = json_number_value(delay);
    kb_free(t);
    kb_free(f);
    return status;
}

kbass_status kb_result_file_inputs(const char *path, const char *where, json_t *list, kb_input_curves *out,
                                   kbass_error *error)
{
    size_t n = json_array_size(list);
    kbass_status status = kb_input_curves_allocate(n, out, error);
    for (size_t i = 0; status == KBASS_OK && i < n; i++) {
        char field[100];
        snprintf(field, sizeof field, "%.60s.inputs[%zu]", where, i);
        status = read_input(path, field, json_array_get(list, i), &out->names[i], &out->curves[i], error);
        for (size_t k = 0; status == KBASS_OK && k < i; k++)
            if (!strcmp(out->names[k], out->names[i]))
                status = kb_result_file_wrong(path, field, "another name", error);
    }
    if (status != KBASS_OK) kb_input_curves_clear(out);
    return status;
}

size_t kb_result_file_axes(json_t *root)
{
    json_t *axes = json_object_get(json_object_get(root, "data"), "axes");
    return json_is_array(axes) ? json_array_size(axes) : 1;
}
