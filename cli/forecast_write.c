/* The forecast as tables: CSV with a row for each time and place, or arrays over times and places. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "arrays.h"
#include "forecast.h"
#include "message.h"
#include "output.h"

enum { NAME_SIZE = 96 };

int cli_outlook_places(cli_outlook *o, size_t n)
{
    o->n_space = kbass_posterior_axes(o->posterior) - 1;
    o->n_along = n;
    o->n_places = 1;
    for (size_t d = 0; d < o->n_space; d++) o->n_places *= n;
    if (!o->n_space) return EXIT_OK;
    int code = cli_numbers_copy(&o->places, o->n_places * o->n_space, NULL);
    for (size_t i = 0; code == EXIT_OK && i < o->n_places; i++)
        for (size_t d = o->n_space, rest = i; d-- > 0; rest /= n)
            o->places.values[i * o->n_space + d] = cli_outlook_place(o, d + 1, rest % n);
    return code;
}

double cli_outlook_place(const cli_outlook *o, size_t axis, size_t i)
{
    double first = NAN, last = NAN;
    kbass_posterior_range(o->posterior, axis, &first, &last);
    return i + 1 == o->n_along ? last : first + (last - first) * (double)i / (double)(o->n_along - 1);
}

/* Columns over all written times and places, to be filled one by one. */
typedef struct {
    const cli_outlook *outlook;
    size_t n_places, n_rows, n_states, n_columns;
    char (*names)[NAME_SIZE];
    double *columns; /* n_columns x n_rows */
} sheet;

static int begin(sheet *s, const cli_outlook *o, size_t n_columns)
{
    *s = (sheet){.outlook = o, .n_places = o->n_places, .n_states = kbass_posterior_states(o->posterior)};
    s->n_rows = o->n_written * s->n_places;
    s->n_columns = n_columns;
    s->names = calloc(n_columns, sizeof *s->names);
    s->columns = calloc(n_columns * s->n_rows, sizeof *s->columns);
    return s->names && s->columns ? EXIT_OK : cli_fail("out of memory for a table of %zu rows", s->n_rows);
}

static void end(sheet *s)
{
    free(s->names);
    free(s->columns);
}

/* values: times x places x states */
static void fill(sheet *s, size_t column, const double *values, size_t state)
{
    for (size_t row = 0; row < s->n_rows; row++)
        s->columns[column * s->n_rows + row] = values[row * s->n_states + state];
}

/* ---------------------------------------------------------------- formats */

static int write_csv(const sheet *s, const char *path)
{
    const cli_outlook *o = s->outlook;
    size_t n = s->n_rows, n_axes = kbass_posterior_axes(o->posterior);
    double *times = calloc(n, sizeof *times), *places = calloc(n * o->n_space + 1, sizeof *places);
    double *values = calloc(n * s->n_columns, sizeof *values);
    const char **names = calloc(s->n_columns, sizeof *names), *axes[KBASS_MAX_AXES] = {0};
    kbass_data *data = NULL;
    kbass_error error;
    int code = times && places && values && names ? EXIT_OK : cli_fail("out of memory for a table of %zu rows", n);
    if (code == EXIT_OK) {
        for (size_t row = 0; row < n; row++) {
            times[row] = o->times.values[row / s->n_places];
            for (size_t d = 0; d < o->n_space; d++)
                places[row * o->n_space + d] = o->places.values[row % s->n_places * o->n_space + d];
            for (size_t c = 0; c < s->n_columns; c++) values[row * s->n_columns + c] = s->columns[c * n + row];
        }
        for (size_t c = 0; c < s->n_columns; c++) names[c] = s->names[c];
        for (size_t a = 0; a < n_axes; a++) axes[a] = kbass_posterior_axis_name(o->posterior, a);
        kbass_status status = kbass_data_create_axes(n, n_axes, s->n_columns, times, n_axes > 1 ? places : NULL, values,
                                                     axes, names, &data, &error);
        code = status == KBASS_OK ? cli_output_data(path, data) : cli_fail_with(status, &error);
    }
    kbass_data_destroy(data);
    free(times);
    free(places);
    free(values);
    free(names);
    return code;
}

/* Arrays of the axes; `room` is for the places along each, n_space x n_along. */
static size_t axis_arrays(const cli_outlook *o, cli_array *arrays, double *room)
{
    arrays[0] = (cli_array){kbass_posterior_axis_name(o->posterior, 0), 1, {o->n_written}, o->times.values};
    for (size_t a = 1; a <= o->n_space; a++) {
        double *own = room + (a - 1) * o->n_along;
        for (size_t i = 0; i < o->n_along; i++) own[i] = cli_outlook_place(o, a, i);
        arrays[a] = (cli_array){kbass_posterior_axis_name(o->posterior, a), 1, {o->n_along}, own};
    }
    return 1 + o->n_space;
}

/* Over times and places, behind `before` dimensions that are set. */
static void set_shape(const cli_outlook *o, size_t before, cli_array *array)
{
    array->shape[before] = o->n_written;
    for (size_t d = 0; d < o->n_space; d++) array->shape[before + 1 + d] = o->n_along;
    array->n_dimensions = before + 1 + o->n_space;
}

static int write_arrays(const sheet *s, const char *path)
{
    const cli_outlook *o = s->outlook;
    cli_array *arrays = calloc(s->n_columns + KBASS_MAX_AXES, sizeof *arrays);
    double *room = calloc(o->n_space * o->n_along + 1, sizeof *room);
    int code = arrays && room ? EXIT_OK : cli_fail("out of memory for a table of %zu rows", s->n_rows);
    size_t n = code == EXIT_OK ? axis_arrays(o, arrays, room) : 0;
    for (size_t c = 0; code == EXIT_OK && c < s->n_columns; c++) {
        arrays[n] = (cli_array){.name = s->names[c], .values = s->columns + c * s->n_rows};
        set_shape(o, 0, &arrays[n++]);
    }
    if (code == EXIT_OK) code = cli_arrays_write(path, n, arrays);
    free(arrays);
    free(room);
    return code;
}

/* ---------------------------------------------------------------- mean and quantiles */

/* "x_q5"; 2.5 % of x is x_q2_5, since names have no points. */
static void name_quantile(const char *state, double percent, char *name)
{
    int length = snprintf(name, NAME_SIZE, "%.70s_q", state);
    snprintf(name + length, NAME_SIZE - (size_t)length, "%g", percent);
    for (char *c = name + length; *c; c++)
        if (*c == '.' || *c == '-' || *c == '+') *c = '_';
}

int cli_outlook_write(const cli_outlook *o, const char *path)
{
    sheet s;
    size_t n_states = kbass_posterior_states(o->posterior), width = 1 + o->percents.n;
    int code = begin(&s, o, n_states * width + 1);
    for (size_t i = 0; code == EXIT_OK && i < n_states; i++) {
        const char *name = kbass_posterior_state_name(o->posterior, i);
        snprintf(s.names[i * width], NAME_SIZE, "%.80s", name);
        fill(&s, i * width, o->mean, i);
        for (size_t k = 0; k < o->percents.n; k++) {
            name_quantile(name, o->percents.values[k], s.names[i * width + 1 + k]);
            fill(&s, i * width + 1 + k, o->quantiles + k * o->times.n * o->n_places * n_states, i);
        }
    }
    if (code == EXIT_OK) {
        strcpy(s.names[n_states * width], "draws");
        for (size_t row = 0; row < s.n_rows; row++)
            s.columns[n_states * width * s.n_rows + row] = (double)o->reached[row / s.n_places];
        code = cli_format_of(path) == CLI_CSV ? write_csv(&s, path) : write_arrays(&s, path);
    }
    end(&s);
    return code;
}

/* ---------------------------------------------------------------- draws */

/* One array for each state, draws x times x places. */
static int write_draw_arrays(const cli_outlook *o, const char *path)
{
    size_t n_states = kbass_posterior_states(o->posterior), n_draws = kbass_forecast_draws(o->forecast);
    size_t rows = o->n_written * o->n_places, n = 0;
    double *values = calloc(n_states * n_draws * rows, sizeof *values);
    double *room = calloc(o->n_space * o->n_along + 1, sizeof *room);
    cli_array *arrays = calloc(n_states + KBASS_MAX_AXES, sizeof *arrays);
    int code = values && arrays && room ? EXIT_OK : cli_fail("out of memory for %zu draws", n_draws);
    if (code == EXIT_OK) n = axis_arrays(o, arrays, room);
    for (size_t i = 0; code == EXIT_OK && i < n_states; i++) {
        double *own = values + i * n_draws * rows;
        for (size_t d = 0; d < n_draws; d++)
            for (size_t row = 0; row < rows; row++)
                own[d * rows + row] = kbass_forecast_values(o->forecast, d)[row * n_states + i];
        arrays[n] = (cli_array){.name = kbass_posterior_state_name(o->posterior, i), .shape = {n_draws}, .values = own};
        set_shape(o, 1, &arrays[n++]);
    }
    if (code == EXIT_OK) code = cli_arrays_write(path, n, arrays);
    free(values);
    free(room);
    free(arrays);
    return code;
}

/* In CSV draw 3 of x is the column x_3. */
int cli_outlook_draws(const cli_outlook *o, const char *path)
{
    sheet s = {0};
    size_t n_states = kbass_posterior_states(o->posterior), n_draws = kbass_forecast_draws(o->forecast);
    if (cli_format_of(path) != CLI_CSV) return write_draw_arrays(o, path);
    int code = begin(&s, o, n_states * n_draws);
    for (size_t c = 0; code == EXIT_OK && c < s.n_columns; c++) {
        snprintf(s.names[c], NAME_SIZE, "%.70s_%zu", kbass_posterior_state_name(o->posterior, c / n_draws),
                 c % n_draws + 1);
        fill(&s, c, kbass_forecast_values(o->forecast, c % n_draws), c / n_draws);
    }
    if (code == EXIT_OK) code = write_csv(&s, path);
    end(&s);
    return code;
}
