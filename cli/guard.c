#include "guard.h"

#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <unistd.h>

#include "signals.h"

enum {
    GLANCE = 20000,   /* microseconds between two looks for a signal: little work, and little of the half second */
    PATIENCE = 200000 /* microseconds that an orderly end has: mpirun kills 1 to 2 s after it was signalled */
};

static pthread_t thread;
static pthread_mutex_t delivery = PTHREAD_MUTEX_INITIALIZER; /* held by who writes */
static volatile bool is_on, has_ended;
static int (*write_best)(void *context);
static void *of;

/* SIGUSR1 is no such signal: it asks for an orderly end, and who sends it waits. */
static bool is_urgent(void) { return cli_interrupted() && cli_interrupted() != SIGUSR1; }

static void *stand_guard(void *unused)
{
    while (!has_ended && !is_urgent()) usleep(GLANCE);
    for (int waited = 0; !has_ended && waited < PATIENCE; waited += GLANCE) usleep(GLANCE);
    pthread_mutex_lock(&delivery);
    int code = has_ended ? -1 : write_best(of);
    if (code >= 0) _exit(code);
    pthread_mutex_unlock(&delivery);
    return unused;
}

void cli_guard_begin(int (*write)(void *context), void *context)
{
    sigset_t all, before;
    write_best = write;
    of = context;
    has_ended = false;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &before);
    is_on = pthread_create(&thread, NULL, stand_guard, NULL) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

void cli_guard_end(void)
{
    if (!is_on) return;
    pthread_mutex_lock(&delivery);
    has_ended = true;
    pthread_mutex_unlock(&delivery);
    pthread_join(thread, NULL);
    is_on = false;
}
