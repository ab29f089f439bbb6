/* From the faces of columns to names that can stand in equations, each once. */
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "base/name.h"
#include "base/status.h"
#include "data/roles.h"

/* Names that are taken, by open addressing; they are owned by whoever added them. */
typedef struct {
    const char **slots;
    size_t capacity; /* a power of two, more than twice the names */
} name_set;

typedef struct {
    const kb_roles *roles;
    name_set bare, taken;
    char (*ids)[KB_IDENTIFIER_SIZE]; /* n */
} naming;

/* ---------------------------------------------------------------- a set */

static size_t slot_of(const name_set *set, const char *name)
{
    size_t hash = 5381;
    for (const char *c = name; *c; c++) hash = hash * 33 + (unsigned char)*c;
    size_t slot = hash & (set->capacity - 1);
    while (set->slots[slot] && strcmp(set->slots[slot], name) != 0) slot = (slot + 1) & (set->capacity - 1);
    return slot;
}

static bool has(const name_set *set, const char *name) { return set->slots[slot_of(set, name)] != NULL; }
static void add(const name_set *set, const char *name) { set->slots[slot_of(set, name)] = name; }

static bool open_set(name_set *set, size_t n)
{
    for (set->capacity = 16; set->capacity < 3 * n;) set->capacity *= 2;
    set->slots = KB_NEW(const char *, set->capacity);
    return set->slots != NULL;
}

/* ---------------------------------------------------------------- identifiers */

/* x_t is the derivative of x, u_xx one of u: a column of that name beside them needs another. */
static bool is_derivative(const naming *w, const char *id)
{
    char base[KB_IDENTIFIER_SIZE];
    const char *mark = strrchr(id, '_');
    if (!mark || mark == id || !mark[1]) return false;
    for (const char *c = mark + 1; *c; c++) {
        bool is_axis = *c == 't';
        for (size_t i = 0; i < w->roles->n_axes; i++) {
            const char *axis = w->ids[w->roles->axes[i]];
            is_axis |= axis[0] == *c && !axis[1];
        }
        if (!is_axis) return false;
    }
    snprintf(base, sizeof base, "%.*s", (int)(mark - id), id);
    return has(&w->bare, base);
}

/* By its number where nothing of the face is left; the words in brackets help where names would be the same. */
static void name_column(naming *w, size_t column, const name_set *twins)
{
    const char *face = w->roles->names[column], *unit;
    char *id = w->ids[column], base[KB_IDENTIFIER_SIZE];
    size_t unit_length, length = kb_face_length(face, &unit, &unit_length);
    kb_identifier_of(face, length, id);
    if (has(twins, id)) kb_identifier_of(face, strlen(face), id);
    if (!*id) snprintf(id, KB_IDENTIFIER_SIZE, "column%zu", column + 1);
    if (is_derivative(w, id)) {
        char *mark = strrchr(id, '_');
        memmove(mark, mark + 1, strlen(mark));
    }
    if (kb_is_reserved(id) && strlen(id) + 2 < KB_IDENTIFIER_SIZE) strcat(id, "_");
    snprintf(base, sizeof base, "%s", id);
    for (unsigned i = 2; has(&w->taken, id); i++) snprintf(id, KB_IDENTIFIER_SIZE, "%.50s_%u", base, i);
    add(&w->taken, id);
}

/* Bare identifiers, and which of them two columns would share. */
static void collect(naming *w, name_set *twins, char (*bare)[KB_IDENTIFIER_SIZE])
{
    for (size_t i = 0; i < w->roles->n; i++) {
        const char *face = w->roles->names[i], *unit;
        size_t unit_length, length = kb_face_length(face, &unit, &unit_length);
        kb_identifier_of(face, length, bare[i]);
        snprintf(w->ids[i], KB_IDENTIFIER_SIZE, "%s", bare[i]);
        if (has(&w->bare, bare[i]) && *bare[i]) add(twins, bare[i]);
        add(&w->bare, bare[i]);
    }
}

static kbass_status make_identifiers(naming *w, kbass_error *error)
{
    size_t n = w->roles->n, axis = 0;
    name_set twins = {0};
    char(*bare)[KB_IDENTIFIER_SIZE] = kb_allocate(n, sizeof *bare);
    w->ids = kb_allocate(n, sizeof *w->ids);
    bool all = bare && w->ids && open_set(&w->bare, n) && open_set(&w->taken, n) && open_set(&twins, n);
    if (all) collect(w, &twins, bare);
    for (size_t i = 0; all && i < w->roles->n_axes; i++) name_column(w, w->roles->axes[i], &twins);
    for (size_t i = 0; all && i < n; i++)
        if (!kb_roles_axis(w->roles, i, &axis) && !kb_roles_leave_out(w->roles, i)) name_column(w, i, &twins);
    kb_free(twins.slots);
    kb_free(bare);
    return all ? KBASS_OK : kb_out_of_memory(error, "the column names");
}

/* ---------------------------------------------------------------- captions */

/* "(g/L)", "[g/L]" and "g/L" below a name are the same unit; "-" is none. */
static char *unit_below(const char *cell)
{
    size_t length = strlen(cell);
    bool is_bracketed =
        length > 2 && ((cell[0] == '[' && cell[length - 1] == ']') || (cell[0] == '(' && cell[length - 1] == ')'));
    if (is_bracketed) cell++, length -= 2;
    if (!length || (length == 1 && *cell == '-')) return NULL;
    char *unit = KB_NEW(char, length + 1), *copy = NULL;
    if (unit) memcpy(unit, cell, length);
    if (unit) copy = kb_face_copy(unit);
    kb_free(unit);
    return copy;
}

static bool caption_column(const naming *w, size_t column, char **name, kb_caption *caption)
{
    const char *unit;
    size_t unit_length;
    char *face = kb_face_copy(w->roles->names[column]);
    *name = kb_strdup(w->ids[column]);
    if (!face || !*name) {
        kb_free(face);
        return false;
    }
    kb_face_length(face, &unit, &unit_length);
    if (unit_length && (caption->unit = KB_NEW(char, unit_length + 1))) memcpy(caption->unit, unit, unit_length);
    if (!caption->unit && w->roles->units) caption->unit = unit_below(w->roles->units[column]);
    caption->face = face;
    if (*face && strcmp(face, *name) != 0) return true;
    kb_free(face);
    caption->face = NULL;
    return true;
}

kbass_status kb_roles_name(const kb_roles *r, kbass_data *data, kbass_error *error)
{
    naming w = {.roles = r};
    size_t axis = 0, n_states = 0;
    for (size_t i = 0; i < r->n; i++) n_states += !kb_roles_axis(r, i, &axis) && !kb_roles_leave_out(r, i);
    if (!n_states)
        return kb_fail(error, KBASS_ERROR_DATA, "%s: no states beside %s: at least one column with values is needed",
                       r->place, r->n_axes > 1 ? "the axes" : "time");
    kbass_status status = make_identifiers(&w, error);
    data->n_axes = r->n_axes;
    data->axis_names = KB_NEW(char *, r->n_axes);
    data->state_names = KB_NEW(char *, n_states);
    data->state_captions = KB_NEW(kb_caption, n_states);
    bool all = status == KBASS_OK && data->axis_names && data->state_names && data->state_captions;
    if (data->state_names && data->state_captions) data->n_states = n_states;
    for (size_t i = 0; all && i < r->n_axes; i++)
        all = caption_column(&w, r->axes[i], &data->axis_names[i], &data->axis_captions[i]);
    for (size_t i = 0, state = 0; all && i < r->n; i++) {
        if (kb_roles_axis(r, i, &axis) || kb_roles_leave_out(r, i)) continue;
        all = caption_column(&w, i, &data->state_names[state], &data->state_captions[state]);
        state++;
    }
    if (all) data->time_name = data->axis_names[0];
    kb_free(w.bare.slots);
    kb_free(w.taken.slots);
    kb_free(w.ids);
    return all ? KBASS_OK : status != KBASS_OK ? status : kb_out_of_memory(error, "the column names");
}
