/* How far a benchmark is, on stderr: a bar on a terminal, a line for each finished task otherwise. */
#ifndef BENCH_BAR_H
#define BENCH_BAR_H

#include <stdbool.h>
#include <stddef.h>

typedef struct {
    bool is_quiet, is_terminal;
    size_t n_tasks, n_done, n_at_first;
    double start;
} bench_bar;

void bench_bar_begin(bench_bar *bar, bool is_quiet, size_t n_tasks, size_t n_done);
void bench_bar_show(bench_bar *bar, const char *under_way);
void bench_bar_finish(bench_bar *bar, const char *name, const char *error); /* error NULL: all went well */
void bench_bar_end(bench_bar *bar);

#endif
