/* Names with their units, from the text of --units: "t:s, x:m, v:m/s". */
#include <stdlib.h>
#include <string.h>

#include "message.h"
#include "view.h"

/* The unit of a name; NULL when it has none. */
static const char *unit_of(const char *units, const char *name, size_t *length)
{
    size_t size = strlen(name);
    for (const char *at = units; at && *at; at += strcspn(at, ",;"), at += *at != '\0') {
        at += strspn(at, " ");
        const char *after = at + size;
        if (strncmp(at, name, size)) continue;
        after += strspn(after, " ");
        if (*after != ':') continue;
        after += 1 + strspn(after + 1, " ");
        *length = strcspn(after, ",;'");
        return after;
    }
    return NULL;
}

static char *label_of(const char *units, const char *name)
{
    size_t length = 0;
    const char *unit = unit_of(units, name, &length);
    size_t size = strlen(name) + length + sizeof " ()";
    char *label = malloc(size);
    if (label && unit && length) snprintf(label, size, "%s (%.*s)", name, (int)length, unit);
    else if (label) snprintf(label, size, "%s", name);
    return label;
}

int view_label(view *v)
{
    const char *units = json_string_value(json_object_get(json_object_get(v->root, "settings"), "units"));
    bool all = (v->state_labels = calloc(v->n_states, sizeof *v->state_labels)) != NULL;
    for (size_t j = 0; all && j < v->n_states; j++) all = (v->state_labels[j] = label_of(units, v->states[j])) != NULL;
    for (size_t a = 0; all && a < v->n_axes; a++) all = (v->axis_labels[a] = label_of(units, v->axes[a])) != NULL;
    return all ? EXIT_OK : cli_fail("%s: out of memory", v->path);
}
