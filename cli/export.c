/* kbass export: a result in other languages. */
#include <stdio.h>
#include <string.h>

#include "commands.h"
#include "message.h"
#include "output.h"
#include "read.h"

static int list_formats(void)
{
    for (size_t i = 0; kbass_export_format(i); i++)
        printf("%-8s %s\n", kbass_export_format(i), kbass_export_summary(i));
    return EXIT_OK;
}

int cli_export(const cli_arguments *arguments)
{
    const char *output = cli_value(arguments, "output"), *format = cli_value(arguments, "to");
    kbass_error error;
    char *text = NULL;
    if (cli_value(arguments, "list")) return list_formats();
    if (arguments->n_operands != 1) return cli_fail("export needs one result file (see kbass help export)");
    if (!format) return cli_fail("export needs --to FORMAT (see kbass export --list)");
    const char *path = arguments->operands[0];
    kbass_data *inputs = NULL;
    int code = cli_read_inputs(arguments, path, &inputs);
    if (code != EXIT_OK) return code;
    kbass_status status = kbass_export(path, format, cli_value(arguments, "name"), inputs, &text, &error);
    code = status == KBASS_OK ? cli_output_text(output, text) : cli_fail_with(status, &error);
    kbass_free(text);
    kbass_data_destroy(inputs);
    return code;
}
