#include "message.h"

#include <errno.h>
#include <poll.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

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

/* At the end of a pipe: head, less. */
static bool is_reader_gone(void)
{
    struct pollfd out = {.fd = STDOUT_FILENO, .events = POLLOUT};
    return poll(&out, 1, 0) == 1 && (out.revents & POLLERR);
}

int cli_finish_output(void)
{
    static bool is_told;
    if (fflush(stdout) == 0 && !ferror(stdout)) return EXIT_OK;
    if (is_reader_gone()) return EXIT_NO_READER;
    if (!is_told) cli_fail("cannot write to standard output: %s", strerror(errno));
    is_told = true;
    return EXIT_NO_RESULT;
}

const char *cli_nearest(const char *word, const char *const *candidates)
{
    size_t n = 0;
    while (candidates[n]) n++;
    return kbass_nearest(word, n, candidates);
}
