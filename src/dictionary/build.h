/* How a dictionary comes to be: its variables, its terms, the roles they play, then the tables for fast evaluation. */
#ifndef KB_BUILD_H
#define KB_BUILD_H

#include "dictionary/dictionary.h"

enum { KB_DICTIONARY_LIMIT = 20000 };

/* Fields, derivatives of every order that may be written, axes; n_states and n_axes are set. */
kbass_status kb_dictionary_list_variables(kb_dictionary *dictionary, const char *const *field_names,
                                          const char *const *axis_names, kbass_error *error);
/* "u_t" or "u_tt"; NULL is u_t. */
kbass_status kb_dictionary_read_lhs(kb_dictionary *dictionary, const char *lhs, kbass_error *error);
/* Drops the derivatives of orders that no term uses. */
kbass_status kb_dictionary_trim_variables(kb_dictionary *dictionary, kbass_error *error);

/* The form of a term at the present constants, with its numeric factor. */
kbass_status kb_dictionary_form_parse(const kb_dictionary *dictionary, size_t term, kb_expression **out,
                                      kbass_error *error);

/* All powers of n variables with a given sum, each at most `bound`: the lexicographically highest, then on to the next
   lower; false after the last. */
void kb_powers_first(int *powers, size_t n, int sum, int bound);
bool kb_powers_next(int *powers, size_t n, int bound);

/* Takes the term over, also on failure; it is known to be new. */
kbass_status kb_dictionary_append(kb_dictionary *dictionary, kb_expression *term, kbass_error *error);
/* The same; one that is there already is dropped. `index` may be NULL. */
kbass_status kb_dictionary_take(kb_dictionary *dictionary, kb_expression *term, size_t *index, kbass_error *error);
/* Parses a term and takes it. */
kbass_status kb_dictionary_take_text(kb_dictionary *dictionary, const char *text, size_t *index, kbass_error *error);

/* All monomials in the states of degree `lowest` to `highest` with powers up to `bound`, times the variable `factor`
   unless that is a state. */
kbass_status kb_dictionary_add_monomials(kb_dictionary *dictionary, int lowest, int highest, int bound, size_t factor,
                                         kbass_error *error);
/* The family of fields over space: monomials times derivatives, products of derivatives. */
kbass_status kb_dictionary_add_fields(kb_dictionary *dictionary, const kbass_settings *settings, kbass_error *error);
/* The candidates: families of monomials, --terms, --terms-file. */
kbass_status kb_dictionary_fill(kb_dictionary *dictionary, const kbass_settings *settings, kbass_error *error);
/* --equation-for, --fix, --require, --forbid; the terms so far are the candidates. */
kbass_status kb_dictionary_assign(kb_dictionary *dictionary, const kbass_settings *settings, kbass_error *error);
/* "x_t" of an equation that is to be found, and a term that stands in the dictionary ("... so there is nothing to
   `purpose`"). */
kbass_status kb_dictionary_find_open(kb_dictionary *dictionary, const char *name, size_t *state, kbass_error *error);
kbass_status kb_dictionary_find_term(kb_dictionary *dictionary, const char *text, const char *purpose, size_t *term,
                                     kbass_error *error);
/* --constraint; the roles are set. Terms that a constraint does not let be 0 become required ones. */
kbass_status kb_dictionary_read_constraints(kb_dictionary *dictionary, const char *text, kbass_error *error);
void kb_dictionary_clear_tables(kb_dictionary *dictionary);
kbass_status kb_dictionary_tabulate(kb_dictionary *dictionary, kbass_error *error);

#endif
