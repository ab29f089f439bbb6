/* The result as JSON text, for programs; docs/schema.md describes it. Numbers that are not finite become null. */
#ifndef KB_JSON_H
#define KB_JSON_H

#include <jansson.h>

#include "posterior/posterior.h"
#include "report/sketch.h"

enum { KB_FORMAT_VERSION = 1 }; /* of result files; readers refuse any other */

/* *json belongs to the caller: kb_free. `posteriors` are those of the runs, each NULL where there is none; so may
   `sketch` be. */
kbass_status kb_report_json(const kbass_data *data, const kbass_settings *settings, const kbass_result *result,
                            kbass_posterior *const *posteriors, const kb_sketch *sketch, char **json,
                            kbass_error *error);
/* The part of it that forecasts are drawn from; NULL when memory ran out. */
json_t *kb_report_posterior(const kbass_posterior *posterior);
/* The parts that figures are drawn from; likewise. */
char *kb_report_solution(const kbass_data *data, const kb_sketch *sketch);
char *kb_report_samples(const kbass_data *data, const kb_sketch *sketch);

#endif
