#include "state.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "message.h"

static size_t find_state(size_t n, const char *const *names, const char *name)
{
    size_t j = 0;
    while (j < n && strcmp(names[j], name) != 0) j++;
    return j;
}

/* Cuts the text up. */
static int read_named(const char *what, char *text, size_t n, const char *const *names, double *values)
{
    char *rest = text;
    for (char *part = strtok_r(text, ",", &rest); part; part = strtok_r(NULL, ",", &rest)) {
        char *equals = strchr(part, '='), *end = NULL;
        part += strspn(part, " ");
        if (!equals) return cli_fail("%s: \"%s\" has no =; write \"x=1, y=0\" or \"1, 0\"", what, part);
        part[strcspn(part, " =")] = '\0';
        size_t j = find_state(n, names, part);
        if (j == n) return cli_fail("%s: the system has no state \"%s\"", what, part);
        values[j] = strtod(equals + 1, &end);
        if (end == equals + 1 || end[strspn(end, " ")] || !isfinite(values[j]))
            return cli_fail("%s: \"%s\" is not a number", what, equals + 1);
    }
    for (size_t j = 0; j < n; j++)
        if (isnan(values[j])) return cli_fail("%s: no value for %s", what, names[j]);
    return EXIT_OK;
}

static int refuse_count(const char *what, size_t found, size_t n, const char *const *names)
{
    char list[400] = "";
    size_t length = 0;
    for (size_t j = 0; j < n && length < sizeof list; j++)
        length += (size_t)snprintf(list + length, sizeof list - length, "%s%s", j ? ", " : "", names[j]);
    return cli_fail("%s: found %zu values, needed %zu (%s)", what, found, n, list);
}

int cli_state_read(const char *what, const char *text, size_t n, const char *const *names, cli_numbers *state)
{
    int code = EXIT_OK;
    if (!strchr(text, '=')) {
        code = cli_numbers_parse(state, what, text);
        return code == EXIT_OK && state->n != n ? refuse_count(what, state->n, n, names) : code;
    }
    char *copy = strdup(text);
    code = copy ? cli_numbers_copy(state, n, NULL) : cli_fail("out of memory for the state");
    for (size_t j = 0; code == EXIT_OK && j < n; j++) state->values[j] = NAN;
    if (code == EXIT_OK) code = read_named(what, copy, n, names, state->values);
    free(copy);
    return code;
}

int cli_state_from(const kbass_posterior *p, const char *text, cli_numbers *state)
{
    size_t n = kbass_posterior_states(p);
    if (kbass_posterior_axes(p) > 1)
        return cli_fail("--from: a field cannot start from numbers; kbass simulate takes its equation with --initial");
    const char **names = calloc(n, sizeof *names);
    for (size_t j = 0; names && j < n; j++) names[j] = kbass_posterior_state_name(p, j);
    int code = names ? cli_state_read("--from", text, n, names, state) : cli_fail("out of memory for the state");
    free(names);
    return code;
}
