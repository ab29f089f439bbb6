/* The result as JSON text, for programs; docs/schema.md describes it. Numbers that are not finite become null. */
#ifndef KB_JSON_H
#define KB_JSON_H

#include "kbass/kbass.h"

/* *json belongs to the caller: kb_free. */
kbass_status kb_report_json(const kbass_data *data, const kbass_settings *settings, const kbass_result *result,
                            char **json, kbass_error *error);

#endif
