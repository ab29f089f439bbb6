/* kbass discover: from a table of measurements to the equations behind it. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "answer.h"
#include "commands.h"
#include "guard.h"
#include "message.h"
#include "output.h"
#include "pages.h"
#include "progress.h"
#include "read.h"
#include "share.h"
#include "signals.h"
#include "tables.h"

typedef struct {
    const cli_arguments *arguments;
    const char *json, *report, *solution, *residuals, *law;
    bool is_quiet, shows_all, shows_details;
    kbass_settings *settings;
    kbass_data *data;
    kbass_discovery *discovery;
} discover_job;

static int prepare(discover_job *job, const cli_arguments *arguments)
{
    if (!arguments->n_operands) return cli_fail("discover needs a data file, found none (see kbass help discover)");
    job->arguments = arguments;
    job->json = cli_value(arguments, "json");
    job->report = cli_value(arguments, "report");
    job->solution = cli_value(arguments, "solution");
    job->residuals = cli_value(arguments, "residuals");
    job->law = cli_value(arguments, "law-residuals");
    job->is_quiet = cli_value(arguments, "quiet") != NULL;
    job->shows_details = cli_value(arguments, "details") != NULL;
    job->shows_all = cli_value(arguments, "all-terms") != NULL;
    return cli_settings(arguments, &job->settings);
}

static int load(discover_job *job)
{
    kbass_error error;
    int code = cli_read_all(job->arguments, job->is_quiet, &job->data);
    if (code != EXIT_OK) return code;
    kbass_status status = kbass_discovery_create(job->data, job->settings, &job->discovery, &error);
    return status == KBASS_OK ? EXIT_OK : cli_fail_with(status, &error);
}

/* A result that goes to standard output is alone there. */
static FILE *result_stream(const discover_job *job)
{
    return job->json && cli_output_is_standard(job->json) ? stderr : stdout;
}

static int print_text(const discover_job *job, const char *text)
{
    fputs(text, result_stream(job));
    return cli_finish_output();
}

static int print(const discover_job *job, int parts)
{
    char *text = NULL;
    kbass_error error;
    bool is_bold = isatty(fileno(result_stream(job))) && !getenv("NO_COLOR");
    kbass_status status = kbass_discovery_text(job->discovery, parts | (is_bold ? KBASS_TEXT_BOLD : 0), &text, &error);
    if (status != KBASS_OK) return cli_fail_with(status, &error);
    int code = print_text(job, text);
    kbass_free(text);
    return code;
}

/* A run whose report nobody reads is worth it when its result goes into a file. */
static int begin(const discover_job *job)
{
    int code = print(job, KBASS_TEXT_PROBLEM);
    bool has_file = job->json || job->report || job->solution || job->residuals || job->law;
    return has_file ? EXIT_OK : code;
}

/* Ranks are killed soon after a signal to mpirun. */
static bool is_guarded(void) { return cli_share() && cli_share_writes(); }

/* What will be written is solved by the run, once. */
static int parts_to_keep(const discover_job *job)
{
    return (job->json || job->report ? KBASS_KEEP_RESULT : 0) | (job->solution ? KBASS_KEEP_SOLUTION : 0) |
           (job->residuals ? KBASS_KEEP_ROWS : 0) | (is_guarded() ? KBASS_KEEP_BEST : 0);
}

/* While the run still goes on; where there is no model yet it may find one. */
static int write_so_far(void *context)
{
    const discover_job *job = context;
    char *json = NULL, *text = NULL;
    kbass_error error;
    if (kbass_discovery_so_far(job->discovery, KBASS_TEXT_RESULT, &json, &text, &error) != KBASS_OK) return -1;
    if (job->json) cli_output_text(job->json, json);
    if (job->report) cli_report_write(json, job->report);
    print_text(job, text);
    return cli_interrupted_code();
}

static int run(discover_job *job)
{
    kbass_error error;
    cli_progress progress;
    char about[2000] = "";
    kbass_data_describe(job->data, about, sizeof about);
    cli_progress_begin(&progress, job->is_quiet);
    kbass_discovery_share(job->discovery, cli_share());
    kbass_discovery_keep(job->discovery, parts_to_keep(job));
    cli_share_say(job->is_quiet, strstr(about, "part used of ")
                                     ? "the tiles of the grid, and the models of each step of the search, in turn"
                                     : "the models of each step of the search, in turn");
    if (is_guarded()) cli_guard_begin(write_so_far, job);
    kbass_status status = kbass_discovery_run(job->discovery, cli_progress_show, &progress, &error);
    cli_guard_end();
    cli_progress_end(&progress);
    return status == KBASS_OK ? EXIT_OK : cli_fail_with(status, &error);
}

/* A file with an answer stays when this run has none. */
static bool is_kept(const discover_job *job, const char *path, bool (*holds_answer)(const char *))
{
    if (kbass_discovery_result(job->discovery)->n_equations || !holds_answer(path)) return false;
    cli_fail("%s: is left as it is: it holds an answer, and this run found none", path);
    return true;
}

/* The solution may have been cut off by the limit or a signal. */
static void tell_cut(const discover_job *job)
{
    kbass_error error;
    size_t counts[KBASS_MAX_AXES];
    if (kbass_discovery_result(job->discovery)->n_equations &&
        kbass_discovery_points(job->discovery, 0, counts, NULL, NULL, &error) == KBASS_ERROR_TIME)
        cli_fail("%s: holds the answer without figures' numbers: %s", job->json ? job->json : job->report,
                 error.message);
}

/* The result as JSON and as a page. */
static int write_result(const discover_job *job)
{
    char *json = NULL;
    kbass_error error;
    tell_cut(job);
    kbass_status status = kbass_discovery_json(job->discovery, &json, &error);
    int saved = EXIT_OK, shown = EXIT_OK;
    if (status != KBASS_OK) saved = cli_fail_with(status, &error);
    if (json && job->json && !is_kept(job, job->json, cli_result_holds_answer))
        saved = cli_output_text(job->json, json);
    if (json && job->report && !is_kept(job, job->report, cli_page_holds_answer))
        shown = cli_report_write(json, job->report);
    kbass_free(json);
    return saved == EXIT_OK && shown == EXIT_OK ? EXIT_OK : EXIT_NO_RESULT;
}

/* ---------------------------------------------------------------- the command */

static int exit_code(const kbass_result *result)
{
    if (result->outcome == KBASS_CANCELLED || cli_interrupted()) return cli_interrupted_code();
    if (!result->n_equations) return EXIT_NO_RESULT;
    bool is_without = result->law.verdict == KBASS_LAW_NONE || result->law.verdict == KBASS_NOTHING_TO_EXPLAIN;
    return is_without ? EXIT_NO_LAW : EXIT_OK;
}

static int write_tables(const discover_job *job)
{
    int solution = EXIT_OK, residuals = EXIT_OK, law = EXIT_OK;
    if (job->solution) solution = cli_table_solution(job->data, job->discovery, job->solution);
    if (job->residuals) residuals = cli_table_residuals(job->data, job->discovery, job->residuals);
    if (job->law) {
        cli_interrupts_all_end(); /* it is differentiated for long, and all else is written */
        law = cli_table_law(job->data, job->discovery, job->law);
    }
    return solution != EXIT_OK ? solution : residuals != EXIT_OK ? residuals : law;
}

static int deliver(const discover_job *job)
{
    const kbass_result *result = kbass_discovery_result(job->discovery);
    int code = exit_code(result);
    int written = print(job, KBASS_TEXT_RESULT | (job->shows_all ? KBASS_TEXT_ALL_TERMS : 0) |
                                 (job->shows_details ? KBASS_TEXT_DETAILS : 0));
    if ((job->json || job->report) && write_result(job) != EXIT_OK) written = EXIT_NO_RESULT;
    if (result->n_equations && write_tables(job) != EXIT_OK) written = EXIT_NO_RESULT;
    return written != EXIT_OK && (code == EXIT_OK || code == EXIT_NO_LAW) ? written : code;
}

int cli_discover(const cli_arguments *arguments)
{
    discover_job job = {0};
    int code = prepare(&job, arguments);
    if (code == EXIT_OK) code = load(&job); /* until then there is nothing to lose: a signal ends it at once */
    cli_interrupts_catch();
    if (code == EXIT_OK) code = begin(&job);
    if (code == EXIT_OK) code = run(&job);
    cli_interrupts_key_ends();
    if (code == EXIT_OK) code = deliver(&job);
    cli_interrupts_release();
    kbass_discovery_destroy(job.discovery);
    kbass_settings_destroy(job.settings);
    kbass_data_destroy(job.data);
    return code;
}
