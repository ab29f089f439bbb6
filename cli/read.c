#include "read.h"

#include "message.h"
#include "progress.h"

static const double PATIENCE = 1; /* seconds without a word */

static int show(const kbass_progress *now, void *user)
{
    return now->seconds < PATIENCE ? 0 : cli_progress_show(now, user);
}

int cli_read(const cli_arguments *arguments, const char *path, bool is_quiet, kbass_data **data)
{
    kbass_error error;
    cli_progress progress;
    kbass_read_options options = {.time_column = cli_value(arguments, "time"), .axes = cli_value(arguments, "axes"),
                                  .progress = show, .user = &progress};
    if (options.axes && options.time_column)
        return cli_fail("found both --time %s and --axes %s: --axes names time too", options.time_column, options.axes);
    cli_progress_begin(&progress, is_quiet);
    kbass_status status = kbass_data_open(path, &options, data, &error);
    cli_progress_end(&progress);
    return status == KBASS_OK ? EXIT_OK : cli_fail_with(status, &error);
}
