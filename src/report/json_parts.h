/* Parts of the result's JSON: values, and the laws with what is beside them. Each is NULL when memory ran out, and so
 * is what contains it: json_pack, put and append see to that. */
#ifndef KB_REPORT_JSON_PARTS_H
#define KB_REPORT_JSON_PARTS_H

#include <jansson.h>

#include "kbass/kbass.h"

void kb_json_put(json_t **object, const char *key, json_t *value);
void kb_json_append(json_t **array, json_t *value);
json_t *kb_json_number(double value); /* null where it is not finite */
json_t *kb_json_pair(double first, double second);
json_t *kb_json_count(size_t value);
json_t *kb_json_text(const char *bytes); /* bytes that are not UTF-8 become '?' */

json_t *kb_json_equations(const kbass_result *result);
json_t *kb_json_correlation(const kbass_result *result);
json_t *kb_json_groups(const kbass_result *result);
json_t *kb_json_alike(const kbass_result *result);
json_t *kb_json_runners_up(const kbass_result *result);
json_t *kb_json_explanations(const kbass_result *result);

#endif
