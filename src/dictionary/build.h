/* How a dictionary comes to be: its terms, then the roles they play, then the tables for fast evaluation. */
#ifndef KB_BUILD_H
#define KB_BUILD_H

#include "dictionary/dictionary.h"

enum { KB_DICTIONARY_LIMIT = 20000 };

/* Takes the term over, also on failure; it is known to be new. */
kbass_status kb_dictionary_append(kb_dictionary *dictionary, kb_expression *term, kbass_error *error);
/* The same; one that is there already is dropped. `index` may be NULL. */
kbass_status kb_dictionary_take(kb_dictionary *dictionary, kb_expression *term, size_t *index, kbass_error *error);
/* Parses a term and takes it. */
kbass_status kb_dictionary_take_text(kb_dictionary *dictionary, const char *text, size_t *index, kbass_error *error);

/* The candidates: families of monomials, --terms, --terms-file. */
kbass_status kb_dictionary_fill(kb_dictionary *dictionary, const kbass_settings *settings, kbass_error *error);
/* --equation-for, --fix, --require, --forbid; the terms so far are the candidates. */
kbass_status kb_dictionary_assign(kb_dictionary *dictionary, const kbass_settings *settings, kbass_error *error);
kbass_status kb_dictionary_tabulate(kb_dictionary *dictionary, kbass_error *error);

#endif
