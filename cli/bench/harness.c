#include "harness.h"

#include <errno.h>
#include <poll.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bar.h"
#include "document.h"
#include "lock.h"
#include "message.h"
#include "output.h"
#include "share.h"
#include "signals.h"
#include "worker.h"

#define STOPPED SIZE_MAX /* in place of a task's number */

enum { RANK_PAUSE = 20 }; /* milliseconds between two looks for what other ranks say */

typedef struct {
    const bench_plan *plan;
    const bench_manner *manner;
    json_t *document;
    bench_bar bar;
    size_t n_workers, next;
    bench_worker *workers;
    int n_ranks_busy; /* beside this one */
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

static int keep(crew *c, const char *name, json_t *row)
{
    bench_document_put(c->document, row);
    bench_bar_finish(&c->bar, name, json_string_value(json_object_get(row, "error")));
    return c->manner->json ? bench_document_save(c->document, c->manner->json) : EXIT_OK;
}

static int collect(crew *c, bench_worker *w)
{
    const char *name = w->task->name;
    return keep(c, name, bench_worker_collect(w));
}

/* The next task that is not done yet; NULL: there is none. */
static const bench_task *next_task(crew *c)
{
    while (c->next < c->plan->n_tasks && bench_document_has(c->document, c->plan->tasks[c->next].name)) c->next++;
    return c->next < c->plan->n_tasks ? &c->plan->tasks[c->next++] : NULL;
}

static int employ(crew *c)
{
    for (size_t i = 0; i < c->n_workers; i++) {
        const bench_task *task = c->workers[i].process ? NULL : next_task(c);
        if (task && !bench_worker_begin(&c->workers[i], task)) {
            cli_fail("cannot start a process: %s", strerror(errno));
            return EXIT_NO_RESULT;
        }
    }
    return EXIT_OK;
}

/* ---------------------------------------------------------------- other ranks */

/* A rank sends the row of what it has done, or nothing at first, and is given the next task's number; none ends it. */
static int serve_ranks(crew *c)
{
    char *text, number[24];
    int from = 0, code = EXIT_OK;
    while (code == EXIT_OK && c->n_ranks_busy && (text = cli_share_hear(&from))) {
        json_t *row = json_loads(text, 0, NULL);
        const char *name = json_string_value(json_object_get(row, "name"));
        if (name) code = keep(c, name, row);
        else json_decref(row);
        const bench_task *task = cli_interrupted() ? NULL : next_task(c);
        snprintf(number, sizeof number, "%zu", task ? (size_t)(task - c->plan->tasks) : c->plan->n_tasks);
        cli_share_tell(from, number);
        c->n_ranks_busy -= !task;
        free(text);
    }
    return code;
}

/* Those that are still at work leave it, and say so; a row that was on its way is kept. */
static void end_ranks(crew *c)
{
    const kbass_reduce *share = cli_share();
    int from = 0;
    for (int rank = 1; share && c->n_ranks_busy && rank < share->n_ranks; rank++) cli_share_tell(rank, "stop");
    while (c->n_ranks_busy) {
        char *text = cli_share_hear(&from);
        json_t *row = text ? json_loads(text, 0, NULL) : NULL;
        const char *name = json_string_value(json_object_get(row, "name"));
        if (name) keep(c, name, row);
        else json_decref(row);
        if (text && !strcmp(text, "bye")) c->n_ranks_busy--;
        if (!text) poll(NULL, 0, RANK_PAUSE);
        free(text);
    }
}

/* What is done while the first rank has said nothing else. */
static bool work_on(bench_worker *w)
{
    struct pollfd poll_one = {.fd = w->pipe, .events = POLLIN};
    int from = 0;
    while (true) {
        char *text = cli_share_hear(&from);
        bool is_stopped = text != NULL;
        free(text);
        if (is_stopped) bench_worker_dismiss(w);
        if (is_stopped) return false;
        if (poll(&poll_one, 1, RANK_PAUSE) > 0 && !bench_worker_receive(w)) return true;
    }
}

static size_t next_number(void)
{
    int from = 0;
    char *text = NULL;
    while (!(text = cli_share_hear(&from))) poll(NULL, 0, RANK_PAUSE);
    size_t number = text[0] == 's' ? STOPPED : (size_t)strtoul(text, NULL, 10);
    free(text);
    return number;
}

/* A rank that is not the first: one task after the other, until there is none. */
static int follow(const bench_plan *plan)
{
    bench_worker worker = {0};
    size_t i = 0;
    cli_interrupts_catch(); /* a signal is the first rank's business */
    cli_share_tell(0, "{}");
    for (i = next_number(); i < plan->n_tasks; i = next_number()) {
        if (!bench_worker_begin(&worker, &plan->tasks[i]))
            return cli_fail("cannot start a process: %s", strerror(errno));
        if (!work_on(&worker)) {
            i = STOPPED;
            break;
        }
        json_t *row = bench_worker_collect(&worker);
        char *text = json_dumps(row, JSON_COMPACT);
        cli_share_tell(0, text ? text : "{}");
        free(text);
        json_decref(row);
    }
    if (i == STOPPED) cli_share_tell(0, "bye");
    cli_interrupts_release();
    return EXIT_OK;
}

/* ---------------------------------------------------------------- the crew */

/* Waits for something to happen, and deals with it; *busy tells whether anybody is at work. */
static int attend(crew *c, struct pollfd *polls, bool *busy)
{
    int code = EXIT_OK;
    *busy = c->n_ranks_busy > 0;
    for (size_t i = 0; i < c->n_workers; i++) {
        bool works = c->workers[i].process != 0;
        polls[i] = (struct pollfd){.fd = works ? c->workers[i].pipe : -1, .events = POLLIN};
        *busy |= works;
    }
    if (!*busy || poll(polls, (nfds_t)c->n_workers, c->n_ranks_busy ? RANK_PAUSE : 500) < 0) return EXIT_OK;
    for (size_t i = 0; i < c->n_workers && code == EXIT_OK; i++)
        if (polls[i].fd >= 0 && polls[i].revents && !bench_worker_receive(&c->workers[i]))
            code = collect(c, &c->workers[i]);
    return code == EXIT_OK ? serve_ranks(c) : code;
}

static void dismiss(crew *c)
{
    for (size_t i = 0; i < c->n_workers; i++)
        if (c->workers[i].process) bench_worker_dismiss(&c->workers[i]);
    end_ranks(c);
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
    const kbass_reduce *share = cli_share();
    crew c = {
        .plan = plan, .manner = manner, .n_workers = manner->n_jobs, .n_ranks_busy = share ? share->n_ranks - 1 : 0};
    *document = NULL;
    if (!cli_share_writes()) return follow(plan);
    bench_lock lock;
    int code = bench_lock_take(manner->json, &lock);
    if (code == EXIT_OK) code = bench_document_open(plan, manner, &c.document);
    if (code == EXIT_OK) {
        cli_interrupts_catch();
        size_t done = 0;
        for (size_t i = 0; i < plan->n_tasks; i++) done += bench_document_has(c.document, plan->tasks[i].name);
        cli_share_say(manner->is_quiet, "the tasks, one at a time to each");
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
