/* The sketch as JSON: "solution" and "samples". Coordinates have all their digits, so that they ascend whatever they
 * count; values have enough to be drawn. Numbers that are not finite are null.
 */
#include <jansson.h>
#include <math.h>
#include <stdlib.h>

#include "base/buffer.h"
#include "base/number.h"
#include "report/json.h"

enum { ALL_DIGITS = 0, DIGITS_TO_DRAW = 7 };

static void put_number(kb_buffer *out, double value, int digits)
{
    char text[KB_NUMBER_SIZE];
    if (!isfinite(value)) kb_buffer_put(out, "null");
    else if (digits == ALL_DIGITS) kb_buffer_number(out, value);
    else {
        kb_number_round(value, digits, text);
        kb_buffer_put(out, text);
    }
}

/* n numbers, `stride` apart */
static void put_column(kb_buffer *out, size_t n, const double *values, size_t stride, int digits)
{
    kb_buffer_put(out, "[");
    for (size_t i = 0; i < n; i++) {
        if (i) kb_buffer_put(out, ",");
        put_number(out, values[i * stride], digits);
    }
    kb_buffer_put(out, "]");
}

/* ,"name": with what separates it from the key before */
static void put_key(kb_buffer *out, size_t index, const char *name)
{
    json_t *string = json_string(name);
    char *quoted = string ? json_dumps(string, JSON_ENCODE_ANY) : NULL;
    if (quoted) kb_buffer_print(out, "%s%s:", index ? "," : "", quoted);
    else out->is_lost = true;
    free(quoted);
    json_decref(string);
}

/* {"x":[...],"y":[...]} of n x n_states values, the rows `stride` apart */
static void put_states(kb_buffer *out, const char *key, const kbass_data *data, size_t n, const double *values,
                       size_t stride)
{
    kb_buffer_print(out, ",\"%s\":", key);
    for (size_t j = 0; j < data->n_states; j++) {
        kb_buffer_put(out, j ? "" : "{");
        put_key(out, j, data->state_names[j]);
        put_column(out, n, values + j, stride * data->n_states, DIGITS_TO_DRAW);
    }
    kb_buffer_put(out, "}");
}

/* The run of each point of the grid, of each row; empty for one run alone. */
static void put_runs_of_points(kb_buffer *out, const kb_sketch *s)
{
    kb_buffer_put(out, "\"run\":[");
    for (size_t i = 0; s->n_runs > 1 && i < s->n_along[0]; i++)
        kb_buffer_print(out, "%s%zu", i ? "," : "", i * s->n_runs / s->n_along[0]);
    kb_buffer_put(out, "]");
}

static void put_runs_of_rows(kb_buffer *out, const kbass_data *data, const kb_sketch *s)
{
    kb_buffer_put(out, "\"run\":[");
    for (size_t i = 0; s->n_runs > 1 && i < s->n_rows; i++)
        kb_buffer_print(out, "%s%zu", i ? "," : "", kb_sketch_run(data, i * s->step));
    kb_buffer_put(out, "]");
}

char *kb_report_solution(const kbass_data *data, const kb_sketch *s)
{
    kb_buffer out = {0};
    size_t n = kb_sketch_points(s);
    kb_buffer_put(&out, "{");
    put_runs_of_points(&out, s);
    kb_buffer_put(&out, ",\"axes\":{");
    for (size_t a = 0; a < s->n_axes; a++) {
        put_key(&out, a, data->axis_names[a]);
        put_column(&out, s->n_along[a], s->along[a], 1, ALL_DIGITS);
    }
    kb_buffer_put(&out, "}");
    put_states(&out, "mean", data, n, s->mean, 1);
    put_states(&out, "sd", data, n, s->sd, 1);
    kb_buffer_put(&out, "}");
    return kb_buffer_take(&out);
}

char *kb_report_samples(const kbass_data *data, const kb_sketch *s)
{
    kb_buffer out = {0};
    size_t n_space = s->n_axes - 1;
    kb_buffer_print(&out, "{\"step\":%zu,", s->step);
    put_runs_of_rows(&out, data, s);
    kb_buffer_put(&out, ",\"axes\":{");
    put_key(&out, 0, data->axis_names[0]);
    put_column(&out, s->n_rows, data->times, s->step, ALL_DIGITS);
    for (size_t a = 1; a < s->n_axes; a++) {
        put_key(&out, a, data->axis_names[a]);
        put_column(&out, s->n_rows, data->positions + a - 1, s->step * n_space, ALL_DIGITS);
    }
    kb_buffer_put(&out, "}");
    put_states(&out, "measured", data, s->n_rows, data->values, s->step);
    if (data->sigma) put_states(&out, "sigma", data, s->n_rows, data->sigma, s->step);
    else kb_buffer_put(&out, ",\"sigma\":null");
    put_states(&out, "fitted", data, s->n_rows, s->fitted, 1);
    kb_buffer_put(&out, "}");
    return kb_buffer_take(&out);
}
