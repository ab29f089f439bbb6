/* --use, --ignore and --rename for arrays. A name means an array, all components of one ("x" means x1, x2, ...) or one
 * component. */
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "base/name.h"
#include "base/status.h"
#include "data/arrange.h"
#include "data/roles.h"

typedef struct {
    const kb_reading *reading;
    const kb_roles *roles; /* as the file has it */
    char **faces;          /* n: renamed ones, owned; NULL where the name stays */
    bool *is_used, *is_left_out;
} wishes;

/* What follows the array's name in a component's: digits, _re, _im; NULL where the column is not of this array. */
static const char *component_of(const char *face, const char *name)
{
    size_t length = strlen(name);
    const char *rest = face + length;
    if (strncmp(face, name, length) != 0) return NULL;
    if (strncmp(rest, "_re", 3) == 0 || strncmp(rest, "_im", 3) == 0) rest += 3;
    return rest[strspn(rest, "0123456789")] ? NULL : face + length;
}

static char *trimmed(char *text)
{
    char *end = text + strlen(text);
    while (*text == ' ') text++;
    while (end > text && end[-1] == ' ') end--;
    *end = '\0';
    return text;
}

/* ---------------------------------------------------------------- marking */

static kbass_status mark(const wishes *w, const char *name, const char *option, bool *is_marked)
{
    const kb_roles *r = w->roles;
    size_t column = kb_roles_column(r, name), n = 0;
    if (column < r->n) {
        is_marked[column] = true;
        return KBASS_OK;
    }
    for (size_t i = 0; i < r->n; i++)
        if (component_of(r->names[i], name)) {
            is_marked[i] = true;
            n++;
        }
    return n ? KBASS_OK : kb_roles_missing(r, name, option, w->reading->error);
}

static kbass_status mark_all(const wishes *w, char *list, const char *option, bool *is_marked)
{
    kbass_status status = KBASS_OK;
    for (char *name = list, *next; status == KBASS_OK && name; name = next) {
        next = strchr(name, ',');
        if (next) *next++ = '\0';
        status = mark(w, trimmed(name), option, is_marked);
    }
    return status;
}

/* ---------------------------------------------------------------- renaming */

static kbass_status rename_one(const wishes *w, char *part)
{
    const kb_roles *r = w->roles;
    char *equals = strchr(part, '=');
    if (!equals || !*trimmed(equals + 1))
        return kb_fail(w->reading->error, KBASS_ERROR_ARGUMENT, "rename: found \"%.60s\", needed \"old=new\"", part);
    *equals = '\0';
    const char *old = trimmed(part), *new = trimmed(equals + 1);
    size_t column = kb_roles_column(r, old), n = 0;
    for (size_t i = 0; i < r->n; i++) {
        const char *rest = column < r->n ? (i == column ? "" : NULL) : component_of(r->names[i], old);
        if (!rest) continue;
        size_t size = strlen(new) + strlen(rest) + 1;
        kb_free(w->faces[i]);
        w->faces[i] = KB_NEW(char, size);
        if (!w->faces[i]) return kb_out_of_memory(w->reading->error, "the names");
        snprintf(w->faces[i], size, "%s%s", new, rest);
        n++;
    }
    return n ? KBASS_OK : kb_roles_missing(r, old, "--rename", w->reading->error);
}

static kbass_status rename_all(const wishes *w, char *list)
{
    kbass_status status = KBASS_OK;
    for (char *part = list, *next; status == KBASS_OK && part; part = next) {
        next = strchr(part, ',');
        if (next) *next++ = '\0';
        status = rename_one(w, part);
    }
    return status;
}

/* ---------------------------------------------------------------- everything */

static kbass_status grant(const wishes *w)
{
    const kb_reading *r = w->reading;
    char *use = r->use ? kb_strdup(r->use) : NULL, *ignore = r->ignore ? kb_strdup(r->ignore) : NULL;
    char *rename = r->rename ? kb_strdup(r->rename) : NULL;
    bool all = (!r->use || use) && (!r->ignore || ignore) && (!r->rename || rename);
    kbass_status status = all ? KBASS_OK : kb_out_of_memory(r->error, "the names");
    size_t axis = 0;
    if (status == KBASS_OK && ignore) status = mark_all(w, ignore, "--ignore", w->is_left_out);
    if (status == KBASS_OK && use) status = mark_all(w, use, "--use", w->is_used);
    for (size_t i = 0; i < w->roles->n; i++) {
        w->is_left_out[i] |= use && !w->is_used[i];
        w->is_left_out[i] &= !kb_roles_axis(w->roles, i, &axis);
    }
    if (status == KBASS_OK && rename) status = rename_all(w, rename);
    kb_free(use);
    kb_free(ignore);
    kb_free(rename);
    return status;
}

kbass_status kb_name_as_wished(const kb_reading *reading, const kb_roles *roles, bool *is_left_out, kbass_data *data)
{
    size_t n = roles->n;
    wishes w = {reading, roles, KB_NEW(char *, n), KB_NEW(bool, n), is_left_out};
    char **names = KB_NEW(char *, n);
    bool all = w.faces && w.is_used && names;
    kbass_status status = all ? grant(&w) : kb_out_of_memory(reading->error, "the names");
    for (size_t i = 0; all && i < n; i++) names[i] = w.faces[i] ? w.faces[i] : roles->names[i];
    kb_roles wished = *roles;
    wished.names = names;
    wished.is_left_out = is_left_out;
    if (status == KBASS_OK) status = kb_roles_name(&wished, data, reading->error);
    for (size_t i = 0; w.faces && i < n; i++) kb_free(w.faces[i]);
    kb_free(w.faces);
    kb_free(w.is_used);
    kb_free(names);
    return status;
}
