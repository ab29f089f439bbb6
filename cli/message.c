#include "message.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

int cli_fail(const char *format, ...)
{
    va_list arguments;
    fflush(stdout);
    va_start(arguments, format);
    fputs("kbass: ", stderr);
    vfprintf(stderr, format, arguments);
    fputc('\n', stderr);
    va_end(arguments);
    return EXIT_BAD_INPUT;
}

int cli_fail_with(kbass_status status, const kbass_error *error)
{
    cli_fail("%s", error->message);
    if (error->column > 0 && error->source[0]) fprintf(stderr, "    %s\n    %*s\n", error->source, error->column, "^");
    return status == KBASS_ERROR_MEMORY || status == KBASS_ERROR_NUMERICAL ? EXIT_NO_RESULT : EXIT_BAD_INPUT;
}

int cli_finish_output(void)
{
    if (fflush(stdout) == 0 && !ferror(stdout)) return EXIT_OK;
    cli_fail("cannot write to standard output: %s", strerror(errno));
    return EXIT_NO_RESULT;
}

const char *cli_nearest(const char *word, const char *const *candidates)
{
    size_t n = 0;
    while (candidates[n]) n++;
    return kbass_nearest(word, n, candidates);
}
