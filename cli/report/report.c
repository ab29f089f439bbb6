/* kbass report: a result as a page. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "commands.h"
#include "message.h"
#include "output.h"
#include "page.h"
#include "pages.h"
#include "read.h"

/* "runs/vdp.json" becomes "runs/vdp.html". */
static char *default_output(const char *path)
{
    const char *dot = strrchr(path, '.'), *slash = strrchr(path, '/');
    size_t length = dot && (!slash || dot > slash) ? (size_t)(dot - path) : strlen(path);
    char *output = malloc(length + sizeof ".html");
    if (output) sprintf(output, "%.*s.html", (int)length, path);
    return output;
}

/* Was the result made from these data? */
static int check_data(const cli_arguments *arguments, const view *v)
{
    const char *path = cli_value(arguments, "data"),
               *hash = json_string_value(json_object_get(json_object_get(v->root, "data"), "sha256"));
    kbass_data *data = NULL;
    int code = path ? cli_read(arguments, path, true, &data) : EXIT_OK;
    if (path && code == EXIT_OK && (!hash || strcmp(hash, kbass_data_sha256(data))))
        code = cli_fail("%s: %s was not made from these data: their SHA-256 differ", path, v->path);
    kbass_data_destroy(data);
    return code;
}

static int make(const cli_arguments *arguments, view *v, const char *output)
{
    double until = NAN;
    int code = cli_number(arguments, "until", -1e300, 1e300, &until);
    if (code == EXIT_OK) code = view_open(arguments->operands[0], v);
    if (code == EXIT_OK) code = check_data(arguments, v);
    if (code == EXIT_OK && !isnan(until)) code = view_look_ahead(v, arguments, until);
    if (code == EXIT_OK) code = page_write(v, output);
    if (code == EXIT_OK) printf("%s\n", output);
    return code;
}

/* The page's own name, where none was given. */
static int check_output(const cli_arguments *arguments, const char *output)
{
    const char *data = cli_value(arguments, "data");
    cli_file files[] = {
        {"", arguments->operands[0], false}, {"--output", output, true}, {"--data", data ? data : "", false}};
    return cli_files_check(3, files);
}

int cli_report(const cli_arguments *arguments)
{
    view v = {0};
    if (arguments->n_operands != 1)
        return cli_fail("report needs one result file, found %zu (see kbass help report)", arguments->n_operands);
    const char *given = cli_value(arguments, "output");
    char *chosen = given ? NULL : default_output(arguments->operands[0]);
    const char *output = given ? given : chosen;
    int code = output ? check_output(arguments, output) : cli_fail("out of memory");
    if (code == EXIT_OK) code = make(arguments, &v, output);
    view_close(&v);
    free(chosen);
    return code;
}

int cli_report_write(const char *json, const char *path)
{
    view v = {0};
    int code = view_parse(path, json, &v);
    if (code == EXIT_OK) code = page_write(&v, path);
    view_close(&v);
    return code;
}
