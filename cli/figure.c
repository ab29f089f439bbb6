#include "figure.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "message.h"

bool figure_is_possible(void) { return system("command -v gnuplot > /dev/null 2>&1") == 0; }

static int start(const char *what, FILE **script)
{
    if (!figure_is_possible())
        return cli_fail("%s: figures need gnuplot, which is not installed (Debian: apt-get install gnuplot-nox)", what);
    signal(SIGPIPE, SIG_IGN); /* a gnuplot that ends early is seen in figure_end */
    *script = popen("gnuplot", "w");
    return *script ? EXIT_OK : cli_fail("%s: gnuplot cannot be started", what);
}

static void set_terminal(FILE *script, const char *path, int width, int height)
{
    const double pixels_per_inch = 100;
    const char *dot = strrchr(path, '.');
    if (dot && !strcasecmp(dot, ".png")) fprintf(script, "set terminal pngcairo size %d,%d\n", width, height);
    else if (dot && !strcasecmp(dot, ".pdf"))
        fprintf(script, "set terminal pdfcairo size %.3fin,%.3fin font 'sans,9'\n", width / pixels_per_inch,
                height / pixels_per_inch);
    else fprintf(script, "set terminal svg size %d,%d background '#ffffff'\n", width, height);
}

int figure_begin(const char *path, int width, int height, FILE **script)
{
    if (strchr(path, '\'')) return cli_fail("%s: figures cannot be written to a path with a ' in it", path);
    int code = start(path, script);
    if (code != EXIT_OK) return code;
    set_terminal(*script, path, width, height);
    fprintf(*script, "set output '%s'\n", path);
    return EXIT_OK;
}

int figure_begin_terminal(int columns, int lines, FILE **script)
{
    fflush(stdout);
    int code = start("--terminal", script);
    if (code == EXIT_OK) fprintf(*script, "set terminal dumb noenhanced size %d,%d\n", columns, lines);
    return code;
}

int figure_end(const char *path, FILE *script)
{
    int status = pclose(script);
    signal(SIGPIPE, SIG_DFL);
    if (status == 0) return EXIT_OK;
    cli_fail("%s: gnuplot could not draw it", path);
    return EXIT_NO_RESULT;
}
