/* Formulas in other languages: a table says how each writes products, powers and functions. */
#ifndef KB_FORMULA_H
#define KB_FORMULA_H

#include "base/buffer.h"
#include "dictionary/algebra.h"

typedef struct {
    const char *open, *close;
} kb_brackets;

typedef struct {
    const char *times, *over; /* between factors; `over` NULL: as \frac{}{} */
    const char *raise[3];     /* before the base, between base and exponent, behind it */
    kb_brackets brackets;
    kb_brackets calls[KB_FUNCTION_COUNT];
    kb_brackets pairs[KB_PAIR_COUNT]; /* of two arguments, a comma between them */
    const char *comment;              /* begins a comment of one line */
    const char *const *reserved;      /* words that cannot be names; the last is NULL */
} kb_language;

extern const kb_language kb_latex, kb_sympy, kb_julia, kb_matlab, kb_c, kb_plain;

/* names[v]: how variable v is written. */
void kb_formula_poly(kb_buffer *out, const kb_language *language, const char *const *names, const kb_poly *poly);
bool kb_formula_calls(const kb_poly *poly, size_t function);
/* Whether weight*poly needs brackets around the poly. */
bool kb_formula_is_sum(const kb_poly *poly);
bool kb_formula_is_one(const kb_poly *poly);
/* 1.07(3): the spread in units of the last digit, two digits of it when the first is 1; small and large numbers with a
   power of ten. Six digits when sd is NaN. */
void kb_formula_measured(kb_buffer *out, const kb_language *language, double value, double sd);
/* In LaTeX 1\times10^{-5} for 1e-05. */
void kb_formula_number(kb_buffer *out, const kb_language *language, double value);

#endif
