/* Reading a result file strictly: what is read, and values out of it; whatever does not fit is refused with its path.
 */
#ifndef KB_FORECAST_READER_H
#define KB_FORECAST_READER_H

#include <jansson.h>

#include "posterior/posterior.h"

enum { KB_FIELD_SIZE = 200 };

typedef struct {
    const char *result, *path; /* what is read, and what messages call it */
    json_t *root, *part;       /* part: of the root, the posterior */
    char where[40];            /* its path */
    const char *run;           /* asked for, or NULL */
    kbass_posterior *posterior;
    kbass_error *error;
} kb_reader;

/* "posterior.models[0]" and what is wrong with it. */
__attribute__((format(printf, 3, 4))) kbass_status kb_read_wrong(const kb_reader *r, const char *field,
                                                                 const char *format, ...);
kbass_status kb_read_number(const kb_reader *r, json_t *value, const char *field, double *out);
kbass_status kb_read_number_at(const kb_reader *r, json_t *object, const char *where, const char *key, double *out);
kbass_status kb_read_count_at(const kb_reader *r, json_t *object, const char *where, const char *key, size_t low,
                              size_t high, size_t *out);
/* A list of exactly n numbers, each at least `low`. */
kbass_status kb_read_numbers(const kb_reader *r, json_t *array, const char *field, size_t n, double low, double *out);
kbass_status kb_read_numbers_at(const kb_reader *r, json_t *object, const char *where, const char *key, size_t n,
                                double low, double *out);
/* The place of a name in a list; n: it is not there. */
size_t kb_read_find_name(size_t n, char *const *names, const char *name);

/* The models, and whether the equations say the same as the first of them. */
kbass_status kb_read_models(const kb_reader *r);
kbass_status kb_read_compare_equations(const kb_reader *r);

/* Of several axes: what last rows and predictions are of, and those of a model. */
kbass_status kb_read_row_grid(const kb_reader *r, json_t *grid, const char *where);
kbass_status kb_read_row(const kb_reader *r, json_t *model, const char *where, kb_belief *belief);

#endif
