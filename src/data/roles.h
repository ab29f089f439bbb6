/* Which of several named columns are axes, which are states. */
#ifndef KB_ROLES_H
#define KB_ROLES_H

#include "data/data.h"

enum { KB_MOST_COLUMNS = 65536, KB_LIST_SIZE = 160 };

typedef struct {
    const char *place; /* "data.csv:1" begins every message */
    size_t n;
    char *const *names;
    size_t n_axes;
    size_t axes[KBASS_MAX_AXES]; /* their columns, time first */
} kb_roles;

/* Names there must be, each once, at least two and not too many. */
kbass_status kb_roles_check(const kb_roles *roles, kbass_error *error);
/* `axes` is "t,x"; NULL: time alone is one, by the name `time`, or NULL for t or time. */
kbass_status kb_roles_find(kb_roles *roles, const char *time, const char *axes, kbass_error *error);
bool kb_roles_axis(const kb_roles *roles, size_t column, size_t *axis);
/* Gives the data their names and numbers of axes and states. */
kbass_status kb_roles_name(const kb_roles *roles, kbass_data *data, kbass_error *error);

bool kb_is_time_name(const char *name);
/* "t, x, u", cut with ... where it does not fit. */
void kb_list_names(size_t n, char *const *names, char *list, size_t size);
/* "t, x, y" cut into its names; the copy holds them. */
kbass_status kb_axes_split(const char *axes, char **copy, size_t *n, char *names[KBASS_MAX_AXES], kbass_error *error);

#endif
