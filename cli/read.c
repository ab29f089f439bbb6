#include "read.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "message.h"
#include "progress.h"

static const double PATIENCE = 1; /* seconds without a word */

static int show(const kbass_progress *now, void *user)
{
    return now->seconds < PATIENCE ? 0 : cli_progress_show(now, user);
}

/* What the command line says, else what a result has recorded. */
typedef struct {
    const cli_arguments *arguments;
    const json_t *reading; /* of the result, or NULL */
    const char *sigma;
    bool may_leave; /* large grids in their file */
} request;

/* Values that are held as a table at most, and of what is larger. */
static const unsigned long MOST_VALUES = 1000000, PART_VALUES = 65536;

static const char *asked(const request *r, const char *name)
{
    const char *value = cli_value(r->arguments, name);
    return value ? value : json_string_value(json_object_get(r->reading, name));
}

/* --use of states leaves the columns of their error bars. */
static char *used_columns(const request *r)
{
    const char *use = asked(r, "use"), *sigma = r->sigma ? r->sigma : cli_value(r->arguments, "sigma");
    char *all = use ? calloc(strlen(use) + (sigma ? strlen(sigma) : 0) + 2, 1) : NULL;
    if (!all) return NULL;
    strcpy(all, use);
    while (sigma && *sigma) {
        size_t length = strcspn(sigma, ",");
        const char *name = memchr(sigma, '=', length);
        name = name ? name + 1 : sigma;
        strcat(all, ",");
        strncat(all, name, (size_t)(sigma + length - name));
        sigma += length + (sigma[length] == ',');
    }
    return all;
}

/* One run, or several by a column of it. */
static int read_part(const request *r, const char *path, bool is_quiet, kbass_data **data)
{
    kbass_error error;
    cli_progress progress;
    unsigned long every = 1;
    const char *recorded = json_string_value(json_object_get(r->reading, "every"));
    if (recorded) every = strtoul(recorded, NULL, 10);
    int code = cli_count(r->arguments, "every", 1, 1e15, &every);
    unsigned long part = PART_VALUES;
    if (code == EXIT_OK && r->may_leave) code = cli_count(r->arguments, "part", 0, 1e15, &part);
    if (code != EXIT_OK) return code;
    bool leaves = r->may_leave && part && !cli_value(r->arguments, "sigma");
    char *use = used_columns(r);
    kbass_read_options options = {.size = sizeof options,
                                  .most_values = !leaves                           ? 0
                                                 : cli_value(r->arguments, "part") ? part
                                                                                   : MOST_VALUES,
                                  .few_values = part,
                                  .time_column = asked(r, "time"),
                                  .axes = asked(r, "axes"),
                                  .progress = show,
                                  .user = &progress,
                                  .within = asked(r, "within"),
                                  .every = every,
                                  .run = asked(r, "run"),
                                  .use = use,
                                  .ignore = asked(r, "ignore"),
                                  .rename = asked(r, "rename"),
                                  .dates = asked(r, "dates"),
                                  .missing = asked(r, "missing")};
    cli_progress_begin(&progress, is_quiet);
    kbass_status status = kbass_data_read(path, &options, data, &error);
    cli_progress_end(&progress);
    free(use);
    return status == KBASS_OK ? EXIT_OK : cli_fail_with(status, &error);
}

/* Error bars are columns until the runs are together. */
static int take_error_bars(const request *r, kbass_data *data)
{
    kbass_error error;
    const char *sigma = cli_value(r->arguments, "sigma");
    if (!sigma) sigma = r->sigma;
    kbass_status status = sigma ? kbass_data_error_bars(data, sigma, &error) : KBASS_OK;
    return status == KBASS_OK ? EXIT_OK : cli_fail_with(status, &error);
}

int cli_read(const cli_arguments *arguments, const char *path, bool is_quiet, kbass_data **data)
{
    const request r = {.arguments = arguments};
    int code = read_part(&r, path, is_quiet, data);
    return code == EXIT_OK ? take_error_bars(&r, *data) : code;
}

int cli_read_like(const cli_arguments *arguments, const char *result, const char *path, kbass_data **data)
{
    json_t *root = json_load_file(result, 0, NULL), *made_of = json_object_get(root, "data");
    const request r = {.arguments = arguments,
                       .reading = json_object_get(made_of, "reading"),
                       .sigma = json_string_value(json_object_get(made_of, "sigma_columns"))};
    int code = read_part(&r, path, true, data);
    if (code == EXIT_OK) code = take_error_bars(&r, *data);
    json_decref(root);
    return code;
}

int cli_read_all(const cli_arguments *arguments, bool is_quiet, kbass_data **data)
{
    size_t n = arguments->n_operands;
    kbass_error error;
    const request r = {.arguments = arguments, .may_leave = n == 1};
    if (n == 1) {
        int read = read_part(&r, arguments->operands[0], is_quiet, data);
        return read == EXIT_OK ? take_error_bars(&r, *data) : read;
    }
    kbass_data **parts = calloc(n, sizeof *parts);
    int code = parts ? EXIT_OK : cli_fail("out of memory for %zu files", n);
    for (size_t i = 0; code == EXIT_OK && i < n; i++) code = read_part(&r, arguments->operands[i], is_quiet, &parts[i]);
    if (code == EXIT_OK) {
        kbass_status status = kbass_data_join(n, (const kbass_data *const *)parts, arguments->operands, data, &error);
        code = status == KBASS_OK ? take_error_bars(&r, *data) : cli_fail_with(status, &error);
    }
    for (size_t i = 0; parts && i < n; i++) kbass_data_destroy(parts[i]);
    free(parts);
    return code;
}

int cli_read_inputs(const cli_arguments *arguments, const char *result, kbass_data **data)
{
    const char *path = cli_value(arguments, "input-data");
    json_t *root = path && result ? json_load_file(result, 0, NULL) : NULL, *made_of = json_object_get(root, "data");
    const json_t *reading = json_object_get(made_of, "reading");
    kbass_read_options options = {.time_column = json_string_value(json_object_get(reading, "time")),
                                  .rename = json_string_value(json_object_get(reading, "rename")),
                                  .dates = json_string_value(json_object_get(reading, "dates")),
                                  .missing = json_string_value(json_object_get(reading, "missing"))};
    kbass_error error;
    kbass_status status = path ? kbass_data_read(path, &options, data, &error) : KBASS_OK;
    int code = status == KBASS_OK ? EXIT_OK : cli_fail_with(status, &error);
    const char *origin = json_string_value(json_object_get(made_of, "time_origin"));
    const char *found = *data ? kbass_data_time_origin(*data) : NULL;
    if (code == EXIT_OK && path && origin && (!found || strcmp(origin, found) != 0))
        code = cli_fail("%s: its time is counted from %s, that of the result from %s: begin the file with that date",
                        path, found ? found : "0", origin);
    json_decref(root);
    return code;
}

int cli_take_inputs(const cli_arguments *arguments, const char *result, kbass_posterior *posterior)
{
    kbass_data *data = NULL;
    kbass_error error;
    int code = cli_read_inputs(arguments, result, &data);
    kbass_status status = code == EXIT_OK && data ? kbass_posterior_set_inputs(posterior, data, 0, &error) : KBASS_OK;
    if (status != KBASS_OK) code = cli_fail("%s: %s", cli_value(arguments, "input-data"), error.message);
    kbass_data_destroy(data);
    return code;
}
