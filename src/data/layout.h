/* Where in a text the table is: which line has the names, which the units, where the rows begin and what separates
 * their cells. Found from the first lines; lines before the names are left out.
 */
#ifndef KB_LAYOUT_H
#define KB_LAYOUT_H

#include "data/csv.h"

enum { KB_SAMPLE_LINES = 2000 };
#define KB_NO_LINE SIZE_MAX

typedef struct {
    const char *begin, *end;
    size_t number; /* from 1 */
} kb_line;

typedef struct {
    size_t n;
    kb_line *lines; /* neither blank nor comments */
    size_t header;  /* the line of names */
    size_t units;   /* the line of units, or KB_NO_LINE */
    size_t body;    /* the first row; n when none was seen */
    char separator;
    bool has_directive; /* "sep=;" said so */
} kb_layout;

/* `line` is the number of the line before `begin`. */
kbass_status kb_layout_find(const char *begin, const char *end, size_t line, const char *missing, kb_layout *layout,
                            kbass_error *error);
void kb_layout_clear(kb_layout *layout);

bool kb_begins_comment(char c);
/* "|---|---|", "____ ____": a line under the names, as text that is meant to be read has it. */
bool kb_is_ruler(const char *begin, const char *end);

#endif
