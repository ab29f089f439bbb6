/* kbass plot: one figure of a result, as a file or in the terminal. */
#include <math.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "commands.h"
#include "figure.h"
#include "message.h"
#include "panels.h"
#include "shade.h"

static int unknown_kind(const char *name)
{
    const char *names[16] = {0};
    char known[200] = "";
    for (size_t i = 0; panel_kinds[i].name && i + 1 < sizeof names / sizeof *names; i++) {
        names[i] = panel_kinds[i].name;
        snprintf(known + strlen(known), sizeof known - strlen(known), "%s%s", i ? ", " : "", names[i]);
    }
    const char *nearest = cli_nearest(name, names);
    if (nearest) return cli_fail("plot: unknown figure \"%s\" (did you mean %s?)", name, nearest);
    return cli_fail("plot: unknown figure \"%s\": needed one of %s", name, known);
}

/* Why there is nothing to draw. */
static int nothing(const view *v, const panel_kind *kind)
{
    bool is_of_fields = kind->count == field_count || kind->count == slices_count;
    if (kind->count == forecast_count) return cli_fail("plot: a forecast needs --until, the time up to which it goes");
    if (!v->n_equations) cli_fail("%s: holds no model, and so no %s", v->path, kind->name);
    else if (!v->n_points) cli_fail("%s: holds no solution, and so no %s", v->path, kind->name);
    else if (is_of_fields != (v->n_axes > 1))
        cli_fail("%s: %s is for %s", v->path, kind->name,
                 is_of_fields ? "fields over space; for states over time: solution"
                              : "states over time; for fields over space: field");
    else cli_fail("%s: there is no %s to draw", v->path, kind->name);
    return EXIT_NO_RESULT;
}

/* ---------------------------------------------------------------- drawing */

enum { NARROWEST = 700 }; /* of a figure that stands alone */

static int draw_file(const view *v, const panel_kind *kind, const char *path)
{
    FILE *script = NULL;
    int n = (int)kind->count(v), columns = n < kind->columns ? n : kind->columns, rows = (n + columns - 1) / columns;
    int width = columns * kind->width < NARROWEST ? NARROWEST : columns * kind->width;
    int height = n == 1 ? 3 * width / 5 : rows * kind->height;
    int code = figure_begin(path, width, height, &script);
    if (code != EXIT_OK) return code;
    if (n > 1) fprintf(script, "set multiplot layout %d,%d\n", rows, columns);
    for (int i = 0; i < n; i++) kind->draw(script, v, (size_t)i);
    return figure_end(path, script);
}

static int draw_terminal(const view *v, const panel_kind *kind)
{
    struct winsize window = {0};
    FILE *script = NULL;
    int columns = 79, lines = 24;
    if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &window) == 0 && window.ws_col >= 40) columns = window.ws_col - 1;
    if (window.ws_row >= 12) lines = window.ws_row - 2;
    if (lines > columns / 2) lines = columns / 2;
    if (kind->count == field_count || (kind->count == forecast_count && v->n_axes > 1))
        return shade_fields(v, kind, columns, lines);
    int code = figure_begin_terminal(columns, lines, &script);
    if (code != EXIT_OK) return code;
    for (size_t i = 0; i < kind->count(v); i++) kind->draw(script, v, i);
    return figure_end_terminal(script);
}

/* ---------------------------------------------------------------- the command */

static int draw(const cli_arguments *arguments, view *v, const panel_kind *kind, const char *output)
{
    double until = NAN;
    int code = cli_number(arguments, "until", -1e300, 1e300, &until);
    if (code == EXIT_OK && kind->count == forecast_count && !isnan(until)) code = view_look_ahead(v, arguments, until);
    if (code != EXIT_OK) return code;
    if (!kind->count(v)) return nothing(v, kind);
    return output ? draw_file(v, kind, output) : draw_terminal(v, kind);
}

int cli_plot(const cli_arguments *arguments)
{
    const char *output = cli_value(arguments, "output");
    bool in_terminal = cli_value(arguments, "terminal") != NULL;
    view v = {0};
    if (arguments->n_operands != 2)
        return cli_fail("plot needs a result file and what to draw, found %zu of these (see kbass help plot)",
                        arguments->n_operands);
    const panel_kind *kind = panel_find(arguments->operands[1]);
    if (!kind) return unknown_kind(arguments->operands[1]);
    if (in_terminal == (output != NULL))
        return cli_fail("plot: found %s, needed one of them",
                        output ? "both -o and --terminal" : "neither -o FILE nor --terminal");
    int code = figure_options(arguments, output);
    if (code == EXIT_OK) code = view_open(arguments->operands[0], &v);
    if (code == EXIT_OK) code = draw(arguments, &v, kind, output);
    view_close(&v);
    return code;
}
