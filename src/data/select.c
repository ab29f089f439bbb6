#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/memory.h"
#include "base/name.h"
#include "base/status.h"
#include "data/arrange.h"
#include "data/roles.h"

enum { MOST_COMPARED = 2048 }; /* arrays, each with each other */

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
    return !array->trouble && !array->is_dropped && kb_array_count(array, &n) && n > 1;
}

kb_view kb_view_of(kb_array *array)
{
    kb_view v = {.name = short_name(array->name), .array = array};
    for (size_t i = 0; i < array->n_dims; i++) {
        if (array->dims[i] == 1) continue;
        v.dims[v.n_dims] = array->dims[i];
        v.strides[v.n_dims++] = array->strides[i];
    }
    return v;
}

/* An array of another group is taken for an axis where the group and those around it have none of its name. */
static void add_view(kb_arrangement *a, kb_array *array, bool is_inherited, bool is_elsewhere)
{
    kb_view v = kb_view_of(array);
    if (is_inherited && v.n_dims != 1) return;
    for (size_t i = 0; is_inherited && i < a->n_views; i++)
        if (strcmp(a->views[i].name, v.name) == 0) return;
    v.is_elsewhere = is_elsewhere;
    a->views[a->n_views++] = v;
}

static void note_left_out(kb_arrangement *a, kb_array *array, bool *is_first)
{
    char shape[100];
    kb_array_shape(array, shape, sizeof shape);
    if (array->portion == KB_IMAGINARY_PART) return;
    kb_arrangement_note(a, "%s%s (%s)",
                        !*is_first ? ", "
                        : *a->note ? "; left out: "
                                   : "left out: ",
                        *array->name ? short_name(array->name) : "it", array->trouble ? array->trouble : shape);
    *is_first = false;
    array->is_unread = array->trouble != NULL;
}

/* No other array has its name, in whatever group. */
static bool is_only_one(const kb_source *s, size_t index)
{
    for (size_t i = 0; i < s->n_arrays; i++)
        if (i != index && strcmp(short_name(s->arrays[i].name), short_name(s->arrays[index].name)) == 0) return false;
    return true;
}

/* In the group or in one around it. */
static bool is_within(const char *name, const char *group, size_t length)
{
    size_t own = group_length(name);
    return own <= length && strncmp(name, group, own) == 0 && (own == length || !own || group[own] == '/');
}

/* The group's arrays, then axes of the groups around it. */
static void view_group(kb_arrangement *a, const char *group, size_t length)
{
    kb_source *s = &a->source;
    bool is_first = true;
    for (size_t i = 0; i < s->n_arrays; i++) {
        if (!is_in_group(s->arrays[i].name, group, length)) continue;
        if (is_useful(&s->arrays[i])) add_view(a, &s->arrays[i], false, false);
        else note_left_out(a, &s->arrays[i], &is_first);
    }
    while (length) {
        while (length && group[length - 1] != '/') length--;
        if (length) length--;
        for (size_t i = 0; i < s->n_arrays; i++)
            if (is_in_group(s->arrays[i].name, group, length) && is_useful(&s->arrays[i]))
                add_view(a, &s->arrays[i], true, false);
    }
    for (size_t i = 0; !a->reading->inside && s->n_arrays <= MOST_COMPARED && i < s->n_arrays; i++)
        if (is_useful(&s->arrays[i]) && is_only_one(s, i)) add_view(a, &s->arrays[i], true, true);
}

void kb_views_name(kb_arrangement *a)
{
    static const char *const names[] = {"x", "x_re", "x_im"};
    for (size_t i = 0; i < a->n_views; i++) a->views[i].name = names[a->n_views == 1 ? 0 : a->views[i].array->portion];
}

/* Fields of groups that were not asked for are not left out in silence. */
static void note_other_groups(kb_arrangement *a, const char *group, size_t length)
{
    const kb_source *s = &a->source;
    size_t n_named = 0;
    for (size_t i = 0; i < s->n_arrays && i < MOST_COMPARED; i++) {
        const char *name = s->arrays[i].name;
        bool is_new =
            is_useful(&s->arrays[i]) && !is_within(name, group, length) && kb_view_of(&s->arrays[i]).n_dims > 1;
        for (size_t k = 0; is_new && k < i; k++)
            is_new = !is_useful(&s->arrays[k]) || kb_view_of(&s->arrays[k]).n_dims < 2 ||
                     !is_in_group(s->arrays[k].name, name, group_length(name));
        if (is_new && n_named < 4)
            kb_arrangement_note(a, "%s/%.*s",
                                n_named    ? ", "
                                : *a->note ? "; not read: the group "
                                           : "not read: the group ",
                                (int)group_length(name), name);
        else if (is_new && n_named == 4) kb_arrangement_note(a, ", ...");
        n_named += is_new;
    }
    if (n_named) kb_arrangement_note(a, " (file:/GROUP reads one)");
}

/* ---------------------------------------------------------------- which group */

static void list_groups(const kb_source *s, char *text, size_t size)
{
    size_t length = 0;
    *text = '\0';
    for (size_t i = 0; i < s->n_arrays && length < size; i++) {
        const char *name = s->arrays[i].name;
        bool is_new = is_useful(&s->arrays[i]);
        for (size_t k = 0; is_new && k < i; k++)
            is_new = !is_useful(&s->arrays[k]) || !is_in_group(s->arrays[k].name, name, group_length(name));
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
        size_t n_dims = is_useful(&s->arrays[i]) ? kb_view_of(&s->arrays[i]).n_dims : 0;
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

/* Complex ones may be asked for as u, u_re or u_im. */
static bool is_called(const kb_array *array, const char *path)
{
    size_t length = strlen(array->name);
    if (strcmp(array->name, path) == 0) return true;
    return array->portion != KB_WHOLE && strncmp(array->name, path, length) == 0 &&
           (strcmp(path + length, "_re") == 0 || strcmp(path + length, "_im") == 0);
}

bool kb_view_is_asked(const kb_arrangement *a, const kb_view *v)
{
    if (!a->field || strcmp(v->name, a->field) == 0) return true;
    size_t length = strlen(a->field);
    return v->array->portion != KB_WHOLE && strncmp(v->name, a->field, length) == 0 &&
           (strcmp(v->name + length, "_re") == 0 || strcmp(v->name + length, "_im") == 0);
}

static kbass_status find_inside(kb_arrangement *a, const char **group, size_t *length)
{
    const kb_source *s = &a->source;
    char *path = a->path, list[KB_LIST_SIZE];
    clean_path(a->reading->inside, path, sizeof a->path);
    *length = strlen(path);
    for (size_t i = 0; i < s->n_arrays; i++) {
        const char *name = s->arrays[i].name;
        if (is_called(&s->arrays[i], path)) {
            *length = group_length(name);
            a->field = short_name(path);
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
    a->views = KB_NEW(kb_view, a->source.n_arrays + 1); /* and one for steps of time */
    char *copy = kb_strdup(group ? group : "");         /* settling complex numbers changes names */
    if (!a->views || !copy) {
        kb_free(copy);
        return kb_out_of_memory(a->reading->error, "the arrays");
    }
    for (size_t i = 0; status == KBASS_OK && i < a->source.n_arrays; i++)
        if (is_within(a->source.arrays[i].name, copy, length)) status = kb_complex_settle(a, i);
    if (status == KBASS_OK) view_group(a, copy, length);
    if (status == KBASS_OK && !a->reading->inside) note_other_groups(a, copy, length);
    kb_free(copy);
    if (status != KBASS_OK || a->n_views) return status;
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
        if (kb_face_is(a->views[i].name, name)) return &a->views[i];
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
