#include "report/findings.h"

#include <jansson.h>
#include <math.h>

#include "base/memory.h"
#include "base/status.h"
#include "data/data.h"

/* Names of columns may hold bytes that are not UTF-8. */
static json_t *text(const char *bytes)
{
    json_t *string = json_string(bytes);
    return string ? string : json_string("?");
}

static json_t *number(double value) { return isfinite(value) ? json_real(value) : json_null(); }

static json_t *rows(const kbass_finding *finding)
{
    json_t *array = json_array();
    for (size_t i = 0; i < finding->n_rows; i++)
        json_array_append_new(array, json_integer((json_int_t)finding->rows[i]));
    return array;
}

static json_t *terms(const kbass_finding *finding)
{
    json_t *array = json_array();
    for (size_t i = 0; i < finding->n_terms; i++) json_array_append_new(array, text(finding->terms[i]));
    return array;
}

static const char *severity_name(kbass_severity severity)
{
    return severity == KBASS_FINE ? "fine" : severity == KBASS_WARNING ? "warning" : "hopeless";
}

static json_t *object_of(const kbass_finding *finding)
{
    return json_pack("{s:s, s:s, s:o, s:o, s:s, s:o, s:o, s:o, s:o}", "severity", severity_name(finding->severity),
                     "check", finding->check, "subject", text(finding->subject), "number", number(finding->number),
                     "measure", finding->measure, "sentence", text(finding->sentence), "suggestion",
                     text(finding->suggestion), "rows", rows(finding), "terms", terms(finding));
}

kbass_status kb_report_findings(const kbass_data *data, kbass_severity severity, size_t n,
                                const kbass_finding *findings, char **json, kbass_error *error)
{
    const size_t format = JSON_INDENT(2) | JSON_REAL_PRECISION(15);
    json_t *list = json_array();
    bool complete = list != NULL;
    for (size_t i = 0; complete && i < n; i++) complete = json_array_append_new(list, object_of(&findings[i])) == 0;
    json_t *root = json_pack("{s:s, s:s, s:o, s:o, s:s, s:o}", "format", "kbass-findings", "version", kbass_version(),
                             "source", text(data->source), "sha256", text(data->sha256), "verdict",
                             severity_name(severity), "findings", list);
    size_t length = root && complete ? json_dumpb(root, NULL, 0, format) : 0;
    char *written = length ? KB_NEW(char, length + 2) : NULL;
    if (written) {
        json_dumpb(root, written, length, format);
        written[length] = '\n';
        *json = written;
    }
    json_decref(root);
    return written ? KBASS_OK : kb_out_of_memory(error, "the findings as JSON");
}
