/* Result files (docs/schema.md) opened again, and complaints about their fields. */
#ifndef KB_RESULT_FILE_H
#define KB_RESULT_FILE_H

#include <jansson.h>

#include "gp/input_curves.h"

/* Where the library takes a result, it takes the path of its file or the text itself, which begins with {. */
json_t *kb_result_parse(const char *result, size_t flags, json_error_t *problem);
const char *kb_result_name(const char *result); /* for messages: the path, or "the result" */

/* Loads the file and checks its equations: there is at least one, each with its left-hand side and terms, the selected
   ones with finite weights. *root is the caller's also on failure: json_decref. */
kbass_status kb_result_file_load(const char *result, json_t **root, kbass_error *error);
kbass_status kb_result_file_wrong(const char *path, const char *field, const char *needed, kbass_error *error);
/* data.key */
kbass_status kb_result_file_number(const char *path, json_t *root, const char *key, double *value, kbass_error *error);
/* The inputs of a law: `list` is what a posterior has under "inputs", NULL or empty without any. where: its place, for
   complaints. */
kbass_status kb_result_file_inputs(const char *path, const char *where, json_t *list, kb_input_curves *out,
                                   kbass_error *error);
size_t kb_result_file_axes(json_t *root); /* 1 when there is only time */

#endif
