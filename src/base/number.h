/* Numbers as text, whatever the program's locale: the decimal point is always a point. */
#ifndef KB_NUMBER_H
#define KB_NUMBER_H

#include <stdbool.h>
#include <stddef.h>

enum { KB_NUMBER_SIZE = 32 };

/* The whole text is one decimal number; "inf" and "nan" are numbers, "0x10", " 1" and "1 m" are not. */
bool kb_number_parse(const char *text, double *value);
/* The shortest text that reads back as the same number; returns its length. */
size_t kb_number_print(double value, char text[KB_NUMBER_SIZE]);
/* The same with `digits` significant ones at most, for people. */
size_t kb_number_round(double value, int digits, char text[KB_NUMBER_SIZE]);

#endif
