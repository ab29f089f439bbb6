#include "tables.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "arrays.h"
#include "message.h"
#include "output.h"

enum { NAME_SIZE = 96 };

/* Points, the solution there, and the columns to be written: `width` for each state. */
typedef struct {
    const kbass_data *data;
    size_t n, n_states, n_space, width;
    size_t counts[KBASS_MAX_AXES]; /* of a mesh, along each axis; all 0 for mere rows */
    size_t n_runs, *run_start;     /* n_runs + 1: the first row of each run */
    double *times, *positions, *mean, *sd, *values;
    char (*names)[NAME_SIZE];
    const char **columns;
} table;

static int begin(table *t, const kbass_data *data, size_t room, size_t width)
{
    size_t states = kbass_data_states(data), space = kbass_data_axes(data) - 1;
    *t = (table){.data = data, .n_states = states, .n_space = space, .width = width, .n_runs = kbass_data_runs(data)};
    t->run_start = calloc(t->n_runs + 1, sizeof *t->run_start);
    t->times = calloc(room, sizeof *t->times);
    t->positions = calloc(room * space + 1, sizeof *t->positions);
    t->mean = calloc(room * states, sizeof *t->mean);
    t->sd = calloc(room * states, sizeof *t->sd);
    t->values = calloc(room * states * width, sizeof *t->values);
    t->names = calloc(states * width, sizeof *t->names);
    t->columns = calloc(states * width, sizeof *t->columns);
    if (t->run_start && t->times && t->positions && t->mean && t->sd && t->values && t->names && t->columns)
        return EXIT_OK;
    cli_fail("out of memory for a table of %zu rows", room);
    return EXIT_NO_RESULT;
}

static void end(table *t)
{
    free(t->run_start);
    free(t->times);
    free(t->positions);
    free(t->mean);
    free(t->sd);
    free(t->values);
    free(t->names);
    free(t->columns);
}

/* Column `which` of every state is called after it: "u" and the suffix. */
static void name_column(table *t, size_t which, const char *suffix)
{
    for (size_t j = 0; j < t->n_states; j++) {
        char *name = t->names[j * t->width + which];
        snprintf(name, NAME_SIZE, "%.80s%s", kbass_data_state_name(t->data, j), suffix);
        t->columns[j * t->width + which] = name;
    }
}

static kbass_status solve(table *t, const kbass_discovery *discovery, bool has_sd, kbass_error *error)
{
    kbass_status status = KBASS_OK;
    for (size_t run = 0; status == KBASS_OK && run < t->n_runs; run++) {
        size_t first = t->run_start[run], n = t->run_start[run + 1] - first, at = first * t->n_states;
        const double *positions = t->n_space ? t->positions + first * t->n_space : NULL;
        status = kbass_discovery_solution(discovery, run, n, t->times + first, positions, t->mean + at,
                                          has_sd ? t->sd + at : NULL, error);
    }
    return status;
}

/* ---------------------------------------------------------------- writing */

/* One run's rows. */
static kbass_status make_data(const table *t, size_t run, kbass_data **data, kbass_error *error)
{
    const char *axes[KBASS_MAX_AXES];
    size_t first = t->run_start[run], n = t->run_start[run + 1] - first, width = t->n_states * t->width;
    for (size_t axis = 0; axis <= t->n_space; axis++) axes[axis] = kbass_data_axis_name(t->data, axis);
    const double *positions = t->n_space ? t->positions + first * t->n_space : NULL;
    return kbass_data_create_axes(n, t->n_space + 1, width, t->times + first, positions, t->values + first * width,
                                  axes, t->columns, data, error);
}

static kbass_status write_csv(const table *t, const char *path, int *code, kbass_error *error)
{
    kbass_data **parts = calloc(t->n_runs, sizeof *parts), *written = NULL;
    const char **names = calloc(t->n_runs, sizeof *names);
    kbass_status status = parts && names ? KBASS_OK : KBASS_ERROR_MEMORY;
    if (status != KBASS_OK) snprintf(error->message, sizeof error->message, "out of memory for %zu runs", t->n_runs);
    for (size_t run = 0; status == KBASS_OK && run < t->n_runs; run++) {
        names[run] = kbass_data_run_name(t->data, run);
        status = make_data(t, run, &parts[run], error);
    }
    if (status == KBASS_OK && names[0])
        status = kbass_data_join(t->n_runs, (const kbass_data *const *)parts, names, &written, error);
    if (status == KBASS_OK) *code = cli_output_data(path, names[0] ? written : parts[0]);
    kbass_data_destroy(written);
    for (size_t run = 0; parts && run < t->n_runs; run++) kbass_data_destroy(parts[run]);
    free(parts);
    free(names);
    return status;
}

static double coordinate(const table *t, size_t row, size_t axis)
{
    return axis ? t->positions[row * t->n_space + axis - 1] : t->times[row];
}

/* The mesh's axes, or the rows. */
static void set_shape(const table *t, cli_array *array)
{
    array->n_dimensions = t->counts[0] ? t->n_space + 1 : 1;
    array->shape[0] = t->n;
    for (size_t axis = 0; t->counts[0] && axis <= t->n_space; axis++) array->shape[axis] = t->counts[axis];
}

/* An axis by name: of a mesh, its coordinates alone, gathered at `room`; of rows, one for each. */
static cli_array axis_array(const table *t, size_t axis, const double *column, double *room)
{
    cli_array array = {
        .name = kbass_data_axis_name(t->data, axis), .n_dimensions = 1, .shape = {t->n}, .values = column};
    size_t stride = 1;
    if (!t->counts[0]) return array;
    for (size_t a = axis + 1; a <= t->n_space; a++) stride *= t->counts[a];
    for (size_t i = 0; i < t->counts[axis]; i++) room[i] = column[i * stride];
    array.shape[0] = t->counts[axis];
    array.values = room;
    return array;
}

/* Then a column numbers the runs, from 1, behind the others. */
static bool has_runs(const table *t) { return kbass_data_run_name(t->data, 0) != NULL; }

/* All columns in one array, or each by name. */
static int write_columns(const table *t, const char *path, const double *columns, double *room, cli_array *arrays)
{
    size_t n_axes = t->n_space + 1, n = n_axes + t->n_states * t->width + has_runs(t);
    if (cli_format_of(path) == CLI_NPY) {
        set_shape(t, &arrays[0]);
        memmove(arrays[0].shape + 1, arrays[0].shape, KBASS_MAX_AXES * sizeof *arrays[0].shape);
        arrays[0].shape[0] = n;
        arrays[0].n_dimensions++;
        arrays[0].values = columns;
        return cli_arrays_write(path, 1, arrays);
    }
    for (size_t c = 0; c < n; c++) {
        bool is_last = c == n_axes + t->n_states * t->width;
        const char *name = c < n_axes ? NULL : is_last ? "run" : t->columns[c - n_axes];
        arrays[c] = (cli_array){.name = name, .values = columns + c * t->n};
        if (c < n_axes) arrays[c] = axis_array(t, c, columns + c * t->n, room + c * t->n);
        else set_shape(t, &arrays[c]);
    }
    return cli_arrays_write(path, n, arrays);
}

static int write_arrays(const table *t, const char *path)
{
    size_t n_axes = t->n_space + 1, width = t->n_states * t->width, n = n_axes + width + has_runs(t);
    double *columns = calloc(n * t->n, sizeof *columns), *room = calloc(n_axes * t->n, sizeof *room);
    cli_array *arrays = calloc(n, sizeof *arrays);
    int code = EXIT_NO_RESULT;
    if (columns && room && arrays) {
        for (size_t i = 0; i < t->n; i++) {
            for (size_t axis = 0; axis < n_axes; axis++) columns[axis * t->n + i] = coordinate(t, i, axis);
            for (size_t c = 0; c < width; c++) columns[(n_axes + c) * t->n + i] = t->values[i * width + c];
        }
        for (size_t run = 0; has_runs(t) && run < t->n_runs; run++)
            for (size_t i = t->run_start[run]; i < t->run_start[run + 1]; i++)
                columns[(n_axes + width) * t->n + i] = (double)(run + 1);
        code = write_columns(t, path, columns, room, arrays);
    } else {
        cli_fail("out of memory for a table of %zu rows", t->n);
    }
    free(columns);
    free(room);
    free(arrays);
    return code;
}

static kbass_status write_table(const table *t, const char *path, int *code, kbass_error *error)
{
    if (cli_format_of(path) == CLI_CSV) return write_csv(t, path, code, error);
    *code = write_arrays(t, path);
    return KBASS_OK;
}

/* ---------------------------------------------------------------- the tables */

static kbass_status fill_solution(table *t, const kbass_discovery *discovery, kbass_error *error)
{
    kbass_status status = solve(t, discovery, true, error);
    for (size_t i = 0; status == KBASS_OK && i < t->n * t->n_states; i++) {
        t->values[2 * i] = t->mean[i];
        t->values[2 * i + 1] = t->sd[i];
    }
    return status;
}

/* Points of all runs. */
static kbass_status count_points(const kbass_data *data, const kbass_discovery *discovery, size_t *n,
                                 kbass_error *error)
{
    size_t counts[KBASS_MAX_AXES];
    kbass_status status = KBASS_OK;
    *n = 0;
    for (size_t run = 0; status == KBASS_OK && run < kbass_data_runs(data); run++) {
        size_t own = 1;
        status = kbass_discovery_points(discovery, run, counts, NULL, NULL, error);
        for (size_t axis = 0; status == KBASS_OK && axis < kbass_data_axes(data); axis++) own *= counts[axis];
        *n += own;
    }
    return status;
}

static kbass_status list_points(table *t, const kbass_discovery *discovery, size_t run, kbass_error *error)
{
    size_t counts[KBASS_MAX_AXES] = {0}, own = 1;
    kbass_status status =
        kbass_discovery_points(discovery, run, counts, t->times + t->n, t->positions + t->n * t->n_space, error);
    for (size_t axis = 0; axis <= t->n_space; axis++) own *= counts[axis];
    if (t->n_runs == 1 && t->n_space) memcpy(t->counts, counts, sizeof t->counts);
    t->n += own;
    t->run_start[run + 1] = t->n;
    return status;
}

/* A table with `width` columns for each state at the points that show the solution. */
static int begin_mesh(table *t, const kbass_data *data, const kbass_discovery *discovery, size_t width)
{
    kbass_error error;
    size_t n = 0;
    kbass_status status = count_points(data, discovery, &n, &error);
    if (status != KBASS_OK) return cli_fail_with(status, &error);
    int code = begin(t, data, n, width);
    for (size_t run = 0; code == EXIT_OK && status == KBASS_OK && run < t->n_runs; run++)
        status = list_points(t, discovery, run, &error);
    return status == KBASS_OK ? code : cli_fail_with(status, &error);
}

int cli_table_solution(const kbass_data *data, const kbass_discovery *discovery, const char *path)
{
    table t = {0};
    kbass_error error;
    kbass_status status = KBASS_OK;
    int code = begin_mesh(&t, data, discovery, 2);
    if (code == EXIT_OK) {
        name_column(&t, 0, "");
        name_column(&t, 1, "_sd");
        status = fill_solution(&t, discovery, &error);
        if (status == KBASS_OK) status = write_table(&t, path, &code, &error);
        if (status != KBASS_OK) code = cli_fail_with(status, &error);
    }
    end(&t);
    return code;
}

static kbass_status fill_residuals(table *t, const kbass_discovery *discovery, kbass_error *error)
{
    const double *measured = kbass_data_values(t->data);
    memcpy(t->times, kbass_data_times(t->data), t->n * sizeof *t->times);
    if (t->n_space) memcpy(t->positions, kbass_data_positions(t->data), t->n * t->n_space * sizeof *t->positions);
    kbass_status status = solve(t, discovery, false, error);
    for (size_t i = 0; status == KBASS_OK && i < t->n * t->n_states; i++) {
        t->values[3 * i] = measured[i];
        t->values[3 * i + 1] = t->mean[i];
        t->values[3 * i + 2] = measured[i] - t->mean[i];
    }
    return status;
}

int cli_table_residuals(const kbass_data *data, const kbass_discovery *discovery, const char *path)
{
    table t = {0};
    kbass_error error;
    kbass_status status = KBASS_OK;
    int code = begin(&t, data, kbass_data_rows(data), 3);
    if (code == EXIT_OK) {
        t.n = kbass_data_rows(data);
        for (size_t run = 0; run <= t.n_runs; run++) t.run_start[run] = kbass_data_run_start(data, run);
        name_column(&t, 0, "");
        name_column(&t, 1, "_fitted");
        name_column(&t, 2, "_residual");
        status = fill_residuals(&t, discovery, &error);
        if (status == KBASS_OK) status = write_table(&t, path, &code, &error);
        if (status != KBASS_OK) code = cli_fail_with(status, &error);
    }
    end(&t);
    return code;
}

static kbass_status fill_law(table *t, const kbass_discovery *discovery, kbass_error *error)
{
    double *lhs = t->mean, *rhs = t->sd;
    kbass_status status = KBASS_OK;
    for (size_t run = 0; status == KBASS_OK && run < t->n_runs; run++) {
        size_t first = t->run_start[run], at = first * t->n_states;
        status = kbass_discovery_law(discovery, run, t->run_start[run + 1] - first, t->times + first,
                                     t->n_space ? t->positions + first * t->n_space : NULL, lhs + at, rhs + at, error);
    }
    for (size_t i = 0; status == KBASS_OK && i < t->n * t->n_states; i++) {
        t->values[3 * i] = lhs[i];
        t->values[3 * i + 1] = rhs[i];
        t->values[3 * i + 2] = lhs[i] - rhs[i];
    }
    return status;
}

int cli_table_law(const kbass_data *data, const kbass_discovery *discovery, const char *path)
{
    table t = {0};
    kbass_error error;
    kbass_status status = KBASS_OK;
    const char *rate = strrchr(kbass_discovery_result(discovery)->equations[0].lhs, '_');
    char law[16], residual[16]; /* "_t_law", "_t_residual" */
    snprintf(law, sizeof law, "%.4s_law", rate);
    snprintf(residual, sizeof residual, "%.4s_residual", rate);
    int code = begin_mesh(&t, data, discovery, 3);
    if (code == EXIT_OK) {
        name_column(&t, 0, rate);
        name_column(&t, 1, law);
        name_column(&t, 2, residual);
        status = fill_law(&t, discovery, &error);
        if (status == KBASS_OK) status = write_table(&t, path, &code, &error);
        if (status != KBASS_OK) code = cli_fail_with(status, &error);
    }
    end(&t);
    return code;
}
