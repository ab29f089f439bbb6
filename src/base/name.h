/* Names as people write them above columns, and the identifiers that stand for them in equations.
 *
 * The face of a column is its name as written, "Biomass [g/L]"; its identifier is `Biomass`, its unit g/L.
 */
#ifndef KB_NAME_H
#define KB_NAME_H

#include <stdbool.h>
#include <stddef.h>

enum { KB_IDENTIFIER_SIZE = 64 };

/* A letter or _, then letters, digits, _. */
bool kb_is_identifier(const char *name);
/* Words that equations understand otherwise: nan, inf, sin, exp, ... */
bool kb_is_reserved(const char *name);
/* Letters without their accents, Greek ones by name, anything else as _; "" when nothing is left. */
void kb_identifier_of(const char *face, size_t length, char identifier[KB_IDENTIFIER_SIZE]);

/* Length of the face without its unit, which is in brackets, in parentheses or behind " / "; *unit is where it begins,
 *unit_length 0 when there is none. What stands in parentheses is a unit only if it looks like one. */
size_t kb_face_length(const char *face, const char **unit, size_t *unit_length);
bool kb_looks_like_unit(const char *text, size_t length);

/* The face means what was asked for: it is the same, without its unit, or by its identifier, in either case. */
bool kb_face_is(const char *face, const char *asked);

/* A copy in which control characters are "?" and bytes that are no UTF-8 are read as Latin-1; NULL: out of memory. */
char *kb_face_copy(const char *text);
/* Replaces control characters by "?" in place: nothing that a terminal would obey. Line ends may stay. */
void kb_text_disarm(char *text, bool keeps_lines);

#endif
