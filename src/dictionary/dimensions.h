/* The units of a dictionary: those of states and axes, what they make of terms and weights, and which terms fit.
 *
 * A weight has the unit [left-hand side] / [term]. With --dimensional a term fits when that unit's dimension is a
 * product of powers of the constants' dimensions (--constants); where none are given, of the axes' (docs/math.md, eq.
 * 49).
 */
#ifndef KB_DIMENSIONS_H
#define KB_DIMENSIONS_H

#include "dictionary/dictionary.h"
#include "dictionary/units.h"

/* From --units, --constants and --dimensional; the variables are known. Without --units there are none. */
kbass_status kb_dictionary_read_units(kb_dictionary *dictionary, const kbass_settings *settings, kbass_error *error);
/* With --dimensional: drops the terms that fit no equation. */
kbass_status kb_dictionary_drop_misfits(kb_dictionary *dictionary, kbass_error *error);
/* True unless --dimensional says otherwise. */
bool kb_dictionary_fits(const kb_dictionary *dictionary, size_t term, size_t state);
/* False where it is not known, or has no meaning: sin of a length, the sum of a length and a time. */
bool kb_dictionary_weight_unit(const kb_dictionary *dictionary, size_t term, size_t state, kb_unit *unit);
/* The same as text, as snprintf does; "" where there is none. */
size_t kb_dictionary_weight_text(const kb_dictionary *dictionary, size_t term, size_t state, char *text, size_t size);
void kb_units_destroy(kb_units *units);

#endif
