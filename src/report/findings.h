/* The doctor's findings as JSON (docs/schema.md). */
#ifndef KB_FINDINGS_H
#define KB_FINDINGS_H

#include "kbass/kbass.h"

kbass_status kb_report_findings(const kbass_data *data, kbass_severity severity, size_t n,
                                const kbass_finding *findings, char **json, kbass_error *error);

#endif
