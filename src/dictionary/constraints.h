/* Constraints on weights, as read from --constraint (dictionary.h): can one more hold beside those there are? */
#ifndef KB_DICTIONARY_CONSTRAINTS_H
#define KB_DICTIONARY_CONSTRAINTS_H

#include "dictionary/dictionary.h"

enum { KB_MOST_TIED = 32 }; /* weights that equalities tie together, and bounds in all */

/* Refuses a constraint that contradicts those of the dictionary, or follows from them; `text` is what the user wrote.
 */
kbass_status kb_constraints_check(const kb_dictionary *dictionary, const kb_constraint *constraint, const char *text,
                                  kbass_error *error);

#endif
