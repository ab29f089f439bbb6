/* kbass forecast: what the equations of a result say about the time after the record. */
#include "forecast.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "arrays.h"
#include "commands.h"
#include "figure.h"
#include "message.h"
#include "output.h"
#include "progress.h"
#include "answer.h"
#include "read.h"
#include "share.h"
#include "state.h"

typedef struct {
    const char *path, *output, *draws, *figure;
    bool is_quiet;
    kbass_forecast_options options;
    cli_progress progress;
    cli_numbers state;
    cli_outlook outlook;
} forecast_job;

/* ---------------------------------------------------------------- what is asked for */

static int even(cli_numbers *numbers, size_t n, double first, double last)
{
    int code = cli_numbers_copy(numbers, n, NULL);
    for (size_t i = 0; code == EXIT_OK && i < n; i++)
        numbers->values[i] = first + (last - first) * (double)i / (double)(n - 1);
    if (code == EXIT_OK) numbers->values[n - 1] = last;
    return code;
}

static int read_times(const cli_arguments *arguments, forecast_job *job)
{
    const double far = 1e300;
    double first = NAN, last = NAN, until = NAN;
    unsigned long n = 101;
    const char *times = cli_value(arguments, "times"), *name = kbass_posterior_axis_name(job->outlook.posterior, 0);
    kbass_posterior_range(job->outlook.posterior, 0, &first, &last);
    int code = cli_number(arguments, "until", -far, far, &until);
    if (code == EXIT_OK) code = cli_count(arguments, "samples", 2, 100000, &n);
    if (code != EXIT_OK) return code;
    if (times && !isnan(until)) return cli_fail("found both --times and --until, needed one of them");
    if (times) {
        code = cli_numbers_read(&job->outlook.times, "--times", times);
        if (code == EXIT_OK) cli_numbers_sort(&job->outlook.times);
        return code;
    }
    if (isnan(until)) return cli_fail("--until is needed: the last time; the record ends at %s = %.10g", name, last);
    if (!(until > last))
        return cli_fail("--until: found %.10g, needed more than %.10g, where the record ends", until, last);
    return even(&job->outlook.times, n, last, until);
}

static int read_places(const cli_arguments *arguments, forecast_job *job)
{
    static const unsigned long usual[] = {100, 20, 10};
    size_t n_space = kbass_posterior_axes(job->outlook.posterior) - 1;
    unsigned long n = n_space ? usual[n_space - 1] : 0;
    int code = cli_count(arguments, "places", 2, n_space > 1 ? 200 : 100000, &n);
    if (code != EXIT_OK) return code;
    if (!n_space && cli_value(arguments, "places")) return cli_fail("--places is for fields over space");
    return cli_outlook_places(&job->outlook, n);
}

static int read_quantiles(const char *text, cli_numbers *percents)
{
    static const double usual[] = {5, 25, 50, 75, 95};
    int code = text ? cli_numbers_parse(percents, "--quantiles", text) : cli_numbers_copy(percents, 5, usual);
    for (size_t i = 0; code == EXIT_OK && i < percents->n; i++)
        if (!(percents->values[i] >= 0 && percents->values[i] <= 100))
            code = cli_fail("--quantiles: found %g, needed percents from 0 to 100", percents->values[i]);
    if (code == EXIT_OK) cli_numbers_sort(percents);
    for (size_t i = 1; code == EXIT_OK && i < percents->n; i++)
        if (percents->values[i] == percents->values[i - 1])
            code = cli_fail("--quantiles: found %g twice", percents->values[i]);
    return code;
}

static int read_state(forecast_job *job, const char *text)
{
    int code = text ? cli_state_from(job->outlook.posterior, text, &job->state) : EXIT_OK;
    job->options.state = job->state.values;
    return code;
}

static int read_options(const cli_arguments *arguments, forecast_job *job)
{
    unsigned long draws = 200, seed = 1, threads = 0;
    int code = cli_count(arguments, "draws", 1, 100000, &draws);
    if (code == EXIT_OK) code = cli_count(arguments, "seed", 0, 2147483647, &seed);
    if (code == EXIT_OK) code = cli_count(arguments, "threads", 1, 1024, &threads);
    if (code == EXIT_OK) code = cli_number(arguments, "time-limit", 0, 1e9, &job->options.time_limit);
    if (code == EXIT_OK) code = read_quantiles(cli_value(arguments, "quantiles"), &job->outlook.percents);
    if (code == EXIT_OK) code = read_times(arguments, job);
    if (code == EXIT_OK) code = read_places(arguments, job);
    if (code == EXIT_OK) code = read_state(job, cli_value(arguments, "from"));
    job->is_quiet = cli_value(arguments, "quiet") != NULL;
    job->options.n_draws = draws;
    job->options.seed = seed;
    job->options.threads = (int)threads;
    job->options.average = !cli_value(arguments, "chosen");
    job->options.boundary = cli_value(arguments, "boundary");
    return code;
}

/* The date of time 0, where times were dates; the file is a result, as was found before. */
static bool read_origin(forecast_job *job)
{
    json_t *root = json_load_file(job->path, 0, NULL), *data = json_object_get(root, "data");
    const char *origin = json_string_value(json_object_get(data, "time_origin"));
    const char *name = kbass_posterior_axis_name(job->outlook.posterior, 0);
    const char *unit = json_string_value(json_object_get(json_object_get(data, "units"), name));
    int year, month, day;
    bool is_date = origin && strlen(origin) <= 30 && !strpbrk(origin, "'\\\"") &&
                   sscanf(origin, "%d-%d-%d", &year, &month, &day) == 3;
    if (is_date) job->outlook.origin = strdup(origin);
    job->outlook.seconds = unit && !strcmp(unit, "d") ? 86400 : 1;
    json_decref(root);
    return !is_date || job->outlook.origin;
}

static int load(const cli_arguments *arguments, forecast_job *job)
{
    kbass_error error;
    const char *data = cli_value(arguments, "data"), *run = cli_value(arguments, "of-run");
    if (arguments->n_operands != 1)
        return cli_fail("forecast needs one result file, found %zu (see kbass help forecast)", arguments->n_operands);
    job->path = arguments->operands[0];
    kbass_status status = kbass_posterior_read(job->path, run, &job->outlook.posterior, &error);
    if (status != KBASS_OK) return cli_fail_with(status, &error);
    int code = cli_take_inputs(arguments, job->path, job->outlook.posterior);
    if (code != EXIT_OK) return code;
    cli_result_repeat_verdict(job->path);
    if (!read_origin(job)) return cli_fail("%s: out of memory", job->path);
    if (data && run) return cli_fail("--data: the figure shows the data of one run alone, the result is of several");
    code = data ? cli_read_like(arguments, job->path, data, &job->outlook.data) : EXIT_OK;
    if (data && code == EXIT_OK) {
        status = kbass_posterior_check_data(job->outlook.posterior, job->outlook.data, &error);
        if (status != KBASS_OK) return cli_fail("%s: %s", data, error.message);
    }
    return code;
}

static int check_outputs(const cli_arguments *arguments, forecast_job *job)
{
    job->output = cli_value(arguments, "output");
    job->draws = cli_value(arguments, "save-draws");
    job->figure = cli_value(arguments, "figure");
    const char *files[] = {job->output, job->draws};
    for (size_t i = 0; i < 2; i++)
        if (cli_format_of(files[i]) == CLI_NPY)
            return cli_fail("%s: a forecast has several arrays, NPY has room for one: use .npz, .json or .csv",
                            files[i]);
    return figure_options(arguments, job->figure);
}

/* ---------------------------------------------------------------- running it */

static int summarise(cli_outlook *o)
{
    size_t each = o->times.n * o->n_places * kbass_posterior_states(o->posterior);
    kbass_error error;
    double *shares = calloc(o->percents.n, sizeof *shares);
    o->mean = calloc(each, sizeof *o->mean);
    o->quantiles = calloc(each * o->percents.n, sizeof *o->quantiles);
    o->reached = calloc(o->times.n, sizeof *o->reached);
    int code = shares && o->mean && o->quantiles && o->reached ? EXIT_OK : cli_fail("out of memory for the forecast");
    for (size_t i = 0; code == EXIT_OK && i < o->percents.n; i++) shares[i] = o->percents.values[i] / 100;
    if (code == EXIT_OK) {
        kbass_status status =
            kbass_forecast_summary(o->forecast, o->percents.n, shares, o->mean, o->quantiles, o->reached, &error);
        if (status != KBASS_OK) code = cli_fail_with(status, &error);
    }
    while (code == EXIT_OK && o->n_written < o->times.n && o->reached[o->n_written]) o->n_written++;
    free(shares);
    return code;
}

/* "7 of 200 draws diverge before t = 9.1", beside the table, wherever that goes. */
static void report_lost(const forecast_job *job)
{
    const cli_outlook *o = &job->outlook;
    const char *time = kbass_posterior_axis_name(o->posterior, 0);
    FILE *out = job->output ? stdout : stderr;
    double first = NAN, last = o->times.values[o->times.n - 1];
    size_t too_far = 0, lost = kbass_forecast_lost(o->forecast, &first, &too_far);
    size_t n = kbass_forecast_draws(o->forecast), before = 0;
    if (n < job->options.n_draws) fprintf(out, "Stopped after %zu of %zu draws.\n", n, job->options.n_draws);
    if (too_far)
        fprintf(out,
                "%zu of %zu draws would take too many steps to follow to %s = %.6g; a nearer --until shows them.\n",
                too_far, n, time, last);
    if (!lost) return;
    if (lost > too_far) fprintf(out, "%zu of %zu draws diverge before %s = %.6g.\n", lost - too_far, n, time, last);
    fprintf(out, "The first is left out from %s = %.6g on.\n", time, first);
    while (before < o->times.n && 2 * o->reached[before] >= n) before++;
    if (before < o->times.n)
        fprintf(out, "From %s = %.6g on fewer than half of the draws are left: the bands are those of the tame ones.\n",
                time, o->times.values[before]);
    if (o->n_written < o->times.n)
        fprintf(out, "None is left from %s = %.6g on, where the table ends.\n", time, o->times.values[o->n_written]);
}

static void report(const forecast_job *job)
{
    const cli_outlook *o = &job->outlook;
    size_t n = kbass_forecast_draws(o->forecast), models = kbass_posterior_models(o->posterior);
    const char *time = kbass_posterior_axis_name(o->posterior, 0);
    printf("%zu draws of the equations%s from %s = %.6g to %.6g, seed %llu.\n", n,
           job->options.state ? "" : " and the last state", time, o->times.values[0], o->times.values[o->times.n - 1],
           (unsigned long long)job->options.seed);
    if (job->options.average && models > 1)
        printf("They are of %zu models; the chosen one has the probability %.2g among them.\n", models,
               kbass_posterior_probability(o->posterior, 0));
    if (!job->options.average && models > 1)
        printf("They are of the chosen model; %zu near rival%s not counted.\n", models - 1,
               models == 2 ? " is" : "s are");
}

static int run(forecast_job *job)
{
    cli_outlook *o = &job->outlook;
    kbass_error error;
    job->options.progress = cli_progress_show;
    job->options.user = &job->progress;
    job->options.size = sizeof job->options;
    job->options.reduce = cli_share();
    cli_share_say(job->is_quiet, "the draws, one after another to each");
    cli_progress_begin(&job->progress, job->is_quiet);
    if (!job->progress.is_terminal)
        job->progress.stage = "draws", job->progress.shown = 0; /* the first after a while */
    kbass_status status = kbass_posterior_forecast(o->posterior, &job->options, o->times.n, o->times.values,
                                                   o->n_places, o->places.values, &o->forecast, &error);
    cli_progress_end(&job->progress);
    return status == KBASS_OK ? summarise(o) : cli_fail_with(status, &error);
}

static int deliver(const forecast_job *job)
{
    const cli_outlook *o = &job->outlook;
    int code = EXIT_OK;
    if (job->output) report(job);
    report_lost(job);
    if (!o->n_written) {
        cli_fail("no draw reaches %s = %.6g: there is nothing to write", kbass_posterior_axis_name(o->posterior, 0),
                 o->times.values[0]);
        return EXIT_NO_RESULT;
    }
    code = cli_outlook_write(o, job->output);
    if (code == EXIT_OK && job->draws) code = cli_outlook_draws(o, job->draws);
    if (code == EXIT_OK && job->figure) code = cli_outlook_figure(o, job->figure);
    return code;
}

int cli_forecast(const cli_arguments *arguments)
{
    forecast_job job = {0};
    int code = load(arguments, &job);
    if (code == EXIT_OK) code = read_options(arguments, &job);
    if (code == EXIT_OK) code = check_outputs(arguments, &job);
    if (code == EXIT_OK) code = run(&job);
    if (code == EXIT_OK) code = deliver(&job);
    cli_outlook *o = &job.outlook;
    free(o->origin);
    free(o->mean);
    free(o->quantiles);
    free(o->reached);
    cli_numbers_clear(&o->times);
    cli_numbers_clear(&o->places);
    cli_numbers_clear(&o->percents);
    cli_numbers_clear(&job.state);
    kbass_forecast_destroy(o->forecast);
    kbass_posterior_destroy(o->posterior);
    kbass_data_destroy(o->data);
    return code;
}
