/* Names in two lines: groups ("Tank 1", over several columns) above what is measured in each ("x", "y"). They are one
 * name each, "Tank 1 x", where names of the lower line repeat and are told apart by the upper one.
 */
#include <string.h>
#include <strings.h>

#include "base/buffer.h"
#include "base/memory.h"
#include "base/name.h"
#include "base/status.h"
#include "data/plan.h"

enum { MOST_COLUMNS = 2000 }; /* whose names are compared pair by pair */

static bool repeats(size_t n, char *const *names, bool is_empty_counted)
{
    for (size_t i = 0; i < n; i++)
        for (size_t k = i + 1; k < n; k++)
            if ((*names[i] || is_empty_counted) && !strcmp(names[i], names[k])) return true;
    return false;
}

/* An empty cell belongs to the group before it. */
static void spread(size_t n, char **groups)
{
    for (size_t i = 1; i < n; i++)
        if (!*groups[i]) groups[i] = groups[i - 1];
}

static char *joined(const char *group, const char *name)
{
    kb_buffer text = {0};
    bool is_alone = !*group || !*name || !strcasecmp(group, name) || kb_time_likeness(name) > 0.5;
    if (!is_alone) kb_buffer_print(&text, "%s %s", group, name);
    char *face = kb_face_copy(!is_alone && text.text ? text.text : *name ? name : group);
    kb_buffer_clear(&text);
    return face;
}

static void clear(size_t n, char **names)
{
    for (size_t i = 0; names && i < n; i++) kb_free(names[i]);
    kb_free(names);
}

/* Something else than the same below time is its unit, and what stands beside it are units, too. */
static bool are_units(size_t n, char *const *groups, char *const *names)
{
    for (size_t i = 0; i < n; i++)
        if (kb_time_likeness(groups[i]) > 0.5 && *names[i] && strcasecmp(groups[i], names[i]) != 0) return true;
    return false;
}

/* A unit without a name would be none: what stands below "Plate" and an empty cell are names, unique by themselves. */
static bool are_names(size_t n, char *const *groups, char *const *names)
{
    for (size_t i = 0; i < n; i++)
        if (!*groups[i] && *names[i] && !repeats(n, names, false)) return true;
    return false;
}

/* NULL: they are no groups and names, or memory ran out. */
static char **join(size_t n, char **groups, char *const *names, bool is_below)
{
    char **all = KB_NEW(char *, n);
    bool is_simple = is_below && n <= MOST_COLUMNS && are_names(n, groups, names);
    bool is_whole = all && n <= MOST_COLUMNS && !are_units(n, groups, names) &&
                    (is_simple || (repeats(n, names, false) && repeats(n, groups, true)));
    if (is_whole && !is_simple) spread(n, groups);
    for (size_t i = 0; is_whole && i < n; i++)
        is_whole = (all[i] = joined(is_simple && *names[i] ? "" : groups[i], names[i])) != NULL;
    if (is_whole && !repeats(n, all, true)) return all;
    clear(n, all);
    return NULL;
}

static void take(kb_plan *p, char **all)
{
    clear(p->n, p->faces);
    p->faces = all;
    for (size_t i = 0; i < p->n; i++) p->is_unnamed[i] = !*all[i];
}

/* What looks like units, for it is short: the header has the groups. */
static kbass_status try_below(kb_plan *p, bool *is_found)
{
    char **groups = KB_NEW(char *, p->n), nothing[] = "";
    if (!groups) return kb_out_of_memory(p->reading->error, "the names");
    for (size_t i = 0; i < p->n; i++) groups[i] = p->is_unnamed[i] ? nothing : p->faces[i];
    char **all = join(p->n, groups, p->units, true);
    *is_found = all != NULL;
    if (all) take(p, all);
    if (all) clear(p->n, p->units);
    if (all) p->units = NULL;
    kb_free(groups);
    return KBASS_OK;
}

static kbass_status try_above(kb_plan *p, kb_row_work *work)
{
    const kb_line *line = &p->layout.lines[p->layout.header - 1];
    size_t n = 0;
    if (kb_row_cut(&p->form, line->begin, line->end, work, &n, line->number, NULL) != KBASS_OK || n != p->n)
        return KBASS_OK;
    char **all = join(n, work->cells, p->faces, false);
    p->has_groups = all != NULL;
    if (all) take(p, all);
    return KBASS_OK;
}

kbass_status kb_plan_groups(kb_plan *p, kb_row_work *work)
{
    bool is_found = false;
    kbass_status status = p->units ? try_below(p, &is_found) : KBASS_OK;
    if (status != KBASS_OK || is_found || !p->layout.header || p->layout.body <= p->layout.header) return status;
    return try_above(p, work);
}
