/* A task under way: a process of its own, and what came through its pipe so far. */
#ifndef BENCH_WORKER_H
#define BENCH_WORKER_H

#include <sys/types.h>

#include "harness.h"

typedef struct {
    const bench_task *task;
    pid_t process; /* 0: a free place */
    int pipe;
    char *text;
    size_t length;
} bench_worker;

/* False when there is no process to be had; errno says why. */
bool bench_worker_begin(bench_worker *worker, const bench_task *task);
/* Takes what the pipe holds; false at its end. */
bool bench_worker_receive(bench_worker *worker);
/* The row of a task whose pipe has ended, with its name, seconds of CPU and megabytes; the place is free again. */
json_t *bench_worker_collect(bench_worker *worker);
/* Ends it where it stands. */
void bench_worker_dismiss(bench_worker *worker);

#endif
