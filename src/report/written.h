/* The law of a result file, read back so that it can be written in other languages. */
#ifndef KB_WRITTEN_H
#define KB_WRITTEN_H

#include <jansson.h>

#include "dictionary/algebra.h"
#include "dictionary/dictionary.h"

typedef struct {
    const kb_poly *poly;
    double weight;
    double sd; /* NaN when the weight was given, or its spread is not known */
} kb_written_term;

typedef struct {
    const char *lhs; /* "x_t" */
    size_t state;
    int order;     /* in time: 1 or 2 */
    bool is_known; /* given by --fix */
    size_t n_terms;
    kb_written_term *terms; /* the selected ones */
} kb_written_equation;

typedef struct {
    const char *result, *path; /* the text or the path of its file, and what messages call it */
    json_t *root;
    kb_arena arena;         /* of the polys */
    kb_dictionary *symbols; /* names and meaning of the variables; it has no terms */
    bool *is_used;          /* by variable */
    size_t n_equations;
    kb_written_equation *equations;
    double *initial; /* of ODE systems: n_states; or NULL */
    double first, last;
} kb_written_law;

/* `law` is zero, or was cleared, before; clear it also after a failure. */
kbass_status kb_written_read(const char *result, kb_written_law *law, kbass_error *error);
void kb_written_clear(kb_written_law *law);

#endif
