/* What all benchmarks share: tasks, each in a process of its own, several at a time; finished rows are saved at once.
 *
 * A task that fails, crashes or is killed is a row with an "error"; the others go on. Ctrl-C ends the tasks under way
 * and keeps the finished ones; a plan run again with --resume does what is left. The document is one JSON object:
 *
 *     {"format": "kbass-bench", "bench": "paper", "version": ..., "machine": {...}, "options": {...}, "rows": [...]}
 *
 * where a row is what its task returned, with its name, and its process's seconds of CPU and megabytes.
 */
#ifndef BENCH_HARNESS_H
#define BENCH_HARNESS_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

enum { BENCH_NAME_SIZE = 80 };

typedef struct {
    char name[BENCH_NAME_SIZE];        /* unique within the document: "vdp-10-20 seed 3" */
    json_t *(*work)(const void *task); /* called in the task's process; returns a new object */
    const void *task;
} bench_task;

typedef struct {
    const char *bench; /* "paper" */
    json_t *options;   /* what the rows depend on besides their name; resuming needs the same. Owned by the caller. */
    size_t n_tasks;
    const bench_task *tasks;
} bench_plan;

typedef struct {
    unsigned long n_jobs;
    const char *json; /* where the document is kept, or NULL */
    bool is_resumed, is_quiet;
} bench_manner;

/* Returns an exit code: 128 and the signal after Ctrl-C. The caller owns *document, which is set whenever rows exist.
 */
int bench_run(const bench_plan *plan, const bench_manner *manner, json_t **document);

/* A row that says why there is nothing else in it. */
json_t *bench_failed(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Reads a document of the kind named (NULL: any), with a message when it is none. Returns an exit code. */
int bench_read(const char *path, const char *bench, json_t **document);

unsigned long bench_cores(void);

#endif
