/* Unknown constants inside terms: --unknown "K=0.1:20", --terms "x/(K+x)".
 *
 * A term that names constants has a form, "x/(K+x)", and stands in the dictionary with their present values in place of
 * their names: whoever evaluates terms knows nothing of constants. kb_dictionary_set_constants changes the values.
 */
#ifndef KB_DICTIONARY_CONSTANTS_H
#define KB_DICTIONARY_CONSTANTS_H

#include "dictionary/dictionary.h"

enum { KB_DICTIONARY_CONSTANTS = 60 }; /* at most */

/* Reads "K=0.1:20, n=1:8"; values in the middle of their ranges, on a logarithmic scale where they are positive. */
kbass_status kb_dictionary_read_constants(kb_dictionary *dictionary, const char *unknown, kbass_error *error);
/* Reads "f=0.5, g=tau, h=0:2" of --input-delay: a number, a constant of --unknown, or a range, which makes the constant
   delay_h. Inputs are known by then. */
kbass_status kb_dictionary_read_delays(kb_dictionary *dictionary, const char *delays, kbass_error *error);
/* One more, in the middle of its range. */
kbass_status kb_dictionary_add_constant(kb_dictionary *dictionary, const char *name, double low, double high,
                                        kbass_error *error);
/* Another range, and the middle of it. */
void kb_constant_set_range(kb_dictionary *dictionary, size_t constant, double low, double high);
/* Adds the terms of --family "saturating, periodic" with a constant of its own each, whose ranges are not known yet. */
kbass_status kb_dictionary_add_constant_families(kb_dictionary *dictionary, const char *families, kbass_error *error);
/* What the ranges of those constants are made of. */
typedef struct {
    const double *lowest, *highest; /* n_states: of the measurements; NaN where there are none */
    double duration, spacing;       /* of the time */
} kb_measured_ranges;
/* Sets the ranges; terms that would be singular on these data are left out of all equations. */
kbass_status kb_dictionary_set_family_ranges(kb_dictionary *dictionary, const kb_measured_ranges *measured,
                                             kbass_error *error);
/* Refuses constants that no term names. */
kbass_status kb_dictionary_check_constants(const kb_dictionary *dictionary, kbass_error *error);

/* Parses a term that may name constants. *form is its canonical name with them (the caller owns it), NULL without; the
   expression has their present values. K[*] makes a constant of its own, with the range of K. */
kbass_status kb_dictionary_parse_term(kb_dictionary *dictionary, const char *text, kb_expression **term, char **form,
                                      kbass_error *error);

/* In its form, or by the delay of an input in it. */
bool kb_dictionary_names_constant(const kb_dictionary *dictionary, size_t term, size_t constant);
bool kb_dictionary_has_constant(const kb_dictionary *dictionary, size_t term); /* any */
/* All terms at other values (n_constants); the tables of powers are made anew. */
kbass_status kb_dictionary_set_constants(kb_dictionary *dictionary, const double *values, kbass_error *error);
/* A term with one constant at another value; the caller owns it. */
kbass_status kb_dictionary_term_at(const kb_dictionary *dictionary, size_t term, size_t constant, double value,
                                   kb_expression **out, kbass_error *error);
/* Is the form the term itself? x*(x-A) at A = 2 stands in the dictionary as x*(2-x), its negative: terms have no
 * factor.
 */
bool kb_dictionary_is_form(const kb_dictionary *dictionary, size_t term);
/* Name of the product of powers that a term becomes as a constant goes beyond an end of its range, 1/K or K apart:
   s*x/(K+s) is s*x far above, x far below. NULL where there is none; the caller owns it. */
kbass_status kb_dictionary_limit(const kb_dictionary *dictionary, size_t term, size_t constant, bool is_high,
                                 char **name, kbass_error *error);
/* Makes that a candidate wherever the term is one, unless it was there, or constraints speak of all terms. */
kbass_status kb_dictionary_add_limit(kb_dictionary *dictionary, size_t term, size_t constant, bool is_high,
                                     bool *is_new, kbass_error *error);
/* Name of a term with one constant at a share of its range and the others as they are; the caller owns it. */
kbass_status kb_dictionary_name_at(const kb_dictionary *dictionary, size_t term, size_t constant, double share,
                                   char **name, kbass_error *error);
/* Forms x^n become max(0,x)^n for the states marked, which may pass 0. Their number is returned in *n. */
kbass_status kb_dictionary_guard_powers(kb_dictionary *dictionary, const bool *may_pass_zero, size_t *n,
                                        kbass_error *error);
/* The value at a share of the range between 0 and 1, and back: logarithmic where the range is positive. */
double kb_constant_at(const kb_constant *constant, double share);
double kb_constant_share(const kb_constant *constant, double value);

#endif
