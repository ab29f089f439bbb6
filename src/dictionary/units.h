/* Units of measurement as people write them: "m/s^2", "kg m^-1 s^-2", "mol/L", "hare/km^2".
 *
 *     unit   = factor { (" " | "*" | "/") factor }       "/" is for the next factor only
 *     factor = symbol [ ["^"] number ] | "1"
 *
 * A unit is kept in the symbols it was written in, so that weights come out in them. Behind each symbol stand its size
 * and its dimension: SI units with their prefixes are made of kg m s A K mol cd, any other word is a dimension of its
 * own.
 */
#ifndef KB_UNITS_H
#define KB_UNITS_H

#include <stdbool.h>
#include <stddef.h>

#include "kbass/kbass.h"

enum { KB_UNIT_SYMBOLS = 24, KB_UNIT_NAME = 24, KB_UNIT_BASES = 7, KB_DIMENSIONS = KB_UNIT_BASES + KB_UNIT_SYMBOLS };

typedef struct {
    char name[KB_UNIT_NAME];
    double log_scale;                /* of its size in SI units; 0 for words of their own */
    double dimension[KB_DIMENSIONS]; /* powers of kg m s A K mol cd, then of the words */
} kb_symbol;

/* All symbols of one problem; zeros to begin with. */
typedef struct {
    size_t n;
    kb_symbol symbol[KB_UNIT_SYMBOLS];
} kb_symbols;

typedef struct {
    double power[KB_UNIT_SYMBOLS]; /* of each symbol; all 0: dimensionless */
} kb_unit;

/* Symbols that are new are added. */
kbass_status kb_unit_parse(kb_symbols *symbols, const char *text, kb_unit *unit, kbass_error *error);
/* "m/s^2", "m^-1 s^-1", "1/s", "1"; as snprintf. What it prints is parsed to the same unit. */
size_t kb_unit_print(const kb_symbols *symbols, const kb_unit *unit, char *text, size_t size);
/* a <- a * b^power */
void kb_unit_multiply(kb_unit *a, const kb_unit *b, double power);
/* Fills the powers of all dimensions; returns the logarithm of the unit's size. */
double kb_unit_dimension(const kb_symbols *symbols, const kb_unit *unit, double dimension[KB_DIMENSIONS]);
/* Of one dimension and size: quantities that can be added. */
bool kb_unit_is_same(const kb_symbols *symbols, const kb_unit *a, const kb_unit *b);

#endif
