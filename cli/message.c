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

enum { LONGEST_WORD = 40 };

static size_t smallest(size_t a, size_t b, size_t c)
{
    size_t least = a < b ? a : b;
    return least < c ? least : c;
}

/* Levenshtein's distance: inserted, deleted and changed letters */
static size_t distance(const char *a, const char *b)
{
    size_t n = strlen(a), m = strlen(b), row[LONGEST_WORD + 1];
    if (n > LONGEST_WORD || m > LONGEST_WORD) return n + m;
    for (size_t j = 0; j <= m; j++) row[j] = j;
    for (size_t i = 1; i <= n; i++) {
        size_t diagonal = row[0];
        row[0] = i;
        for (size_t j = 1; j <= m; j++) {
            size_t above = row[j];
            row[j] = smallest(above + 1, row[j - 1] + 1, diagonal + (a[i - 1] != b[j - 1]));
            diagonal = above;
        }
    }
    return row[m];
}

const char *cli_nearest(const char *word, const char *const *candidates)
{
    const char *nearest = NULL;
    size_t least = 1 + (strlen(word) + 1) / 3;
    for (; *candidates; candidates++) {
        size_t d = distance(word, *candidates);
        if (d >= least) continue;
        least = d;
        nearest = *candidates;
    }
    return nearest;
}
