#include "numbers.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "message.h"

static const char *const SEPARATORS = " ,;\t\r\n";

int cli_numbers_copy(cli_numbers *numbers, size_t n, const double *values)
{
    numbers->values = calloc(n ? n : 1, sizeof *numbers->values);
    if (!numbers->values) return cli_fail("out of memory for %zu numbers", n);
    numbers->n = n;
    if (values) memcpy(numbers->values, values, n * sizeof *values);
    return EXIT_OK;
}

static int append(cli_numbers *numbers, double value)
{
    double *values = realloc(numbers->values, (numbers->n + 1) * sizeof *values);
    if (!values) return cli_fail("out of memory for %zu numbers", numbers->n + 1);
    values[numbers->n++] = value;
    numbers->values = values;
    return EXIT_OK;
}

int cli_numbers_parse(cli_numbers *numbers, const char *what, const char *text)
{
    int code = EXIT_OK;
    for (const char *at = text + strspn(text, SEPARATORS); *at && code == EXIT_OK; at += strspn(at, SEPARATORS)) {
        char *end = NULL;
        size_t length = strcspn(at, SEPARATORS);
        double value = strtod(at, &end);
        if (end != at + length || !isfinite(value))
            return cli_fail("%s: \"%.*s\" is not a number", what, (int)length, at);
        code = append(numbers, value);
        at = end;
    }
    if (code == EXIT_OK && !numbers->n) code = cli_fail("%s: found no number", what);
    return code;
}

/* The first cell of a line; lines without one are skipped, and so is a header. */
static int read_line(cli_numbers *numbers, const char *path, size_t line_number, char *line)
{
    char *end = NULL;
    line[strcspn(line, "#")] = '\0';
    line += strspn(line, SEPARATORS);
    line[strcspn(line, SEPARATORS)] = '\0';
    if (!*line) return EXIT_OK;
    double value = strtod(line, &end);
    if (!*end && isfinite(value)) return append(numbers, value);
    if (!numbers->n) return EXIT_OK;
    return cli_fail("%s:%zu: \"%s\" is not a number", path, line_number, line);
}

static int read_file(cli_numbers *numbers, const char *path, FILE *file)
{
    char *line = NULL;
    size_t room = 0, line_number = 0;
    int code = EXIT_OK;
    while (code == EXIT_OK && getline(&line, &room, file) >= 0) code = read_line(numbers, path, ++line_number, line);
    if (code == EXIT_OK && !numbers->n) code = cli_fail("%s: found no number in the first column", path);
    free(line);
    return code;
}

int cli_numbers_read(cli_numbers *numbers, const char *what, const char *list_or_path)
{
    if (strspn(list_or_path, "0123456789+-.eE ,;\t") == strlen(list_or_path))
        return cli_numbers_parse(numbers, what, list_or_path);
    FILE *file = fopen(list_or_path, "r");
    if (!file) return cli_fail("%s: %s: %s", what, list_or_path, strerror(errno));
    int code = read_file(numbers, list_or_path, file);
    fclose(file);
    return code;
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

void cli_numbers_sort(cli_numbers *numbers) { qsort(numbers->values, numbers->n, sizeof *numbers->values, ascending); }

void cli_numbers_clear(cli_numbers *numbers)
{
    free(numbers->values);
    *numbers = (cli_numbers){0};
}
