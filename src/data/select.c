#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/memory.h"
#include "base/status.h"
#include "data/arrange.h"
#include "data/roles.h"

/* ---------------------------------------------------------------- names and groups */

static size_t group_length(const char *name)
{
    const char *slash = strrchr(name, '/');
    return slash ? (size_t)(slash - name) : 0;
}

static const char *short_name(const char *name)
{
    const char *slash = strrchr(name, '/');
    return slash ? slash + 1 : name;
}

static bool is_in_group(const char *name, const char *group, size_t length)
{
    return group_length(name) == length && strncmp(name, group, length) == 0;
}

/* "/run3/u/" and MATLAB's "run3.u" become "run3/u". */
static void clean_path(const char *inside, char *path, size_t size)
{
    snprintf(path, size, "%s", inside + strspn(inside, "/"));
    for (char *c = path; *c; c++)
        if (*c == '.') *c = '/';
    for (size_t n = strlen(path); n && path[n - 1] == '/'; n--) path[n - 1] = '\0';
}

/* ---------------------------------------------------------------- views */

static bool is_useful(const kb_array *array)
{
    size_t n = 0;
    return !array->trouble && kb_array_count(array, &n) && n > 1;
}

static kb_view view_of(kb_array *array)
{
    kb_view v = {.name = short_name(array->name), .array = array};
    for (size_t i = 0; i < array->n_dims; i++) {
        if (array->dims[i] == 1) continue;
        v.dims[v.n_dims] = array->dims[i];
        v.strides[v.n_dims++] = array->strides[i];
    }
    return v;
}

static void add_view(kb_arrangement *a, kb_array *array, bool is_inherited)
{
    kb_view v = view_of(array);
    if (is_inherited && v.n_dims != 1) return;
    for (size_t i = 0; is_inherited && i < a->n_views; i++)
        if (strcmp(a->views[i].name, v.name) == 0) return;
    a->views[a->n_views++] = v;
}

static void note_left_out(kb_arrangement *a, const kb_array *array)
{
    char shape[100];
    kb_array_shape(array, shape, sizeof shape);
    kb_arrangement_note(a, "%s%s (%s)", *a->note ? ", " : "left out: ", short_name(array->name),
                        array->trouble ? array->trouble : shape);
}

/* The group's arrays, then axes of the groups around it. */
static void view_group(kb_arrangement *a, const char *group, size_t length)
{
    kb_source *s = &a->source;
    for (size_t i = 0; i < s->n_arrays; i++) {
        if (!is_in_group(s->arrays[i].name, group, length)) continue;
        if (is_useful(&s->arrays[i])) add_view(a, &s->arrays[i], false);
        else note_left_out(a, &s->arrays[i]);
    }
    while (length) {
        while (length && group[length - 1] != '/') length--;
        if (length) length--;
        for (size_t i = 0; i < s->n_arrays; i++)
            if (is_in_group(s->arrays[i].name, group, length) && is_useful(&s->arrays[i]))
                add_view(a, &s->arrays[i], true);
    }
}

/* ---------------------------------------------------------------- which group */

static void list_groups(const kb_source *s, char *text, size_t size)
{
    size_t length = 0;
    *text = '\0';
    for (size_t i = 0; i < s->n_arrays && length < size; i++) {
        const char *name = s->arrays[i].name;
        bool is_new = is_useful(&s->arrays[i]);
        for (size_t k = 0; is_new && k < i; k++) is_new = !is_in_group(s->arrays[k].name, name, group_length(name));
        if (is_new)
            length += (size_t)snprintf(text + length, size - length, "%s/%.*s", length ? ", " : "",
                                       (int)group_length(name), name);
    }
    if (length >= size) memcpy(text + size - 4, "...", 4);
}

/* The one that holds the arrays with most dimensions, the top one before others. */
static kbass_status find_group(kb_arrangement *a, const char **group)
{
    const kb_source *s = &a->source;
    size_t most = 0;
    bool is_only = true;
    char list[KB_LIST_SIZE];
    *group = "";
    for (size_t i = 0; i < s->n_arrays; i++) {
        const char *name = s->arrays[i].name;
        size_t n_dims = is_useful(&s->arrays[i]) ? view_of(&s->arrays[i]).n_dims : 0;
        if (!n_dims || n_dims < most) continue;
        if (n_dims > most || !group_length(name)) is_only = true;
        else if (group_length(*group)) is_only &= is_in_group(name, *group, group_length(*group));
        if (n_dims > most || !group_length(name)) *group = name;
        most = n_dims;
    }
    if (is_only) return KBASS_OK;
    list_groups(s, list, sizeof list);
    return kb_fail(a->reading->error, KBASS_ERROR_DATA,
                   "%s: arrays in several groups, name one as in file:/group; there are: %s", a->reading->file.path,
                   list);
}

static kbass_status find_inside(kb_arrangement *a, const char **group, size_t *length)
{
    const kb_source *s = &a->source;
    char path[KB_LONGEST_NAME + 1], list[KB_LIST_SIZE];
    clean_path(a->reading->inside, path, sizeof path);
    *length = strlen(path);
    for (size_t i = 0; i < s->n_arrays; i++) {
        const char *name = s->arrays[i].name;
        if (strcmp(name, path) == 0) {
            *length = group_length(name);
            a->field = short_name(name);
        } else if (strncmp(name, path, *length) != 0 || (*length && name[*length] != '/')) {
            continue;
        }
        *group = name;
        return KBASS_OK;
    }
    list_groups(s, list, sizeof list);
    return kb_fail(a->reading->error, KBASS_ERROR_DATA, "%s: no array or group \"%s\" inside; there are arrays in: %s",
                   a->reading->file.path, a->reading->inside, *list ? list : "none");
}

kbass_status kb_select_views(kb_arrangement *a)
{
    const char *group = NULL;
    size_t length = 0;
    kbass_status status = a->reading->inside ? find_inside(a, &group, &length) : find_group(a, &group);
    if (status != KBASS_OK) return status;
    if (group && !a->reading->inside) length = group_length(group);
    a->views = KB_NEW(kb_view, a->source.n_arrays);
    if (!a->views) return kb_out_of_memory(a->reading->error, "the arrays");
    view_group(a, group ? group : "", length);
    if (a->n_views) return KBASS_OK;
    return kb_fail(a->reading->error, KBASS_ERROR_DATA, "%s: no array of numbers%s%s", a->reading->file.path,
                   *a->note ? "; " : "", a->note);
}

/* ---------------------------------------------------------------- looking for one */

void kb_list_views(const kb_arrangement *a, char *text, size_t size)
{
    size_t length = 0;
    *text = '\0';
    for (size_t i = 0; i < a->n_views && length < size; i++) {
        char shape[100];
        kb_array_shape(a->views[i].array, shape, sizeof shape);
        length += (size_t)snprintf(text + length, size - length, "%s%s (%s)", i ? ", " : "", a->views[i].name, shape);
    }
    if (*a->note && length < size) length += (size_t)snprintf(text + length, size - length, "; %s", a->note);
    if (length >= size) memcpy(text + size - 4, "...", 4);
}

kb_view *kb_find_view(const kb_arrangement *a, const char *name)
{
    for (size_t i = 0; i < a->n_views; i++)
        if (strcmp(a->views[i].name, name) == 0) return &a->views[i];
    for (size_t i = 0; i < a->n_views; i++)
        if (strcasecmp(a->views[i].name, name) == 0) return &a->views[i];
    return NULL;
}

kb_view *kb_find_time(const kb_arrangement *a, const char *name)
{
    char list[KB_VIEWS_SIZE];
    kb_view *time = name ? kb_find_view(a, name) : kb_find_view(a, "t");
    if (!time && !name) time = kb_find_view(a, "time");
    if (time) return time;
    kb_list_views(a, list, sizeof list);
    kb_fail(a->reading->error, KBASS_ERROR_DATA, "%s: no array \"%s\"%s; there are: %s", a->reading->file.path,
            name ? name : "t", name ? " for time" : " or \"time\" (name it with --time NAME)", list);
    return NULL;
}

void kb_arrangement_note(kb_arrangement *a, const char *format, ...)
{
    size_t length = strlen(a->note), room = sizeof a->note - length;
    va_list arguments;
    va_start(arguments, format);
    int n = vsnprintf(a->note + length, room, format, arguments);
    va_end(arguments);
    if (n >= (int)room) memcpy(a->note + sizeof a->note - 4, "...", 4);
}
