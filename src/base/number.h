/* Numbers as text, whatever the program's locale: the decimal point is always a point. */
#ifndef KB_NUMBER_H
#define KB_NUMBER_H

#include <stdbool.h>
#include <stddef.h>

enum { KB_NUMBER_SIZE = 32 };

/* The whole text is one decimal number; "inf" and "nan" are numbers, "0x10", " 1" and "1 m" are not. */
bool kb_number_parse(const char *text, double *value);
/* The number at the front of the text, which ends at `end` and needs no NUL; returns what follows it, NULL where the
   quick way does not go: more than 19 digits, far exponents, words such as nan, or no number at all. What it reads is
   what kb_number_parse reads, bit by bit. `point` is the decimal mark. */
const char *kb_number_scan(const char *text, const char *end, char point, double *value);
/* The shortest text that reads back as the same number; returns its length. */
size_t kb_number_print(double value, char text[KB_NUMBER_SIZE]);
/* The same with `digits` significant ones at most, for people. */
size_t kb_number_round(double value, int digits, char text[KB_NUMBER_SIZE]);

#endif
