/* Small matters of text: identifiers, pieces of a list, advice on names. */
#ifndef KB_TEXT_H
#define KB_TEXT_H

#include <stdbool.h>
#include <stddef.h>

#include "base/name.h"
#include "kbass/kbass.h"

bool kb_is_given(const char *text); /* neither NULL nor empty */
bool kb_is_digit(char c);
bool kb_is_letter(char c); /* or underscore */
bool kb_is_blank(char c);  /* line ends too */
/* A term that needs parentheses to be multiplied: "1+x", not "x*(1+y)". */
bool kb_is_sum(const char *term);
/* `; did you mean "x"? (known: x, y)`, cut to size. */
void kb_name_advice(const char *word, size_t n, const char *const *names, char *text, size_t size);

/* Cuts the next piece off *cursor, in place, at a separator outside parentheses, and trims it; NULL at the end. */
char *kb_piece_next(char **cursor, char separator);
/* Cuts surrounding blanks, in place. */
char *kb_trim(char *text);

/* As kb_fail_at; a long text is cut to the neighbourhood of the 0-based position. */
__attribute__((format(printf, 4, 5))) kbass_status kb_text_fail(kbass_error *error, const char *text, size_t position,
                                                                const char *format, ...);
/* Puts "where" before the message. */
__attribute__((format(printf, 2, 3))) void kb_error_prefix(kbass_error *error, const char *format, ...);

#endif
