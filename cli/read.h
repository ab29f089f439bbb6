/* Reading measurements for a command, with progress for files that take their time. */
#ifndef CLI_READ_H
#define CLI_READ_H

#include "options.h"

/* As the options --time and --axes say; an exit code, with the message printed. */
int cli_read(const cli_arguments *arguments, const char *path, bool is_quiet, kbass_data **data);

#endif
