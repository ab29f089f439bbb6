/* Parts of the printed reports: numbers to the precision that their sds give them, equations, sentences. */
#ifndef KB_REPORT_TEXT_PARTS_H
#define KB_REPORT_TEXT_PARTS_H

#include <stdbool.h>
#include <stdio.h>

#include "kbass/kbass.h"

enum { KB_TEXT_WIDTH = 80, KB_TEXT_NUMBER = 40 };

/* Where it goes, and whether equations are in bold for a terminal. */
typedef struct {
    FILE *out;
    bool has_bold;
} kb_text_page;

const char *kb_text_bold(const kb_text_page *to, bool on);
/* `value` to the precision that `sd` gives it; without an sd, six significant digits. */
void kb_text_number(double value, double sd, char text[KB_TEXT_NUMBER]);
void kb_text_sd(double sd, char text[KB_TEXT_NUMBER]);
/* Never "1" or "0": only the models that were compared are in it. */
void kb_text_probability(double p, char text[KB_TEXT_NUMBER]);
/* "1 : 7.4" */
void kb_text_odds(double log_odds, char text[KB_TEXT_NUMBER]);
/* "-1.05 to -0.95" */
void kb_text_interval(const kbass_term *term, char text[2 * KB_TEXT_NUMBER + 4]);
int kb_text_widest_lhs(const kbass_result *result);
/* The left-hand side of a state's equation: "u_tt"; its name where it has none. */
const char *kb_text_lhs(const kbass_data *data, const kbass_result *result, size_t state);
/* All equations; a term of the law that is undecided has a question mark. */
void kb_text_equations(const kb_text_page *to, const kbass_result *result);
/* A sentence in lines of KB_TEXT_WIDTH, each after so many blanks. */
void kb_text_wrapped(const kb_text_page *to, int indent, const char *text);

/* A term's name, with unknown constants by theirs. */
const char *kb_text_face(const kbass_term *term);
/* x_t = x_t, where x_tt has an equation (--lhs). */
bool kb_text_is_definition(const kbass_equation *equation);

#endif
