/* kbass next: where one more sample would tell most. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "answer.h"
#include "commands.h"
#include "figure.h"
#include "message.h"
#include "output.h"
#include "read.h"

enum { NAME_SIZE = 96 };
static const double apart = 0.05; /* of the range: points that are listed are not neighbours */

typedef struct {
    kbass_posterior *posterior;
    size_t n_times, n_places, n, n_states; /* n: points */
    size_t n_space, n_along;               /* axes of space; places along each */
    double first[KBASS_MAX_AXES], last[KBASS_MAX_AXES];
    double *times, *positions, *models, *weights; /* n; the gains n x n_states */
    unsigned long best;
} next_job;

/* ---------------------------------------------------------------- where to look */

static int read_range(const cli_arguments *arguments, next_job *job)
{
    static const unsigned long usual[KBASS_MAX_AXES][2] = {{101, 1}, {31, 31}, {21, 11}, {11, 7}};
    size_t n_space = job->n_space = kbass_posterior_axes(job->posterior) - 1;
    bool has_space = n_space > 0;
    unsigned long n_times = usual[n_space][0], n_places = usual[n_space][1];
    double end = NAN;
    job->best = 10;
    for (size_t a = 0; a <= n_space; a++) kbass_posterior_range(job->posterior, a, &job->first[a], &job->last[a]);
    int code = cli_number(arguments, "until", job->last[0], 1e300, &end);
    if (code == EXIT_OK) code = cli_count(arguments, "samples", 2, 10000, &n_times);
    if (code == EXIT_OK) code = cli_count(arguments, "places", 2, 1000, &n_places);
    if (code == EXIT_OK) code = cli_count(arguments, "best", 1, 1000, &job->best);
    if (code == EXIT_OK && !has_space && cli_value(arguments, "places"))
        code = cli_fail("--places is for fields over space");
    if (!isnan(end)) job->last[0] = end;
    job->n_times = n_times;
    job->n_along = n_places;
    job->n_places = 1;
    for (size_t d = 0; d < n_space; d++) job->n_places *= n_places;
    job->n_states = kbass_posterior_states(job->posterior);
    job->n = job->n_times * job->n_places;
    return code;
}

static int make_points(next_job *job)
{
    job->times = calloc(job->n, sizeof *job->times);
    job->positions = calloc(job->n * job->n_space + 1, sizeof *job->positions);
    job->models = calloc(job->n * job->n_states, sizeof *job->models);
    job->weights = calloc(job->n * job->n_states, sizeof *job->weights);
    if (!job->times || !job->positions || !job->models || !job->weights)
        return cli_fail("out of memory for %zu points", job->n);
    for (size_t i = 0; i < job->n; i++) {
        double t = (double)(i / job->n_places) / (double)(job->n_times - 1);
        job->times[i] = t < 1 ? job->first[0] + (job->last[0] - job->first[0]) * t : job->last[0];
        for (size_t a = job->n_space, rest = i; a > 0; rest /= job->n_along, a--) {
            double x = (double)(rest % job->n_along) / (double)(job->n_along - 1);
            job->positions[i * job->n_space + a - 1] =
                x < 1 ? job->first[a] + (job->last[a] - job->first[a]) * x : job->last[a];
        }
    }
    return EXIT_OK;
}

/* ---------------------------------------------------------------- the best points */

static bool has_rivals(const next_job *job) { return kbass_posterior_models(job->posterior) > 1; }

/* What the points are ranked by. */
static const double *gains(const next_job *job) { return has_rivals(job) ? job->models : job->weights; }

static bool is_near(const next_job *job, size_t a, size_t b)
{
    size_t i = a / job->n_states, j = b / job->n_states;
    bool is_so = a % job->n_states == b % job->n_states &&
                 fabs(job->times[i] - job->times[j]) / (job->last[0] - job->first[0]) < apart;
    for (size_t d = 0; is_so && d < job->n_space; d++)
        is_so = fabs(job->positions[i * job->n_space + d] - job->positions[j * job->n_space + d]) /
                    (job->last[d + 1] - job->first[d + 1]) <
                apart;
    return is_so;
}

/* The best that is not near one already listed; n x n_states when there is none. */
static size_t next_best(const next_job *job, size_t n_listed, const size_t *listed)
{
    size_t all = job->n * job->n_states, best = all;
    for (size_t i = 0; i < all; i++) {
        bool taken = best < all && !(gains(job)[i] > gains(job)[best]);
        for (size_t k = 0; !taken && k < n_listed; k++) taken = is_near(job, i, listed[k]);
        if (!taken) best = i;
    }
    return best;
}

static void print_row(const next_job *job, size_t at)
{
    size_t point = at / job->n_states;
    printf("  %-12s %12.6g", kbass_posterior_state_name(job->posterior, at % job->n_states), job->times[point]);
    for (size_t d = 0; d < job->n_space; d++) printf(" %12.6g", job->positions[point * job->n_space + d]);
    if (has_rivals(job)) printf(" %14.3g", job->models[at]);
    printf(" %14.3g\n", job->weights[at]);
}

static void print_heading(const next_job *job)
{
    size_t n = kbass_posterior_models(job->posterior);
    double entropy = 0;
    for (size_t m = 0; m < n; m++) {
        double p = kbass_posterior_probability(job->posterior, m);
        if (p > 0) entropy -= p * log(p);
    }
    if (n > 1)
        printf("%zu models are left, the chosen one with the probability %.2g among them: %.3g nats are open. One more "
               "sample "
               "is expected to bring, at best:\n\n",
               n, kbass_posterior_probability(job->posterior, 0), entropy);
    else puts("No rival is near the chosen model: points are ranked by what they would tell about its weights.\n");
    printf("  %-12s %12s", "of", kbass_posterior_axis_name(job->posterior, 0));
    for (size_t a = 1; a <= job->n_space; a++) printf(" %12s", kbass_posterior_axis_name(job->posterior, a));
    if (has_rivals(job)) printf(" %14s", "about models");
    printf(" %14s\n", "about weights");
}

static int print_best(const next_job *job)
{
    size_t *listed = calloc(job->best, sizeof *listed), n = 0, all = job->n * job->n_states;
    if (!listed) return cli_fail("out of memory for the list");
    print_heading(job);
    for (size_t at; n < job->best && (at = next_best(job, n, listed)) < all; n++) {
        listed[n] = at;
        print_row(job, at);
    }
    puts("\n  nats, for the noise of the other samples");
    free(listed);
    return EXIT_OK;
}

/* ---------------------------------------------------------------- table and figure */

static int write_table(const next_job *job, const char *path)
{
    size_t width = 2 * job->n_states, n_axes = kbass_posterior_axes(job->posterior);
    char(*names)[NAME_SIZE] = calloc(width, sizeof *names);
    const char **columns = calloc(width, sizeof *columns), *axes[KBASS_MAX_AXES] = {0};
    double *values = calloc(job->n * width, sizeof *values);
    kbass_data *data = NULL;
    kbass_error error;
    int code = names && columns && values ? EXIT_OK : cli_fail("out of memory for the table");
    if (code == EXIT_OK) {
        for (size_t a = 0; a < n_axes; a++) axes[a] = kbass_posterior_axis_name(job->posterior, a);
        for (size_t c = 0; c < width; c++) {
            snprintf(names[c], NAME_SIZE, "%.70s_%s", kbass_posterior_state_name(job->posterior, c / 2),
                     c % 2 ? "weights" : "models");
            columns[c] = names[c];
            for (size_t i = 0; i < job->n; i++)
                values[i * width + c] = (c % 2 ? job->weights : job->models)[i * job->n_states + c / 2];
        }
        kbass_status status =
            kbass_data_create_axes(job->n, n_axes, width, job->times, n_axes > 1 ? job->positions : NULL, values, axes,
                                   columns, &data, &error);
        code = status == KBASS_OK ? cli_output_data(path, data) : cli_fail_with(status, &error);
    }
    kbass_data_destroy(data);
    free(names);
    free(columns);
    free(values);
    return code;
}

/* One block of times (and places) and gains for each state. */
static void write_blocks(FILE *script, const next_job *job)
{
    size_t stride = 1; /* of the first axis of space: over the others the best counts */
    for (size_t d = 1; d < job->n_space; d++) stride *= job->n_along;
    for (size_t j = 0; j < job->n_states; j++) {
        fprintf(script, "$gain%zu << EOD\n", j);
        for (size_t i = 0; i < job->n; i += stride) {
            double gain = gains(job)[i * job->n_states + j];
            for (size_t k = i; k < i + stride; k++) gain = fmax(gain, gains(job)[k * job->n_states + j]);
            fprintf(script, "%.15g %.15g %.15g\n", job->times[i], job->n_space ? job->positions[i * job->n_space] : 0.0,
                    gain);
            if (job->n_space && (i + stride) % job->n_places == 0) fputc('\n', script);
        }
        fputs("EOD\n", script);
    }
}

static void plot(FILE *script, const next_job *job)
{
    static const char *const colours[] = {"#4477aa", "#ee6677", "#228833", "#ccbb44", "#66ccee", "#aa3377"};
    bool is_map = job->n_places > 1;
    fputs("set border 3\nset tics nomirror\n", script);
    figure_time_axis(script, kbass_posterior_axis_name(job->posterior, 0), job->first[0], job->last[0], 480);
    if (is_map)
        fprintf(
            script,
            "set multiplot layout %zu,1\nset ylabel '%s' noenhanced\nset palette defined (0 '#ffffff', 1 '#224466')\n",
            job->n_states, kbass_posterior_axis_name(job->posterior, 1));
    else
        fprintf(script, "set ylabel 'gain about the %s, nats'\nset yrange [0:*]\nset key outside right\nplot ",
                has_rivals(job) ? "models" : "weights");
    for (size_t j = 0; j < job->n_states; j++) {
        const char *name = kbass_posterior_state_name(job->posterior, j);
        if (is_map)
            fprintf(
                script,
                "set title '%s: gain about the %s, nats' noenhanced\nplot $gain%zu using 1:2:3 with image notitle\n",
                name, has_rivals(job) ? "models" : "weights", j);
        else
            fprintf(script, "%s$gain%zu using 1:3 with lines lw 2 lc rgb '%s' title '%s' noenhanced", j ? ", " : "", j,
                    colours[j % 6], name);
    }
    fputc('\n', script);
}

static int draw(const next_job *job, const char *path)
{
    FILE *script = NULL;
    int code = figure_begin(path, 720, job->n_places > 1 ? 340 * (int)job->n_states : 340, &script);
    if (code != EXIT_OK) return code;
    write_blocks(script, job);
    plot(script, job);
    return figure_end(path, script);
}

/* ---------------------------------------------------------------- the command */

static int run(next_job *job)
{
    kbass_error error;
    kbass_status status = kbass_posterior_gain(job->posterior, job->n, job->times, job->n_space ? job->positions : NULL,
                                               job->models, job->weights, &error);
    return status == KBASS_OK ? EXIT_OK : cli_fail_with(status, &error);
}

int cli_next(const cli_arguments *arguments)
{
    next_job job = {0};
    kbass_error error;
    const char *output = cli_value(arguments, "output"), *figure = cli_value(arguments, "figure");
    if (arguments->n_operands != 1)
        return cli_fail("next needs one result file, found %zu (see kbass help next)", arguments->n_operands);
    kbass_status status =
        kbass_posterior_read(arguments->operands[0], cli_value(arguments, "of-run"), &job.posterior, &error);
    int code = status == KBASS_OK ? cli_take_inputs(arguments, arguments->operands[0], job.posterior)
                                  : cli_fail_with(status, &error);
    if (code == EXIT_OK) code = read_range(arguments, &job);
    if (code == EXIT_OK) code = figure_options(arguments, figure);
    if (code == EXIT_OK) code = make_points(&job);
    if (code == EXIT_OK) code = run(&job);
    if (code == EXIT_OK) code = print_best(&job);
    if (code == EXIT_OK) {
        cli_result_print_alike(arguments->operands[0]);
        cli_result_repeat_verdict(arguments->operands[0]);
    }
    if (code == EXIT_OK && output) code = write_table(&job, output);
    if (code == EXIT_OK && figure) code = draw(&job, figure);
    kbass_posterior_destroy(job.posterior);
    free(job.times);
    free(job.positions);
    free(job.models);
    free(job.weights);
    return code;
}
