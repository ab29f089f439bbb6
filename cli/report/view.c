#include "view.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "message.h"

enum { FIELD_SIZE = 160, MOST_STATES = 10000, MOST_NUMBERS = 20000000 };

/* ---------------------------------------------------------------- fields and what is wrong with them */

__attribute__((format(printf, 3, 4))) static int wrong(const view *v, const char *field, const char *format, ...)
{
    char reason[200];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(reason, sizeof reason, format, arguments);
    va_end(arguments);
    return cli_fail("%s: \"%s\" %s", v->path, field, reason);
}

static int no_memory(const view *v) { return cli_fail("%s: out of memory", v->path); }

/* Names stand between quotes in gnuplot's script, and on one line. */
static bool is_printable(const char *name)
{
    if (!name || !*name) return false;
    for (; *name; name++)
        if ((unsigned char)*name < ' ' || *name == '\'' || *name == 127) return false;
    return true;
}

static int text_at(const view *v, const json_t *object, const char *where, const char *key, const char **text)
{
    char field[FIELD_SIZE];
    *text = json_string_value(json_object_get(object, key));
    if (is_printable(*text)) return EXIT_OK;
    snprintf(field, sizeof field, "%.100s%s%.50s", where, *where ? "." : "", key);
    return wrong(v, field, "is missing or not a name");
}

/* NaN for null. */
static double number(const json_t *value) { return json_is_number(value) ? json_number_value(value) : NAN; }

static int numbers_at(const view *v, const json_t *object, const char *where, const char *key, size_t n, double **out)
{
    char field[FIELD_SIZE];
    const json_t *list = json_object_get(object, key);
    snprintf(field, sizeof field, "%.100s.%.50s", where, key);
    if (!json_is_array(list)) return wrong(v, field, "is missing or not a list");
    if (json_array_size(list) != n) return wrong(v, field, "has %zu numbers, needed %zu", json_array_size(list), n);
    *out = calloc(n + 1, sizeof **out);
    if (!*out) return no_memory(v);
    for (size_t i = 0; i < n; i++) {
        const json_t *value = json_array_get(list, i);
        if (!json_is_number(value) && !json_is_null(value))
            return wrong(v, field, "holds something that is not a number, at %zu", i);
        (*out)[i] = number(value);
    }
    return EXIT_OK;
}

/* Runs of n items, counted from 0; *out stays NULL for one run alone. */
static int runs_at(const view *v, const json_t *object, const char *where, size_t n, size_t **out)
{
    double *numbers = NULL;
    if (v->n_runs == 1) return EXIT_OK;
    int code = numbers_at(v, object, where, "run", n, &numbers);
    if (code == EXIT_OK && !(*out = calloc(n + 1, sizeof **out))) code = no_memory(v);
    for (size_t i = 0; code == EXIT_OK && i < n; i++) {
        if (numbers[i] >= 0 && numbers[i] < (double)v->n_runs) (*out)[i] = (size_t)numbers[i];
        else code = wrong(v, where, "names a run that is not there, at %zu", i);
        if (code == EXIT_OK && i && (*out)[i] < (*out)[i - 1]) code = wrong(v, where, "has its runs in no order");
    }
    free(numbers);
    return code;
}

/* object.key.STATE for every state */
static int columns_at(const view *v, const json_t *object, const char *where, const char *key, size_t n, double ***out)
{
    char field[FIELD_SIZE];
    int code = EXIT_OK;
    snprintf(field, sizeof field, "%.80s.%.40s", where, key);
    *out = calloc(v->n_states, sizeof **out);
    if (!*out) return no_memory(v);
    for (size_t j = 0; code == EXIT_OK && j < v->n_states; j++)
        code = numbers_at(v, json_object_get(object, key), field, v->states[j], n, &(*out)[j]);
    return code;
}

/* ---------------------------------------------------------------- parts of the file */

static int read_names(view *v)
{
    const json_t *data = json_object_get(v->root, "data"), *states = json_object_get(data, "states"),
                 *axes = json_object_get(data, "axes"), *spans = json_object_get(data, "span");
    v->n_states = json_array_size(states);
    v->n_axes = json_array_size(axes);
    if (!v->n_states || v->n_states > MOST_STATES) return wrong(v, "data.states", "has %zu names", v->n_states);
    if (!v->n_axes || v->n_axes > KBASS_MAX_AXES) return wrong(v, "data.axes", "has %zu names", v->n_axes);
    v->states = calloc(v->n_states, sizeof *v->states);
    if (!v->states) return no_memory(v);
    for (size_t j = 0; j < v->n_states; j++) {
        v->states[j] = json_string_value(json_array_get(states, j));
        if (!is_printable(v->states[j])) return wrong(v, "data.states", "holds something that is not a name");
    }
    for (size_t a = 0; a < v->n_axes; a++) {
        v->axes[a] = json_string_value(json_array_get(axes, a));
        if (!is_printable(v->axes[a])) return wrong(v, "data.axes", "holds something that is not a name");
        for (size_t end = 0; end < 2; end++)
            v->span[a][end] = number(json_array_get(json_object_get(spans, v->axes[a]), end));
        if (!(v->span[a][0] <= v->span[a][1])) return wrong(v, "data.span", "has no range of %s", v->axes[a]);
    }
    return EXIT_OK;
}

static int read_runs(view *v)
{
    const json_t *runs = json_object_get(v->root, "runs");
    v->n_runs = json_array_size(runs) ? json_array_size(runs) : 1;
    v->runs = calloc(v->n_runs, sizeof *v->runs);
    if (!v->runs) return no_memory(v);
    for (size_t i = 0; i < v->n_runs; i++) {
        const char *name = json_string_value(json_object_get(json_array_get(runs, i), "name"));
        if (v->n_runs > 1 && !is_printable(name)) return wrong(v, "runs", "holds something without a name");
        v->runs[i] = name ? name : "";
    }
    return EXIT_OK;
}

static int read_noise(view *v)
{
    const json_t *noise = json_object_get(v->root, "noise");
    const char *model = json_string_value(json_object_get(json_object_get(v->root, "settings"), "noise-model"));
    v->noise_is_relative = model && (!strcmp(model, "multiplicative") || !strcmp(model, "log"));
    v->noise = calloc(v->n_states, sizeof *v->noise);
    if (!v->noise) return no_memory(v);
    for (size_t j = 0; j < v->n_states; j++) v->noise[j] = number(json_object_get(noise, v->states[j]));
    return EXIT_OK;
}

static int read_term(const view *v, const json_t *item, const char *where, view_term *term)
{
    const json_t *interval = json_object_get(item, "interval");
    const char *form = json_string_value(json_object_get(item, "form")); /* with the names of its constants */
    int code = text_at(v, item, where, "term", &term->name);
    if (code == EXIT_OK) code = text_at(v, item, where, "verdict", &term->verdict);
    if (is_printable(form)) term->name = form;
    term->unit = json_string_value(json_object_get(item, "unit"));
    term->weight = number(json_object_get(item, "weight"));
    term->sd = number(json_object_get(item, "sd"));
    term->probability = number(json_object_get(item, "probability"));
    term->low = number(json_array_get(interval, 0));
    term->high = number(json_array_get(interval, 1));
    term->is_selected = json_is_true(json_object_get(item, "selected"));
    if (code == EXIT_OK && term->is_selected && !isfinite(term->weight))
        code = wrong(v, where, "has a selected term without weight");
    return code;
}

static int read_equation(const view *v, const json_t *item, size_t index, view_equation *equation)
{
    char where[FIELD_SIZE];
    const json_t *terms = json_object_get(item, "terms");
    snprintf(where, sizeof where, "equations[%zu]", index);
    int code = text_at(v, item, where, "lhs", &equation->lhs);
    if (code == EXIT_OK) code = text_at(v, item, where, "text", &equation->text);
    if (code != EXIT_OK) return code;
    equation->is_known = json_is_true(json_object_get(item, "known"));
    equation->terms = calloc(json_array_size(terms) + 1, sizeof *equation->terms);
    if (!equation->terms) return no_memory(v);
    equation->n_terms = json_array_size(terms);
    for (size_t i = 0; code == EXIT_OK && i < equation->n_terms; i++) {
        snprintf(where, sizeof where, "equations[%zu].terms[%zu]", index, i);
        code = read_term(v, json_array_get(terms, i), where, &equation->terms[i]);
    }
    return code;
}

static int read_equations(view *v)
{
    const json_t *list = json_object_get(v->root, "equations");
    int code = EXIT_OK;
    if (!json_is_array(list)) return wrong(v, "equations", "is missing or not a list");
    v->equations = calloc(json_array_size(list) + 1, sizeof *v->equations);
    if (!v->equations) return no_memory(v);
    v->n_equations = json_array_size(list);
    for (size_t e = 0; code == EXIT_OK && e < v->n_equations; e++)
        code = read_equation(v, json_array_get(list, e), e, &v->equations[e]);
    return code;
}

/* Within each run. */
static int check_ascent(const view *v, size_t axis)
{
    for (size_t i = 1; i < v->n_along[axis]; i++) {
        bool is_next_run = i % (v->n_along[axis] / v->n_runs) == 0;
        if (!is_next_run && !(v->along[axis][i] > v->along[axis][i - 1]))
            return wrong(v, "solution.axes", "does not ascend along %s", v->axes[axis]);
    }
    return EXIT_OK;
}

static int read_solution(view *v)
{
    const json_t *solution = json_object_get(v->root, "solution"), *axes = json_object_get(solution, "axes");
    int code = EXIT_OK;
    size_t n = v->n_runs;
    if (!json_is_object(solution)) return EXIT_OK;
    for (size_t a = 0; code == EXIT_OK && a < v->n_axes; a++) {
        v->n_along[a] = json_array_size(json_object_get(axes, v->axes[a]));
        if (v->n_along[a] < 2 * v->n_runs || v->n_along[a] % v->n_runs)
            return wrong(v, "solution.axes", "has no grid along %s", v->axes[a]);
        if (n > MOST_NUMBERS / v->n_along[a]) return wrong(v, "solution.axes", "is too fine a grid");
        n *= v->n_along[a] / v->n_runs;
        code = numbers_at(v, axes, "solution.axes", v->axes[a], v->n_along[a], &v->along[a]);
    }
    if (code == EXIT_OK) code = runs_at(v, solution, "solution", v->n_along[0], &v->point_run);
    for (size_t a = 0; code == EXIT_OK && a < v->n_axes; a++) code = check_ascent(v, a);
    if (code == EXIT_OK) code = columns_at(v, solution, "solution", "mean", n, &v->mean);
    if (code == EXIT_OK) code = columns_at(v, solution, "solution", "sd", n, &v->sd);
    if (code == EXIT_OK) v->n_points = n;
    return code;
}

static int read_samples(view *v)
{
    const json_t *samples = json_object_get(v->root, "samples"), *axes = json_object_get(samples, "axes");
    int code = EXIT_OK;
    if (!json_is_object(samples)) return EXIT_OK;
    size_t n = json_array_size(json_object_get(axes, v->axes[0]));
    json_int_t step = json_integer_value(json_object_get(samples, "step"));
    if (step < 1) return wrong(v, "samples.step", "is missing or below 1");
    v->step = (size_t)step;
    for (size_t a = 0; code == EXIT_OK && a < v->n_axes; a++)
        code = numbers_at(v, axes, "samples.axes", v->axes[a], n, &v->at[a]);
    if (code == EXIT_OK) code = runs_at(v, samples, "samples", n, &v->row_run);
    if (code == EXIT_OK) code = columns_at(v, samples, "samples", "measured", n, &v->measured);
    if (code == EXIT_OK) code = columns_at(v, samples, "samples", "fitted", n, &v->fitted);
    if (code == EXIT_OK && json_is_object(json_object_get(samples, "sigma")))
        code = columns_at(v, samples, "samples", "sigma", n, &v->sigma);
    if (code == EXIT_OK) v->n_rows = n;
    return code;
}

/* ---------------------------------------------------------------- one run */

static double **columns_from(const view *v, double **columns, size_t first)
{
    double **shifted = columns ? calloc(v->n_states, sizeof *shifted) : NULL;
    for (size_t j = 0; shifted && j < v->n_states; j++) shifted[j] = columns[j] + first;
    return shifted;
}

/* What was measured in the run, along an axis. */
static void measure_span(view *run, size_t axis)
{
    run->span[axis][0] = INFINITY;
    run->span[axis][1] = -INFINITY;
    for (size_t i = 0; i < run->n_rows; i++) {
        run->span[axis][0] = fmin(run->span[axis][0], run->at[axis][i]);
        run->span[axis][1] = fmax(run->span[axis][1], run->at[axis][i]);
    }
}

bool view_run_open(const view *v, size_t run, view *out)
{
    size_t first = 0, end = v->n_rows, points = v->n_points / v->n_runs;
    if (v->n_runs > 1) {
        while (first < v->n_rows && v->row_run[first] < run) first++;
        for (end = first; end < v->n_rows && v->row_run[end] == run;) end++;
    }
    *out = *v;
    out->n_runs = 1;
    out->n_points = points;
    out->n_rows = end - first;
    out->point_run = out->row_run = NULL;
    for (size_t a = 0; a < v->n_axes; a++) {
        out->n_along[a] = v->n_along[a] / v->n_runs;
        out->along[a] = v->along[a] + run * out->n_along[a];
        out->at[a] = v->at[a] ? v->at[a] + first : NULL;
        if (v->n_runs > 1) measure_span(out, a);
    }
    out->mean = columns_from(v, v->mean, run * points);
    out->sd = columns_from(v, v->sd, run * points);
    out->measured = columns_from(v, v->measured, first);
    out->fitted = columns_from(v, v->fitted, first);
    out->sigma = columns_from(v, v->sigma, first);
    return out->mean && out->sd && out->measured && out->fitted && (out->sigma || !v->sigma);
}

void view_run_close(view *run)
{
    free(run->mean);
    free(run->sd);
    free(run->measured);
    free(run->fitted);
    free(run->sigma);
}

/* ---------------------------------------------------------------- the whole */

static int read_all(view *v)
{
    const char *format = json_string_value(json_object_get(v->root, "format"));
    if (!format || strcmp(format, "kbass-result"))
        return wrong(v, "format", "is not \"kbass-result\": this is no result of kbass discover --json");
    if (json_integer_value(json_object_get(v->root, "format_version")) != 1)
        return wrong(v, "format_version",
                     "is not 1: the file is of another version of the program; run kbass discover --json again");
    int code = read_names(v);
    if (code == EXIT_OK) code = read_runs(v);
    if (code == EXIT_OK) code = view_label(v);
    if (code == EXIT_OK) code = read_noise(v);
    if (code == EXIT_OK) code = read_equations(v);
    if (code == EXIT_OK) code = read_solution(v);
    if (code == EXIT_OK) code = read_samples(v);
    return code;
}

int view_open(const char *path, view *v)
{
    json_error_t problem;
    *v = (view){.path = path, .root = json_load_file(path, JSON_REJECT_DUPLICATES, &problem)};
    if (v->root) return read_all(v);
    if (problem.line < 0) return cli_fail("%s", problem.text);
    return cli_fail("%s:%d: not a whole result file: %s", path, problem.line, problem.text);
}

int view_parse(const char *path, const char *json, view *v)
{
    json_error_t problem;
    *v = (view){.path = path, .root = json_loads(json, 0, &problem)};
    return v->root ? read_all(v) : cli_fail("%s: %s", path, problem.text);
}

static void free_columns(size_t n, double **columns)
{
    for (size_t j = 0; columns && j < n; j++) free(columns[j]);
    free(columns);
}

void view_close(view *v)
{
    double **by_state[] = {v->mean, v->sd, v->measured, v->fitted, v->sigma};
    for (size_t i = 0; i < sizeof by_state / sizeof *by_state; i++) free_columns(v->n_states, by_state[i]);
    for (size_t e = 0; e < v->n_equations; e++) free(v->equations[e].terms);
    for (size_t j = 0; v->state_labels && j < v->n_states; j++) free(v->state_labels[j]);
    free(v->state_labels);
    free(v->runs);
    free(v->point_run);
    free(v->row_run);
    for (size_t a = 0; a < KBASS_MAX_AXES; a++) {
        free(v->axis_labels[a]);
        free(v->along[a]);
        free(v->at[a]);
    }
    for (size_t k = 0; k < 3; k++) free(v->forecast.quantiles[k]);
    free(v->forecast.times);
    free(v->forecast.places);
    free(v->equations);
    free(v->noise);
    free(v->states);
    json_decref(v->root);
    *v = (view){0};
}

void view_residuals(const view *v, size_t state, double *residuals)
{
    for (size_t i = 0; i < v->n_rows; i++) {
        double unit = v->noise[state] * (v->noise_is_relative ? fabs(v->fitted[state][i]) : 1);
        if (v->sigma && v->sigma[state][i] > 0) unit = v->sigma[state][i];
        residuals[i] = unit > 0 ? (v->measured[state][i] - v->fitted[state][i]) / unit : NAN;
    }
}
