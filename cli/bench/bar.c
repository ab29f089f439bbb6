#include "bar.h"

#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { WIDTH = 24 };

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

void bench_bar_begin(bench_bar *bar, bool is_quiet, size_t n_tasks, size_t n_done)
{
    *bar = (bench_bar){is_quiet, isatty(STDERR_FILENO), n_tasks, n_done, n_done, now()};
}

/* "3 min left" by the pace so far; nothing before there is one */
static void guess(const bench_bar *bar, char *text, size_t size)
{
    size_t fresh = bar->n_done - bar->n_at_first;
    double left = fresh ? (now() - bar->start) / (double)fresh * (double)(bar->n_tasks - bar->n_done) : 0;
    if (!fresh || bar->n_done == bar->n_tasks) snprintf(text, size, "%s", "");
    else if (left < 90) snprintf(text, size, ", %.0f s left", left);
    else snprintf(text, size, ", %.0f min left", left / 60);
}

void bench_bar_show(bench_bar *bar, const char *under_way)
{
    char marks[WIDTH + 1], left[40];
    if (bar->is_quiet || !bar->is_terminal) return;
    guess(bar, left, sizeof left);
    memset(marks, '.', WIDTH);
    memset(marks, '#', bar->n_tasks ? WIDTH * bar->n_done / bar->n_tasks : WIDTH);
    marks[WIDTH] = '\0';
    fprintf(stderr, "\r\033[K[%s] %zu of %zu%s  %.80s", marks, bar->n_done, bar->n_tasks, left, under_way);
    fflush(stderr);
}

void bench_bar_finish(bench_bar *bar, const char *name, const char *error)
{
    bar->n_done++;
    if (bar->is_quiet || (bar->is_terminal && !error)) return;
    fprintf(stderr, "%skbass: %zu of %zu, %.0f s: %s%s%s\n", bar->is_terminal ? "\r\033[K" : "", bar->n_done,
            bar->n_tasks, now() - bar->start, name, error ? ": " : "", error ? error : "");
}

void bench_bar_end(bench_bar *bar)
{
    if (bar->is_terminal && !bar->is_quiet) fputs("\r\033[K", stderr);
}
