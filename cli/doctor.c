/* kbass doctor: what data can carry, before any fit. */
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "commands.h"
#include "doctor_figure.h"
#include "figure.h"
#include "message.h"
#include "output.h"
#include "read.h"

enum { LAST_COLUMN = 110, INDENT = 16 };

/* Words up to the last column, further lines indented. */
static void print_words(const char *text, int indent)
{
    int column = indent;
    while (*text) {
        int length = (int)strcspn(text, " ");
        if (column + 1 + length > LAST_COLUMN) column = printf("\n%*s", indent, "") - 1;
        else if (column > indent) column += printf(" ");
        column += printf("%.*s", length, text);
        text += length;
        while (*text == ' ') text++;
    }
    putchar('\n');
}

static const char *mark_of(kbass_severity severity)
{
    return severity == KBASS_FINE ? "  " : severity == KBASS_WARNING ? "! " : "X ";
}

/* The gravest first. */
static void print_findings(const kbass_doctor *doctor)
{
    const kbass_finding *finding = NULL;
    for (int severity = KBASS_HOPELESS; severity >= KBASS_FINE; severity--)
        for (size_t i = 0; (finding = kbass_doctor_finding(doctor, i)); i++) {
            if ((int)finding->severity != severity) continue;
            printf("  %s%-*s", mark_of(finding->severity), INDENT - 4, finding->check);
            print_words(finding->sentence, INDENT);
            if (*finding->suggestion) {
                printf("%*s-> ", INDENT, "");
                print_words(finding->suggestion, INDENT + 3);
            }
        }
}

/* The data and, run by run, what the doctor says. */
typedef struct {
    const cli_arguments *arguments;
    kbass_data *data;
    size_t n_runs;
    kbass_doctor **doctors; /* n_runs */
} visit;

static kbass_severity worst_of(const visit *v)
{
    kbass_severity worst = KBASS_FINE;
    for (size_t run = 0; run < v->n_runs; run++)
        if (kbass_doctor_severity(v->doctors[run]) > worst) worst = kbass_doctor_severity(v->doctors[run]);
    return worst;
}

/* What makes an answer undecided before anything is fitted: too few values, too much noise, or none of what a law of
   this dictionary has to be told by. */
static bool is_grave(const kbass_finding *finding)
{
    static const char *const checks[] = {"candidates", "derivatives", "noise", "sampling", "dependent"};
    for (size_t i = 0; finding->severity == KBASS_WARNING && i < sizeof checks / sizeof *checks; i++)
        if (!strcmp(finding->check, checks[i])) return true;
    return false;
}

static void print_verdict(const visit *v)
{
    size_t n_warnings = 0, n_grave = 0;
    const kbass_finding *finding = NULL;
    for (size_t run = 0; run < v->n_runs; run++)
        for (size_t i = 0; (finding = kbass_doctor_finding(v->doctors[run], i)); i++) {
            n_warnings += finding->severity == KBASS_WARNING;
            n_grave += is_grave(finding);
        }
    kbass_severity severity = worst_of(v);
    if (severity == KBASS_FINE) puts("\n  Fit to go.");
    else if (severity == KBASS_WARNING && !n_grave)
        printf("\n  Fit to go with %zu warning%s.\n", n_warnings, n_warnings == 1 ? "" : "s");
    else if (severity == KBASS_WARNING)
        printf("\n  Not fit for a sure answer: %zu warning%s. discover will try; expect terms that stay undecided.\n",
               n_warnings, n_warnings == 1 ? "" : "s");
    else puts("\n  Hopeless as it is: see X above.");
}

static void print(const visit *v)
{
    char text[1000];
    kbass_data_describe(v->data, text, sizeof text);
    printf("%s\n", text);
    for (size_t run = 0; run < v->n_runs; run++) {
        if (v->n_runs > 1) printf("\n%s:", kbass_data_run_name(v->data, run));
        putchar('\n');
        print_findings(v->doctors[run]);
    }
    print_verdict(v);
}

/* One object, or one for each run by its name. */
static int write_json(const visit *v, const char *path)
{
    char *text = NULL;
    kbass_error error;
    kbass_status status = KBASS_OK;
    json_t *runs = json_object();
    for (size_t run = 0; status == KBASS_OK && run < v->n_runs; run++) {
        kbass_free(text);
        text = NULL;
        status = kbass_doctor_json(v->doctors[run], &text, &error);
        if (status == KBASS_OK && v->n_runs > 1)
            json_object_set_new(runs, kbass_data_run_name(v->data, run), json_loads(text, 0, NULL));
    }
    char *all = v->n_runs > 1 ? json_dumps(runs, JSON_INDENT(2) | JSON_REAL_PRECISION(15)) : NULL;
    int code = status == KBASS_OK ? cli_output_text(path, all ? all : text) : cli_fail_with(status, &error);
    json_decref(runs);
    kbass_free(all);
    kbass_free(text);
    return code;
}

static int examine(visit *v, const kbass_settings *settings)
{
    kbass_error error;
    kbass_status status = KBASS_OK;
    v->n_runs = kbass_data_runs(v->data);
    if (v->n_runs > 1 && cli_value(v->arguments, "figure"))
        return cli_fail("--figure shows one run, found %zu: ask about one alone", v->n_runs);
    v->doctors = calloc(v->n_runs, sizeof *v->doctors);
    if (!v->doctors) return cli_fail("out of memory for %zu runs", v->n_runs);
    for (size_t run = 0; status == KBASS_OK && run < v->n_runs; run++) {
        kbass_data *one = NULL;
        status = kbass_data_pick(v->data, run, &one, &error);
        if (status == KBASS_OK) status = kbass_doctor_create(one, settings, &v->doctors[run], &error);
        kbass_data_destroy(one);
    }
    return status == KBASS_OK ? EXIT_OK : cli_fail_with(status, &error);
}

static int deliver(const visit *v)
{
    const char *json = cli_value(v->arguments, "json"), *figure = cli_value(v->arguments, "figure");
    print(v);
    int code = cli_finish_output();
    if (code == EXIT_OK && json) code = write_json(v, json);
    if (code == EXIT_OK && figure) code = cli_doctor_figure(v->data, v->doctors[0], figure);
    return code == EXIT_OK ? (int)worst_of(v) : EXIT_BAD_INPUT;
}

int cli_doctor(const cli_arguments *arguments)
{
    visit v = {.arguments = arguments};
    kbass_settings *settings = NULL;
    if (!arguments->n_operands) return cli_fail("doctor needs data, found no file (see kbass help doctor)");
    int code = cli_settings(arguments, &settings);
    if (code == EXIT_OK) code = figure_options(arguments, cli_value(arguments, "figure"));
    if (code == EXIT_OK) code = cli_read_all(arguments, false, &v.data);
    if (code == EXIT_OK) code = examine(&v, settings);
    /* 1 says warnings: what could not be done at all is 2 */
    code = code == EXIT_OK ? deliver(&v) : EXIT_BAD_INPUT;
    for (size_t run = 0; v.doctors && run < v.n_runs; run++) kbass_doctor_destroy(v.doctors[run]);
    free(v.doctors);
    kbass_settings_destroy(settings);
    kbass_data_destroy(v.data);
    return code;
}
