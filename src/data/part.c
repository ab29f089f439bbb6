#include "data/part.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "base/number.h"
#include "base/status.h"
#include "data/roles.h"

static char *trimmed(char *text)
{
    char *end = text + strlen(text);
    while (*text == ' ') text++;
    while (end > text && end[-1] == ' ') end--;
    *end = '\0';
    return text;
}

static bool read_end(char *text, double *end)
{
    text = trimmed(text);
    return !*text || (kb_number_parse(text, end) && isfinite(*end));
}

static kbass_status find_axis(const kbass_data *data, const char *name, size_t *axis, kbass_error *error)
{
    char list[KB_LIST_SIZE];
    for (*axis = 0; *axis < data->n_axes; ++*axis)
        if (strcmp(name, data->axis_names[*axis]) == 0) return KBASS_OK;
    kb_list_names(data->n_axes, data->axis_names, list, sizeof list);
    return kb_fail(error, KBASS_ERROR_ARGUMENT, "within: there is no axis \"%.60s\"; there are: %s", name, list);
}

/* "x=0:10"; an end that is left out is open. */
static kbass_status read_range(char *text, const kbass_data *data, kb_part *part, kbass_error *error)
{
    char *equals = strchr(text, '='), *colon = equals ? strchr(equals, ':') : NULL;
    size_t axis = 0;
    double low = -INFINITY, high = INFINITY;
    if (!colon)
        return kb_fail(error, KBASS_ERROR_ARGUMENT, "within: \"%.60s\" is not a range: write t=0:10", trimmed(text));
    *equals = *colon = '\0';
    char *name = trimmed(text);
    if (!read_end(equals + 1, &low) || !read_end(colon + 1, &high))
        return kb_fail(error, KBASS_ERROR_ARGUMENT, "within: the range of \"%.60s\" needs numbers: write t=0:10", name);
    kbass_status status = find_axis(data, name, &axis, error);
    if (status != KBASS_OK) return status;
    if (!(low <= high))
        return kb_fail(error, KBASS_ERROR_ARGUMENT, "within: the range of %s is %g to %g, it must ascend", name, low,
                       high);
    part->low[axis] = fmax(part->low[axis], low);
    part->high[axis] = fmin(part->high[axis], high);
    return KBASS_OK;
}

static kbass_status read_ranges(const char *within, const kbass_data *data, kb_part *part, kbass_error *error)
{
    char *copy = kb_strdup(within), *rest = copy;
    kbass_status status = copy ? KBASS_OK : kb_out_of_memory(error, "the ranges");
    while (status == KBASS_OK && rest) {
        char *comma = strchr(rest, ','), *range = rest;
        if (comma) *comma = '\0';
        rest = comma ? comma + 1 : NULL;
        status = read_range(range, data, part, error);
    }
    kb_free(copy);
    return status;
}

/* "t=0:10, every 5" */
static char *name_of(const char *within, size_t every)
{
    const char *ranges = within ? within : "";
    size_t size = strlen(ranges) + 40;
    char *name = KB_NEW(char, size), number[30] = "";
    if (every > 1) snprintf(number, sizeof number, "%severy %zu", *ranges ? ", " : "", every);
    if (name) snprintf(name, size, "%s%s", ranges, number);
    return name;
}

kbass_status kb_part_read(const char *within, size_t every, kbass_data *data, kb_part *part, kbass_error *error)
{
    kbass_status status = KBASS_OK;
    *part = (kb_part){.is_whole = !within && every <= 1, .n_axes = data->n_axes, .every = every ? every : 1};
    for (size_t i = 0; i < KBASS_MAX_AXES; i++) {
        part->low[i] = -INFINITY;
        part->high[i] = INFINITY;
    }
    if (part->is_whole) return KBASS_OK;
    if (within) status = read_ranges(within, data, part, error);
    if (status == KBASS_OK && !(data->part = name_of(within, every))) status = kb_out_of_memory(error, "the ranges");
    return status;
}

bool kb_part_takes(const kb_part *part, kb_pace *pace, const double *at)
{
    for (size_t i = 0; i < part->n_axes; i++)
        if (!(at[i] >= part->low[i] && at[i] <= part->high[i])) return false;
    if (!pace->is_begun || at[0] < pace->time) pace->count = 0;
    else pace->count += at[0] > pace->time;
    pace->is_begun = true;
    pace->time = at[0];
    return pace->count % part->every == 0;
}

kbass_status kb_part_empty(const kbass_data *data, const char *path, kbass_error *error)
{
    return kb_fail(error, KBASS_ERROR_DATA, "%s: no row is within %s", path, data->part);
}
