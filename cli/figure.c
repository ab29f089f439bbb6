#include "figure.h"

#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "message.h"

int figure_begin(const char *path, int width, int height, FILE **script)
{
    size_t length = strlen(path);
    bool is_png = length > 4 && !strcmp(path + length - 4, ".png");
    if (strchr(path, '\'')) return cli_fail("%s: figures cannot be written to a path with a ' in it", path);
    if (system("command -v gnuplot > /dev/null 2>&1") != 0)
        return cli_fail("%s: figures need gnuplot, which is not installed", path);
    signal(SIGPIPE, SIG_IGN); /* a gnuplot that ends early is seen in figure_end */
    *script = popen("gnuplot", "w");
    if (!*script) return cli_fail("%s: gnuplot cannot be started", path);
    fprintf(*script, "set terminal %s size %d,%d %s\nset output '%s'\n", is_png ? "pngcairo" : "svg", width, height,
            is_png ? "" : "background '#ffffff'", path);
    return EXIT_OK;
}

int figure_end(const char *path, FILE *script)
{
    int status = pclose(script);
    signal(SIGPIPE, SIG_DFL);
    if (status == 0) return EXIT_OK;
    cli_fail("%s: gnuplot could not draw it", path);
    return EXIT_NO_RESULT;
}
