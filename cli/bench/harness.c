#include "harness.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "bar.h"
#include "document.h"
#include "lock.h"
#include "message.h"
#include "output.h"
#include "signals.h"

/* A task under way: its process and what came through the pipe so far. */
typedef struct {
    const bench_task *task;
    pid_t process; /* 0: a free place */
    int pipe;
    char *text;
    size_t length;
} worker;

typedef struct {
    const bench_plan *plan;
    const bench_manner *manner;
    json_t *document;
    bench_bar bar;
    size_t n_workers, next;
    worker *workers;
} crew;

json_t *bench_failed(const char *format, ...)
{
    char text[640];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    return json_pack("{s:s}", "error", text);
}

unsigned long bench_cores(void)
{
    long n = sysconf(_SC_NPROCESSORS_ONLN);
    return n > 0 ? (unsigned long)n : 1;
}

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
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    json_t *row = task->work(task->task);
    char *text = row ? json_dumps(row, JSON_COMPACT) : NULL;
    if (!text) _exit(EXIT_FAILURE);
    send(pipe, text);
    _exit(EXIT_SUCCESS);
}

static bool hire(worker *w, const bench_task *task)
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
    else *w = (worker){.task = task, .process = process, .pipe = ends[0]};
    return process > 0;
}

/* ---------------------------------------------------------------- the parent's side */

static json_t *row_of(const worker *w, int status)
{
    json_t *row = NULL;
    if (WIFSIGNALED(status))
        return bench_failed("ended by signal %d (%s)", WTERMSIG(status), strsignal(WTERMSIG(status)));
    if (WEXITSTATUS(status) == EXIT_SUCCESS) row = json_loadb(w->text, w->length, 0, NULL);
    return json_is_object(row) ? row : bench_failed("the task ended without a result");
}

static void release(worker *w)
{
    close(w->pipe);
    free(w->text);
    *w = (worker){0};
}

static double seconds_of(struct timeval time) { return (double)time.tv_sec + 1e-6 * (double)time.tv_usec; }

/* The pipe is closed: the process has ended, or is about to. */
static int collect(crew *c, worker *w)
{
    int status = 0;
    struct rusage usage = {0};
    while (wait4(w->process, &status, 0, &usage) < 0 && errno == EINTR) {}
    json_t *row = row_of(w, status), *named = json_pack("{s:s}", "name", w->task->name);
    json_object_update(named, row);
    json_object_set_new(named, "process_cpu", json_real(seconds_of(usage.ru_utime) + seconds_of(usage.ru_stime)));
    json_object_set_new(named, "process_megabytes", json_real((double)usage.ru_maxrss / 1024));
    json_decref(row);
    bench_document_put(c->document, named);
    bench_bar_finish(&c->bar, w->task->name, json_string_value(json_object_get(named, "error")));
    release(w);
    return c->manner->json ? bench_document_save(c->document, c->manner->json) : EXIT_OK;
}

/* Takes what the pipe holds; false at its end. */
static bool receive(worker *w)
{
    enum { PIECE = 65536 };
    char *text = realloc(w->text, w->length + PIECE);
    if (!text) return false;
    w->text = text;
    ssize_t n = read(w->pipe, text + w->length, PIECE);
    if (n > 0) w->length += (size_t)n;
    return n > 0 || (n < 0 && errno == EINTR);
}

static int employ(crew *c)
{
    for (size_t i = 0; i < c->n_workers && c->next < c->plan->n_tasks; i++) {
        if (c->workers[i].process) continue;
        while (c->next < c->plan->n_tasks && bench_document_has(c->document, c->plan->tasks[c->next].name)) c->next++;
        if (c->next == c->plan->n_tasks) break;
        if (!hire(&c->workers[i], &c->plan->tasks[c->next++])) {
            cli_fail("cannot start a process: %s", strerror(errno));
            return EXIT_NO_RESULT;
        }
    }
    return EXIT_OK;
}

/* Waits for something to happen, and deals with it; *busy tells whether anybody is at work. */
static int attend(crew *c, struct pollfd *polls, bool *busy)
{
    int code = EXIT_OK;
    *busy = false;
    for (size_t i = 0; i < c->n_workers; i++) {
        bool works = c->workers[i].process != 0;
        polls[i] = (struct pollfd){.fd = works ? c->workers[i].pipe : -1, .events = POLLIN};
        *busy |= works;
    }
    if (!*busy || poll(polls, (nfds_t)c->n_workers, 500) < 0) return EXIT_OK;
    for (size_t i = 0; i < c->n_workers && code == EXIT_OK; i++)
        if (polls[i].fd >= 0 && polls[i].revents && !receive(&c->workers[i])) code = collect(c, &c->workers[i]);
    return code;
}

static void dismiss(crew *c)
{
    for (size_t i = 0; i < c->n_workers; i++) {
        if (!c->workers[i].process) continue;
        kill(c->workers[i].process, SIGKILL);
        waitpid(c->workers[i].process, NULL, 0);
        release(&c->workers[i]);
    }
}

static void show(crew *c)
{
    char names[200] = "";
    for (size_t i = 0; i < c->n_workers; i++) {
        size_t used = strlen(names);
        if (c->workers[i].process)
            snprintf(names + used, sizeof names - used, "%s%s", used ? ", " : "", c->workers[i].task->name);
    }
    bench_bar_show(&c->bar, names);
}

static int toil(crew *c)
{
    bool busy = true;
    struct pollfd *polls = calloc(c->n_workers, sizeof *polls);
    c->workers = calloc(c->n_workers, sizeof *c->workers);
    int code = polls && c->workers ? EXIT_OK : cli_fail("out of memory for %zu jobs", c->n_workers);
    while (code == EXIT_OK && busy && !cli_interrupted()) {
        code = employ(c);
        show(c);
        if (code == EXIT_OK) code = attend(c, polls, &busy);
    }
    if (c->workers) dismiss(c);
    free(c->workers);
    free(polls);
    return cli_interrupted() ? cli_interrupted_code() : code;
}

static void say_how_to_go_on(const crew *c)
{
    if (c->manner->json) cli_fail("interrupted; finished rows are in %s, --resume does the others", c->manner->json);
    else cli_fail("interrupted; the rows below were finished (with --json FILE they can be kept, and resumed)");
}

int bench_run(const bench_plan *plan, const bench_manner *manner, json_t **document)
{
    crew c = {.plan = plan, .manner = manner, .n_workers = manner->n_jobs};
    bench_lock lock;
    int code = bench_lock_take(manner->json, &lock);
    if (code == EXIT_OK) code = bench_document_open(plan, manner, &c.document);
    if (code == EXIT_OK) {
        cli_interrupts_catch();
        size_t done = 0;
        for (size_t i = 0; i < plan->n_tasks; i++) done += bench_document_has(c.document, plan->tasks[i].name);
        bench_bar_begin(&c.bar, manner->is_quiet, plan->n_tasks, done);
        code = toil(&c);
        bench_bar_end(&c.bar);
        cli_interrupts_release();
        if (cli_interrupted()) say_how_to_go_on(&c);
        bench_document_sort(c.document, plan);
    }
    bench_lock_drop(&lock);
    *document = c.document;
    return code;
}
