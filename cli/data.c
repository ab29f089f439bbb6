/* kbass data: the data sets that ship with the program. */
#include <stdio.h>

#include "commands.h"
#include "message.h"
#include "output.h"

static int write_example(const char *name, const char *path)
{
    kbass_data *data = NULL;
    kbass_error error;
    kbass_status status = kbass_data_example(name, &data, &error);
    int code = status == KBASS_OK ? cli_output_check(path, NULL) : cli_fail_with(status, &error);
    if (code == EXIT_OK) code = cli_output_data(path, data);
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
    if (arguments->n_operands != 1) return cli_fail("data needs one name (see kbass data --list)");
    return write_example(arguments->operands[0], cli_value(arguments, "output"));
}
