#include "worker.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---------------------------------------------------------------- the task's side */

static void send(int pipe, const char *text)
{
    size_t length = strlen(text);
    while (length > 0) {
        ssize_t sent = write(pipe, text, length);
        if (sent < 0 && errno == EINTR) continue;
        if (sent <= 0) _exit(EXIT_FAILURE);
        text += sent;
        length -= (size_t)sent;
    }
}

/* Signals to end are the parent's business; without a parent there is nobody to work for. */
__attribute__((noreturn)) static void work(const bench_task *task, int pipe)
{
    signal(SIGINT, SIG_IGN);
    signal(SIGTERM, SIG_IGN);
    signal(SIGHUP, SIG_IGN);
    signal(SIGUSR1, SIG_IGN);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    json_t *row = task->work(task->task);
    char *text = row ? json_dumps(row, JSON_COMPACT) : NULL;
    if (!text) _exit(EXIT_FAILURE);
    send(pipe, text);
    _exit(EXIT_SUCCESS);
}

bool bench_worker_begin(bench_worker *w, const bench_task *task)
{
    int ends[2];
    if (pipe(ends) != 0) return false;
    fflush(NULL);
    pid_t process = fork();
    if (process == 0) {
        close(ends[0]);
        work(task, ends[1]);
    }
    close(ends[1]);
    if (process < 0) close(ends[0]);
    else *w = (bench_worker){.task = task, .process = process, .pipe = ends[0]};
    return process > 0;
}

/* ---------------------------------------------------------------- the parent's side */

static json_t *row_of(const bench_worker *w, int status)
{
    json_t *row = NULL;
    if (WIFSIGNALED(status))
        return bench_failed("ended by signal %d (%s)", WTERMSIG(status), strsignal(WTERMSIG(status)));
    if (WEXITSTATUS(status) == EXIT_SUCCESS) row = json_loadb(w->text, w->length, 0, NULL);
    return json_is_object(row) ? row : bench_failed("the task ended without a result");
}

static void release(bench_worker *w)
{
    close(w->pipe);
    free(w->text);
    *w = (bench_worker){0};
}

static double seconds_of(struct timeval time) { return (double)time.tv_sec + 1e-6 * (double)time.tv_usec; }

/* Takes what the pipe holds; false at its end. */
bool bench_worker_receive(bench_worker *w)
{
    enum { PIECE = 65536 };
    char *text = realloc(w->text, w->length + PIECE);
    if (!text) return false;
    w->text = text;
    ssize_t n = read(w->pipe, text + w->length, PIECE);
    if (n > 0) w->length += (size_t)n;
    return n > 0 || (n < 0 && errno == EINTR);
}

/* The pipe is closed: the process has ended, or is about to. */
json_t *bench_worker_collect(bench_worker *w)
{
    int status = 0;
    struct rusage usage = {0};
    while (wait4(w->process, &status, 0, &usage) < 0 && errno == EINTR) {}
    json_t *row = row_of(w, status), *named = json_pack("{s:s}", "name", w->task->name);
    json_object_update(named, row);
    json_object_set_new(named, "process_cpu", json_real(seconds_of(usage.ru_utime) + seconds_of(usage.ru_stime)));
    json_object_set_new(named, "process_megabytes", json_real((double)usage.ru_maxrss / 1024));
    json_decref(row);
    release(w);
    return named;
}

void bench_worker_dismiss(bench_worker *w)
{
    kill(w->process, SIGKILL);
    waitpid(w->process, NULL, 0);
    release(w);
}
