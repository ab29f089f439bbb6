/* kbass discover: from a table of measurements to the equations behind it. */
#include <math.h>
#include <stdlib.h>

#include "commands.h"
#include "message.h"
#include "output.h"
#include "progress.h"
#include "text.h"

enum { EVEN_TIMES = 200 };

typedef struct {
    const char *path, *time_column, *axes, *json, *solution;
    bool is_quiet;
    kbass_settings settings;
    kbass_data *data;
    kbass_discovery *discovery;
} discover_job;

static int prepare(discover_job *job, const cli_arguments *arguments)
{
    if (arguments->n_operands != 1)
        return cli_fail("discover needs one data file, found %zu (see kbass help discover)", arguments->n_operands);
    job->path = arguments->operands[0];
    job->time_column = cli_value(arguments, "time");
    job->axes = cli_value(arguments, "axes");
    if (job->axes && job->time_column)
        return cli_fail("found both --time %s and --axes %s: --axes names time too, first", job->time_column,
                        job->axes);
    job->json = cli_value(arguments, "json");
    job->solution = cli_value(arguments, "solution");
    job->is_quiet = cli_value(arguments, "quiet") != NULL;
    return cli_settings(arguments, &job->settings);
}

static int check_outputs(const discover_job *job)
{
    int code = cli_output_check(job->json, job->path);
    if (code == EXIT_OK) code = cli_output_check(job->solution, job->path);
    return code;
}

static int load(discover_job *job)
{
    kbass_error error;
    kbass_status status = job->axes ? kbass_data_read_axes(job->path, job->axes, &job->data, &error)
                                    : kbass_data_read(job->path, job->time_column, &job->data, &error);
    if (status == KBASS_OK) status = kbass_discovery_create(job->data, &job->settings, &job->discovery, &error);
    return status == KBASS_OK ? EXIT_OK : cli_fail_with(status, &error);
}

static int run(discover_job *job)
{
    kbass_error error;
    cli_progress progress;
    cli_progress_begin(&progress, job->is_quiet);
    kbass_status status = kbass_discovery_run(job->discovery, cli_progress_show, &progress, &error);
    cli_progress_end(&progress);
    return status == KBASS_OK ? EXIT_OK : cli_fail_with(status, &error);
}

static int write_json(const discover_job *job)
{
    char *json = NULL;
    kbass_error error;
    kbass_status status = kbass_discovery_json(job->discovery, &json, &error);
    int code = status == KBASS_OK ? cli_output_text(job->json, json) : cli_fail_with(status, &error);
    kbass_free(json);
    return code == EXIT_OK ? EXIT_OK : EXIT_NO_RESULT;
}

/* ---------------------------------------------------------------- the solution as a table */

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Even times over the record and the measured ones, each once; room for EVEN_TIMES + n_rows. */
static size_t solution_times(const kbass_data *data, double *times)
{
    size_t n_rows = kbass_data_rows(data), n = 0, n_unique = 0;
    const double *measured = kbass_data_times(data);
    double first = measured[0], last = measured[n_rows - 1];
    for (size_t i = 0; i < EVEN_TIMES; i++) times[n++] = first + (last - first) * (double)i / (EVEN_TIMES - 1);
    for (size_t i = 0; i < n_rows; i++) times[n++] = measured[i];
    times[EVEN_TIMES - 1] = last;
    qsort(times, n, sizeof *times, ascending);
    for (size_t i = 0; i < n; i++)
        if (i == 0 || times[i] != times[n_unique - 1]) times[n_unique++] = times[i];
    return n_unique;
}

/* x, x_sd, y, y_sd, ... */
static void solution_columns(const kbass_data *data, char (*names)[80], const char **columns)
{
    for (size_t j = 0; j < kbass_data_states(data); j++) {
        columns[2 * j] = kbass_data_state_name(data, j);
        snprintf(names[j], sizeof names[j], "%.76s_sd", columns[2 * j]);
        columns[2 * j + 1] = names[j];
    }
}

static void interleave(size_t n, const double *mean, const double *sd, double *table)
{
    for (size_t i = 0; i < n; i++) {
        table[2 * i] = mean[i];
        table[2 * i + 1] = sd[i];
    }
}

static int write_solution(const discover_job *job)
{
    size_t n_states = kbass_data_states(job->data), room = EVEN_TIMES + kbass_data_rows(job->data);
    double *times = calloc(room, sizeof *times), *mean = calloc(room * n_states, sizeof *mean);
    double *sd = calloc(room * n_states, sizeof *sd), *table = calloc(2 * room * n_states, sizeof *table);
    char(*names)[80] = calloc(n_states, sizeof *names);
    const char **columns = calloc(2 * n_states, sizeof *columns);
    kbass_data *solution = NULL;
    kbass_error error;
    int code = EXIT_NO_RESULT;

    if (times && mean && sd && table && names && columns) {
        size_t n = solution_times(job->data, times);
        solution_columns(job->data, names, columns);
        kbass_status status = kbass_discovery_solution(job->discovery, n, times, mean, sd, &error);
        interleave(n * n_states, mean, sd, table);
        if (status == KBASS_OK)
            status = kbass_data_create(n, 2 * n_states, times, table, kbass_data_time_name(job->data), columns,
                                       &solution, &error);
        if (status == KBASS_OK) code = cli_output_data(job->solution, solution);
        else                    cli_fail_with(status, &error);
    } else {
        cli_fail("out of memory for the solution");
    }

    kbass_data_destroy(solution);
    free(columns);
    free(names);
    free(table);
    free(sd);
    free(mean);
    free(times);
    return code;
}

/* ---------------------------------------------------------------- the command */

static int exit_code(const kbass_result *result)
{
    if (result->outcome == KBASS_CANCELLED) return EXIT_INTERRUPTED;
    return result->n_equations ? EXIT_OK : EXIT_NO_RESULT;
}

static int deliver(const discover_job *job)
{
    const kbass_result *result = kbass_discovery_result(job->discovery);
    int code = exit_code(result), written = EXIT_OK;
    cli_text_result(job->data, result);
    if (cli_finish_output() != EXIT_OK) written = EXIT_NO_RESULT;
    if (job->json && write_json(job) != EXIT_OK) written = EXIT_NO_RESULT;
    if (job->solution && result->n_equations && write_solution(job) != EXIT_OK) written = EXIT_NO_RESULT;
    return code != EXIT_OK ? code : written;
}

int cli_discover(const cli_arguments *arguments)
{
    discover_job job = {0};
    int code = prepare(&job, arguments);
    if (code == EXIT_OK) code = load(&job);
    if (code == EXIT_OK) code = check_outputs(&job);
    if (code == EXIT_OK) {
        cli_text_problem(job.data, job.discovery);
        code = run(&job);
    }
    if (code == EXIT_OK) code = deliver(&job);
    kbass_discovery_destroy(job.discovery);
    kbass_data_destroy(job.data);
    return code;
}
