/* Names with their units, from the text of --units: "t:s, x:m, v:m/s". */
#include <stdio.h>
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
        *length = strcspn(after, ",;");
        return after;
    }
    return NULL;
}

/* Names stand between single quotes in gnuplot's script: another apostrophe takes their place. */
static char *faced(const char *face)
{
    static const char apostrophe[] = "\xe2\x80\x99";
    char *label = malloc(3 * strlen(face) + 1), *to = label;
    for (; label && *face; face++) {
        if (*face == '\'') {
            memcpy(to, apostrophe, 3);
            to += 3;
        } else {
            *to++ = (unsigned char)*face < ' ' ? ' ' : *face;
        }
    }
    if (label) *to = '\0';
    return label;
}

static char *label_of(const view *v, const char *units, const char *name)
{
    size_t length = 0;
    const json_t *faces = json_object_get(json_object_get(v->root, "data"), "faces");
    const char *face = json_string_value(json_object_get(faces, name)), *unit = unit_of(units, name, &length);
    bool shows_unit = false; /* "Biomass [g/L]" does */
    for (const char *c = face; c && unit && length && *c; c++) shows_unit |= strncmp(c, unit, length) == 0;
    if (face && (!unit || shows_unit)) return faced(face);
    size_t size = strlen(face ? face : name) + length + sizeof " ()";
    char *label = malloc(size), *clean = NULL;
    if (label && unit && length) snprintf(label, size, "%s (%.*s)", face ? face : name, (int)length, unit);
    else if (label) snprintf(label, size, "%s", face ? face : name);
    if (label) clean = faced(label);
    free(label);
    return clean;
}

/* The place of time 0 in the calendar, where times were dates; the unit is s or d. */
static void read_origin(view *v)
{
    const json_t *data = json_object_get(v->root, "data");
    const char *unit = json_string_value(json_object_get(json_object_get(data, "units"), v->axes[0]));
    v->origin = json_string_value(json_object_get(data, "time_origin"));
    int year, month, day;
    if (v->origin && (strlen(v->origin) > 30 || strpbrk(v->origin, "'\\\"") ||
                      sscanf(v->origin, "%d-%d-%d", &year, &month, &day) != 3))
        v->origin = NULL;
    v->seconds = unit && !strcmp(unit, "d") ? 86400 : 1;
}

int view_label(view *v)
{
    const char *units = json_string_value(json_object_get(json_object_get(v->root, "settings"), "units"));
    bool all = (v->state_labels = calloc(v->n_states, sizeof *v->state_labels)) != NULL;
    read_origin(v);
    for (size_t j = 0; all && j < v->n_states; j++)
        all = (v->state_labels[j] = label_of(v, units, v->states[j])) != NULL;
    for (size_t a = 0; all && a < v->n_axes; a++)
        all = (v->axis_labels[a] = a == 0 && v->origin ? faced("") : label_of(v, units, v->axes[a])) != NULL;
    return all ? EXIT_OK : cli_fail("%s: out of memory", v->path);
}
