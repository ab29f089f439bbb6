/* Which of several named columns are axes, which are states, which are neither; and what they are called. */
#ifndef KB_ROLES_H
#define KB_ROLES_H

#include "data/data.h"

enum { KB_MOST_COLUMNS = 65536, KB_LIST_SIZE = 160 };

typedef enum { KB_NUMBERS, KB_DATES, KB_CLOCKS, KB_LABELS } kb_cell_kind;

typedef struct {
    const char *place; /* "data.csv:1" begins every message */
    size_t n;
    char *const *names;         /* as they are written */
    const unsigned char *kinds; /* n: kb_cell_kind of their cells; NULL: numbers */
    char *const *units;         /* n: a row of units below the names; NULL: there is none */
    const bool *is_left_out;    /* n; NULL: none is */
    size_t n_axes;
    size_t axes[KBASS_MAX_AXES]; /* their columns, time first */
} kb_roles;

/* At least two columns and not too many. */
kbass_status kb_roles_check(const kb_roles *roles, kbass_error *error);
/* `axes` is "t,x"; NULL: time alone is one, by the name `time`, or NULL for the one that is called t, time, date ... */
kbass_status kb_roles_find(kb_roles *roles, const char *time, const char *axes, kbass_error *error);
/* The column of a name as written or as an identifier; n when there is none. */
size_t kb_roles_column(const kb_roles *roles, const char *name);
kbass_status kb_roles_missing(const kb_roles *roles, const char *name, const char *use, kbass_error *error);
bool kb_roles_axis(const kb_roles *roles, size_t column, size_t *axis);
static inline bool kb_roles_leave_out(const kb_roles *roles, size_t column)
{
    return roles->is_left_out && roles->is_left_out[column];
}
/* Gives the data their names, captions and numbers of axes and states. */
kbass_status kb_roles_name(const kb_roles *roles, kbass_data *data, kbass_error *error);

/* t or time. */
bool kb_is_time_name(const char *name);
/* How much a name as written means time: 0 not at all, 1 for t. */
double kb_time_likeness(const char *face);
/* "t, x, u", cut with ... where it does not fit. */
void kb_list_names(size_t n, char *const *names, char *list, size_t size);
/* "t, x, y" cut into its names; the copy holds them. */
kbass_status kb_axes_split(const char *axes, char **copy, size_t *n, char *names[KBASS_MAX_AXES], kbass_error *error);

#endif
