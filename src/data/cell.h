/* One cell as people write it: a number with either decimal mark and marks between thousands, a word for missing, a
 * date, a text.
 */
#ifndef KB_CELL_H
#define KB_CELL_H

#include "base/calendar.h"

typedef enum { KB_CELL_NUMBER, KB_CELL_MISSING, KB_CELL_DATE, KB_CELL_CLOCK, KB_CELL_TEXT } kb_cell_type;

/* What the cell would be, whatever the decimal mark and the order in dates. */
kb_cell_type kb_cell_type_of(const char *cell, const char *missing);
/* Empty, NA, N/A, #N/A, null, nan, -, ., ? and their like, or one of the list "-999, x", which may be NULL. */
bool kb_cell_is_missing(const char *cell, const char *missing);

/* What a number says about the marks of its file: the decimal mark, and what stands between thousands; 0: nothing. */
void kb_cell_marks(const char *cell, char *point, char *grouping);
/* The whole cell is a number. Blanks may always stand between thousands; `grouping` 0: nothing else. */
bool kb_cell_number(const char *cell, char point, char grouping, double *value);

#define KB_PLUS_MINUS "\xc2\xb1"

/* The number within "$1,000", "5 %", "1.5 mg/L", ="1.5": where it stands, and what is behind it, of an error only
   KB_PLUS_MINUS; false: there is none. */
bool kb_cell_bare(const char *cell, const char **bare, size_t *length, const char **after);
/* Does what stands behind a number mean a unit? Letters do behind a blank. Nothing is one, too. */
bool kb_cell_is_unit(const char *after);

#endif
