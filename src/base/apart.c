#include "base/apart.h"

#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>

enum { STACK = 16 << 20 /* bytes; where the host's limit is "unlimited", the default would be 2 MB */ };

typedef struct {
    void (*work)(void *);
    void *context;
} task;

static void *do_task(void *argument)
{
    const task *t = argument;
    t->work(t->context);
    return NULL;
}

/* All but those that a thread brings on itself. */
static void list_signals(sigset_t *signals)
{
    static const int own[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTRAP, SIGSYS, SIGPROF};
    sigfillset(signals);
    for (size_t i = 0; i < sizeof own / sizeof *own; i++) sigdelset(signals, own[i]);
}

void kb_apart(void (*work)(void *), void *context)
{
    task t = {work, context};
    pthread_t thread;
    pthread_attr_t attributes;
    sigset_t others, before;
    list_signals(&others);
    bool is_started = pthread_attr_init(&attributes) == 0;
    if (is_started) {
        pthread_attr_setstacksize(&attributes, STACK);
        pthread_sigmask(SIG_BLOCK, &others, &before);
        is_started = pthread_create(&thread, &attributes, do_task, &t) == 0;
        pthread_sigmask(SIG_SETMASK, &before, NULL);
        pthread_attr_destroy(&attributes);
    }
    if (is_started) pthread_join(thread, NULL);
    else work(context);
}
