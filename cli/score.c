/* kbass score: a law on data that it has not seen. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "commands.h"
#include "figure.h"
#include "message.h"
#include "output.h"
#include "progress.h"
#include "read.h"
#include "score.h"
#include "state.h"

/* ---------------------------------------------------------------- what is asked for */

static int read_state(score_job *job, const char *text)
{
    int code = text ? cli_state_from(job->posterior, text, &job->state) : EXIT_OK;
    job->options.state = job->state.values;
    return code;
}

static int read_options(const cli_arguments *arguments, score_job *job)
{
    unsigned long draws = 400, seed = 1, threads = 0, start = 0;
    int code = cli_count(arguments, "draws", 1, 100000, &draws);
    if (code == EXIT_OK) code = cli_count(arguments, "seed", 0, 2147483647, &seed);
    if (code == EXIT_OK) code = cli_count(arguments, "threads", 1, 1024, &threads);
    if (code == EXIT_OK) code = cli_count(arguments, "start", 1, 1000000, &start);
    if (code == EXIT_OK) code = read_state(job, cli_value(arguments, "from"));
    job->options.size = sizeof job->options;
    job->options.n_draws = draws;
    job->options.seed = seed;
    job->options.threads = (int)threads;
    job->options.n_start = start;
    job->options.continues = cli_value(arguments, "continue") != NULL;
    job->options.boundary = cli_value(arguments, "boundary");
    job->options.progress = cli_progress_show;
    job->options.user = &job->progress;
    return code;
}

static int load(const cli_arguments *arguments, score_job *job)
{
    kbass_error error;
    if (arguments->n_operands != 2)
        return cli_fail("score needs a result file and new data, found %zu files (see kbass help score)",
                        arguments->n_operands);
    kbass_status status =
        kbass_posterior_read(arguments->operands[0], cli_value(arguments, "of-run"), &job->posterior, &error);
    if (status != KBASS_OK) return cli_fail_with(status, &error);
    int code = cli_read_inputs(arguments, arguments->operands[0], &job->inputs);
    job->options.inputs = job->inputs;
    return code == EXIT_OK ? cli_read_like(arguments, arguments->operands[0], arguments->operands[1], &job->data)
                           : code;
}

/* ---------------------------------------------------------------- what is said */

static const char *time_name(const score_job *job) { return kbass_posterior_axis_name(job->posterior, 0); }

static void print_heading(const score_job *job)
{
    const kbass_score *s = job->score;
    if (job->options.continues)
        printf("%zu values from %s = %.6g to %.6g, after the record that the law was found in.\n", s->n_values,
               time_name(job), s->first, s->last);
    else if (job->options.state)
        printf("%zu values from %s = %.6g to %.6g, from the given state.\n", s->n_values, time_name(job), s->first,
               s->last);
    else
        printf("%zu values from %s = %.6g to %.6g; the start was fitted to the %zu row%s before.\n", s->n_values,
               time_name(job), s->first, s->last, s->n_used, s->n_used == 1 ? "" : "s");
}

static void print_row(const score_job *job, const kbass_predictor *p, size_t at)
{
    printf("  %-12s %9.3f %11.3f %11.0f %% %11.0f %%  ", p->name, p->r2[at], p->log_score[at], 100 * p->within_50[at],
           100 * p->within_90[at]);
    if (isnan(p->leaves)) puts("stays");
    else printf("%s = %.6g\n", time_name(job), p->leaves);
}

static const kbass_predictor *find(const kbass_score *s, const char *name)
{
    for (size_t i = 0; i < s->n_predictors; i++)
        if (!strcmp(s->predictors[i].name, name)) return &s->predictors[i];
    return NULL;
}

/* In words: against the forecasts without a law, against the rival, and what the law's bands are worth. */
static void print_conclusion(const score_job *job)
{
    const kbass_score *s = job->score;
    size_t all = s->n_states;
    const kbass_predictor *law = &s->predictors[0], *rival = find(s, "runner-up"), *still = find(s, "no change"),
                          *bare = find(s, "bare field");
    const kbass_predictor *best = bare->log_score[all] > still->log_score[all] ? bare : still;
    double ahead = law->log_score[all] - best->log_score[all];
    if (law->n_lost) printf("\nNo draw of the law reaches %zu of the values: it diverges before.\n", law->n_lost);
    if (ahead > 0)
        printf("\nThe law explains %.1f %% of the variance, and is %.2g nats a value ahead of what needs no law.\n",
               100 * law->r2[all], ahead);
    else
        printf("\nThe law does not hold here: the %s, which needs none, is %.2g nats a value ahead.\n", best->name,
               -ahead);
    if (rival && rival->log_score[all] > law->log_score[all])
        printf("Its nearest rival does better by %.2g nats a value.\n", rival->log_score[all] - law->log_score[all]);
    if (law->within_90[all] < 0.8) puts("The law's bands are too narrow: what it leaves out matters on these data.");
}

static void print(const score_job *job)
{
    const kbass_score *s = job->score;
    print_heading(job);
    printf("\n  %-12s %9s %11s %13s %13s  %s\n", "", "R^2", "log score", "in 50 % band", "in 90 % band",
           "leaves the band");
    for (size_t i = 0; i < s->n_predictors; i++) print_row(job, &s->predictors[i], s->n_states);
    for (size_t i = 0; s->n_states > 1 && i < s->n_states; i++)
        printf("%s  %s: R^2 %.3f, %.0f %% in the 90 %% band",
               i ? ";" : "\n  The law by state:", kbass_posterior_state_name(job->posterior, i), s->predictors[0].r2[i],
               100 * s->predictors[0].within_90[i]);
    if (s->n_states > 1) puts("");
    print_conclusion(job);
}

/* ---------------------------------------------------------------- running it */

static int write_json(const score_job *job, const char *path)
{
    char *json = NULL;
    kbass_error error;
    kbass_status status = kbass_score_json(job->score, job->posterior, &json, &error);
    int code = status == KBASS_OK ? cli_output_text(path, json) : cli_fail_with(status, &error);
    kbass_free(json);
    return code;
}

static int score_run(score_job *job, size_t run)
{
    kbass_error error;
    cli_progress_begin(&job->progress, job->is_quiet);
    if (!job->progress.is_terminal) job->progress.stage = "draws", job->progress.shown = 0;
    kbass_status status = kbass_posterior_score(job->posterior, job->data, run, &job->options, &job->score, &error);
    cli_progress_end(&job->progress);
    return status == KBASS_OK ? EXIT_OK : cli_fail_with(status, &error);
}

static int deliver(const cli_arguments *arguments, const score_job *job)
{
    const char *json = cli_value(arguments, "json"), *table = cli_value(arguments, "output"),
               *figure = cli_value(arguments, "figure");
    int code = EXIT_OK;
    print(job);
    if (json) code = write_json(job, json);
    if (code == EXIT_OK && table) code = score_write(job, table);
    if (code == EXIT_OK && figure) code = score_draw(job, figure);
    return code;
}

int cli_score(const cli_arguments *arguments)
{
    score_job job = {.is_quiet = cli_value(arguments, "quiet") != NULL};
    int code = load(arguments, &job);
    if (code == EXIT_OK) code = read_options(arguments, &job);
    if (code == EXIT_OK) code = figure_options(arguments, cli_value(arguments, "figure"));
    size_t runs = code == EXIT_OK ? kbass_data_runs(job.data) : 0;
    bool writes = cli_value(arguments, "json") || cli_value(arguments, "output") || cli_value(arguments, "figure");
    if (runs > 1 && writes)
        code = cli_fail("files are written for one run alone, found %zu: name a part of the data", runs);
    for (size_t run = 0; code == EXIT_OK && run < runs; run++) {
        if (runs > 1) printf("%sRun %s\n", run ? "\n" : "", kbass_data_run_name(job.data, run));
        code = score_run(&job, run);
        if (code == EXIT_OK) code = deliver(arguments, &job);
        kbass_score_destroy(job.score);
        job.score = NULL;
    }
    cli_numbers_clear(&job.state);
    kbass_posterior_destroy(job.posterior);
    kbass_data_destroy(job.data);
    kbass_data_destroy(job.inputs);
    return code;
}
