#include "signals.h"

#include <signal.h>
#include <stddef.h>

static const int ending[] = {SIGINT, SIGTERM, SIGHUP, SIGUSR1}; /* the last is what queues send before time is up */
enum { N_ENDING = sizeof ending / sizeof *ending };

static void set_handler(void (*handler)(int), struct sigaction before[N_ENDING])
{
    for (size_t i = 0; i < N_ENDING; i++) {
        struct sigaction action = {.sa_handler = handler, .sa_flags = ending[i] == SIGINT ? (int)SA_RESETHAND : 0};
        sigemptyset(&action.sa_mask);
        sigaction(ending[i], &action, &before[i]);
        if (ending[i] == SIGHUP && before[i].sa_handler == SIG_IGN) sigaction(SIGHUP, &before[i], NULL); /* nohup */
    }
}

/* ---------------------------------------------------------------- a wish to stop */

static volatile sig_atomic_t interrupted;
static struct sigaction before_catch[N_ENDING];
static int n_catches;

static void interrupt(int number) { interrupted = number; }

void cli_interrupts_catch(void)
{
    if (n_catches++) return;
    interrupted = 0;
    set_handler(interrupt, before_catch);
}

void cli_interrupts_release(void)
{
    if (--n_catches) return;
    for (size_t i = 0; i < N_ENDING; i++)
        if (ending[i] == SIGINT || !interrupted) sigaction(ending[i], &before_catch[i], NULL);
}

void cli_interrupts_key_ends(void) { signal(SIGINT, SIG_DFL); }

void cli_interrupts_all_end(void)
{
    for (size_t i = 0; i < N_ENDING; i++)
        if (!(ending[i] == SIGHUP && before_catch[i].sa_handler == SIG_IGN)) signal(ending[i], SIG_DFL);
}

int cli_interrupted(void) { return interrupted; }

int cli_interrupted_code(void) { return 128 + (interrupted ? (int)interrupted : SIGINT); }

/* ---------------------------------------------------------------- not now */

static volatile sig_atomic_t held;
static struct sigaction before_hold[N_ENDING];

static void hold(int number) { held = number; }

void cli_signals_hold(void)
{
    held = 0;
    set_handler(hold, before_hold);
}

void cli_signals_release(void)
{
    for (size_t i = 0; i < N_ENDING; i++) sigaction(ending[i], &before_hold[i], NULL);
    if (held) raise((int)held);
}
