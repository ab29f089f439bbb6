/* A result of fields to be solved again, from rows at nodes. */
#ifndef KB_RESULT_ROWS_H
#define KB_RESULT_ROWS_H

#include <jansson.h>

#include "simulate/pde.h"

/* Over the record; of several runs the first. */
kbass_status kb_result_rows(const char *path, json_t *root, size_t n_equations, const char *const *equations,
                            kb_pde **pde, kbass_error *error);

#endif
