/* A result's law in other languages: LaTeX, SymPy, Julia, MATLAB, C; and its solution as CSV. */
#ifndef KB_EXPORT_H
#define KB_EXPORT_H

#include "report/formula.h"
#include "report/written.h"

typedef struct {
    const kb_written_law *law;
    const kb_language *language;
    const char *function;     /* name of the function that is written */
    const kbass_data *inputs; /* in place of the record's; NULL: those */
    char **words;             /* by variable: how it is called */
    char **symbols;           /* by variable: how it stands in formulas, u[i] for u */
    kb_buffer out;
} kb_export;

/* Words that the language takes as names, all different; symbols as words. False when memory ran out. */
bool kb_export_name(kb_export *e);
/* Puts another text in the place of a symbol. */
bool kb_export_symbol(kb_export *e, size_t variable, const char *format, ...) __attribute__((format(printf, 3, 4)));
void kb_export_clear(kb_export *e);

size_t kb_export_states(const kb_export *e);
size_t kb_export_axis(const kb_export *e, size_t axis); /* the variable that is this axis */
/* "u, u_x": the arguments of a function over space: all fields, derivatives and axes in use. */
bool kb_export_is_argument(const kb_export *e, size_t variable);

/* Of constants inside terms: the index-th; false beyond the last. */
typedef struct {
    const char *name;
    bool is_used;
    double value, sd, low, high;
} kb_export_estimate;
bool kb_export_constant(const kb_export *e, size_t index, kb_export_estimate *out);

/* Where it comes from, and the equations with their uncertainties, as comments. */
void kb_export_heading(kb_export *e);
/* The right-hand side with all digits; in LaTeX with uncertainties. */
void kb_export_rhs(kb_export *e, const kb_written_equation *equation);
bool kb_export_is_constant(const kb_written_equation *equation);

kbass_status kb_export_latex(kb_export *e, kbass_error *error);
kbass_status kb_export_sympy(kb_export *e, kbass_error *error);
kbass_status kb_export_julia(kb_export *e, kbass_error *error);
kbass_status kb_export_matlab(kb_export *e, kbass_error *error);
kbass_status kb_export_c(kb_export *e, kbass_error *error);

#endif
