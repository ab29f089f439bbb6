/* Files the command writes. They are tried before a run begins, so that no result is lost for a misspelt path. */
#ifndef CLI_OUTPUT_H
#define CLI_OUTPUT_H

#include "kbass/kbass.h"

/* Checks that `path` can be written and is not the file `input`; either may be NULL. Leaves the disk as it was. */
int cli_output_check(const char *path, const char *input);

/* Each returns an exit code, EXIT_NO_RESULT when writing fails. `path` NULL means standard output. */
int cli_output_text(const char *path, const char *text);
int cli_output_data(const char *path, const kbass_data *data);

#endif
