/* Lists of numbers as the user gives them: typed, or in the first column of a file. */
#ifndef CLI_NUMBERS_H
#define CLI_NUMBERS_H

#include <stddef.h>

typedef struct {
    size_t n;
    double *values;
} cli_numbers;

/* Each returns an exit code; `what` names the option in messages. */
int cli_numbers_copy(cli_numbers *numbers, size_t n, const double *values); /* zeros when values is NULL */
int cli_numbers_parse(cli_numbers *numbers, const char *what, const char *text);
int cli_numbers_read(cli_numbers *numbers, const char *what, const char *list_or_path);
void cli_numbers_sort(cli_numbers *numbers);
void cli_numbers_clear(cli_numbers *numbers);

#endif
