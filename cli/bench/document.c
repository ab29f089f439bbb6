#include "document.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "message.h"
#include "output.h"

static json_t *rows_of(const json_t *document) { return json_object_get(document, "rows"); }

static const char *name_of(const json_t *row)
{
    const char *name = json_string_value(json_object_get(row, "name"));
    return name ? name : "";
}

static size_t find(const json_t *rows, const char *name)
{
    size_t i = 0;
    while (i < json_array_size(rows) && strcmp(name_of(json_array_get(rows, i)), name) != 0) i++;
    return i;
}

bool bench_document_has(const json_t *document, const char *name)
{
    const json_t *rows = rows_of(document), *row = json_array_get(rows, find(rows, name));
    return row && !json_object_get(row, "error");
}

void bench_document_put(json_t *document, json_t *row)
{
    json_t *rows = rows_of(document);
    size_t i = find(rows, name_of(row));
    if (i < json_array_size(rows)) json_array_set_new(rows, i, row);
    else json_array_append_new(rows, row);
}

void bench_document_sort(json_t *document, const bench_plan *plan)
{
    json_t *rows = rows_of(document), *sorted = json_array();
    for (size_t i = 0; i < plan->n_tasks; i++) {
        size_t at = find(rows, plan->tasks[i].name);
        if (at == json_array_size(rows)) continue;
        json_array_append(sorted, json_array_get(rows, at));
        json_array_remove(rows, at);
    }
    json_array_extend(sorted, rows);
    json_object_set_new(document, "rows", sorted);
}

int bench_document_save(const json_t *document, const char *path)
{
    char *text = json_dumps(document, JSON_INDENT(1) | JSON_REAL_PRECISION(10));
    int code = text ? cli_output_text(path, text) : cli_fail("%s: out of memory for the rows", path);
    free(text);
    return code;
}

int bench_read(const char *path, const char *bench, json_t **document)
{
    json_error_t problem;
    json_t *found = json_load_file(path, 0, &problem);
    const char *format = json_string_value(json_object_get(found, "format"));
    const char *kind = json_string_value(json_object_get(found, "bench"));
    int code = EXIT_OK;
    if (!found && problem.line > 0) code = cli_fail("%s:%d: %s", path, problem.line, problem.text);
    else if (!found) code = cli_fail("%s: cannot be read: %s", path, strerror(errno));
    else if (!format || strcmp(format, "kbass-bench") != 0 || !kind || !json_is_array(rows_of(found)))
        code = cli_fail("%s is not a file that kbass bench --json has written", path);
    else if (bench && strcmp(kind, bench) != 0)
        code = cli_fail("%s holds rows of bench %s, needed bench %s", path, kind, bench);
    if (code == EXIT_OK) *document = found;
    else json_decref(found);
    return code;
}

static int resume(const bench_plan *plan, const char *path, json_t **document)
{
    int code = bench_read(path, plan->bench, document);
    if (code != EXIT_OK || json_equal(json_object_get(*document, "options"), plan->options)) return code;
    char *found = json_dumps(json_object_get(*document, "options"), JSON_SORT_KEYS);
    code = cli_fail("%s: was made with other options, %s: give the same, or another file", path, found ? found : "");
    free(found);
    return code;
}

/* "model name : ..." */
static void processor_name(char *text, size_t size)
{
    char line[256];
    FILE *file = fopen("/proc/cpuinfo", "r");
    snprintf(text, size, "unknown");
    while (file && fgets(line, sizeof line, file)) {
        const char *colon = strchr(line, ':');
        if (strncmp(line, "model name", 10) != 0 || !colon) continue;
        snprintf(text, size, "%.*s", (int)strcspn(colon + 2, "\n"), colon + 2);
        break;
    }
    if (file) fclose(file);
}

static json_t *fresh(const bench_plan *plan, const bench_manner *manner)
{
    char processor[200];
    processor_name(processor, sizeof processor);
    return json_pack("{s:s, s:s, s:s, s:{s:s, s:i, s:i}, s:O, s:[]}", "format", "kbass-bench", "bench", plan->bench,
                     "version", kbass_version(), "machine", "processor", processor, "cores", (int)bench_cores(), "jobs",
                     (int)manner->n_jobs, "options", plan->options, "rows");
}

int bench_document_open(const bench_plan *plan, const bench_manner *manner, json_t **document)
{
    bool exists = manner->json && access(manner->json, F_OK) == 0;
    if (manner->is_resumed && exists) return resume(plan, manner->json, document);
    if (exists) return cli_fail("%s exists: --resume goes on with it; remove it to begin anew", manner->json);
    *document = fresh(plan, manner);
    return *document ? EXIT_OK : cli_fail("out of memory for the rows");
}
