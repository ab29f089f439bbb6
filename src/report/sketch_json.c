/* The sketch as JSON: "solution" and "samples". Numbers that are not finite are null. */
#include <math.h>

#include "report/json.h"

/* n numbers, `stride` apart; NULL when memory ran out, and so is what contains it. */
static json_t *column(size_t n, const double *values, size_t stride)
{
    json_t *array = json_array();
    for (size_t i = 0; i < n; i++) {
        double value = values[i * stride];
        if (json_array_append_new(array, isfinite(value) ? json_real(value) : json_null()) == 0) continue;
        json_decref(array);
        return NULL;
    }
    return array;
}

static void put(json_t **object, const char *key, json_t *value)
{
    if (json_object_set_new(*object, key, value) == 0) return;
    json_decref(*object);
    *object = NULL;
}

/* {"x": [...], "y": [...]} of n x n_states values, the rows `stride` apart */
static json_t *by_state(const kbass_data *data, size_t n, const double *values, size_t stride)
{
    json_t *object = json_object();
    for (size_t j = 0; j < data->n_states; j++)
        put(&object, data->state_names[j], column(n, values + j, stride * data->n_states));
    return object;
}

/* The run of each point of the grid, of each row; empty for one run alone. */
static json_t *runs_of_points(const kb_sketch *s)
{
    json_t *array = json_array();
    for (size_t i = 0; s->n_runs > 1 && i < s->n_along[0]; i++)
        json_array_append_new(array, json_integer((json_int_t)(i * s->n_runs / s->n_along[0])));
    return array;
}

static json_t *runs_of_rows(const kbass_data *data, const kb_sketch *s)
{
    json_t *array = json_array();
    for (size_t i = 0; s->n_runs > 1 && i < s->n_rows; i++)
        json_array_append_new(array, json_integer((json_int_t)kb_sketch_run(data, i * s->step)));
    return array;
}

json_t *kb_report_solution(const kbass_data *data, const kb_sketch *s)
{
    json_t *axes = json_object();
    size_t n = kb_sketch_points(s);
    for (size_t a = 0; a < s->n_axes; a++) put(&axes, data->axis_names[a], column(s->n_along[a], s->along[a], 1));
    return json_pack("{s:o, s:o, s:o, s:o}", "run", runs_of_points(s), "axes", axes, "mean",
                     by_state(data, n, s->mean, 1), "sd", by_state(data, n, s->sd, 1));
}

json_t *kb_report_samples(const kbass_data *data, const kb_sketch *s)
{
    json_t *axes = json_object();
    size_t n_space = s->n_axes - 1;
    put(&axes, data->axis_names[0], column(s->n_rows, data->times, s->step));
    for (size_t a = 1; a < s->n_axes; a++)
        put(&axes, data->axis_names[a], column(s->n_rows, data->positions + a - 1, s->step * n_space));
    json_t *sigma = data->sigma ? by_state(data, s->n_rows, data->sigma, s->step) : json_null();
    return json_pack("{s:I, s:o, s:o, s:o, s:o, s:o}", "step", (json_int_t)s->step, "run", runs_of_rows(data, s),
                     "axes", axes, "measured", by_state(data, s->n_rows, data->values, s->step), "sigma", sigma,
                     "fitted", by_state(data, s->n_rows, s->fitted, 1));
}
