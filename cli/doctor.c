/* kbass doctor: what data can carry, before any fit. */
#include <string.h>

#include "commands.h"
#include "doctor_figure.h"
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

static void print_verdict(const kbass_doctor *doctor)
{
    size_t n_warnings = 0;
    for (size_t i = 0; i < kbass_doctor_findings(doctor); i++)
        n_warnings += kbass_doctor_finding(doctor, i)->severity == KBASS_WARNING;
    kbass_severity severity = kbass_doctor_severity(doctor);
    if (severity == KBASS_FINE) puts("\n  Fit to go.");
    else if (severity == KBASS_WARNING)
        printf("\n  Fit to go with %zu warning%s.\n", n_warnings, n_warnings == 1 ? "" : "s");
    else puts("\n  Hopeless as it is: see X above.");
}

static int write_json(const kbass_doctor *doctor, const char *path)
{
    char *json = NULL;
    kbass_error error;
    kbass_status status = kbass_doctor_json(doctor, &json, &error);
    int code = status == KBASS_OK ? cli_output_text(path, json) : cli_fail_with(status, &error);
    kbass_free(json);
    return code;
}

static int deliver(const cli_arguments *arguments, const kbass_data *data, const kbass_doctor *doctor)
{
    const char *json = cli_value(arguments, "json"), *figure = cli_value(arguments, "figure");
    char text[1000];
    kbass_data_describe(data, text, sizeof text);
    printf("%s\n\n", text);
    print_findings(doctor);
    print_verdict(doctor);
    int code = cli_finish_output();
    if (code == EXIT_OK && json) code = write_json(doctor, json);
    if (code == EXIT_OK && figure) code = cli_doctor_figure(data, doctor, figure);
    return code == EXIT_OK ? (int)kbass_doctor_severity(doctor) : EXIT_BAD_INPUT;
}

int cli_doctor(const cli_arguments *arguments)
{
    kbass_data *data = NULL;
    kbass_doctor *doctor = NULL;
    kbass_settings settings;
    kbass_error error;
    if (arguments->n_operands != 1)
        return cli_fail("doctor needs one data file, found %zu (see kbass help doctor)", arguments->n_operands);
    const char *path = arguments->operands[0];
    int code = cli_settings(arguments, &settings);
    if (code == EXIT_OK) code = cli_output_check(cli_value(arguments, "json"), path);
    if (code == EXIT_OK) code = cli_output_check(cli_value(arguments, "figure"), path);
    if (code == EXIT_OK) code = cli_read(arguments, path, false, &data);
    if (code == EXIT_OK) {
        kbass_status status = kbass_doctor_create(data, &settings, &doctor, &error);
        code = status == KBASS_OK ? deliver(arguments, data, doctor) : cli_fail_with(status, &error);
    }
    kbass_doctor_destroy(doctor);
    kbass_data_destroy(data);
    return code;
}
