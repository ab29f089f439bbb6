/* kbass simulate: integrate a system, sample it, add noise. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "answer.h"
#include "commands.h"
#include "message.h"
#include "numbers.h"
#include "output.h"
#include "read.h"
#include "state.h"

enum { MOST_NAMES = 100 };

typedef struct {
    kbass_model *model;
    double from, until, noise;
    unsigned long n_samples, seed;
    cli_numbers start, times;
} simulate_job;

static int list_systems(void)
{
    for (size_t i = 0; kbass_model_name(i); i++) printf("%-22s %s\n", kbass_model_name(i), kbass_model_summary(i));
    return EXIT_OK;
}

static int show_equations(const kbass_model *model)
{
    for (size_t j = 0; j < kbass_model_states(model); j++) puts(kbass_model_equation(model, j));
    return EXIT_OK;
}

/* ---------------------------------------------------------------- the model */

static int split_equations(char *text, size_t *n, const char *equations[CLI_MOST_EQUATIONS])
{
    char *rest = text;
    *n = 0;
    for (char *part = strtok_r(text, ";", &rest); part; part = strtok_r(NULL, ";", &rest)) {
        if (*n == CLI_MOST_EQUATIONS) return cli_fail("more than %d equations", CLI_MOST_EQUATIONS);
        equations[(*n)++] = part + strspn(part, " ");
    }
    return EXIT_OK;
}

/* A --domain makes a PDE of the equations. */
static int typed_model(const cli_arguments *arguments, const char *text, kbass_model **model)
{
    kbass_data *inputs = NULL;
    const char *equations[CLI_MOST_EQUATIONS];
    kbass_model_options options = {.hold = cli_value(arguments, "input-hold") != NULL,
                                   .domain = cli_value(arguments, "domain"),
                                   .initial = cli_value(arguments, "initial"),
                                   .boundary = cli_value(arguments, "boundary")};
    size_t n = 0;
    kbass_error error;
    char *copy = strdup(text);
    if (!copy) return cli_fail("out of memory for the equations");
    int code = split_equations(copy, &n, equations);
    if (code == EXIT_OK && !options.domain) code = cli_read_inputs(arguments, NULL, &inputs);
    options.inputs = inputs;
    kbass_status status = code == EXIT_OK ? kbass_model_parse(n, equations, &options, model, &error) : KBASS_OK;
    if (status != KBASS_OK) code = cli_fail_with(status, &error);
    kbass_data_destroy(inputs);
    free(copy);
    return code;
}

static bool is_result_file(const char *name)
{
    size_t length = strlen(name);
    return strchr(name, '/') || (length > 5 && !strcasecmp(name + length - 5, ".json"));
}

static bool is_system(const char *name)
{
    for (size_t i = 0; kbass_model_name(i); i++)
        if (!strcmp(kbass_model_name(i), name)) return true;
    return false;
}

static int unknown_system(const char *name)
{
    const char *names[MOST_NAMES + 1] = {0};
    size_t n = 0;
    for (size_t i = 0; kbass_model_name(i) && n < MOST_NAMES; i++) names[n++] = kbass_model_name(i);
    const char *nearest = cli_nearest(name, names);
    return nearest ? cli_fail("unknown system \"%s\" (did you mean \"%s\"?)", name, nearest)
                   : cli_fail("unknown system \"%s\" (see kbass simulate --list)", name);
}

/* Of a result, in place of those of its record. */
static int take_inputs(const cli_arguments *arguments, const char *name, kbass_model *model)
{
    kbass_data *data = NULL;
    kbass_error error;
    const char *path = cli_value(arguments, "input-data");
    if (path && !kbass_model_input_name(model, 0)) return cli_fail("--input-data: %s has no inputs", name);
    int code = cli_read_inputs(arguments, name, &data);
    kbass_status status = code == EXIT_OK && data ? kbass_model_set_inputs(model, data, 0, &error) : KBASS_OK;
    if (status != KBASS_OK) code = cli_fail("%s: %s", path, error.message);
    kbass_data_destroy(data);
    return code;
}

static int load_model(const cli_arguments *arguments, kbass_model **model)
{
    const char *typed = cli_value(arguments, "equation");
    kbass_error error;
    if (typed && arguments->n_operands) return cli_fail("simulate takes a system or --equation, found both");
    if (typed) return typed_model(arguments, typed, model);
    if (arguments->n_operands != 1 && cli_value(arguments, "domain"))
        return cli_fail("--domain needs an --equation, such as \"u_t = u_xx\"");
    if (arguments->n_operands != 1)
        return cli_fail("simulate needs one system, result file or --equation, found %zu (see kbass simulate --list)",
                        arguments->n_operands);
    const char *name = arguments->operands[0];
    if (!is_result_file(name) && !is_system(name)) return unknown_system(name);
    kbass_status status =
        is_result_file(name) ? kbass_model_from_result(name, model, &error) : kbass_model_named(name, model, &error);
    if (status == KBASS_OK && is_result_file(name)) cli_result_repeat_verdict(name);
    return status == KBASS_OK ? take_inputs(arguments, name, *model) : cli_fail_with(status, &error);
}

/* ---------------------------------------------------------------- where it starts */

static void state_list(const kbass_model *model, char *text, size_t size)
{
    size_t length = 0;
    text[0] = '\0';
    for (size_t j = 0; j < kbass_model_states(model) && length < size; j++)
        length +=
            (size_t)snprintf(text + length, size - length, "%s%s", j ? ", " : "", kbass_model_state_name(model, j));
}

static int read_start(simulate_job *job, const char *text)
{
    size_t n = kbass_model_states(job->model);
    char names[400];
    if (!text) {
        state_list(job->model, names, sizeof names);
        if (!kbass_model_initial(job->model))
            return cli_fail("--start is needed: the state (%s) at the first time", names);
        return cli_numbers_copy(&job->start, n, kbass_model_initial(job->model));
    }
    const char **known = calloc(n, sizeof *known);
    for (size_t j = 0; known && j < n; j++) known[j] = kbass_model_state_name(job->model, j);
    int code = known ? cli_state_read("--start", text, n, known, &job->start) : cli_fail("out of memory for the start");
    free(known);
    return code;
}

/* ---------------------------------------------------------------- when it is sampled */

static int even_times(simulate_job *job)
{
    if (isnan(job->until)) return cli_fail("--until is needed: the last time");
    if (!(job->until > job->from))
        return cli_fail("--until: found %.10g, needed more than --from %.10g", job->until, job->from);
    int code = cli_numbers_copy(&job->times, job->n_samples, NULL);
    if (code != EXIT_OK) return code;
    for (size_t i = 0; i < job->times.n; i++)
        job->times.values[i] = job->from + (job->until - job->from) * (double)i / (double)(job->times.n - 1);
    job->times.values[job->times.n - 1] = job->until;
    return EXIT_OK;
}

static int read_times(simulate_job *job, const char *text)
{
    if (!text) return even_times(job);
    int code = cli_numbers_read(&job->times, "--times", text);
    if (code != EXIT_OK) return code;
    cli_numbers_sort(&job->times);
    if (job->times.values[0] < job->from)
        return cli_fail("--times: found %.10g, needed times from %.10g on (--from)", job->times.values[0], job->from);
    return EXIT_OK;
}

static int read_options(const cli_arguments *arguments, simulate_job *job)
{
    const double far = 1e12;
    const kbass_axis *time = kbass_model_axis(job->model, 0);
    job->from = isnan(time->first) ? 0 : time->first;
    job->until = time->last;
    job->n_samples = 100;
    job->seed = 1;
    int code = cli_number(arguments, "from", -far, far, &job->from);
    if (code == EXIT_OK) code = cli_number(arguments, "until", -far, far, &job->until);
    if (code == EXIT_OK) code = cli_number(arguments, "noise", 0, 1000, &job->noise);
    if (code == EXIT_OK) code = cli_count(arguments, "samples", 2, 1000000, &job->n_samples);
    if (code == EXIT_OK) code = cli_count(arguments, "seed", 0, 2147483647, &job->seed);
    if (code == EXIT_OK) code = read_start(job, cli_value(arguments, "start"));
    if (code == EXIT_OK) code = read_times(job, cli_value(arguments, "times"));
    return code;
}

/* ---------------------------------------------------------------- the samples */

static kbass_status sample(const simulate_job *job, kbass_data **data, kbass_error *error)
{
    size_t n_states = kbass_model_states(job->model), n = job->times.n;
    double *states = calloc(n * n_states, sizeof *states);
    const char **names = calloc(n_states, sizeof *names);
    kbass_status status = KBASS_ERROR_MEMORY;
    snprintf(error->message, sizeof error->message, "out of memory for %zu samples", n);

    if (states && names) {
        for (size_t j = 0; j < n_states; j++) names[j] = kbass_model_state_name(job->model, j);
        status = kbass_model_integrate(job->model, job->from, job->start.values, n, job->times.values, states, error);
        if (status == KBASS_OK)
            status = kbass_data_create(n, n_states, job->times.values, states, NULL, names, data, error);
    }
    if (status == KBASS_OK && job->noise > 0) status = kbass_data_add_noise(*data, job->noise, job->seed, error);

    free(names);
    free(states);
    return status;
}

static int write_samples(const simulate_job *job, const char *path)
{
    kbass_data *data = NULL;
    kbass_error error = {0};
    kbass_status status = sample(job, &data, &error);
    int code = status == KBASS_OK ? cli_output_data(path, data) : cli_fail_with(status, &error);
    kbass_data_destroy(data);
    return code;
}

static int simulate_states(const cli_arguments *arguments, kbass_model *model)
{
    static const char *const for_pdes[] = {"domain", "initial", "boundary", "grid", "scattered", "within"};
    simulate_job job = {.model = model};
    for (size_t i = 0; i < sizeof for_pdes / sizeof *for_pdes; i++)
        if (cli_value(arguments, for_pdes[i]))
            return cli_fail("--%s is for PDEs: name one (see kbass simulate --list) or give a --domain", for_pdes[i]);
    int code = read_options(arguments, &job);
    if (code == EXIT_OK) code = write_samples(&job, cli_value(arguments, "output"));
    cli_numbers_clear(&job.times);
    cli_numbers_clear(&job.start);
    return code;
}

int cli_simulate(const cli_arguments *arguments)
{
    kbass_model *model = NULL;
    if (cli_value(arguments, "list")) return list_systems();
    int code = load_model(arguments, &model);
    if (code == EXIT_OK && cli_value(arguments, "show")) code = show_equations(model);
    else if (code == EXIT_OK && kbass_model_axes(model) > 1) code = cli_simulate_fields(arguments, model);
    else if (code == EXIT_OK) code = simulate_states(arguments, model);
    kbass_model_destroy(model);
    return code;
}
