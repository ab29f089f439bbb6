/* Reading measurements for a command, with progress for files that take their time. */
#ifndef CLI_READ_H
#define CLI_READ_H

#include "options.h"

/* As the options --time, --axes, --run and --sigma say; an exit code, with the message printed. */
int cli_read(const cli_arguments *arguments, const char *path, bool is_quiet, kbass_data **data);
/* The data that a result was made of, as it recorded; options that are given here come before that. */
int cli_read_like(const cli_arguments *arguments, const char *result, const char *path, kbass_data **data);
/* All operands, several as runs of one law. */
int cli_read_all(const cli_arguments *arguments, bool is_quiet, kbass_data **data);

/* The file of --input-data, in which columns of a law's inputs are known over time; NULL where it is not given. Time is
   named as the result has it (NULL: no result). */
int cli_read_inputs(const cli_arguments *arguments, const char *result, kbass_data **data);
/* The same into a posterior: what its inputs are after the record. */
int cli_take_inputs(const cli_arguments *arguments, const char *result, kbass_posterior *posterior);

#endif
