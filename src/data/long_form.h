/* Tables in the long form: a row for each value, which a column of names says what it is a value of. */
#ifndef KB_LONG_FORM_H
#define KB_LONG_FORM_H

#include "data/roles.h"

typedef struct {
    size_t variable, value, run; /* states of the long data; run: SIZE_MAX where there is none */
    size_t n_words;
    char *const *words; /* what the numbers 0, 1, ... of `variable` stand for */
    const char *place;  /* for messages */
} kb_long_form;

/* Makes a state of every word, in the order of the rows, with one row for each time, place and run; values that repeat
   one of them get rows of their own. */
kbass_status kb_long_form_widen(const kb_long_form *form, kbass_data *data, kbass_error *error);

#endif
