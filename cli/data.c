/* kbass data: what is in a file, and the data sets that ship with the program. */
#include <stdio.h>
#include <string.h>

#include "commands.h"
#include "message.h"
#include "output.h"
#include "read.h"

static bool is_example(const char *name)
{
    for (size_t i = 0; kbass_data_example_name(i); i++)
        if (!strcmp(kbass_data_example_name(i), name)) return true;
    return false;
}

/* It is there, or is written as files are. */
static bool is_file(const char *name)
{
    FILE *file = fopen(name, "rb");
    if (file) fclose(file);
    return file || strpbrk(name, "./:");
}

/* Parts of the description stand between semicolons: one line each. */
static void print_description(const char *path, const kbass_data *data)
{
    char text[2048];
    kbass_data_describe(data, text, sizeof text);
    printf("%s\n", path);
    for (char *part = text, *next = NULL; part; part = next) {
        next = strstr(part, "; ");
        if (next) *next = '\0';
        if (next) next += 2;
        printf("  %s\n", part);
    }
    for (size_t i = 0; kbass_data_doubt(data, i, text, sizeof text); i++) printf("  warning: %s\n", text);
    printf("  SHA-256 %s\n", kbass_data_sha256(data));
}

static int show_file(const cli_arguments *arguments, const char *path)
{
    kbass_data *data = NULL;
    const char *output = cli_value(arguments, "output");
    int code = cli_read(arguments, path, false, &data);
    if (code == EXIT_OK && output) code = cli_output_data(output, data);
    if (code == EXIT_OK && !output) print_description(path, data);
    kbass_data_destroy(data);
    return code;
}

static int write_example(const char *name, const char *path)
{
    kbass_data *data = NULL;
    kbass_error error;
    kbass_status status = kbass_data_example(name, &data, &error);
    int code = status == KBASS_OK ? cli_output_data(path, data) : cli_fail_with(status, &error);
    kbass_data_destroy(data);
    return code;
}

int cli_data(const cli_arguments *arguments)
{
    if (cli_value(arguments, "list")) {
        for (size_t i = 0; kbass_data_example_name(i); i++)
            printf("%-16s %s\n", kbass_data_example_name(i), kbass_data_example_summary(i));
        return EXIT_OK;
    }
    if (arguments->n_operands != 1) return cli_fail("data needs one file or name (see kbass data --list)");
    const char *name = arguments->operands[0];
    if (is_file(name) && !is_example(name)) return show_file(arguments, name);
    return write_example(name, cli_value(arguments, "output"));
}
