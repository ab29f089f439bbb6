/* A run in progress: the clock, the caller's callback, and the wish to stop. Shared by all threads of the run. */
#ifndef KB_RUN_H
#define KB_RUN_H

#include <stdatomic.h>
#include <stdbool.h>

#include "base/checkpoint.h"
#include "base/trace.h"

typedef struct {
    kbass_progress_callback callback;
    void *user;
    double start, time_limit;    /* seconds; limit 0: none */
    double end;                  /* of kb_clock: by when all has to be done if the limit stops it; INFINITY: no limit */
    _Atomic double stopped;      /* of kb_clock: since when it is stopped; INFINITY while it runs */
    atomic_int reason;           /* 0 while running, else 1 + the kbass_outcome that stopped it */
    atomic_flag reporting;       /* one thread at a time calls back */
    _Atomic(const char *) stage; /* told by one thread, read by all that report */
    _Atomic double fraction;     /* of the whole run: now, */
    double from, until;          /* and where the stage begins and ends */
    _Atomic double log_evidence;
    atomic_size_t n_iterations, n_models;
    bool is_of_known_length, has_step_limit; /* the fraction is known, or the largest that it can be */
    const kb_trace *trace;                   /* NULL: none */
    struct kb_standing *standing; /* where the best models by now are noted (search/standing.h); NULL: nowhere */
    const kbass_reduce *reduce;   /* other ranks of the same run; NULL: none */
    atomic_int wish;              /* among ranks: the reason to stop that this one has, until all agree */
    kb_checkpoint *checkpoint;    /* NULL: none */
} kb_run;

double kb_clock(void); /* seconds, monotonic */
/* How many threads to run: as asked, at most one for each processor; 0 asks for all of them. */
int kb_threads(int asked);
void kb_run_begin(kb_run *run, kbass_progress_callback callback, void *user, double time_limit);
/* A stage of the run, from one fraction of it to another; returns the clock. And how much of the stage is done. */
double kb_run_stage(kb_run *run, int stage, double from, double until);
void kb_run_advance(kb_run *run, double share);
/* Seconds left by the pace so far; NaN before a tenth is done. */
double kb_seconds_left(double seconds, double fraction);
/* Tells the caller where we are, checks the clock; false when the run should stop. Cheap enough for every iteration. */
bool kb_run_continue(kb_run *run, size_t n_active);
/* Should work that is not shared be given up? Asks as kb_run_continue; among ranks never, which stop together. */
bool kb_run_gives_up(kb_run *run);
/* Among ranks a wish to stop becomes a stop here, for all of them at once: every rank calls it at the same places. */
void kb_run_agree(kb_run *run);
bool kb_run_stopped(kb_run *run);
bool kb_run_cancelled(kb_run *run); /* by the caller, who waits */
/* Of a stopped run: seconds since then, and those that are left for what follows, negative when they are over: until
   the limit and what may pass it, or a second from the caller's wish. Of one that runs: 0 and INFINITY. */
double kb_run_overdue(const kb_run *run);
double kb_run_left(kb_run *run);
/* Of kb_clock: by when the fits end that a stopped run is still granted, after so many seconds, or at half of those
   that are left: the answer has to be made of them. */
double kb_run_grace(kb_run *run, double seconds);
/* May what follows a search go on? Asks the caller and the clock, as kb_run_continue; of NULL: yes. kb_run_cut says
   that it may not. */
bool kb_run_spares(kb_run *run);
kbass_status kb_run_cut(kbass_error *error);

#endif
