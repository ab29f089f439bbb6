#include "read.h"

#include <stdlib.h>

#include "message.h"
#include "progress.h"

static const double PATIENCE = 1; /* seconds without a word */

static int show(const kbass_progress *now, void *user)
{
    return now->seconds < PATIENCE ? 0 : cli_progress_show(now, user);
}

/* One run, or several by a column of it. */
static int read_part(const cli_arguments *arguments, const char *path, bool is_quiet, kbass_data **data)
{
    kbass_error error;
    cli_progress progress;
    unsigned long every = 1;
    int code = cli_count(arguments, "every", 1, 1e15, &every);
    kbass_read_options options = {.time_column = cli_value(arguments, "time"),
                                  .axes = cli_value(arguments, "axes"),
                                  .progress = show,
                                  .user = &progress,
                                  .within = cli_value(arguments, "within"),
                                  .every = every,
                                  .run = cli_value(arguments, "run"),
                                  .use = cli_value(arguments, "use"),
                                  .ignore = cli_value(arguments, "ignore"),
                                  .rename = cli_value(arguments, "rename"),
                                  .dates = cli_value(arguments, "dates"),
                                  .missing = cli_value(arguments, "missing")};
    if (code != EXIT_OK) return code;
    cli_progress_begin(&progress, is_quiet);
    kbass_status status = kbass_data_open(path, &options, data, &error);
    cli_progress_end(&progress);
    return status == KBASS_OK ? EXIT_OK : cli_fail_with(status, &error);
}

/* Error bars are columns until the runs are together. */
static int take_error_bars(const cli_arguments *arguments, kbass_data *data)
{
    kbass_error error;
    const char *sigma = cli_value(arguments, "sigma");
    kbass_status status = sigma ? kbass_data_error_bars(data, sigma, &error) : KBASS_OK;
    return status == KBASS_OK ? EXIT_OK : cli_fail_with(status, &error);
}

int cli_read(const cli_arguments *arguments, const char *path, bool is_quiet, kbass_data **data)
{
    int code = read_part(arguments, path, is_quiet, data);
    return code == EXIT_OK ? take_error_bars(arguments, *data) : code;
}

int cli_read_all(const cli_arguments *arguments, bool is_quiet, kbass_data **data)
{
    size_t n = arguments->n_operands;
    kbass_error error;
    if (n == 1) return cli_read(arguments, arguments->operands[0], is_quiet, data);
    kbass_data **parts = calloc(n, sizeof *parts);
    int code = parts ? EXIT_OK : cli_fail("out of memory for %zu files", n);
    for (size_t i = 0; code == EXIT_OK && i < n; i++)
        code = read_part(arguments, arguments->operands[i], is_quiet, &parts[i]);
    if (code == EXIT_OK) {
        kbass_status status = kbass_data_join(n, (const kbass_data *const *)parts, arguments->operands, data, &error);
        code = status == KBASS_OK ? take_error_bars(arguments, *data) : cli_fail_with(status, &error);
    }
    for (size_t i = 0; parts && i < n; i++) kbass_data_destroy(parts[i]);
    free(parts);
    return code;
}
