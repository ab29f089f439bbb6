#include "base/run.h"

#include <omp.h>
#include <math.h>
#include <time.h>

#include "base/status.h"

/* Of the time limit: for what follows a search that was stopped, the best model on the whole record and its answer. */
static const double reserved_share = 0.2, most_reserved = 2; /* seconds */
/* By how much a limit or a caller's wish may be passed: seconds, and share of the limit. */
static const double patience = 1, patience_share = 0.05;

double kb_clock(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

void kb_run_begin(kb_run *run, kbass_progress_callback callback, void *user, double time_limit)
{
    run->callback = callback;
    run->user = user;
    run->start = kb_clock();
    run->time_limit = time_limit - fmin(reserved_share * time_limit, most_reserved);
    run->end = time_limit > 0 ? run->start + (1 + patience_share) * time_limit + patience : (double)INFINITY;
    run->stopped = (double)INFINITY;
    run->stage = "field";
    run->from = run->until = 0;
    run->fraction = 0;
    run->log_evidence = NAN;
    run->trace = NULL;
    run->checkpoint = NULL;
    run->reduce = NULL;
    run->standing = NULL;
    atomic_store(&run->wish, 0);
    atomic_store(&run->reason, 0);
    atomic_store(&run->n_iterations, 0);
    atomic_store(&run->n_models, 0);
    run->is_of_known_length = run->has_step_limit = false;
    atomic_flag_clear(&run->reporting);
}

double kb_run_stage(kb_run *run, int stage, double from, double until)
{
    run->stage = kbass_stage_name(stage);
    run->fraction = from;
    run->from = from;
    run->until = until;
    return kb_clock();
}

void kb_run_advance(kb_run *run, double share)
{
    run->fraction = fmax(run->fraction, run->from + fmin(share, 1) * (run->until - run->from));
}

static void stop(kb_run *run, kbass_outcome outcome)
{
    int running = 0;
    if (atomic_compare_exchange_strong(run->reduce ? &run->wish : &run->reason, &running, 1 + (int)outcome))
        run->stopped = kb_clock();
}

void kb_run_agree(kb_run *run)
{
    if (!run->reduce || kb_run_stopped(run)) return;
    int wish = run->reduce->agree(run->reduce->user, atomic_load(&run->wish));
    if (wish) atomic_store(&run->reason, wish);
}

bool kb_run_stopped(kb_run *run) { return atomic_load(&run->reason) != 0; }

bool kb_run_cancelled(kb_run *run) { return atomic_load(&run->reason) == 1 + (int)KBASS_CANCELLED; }

double kb_run_overdue(const kb_run *run) { return fmax(kb_clock() - run->stopped, 0); }

double kb_run_left(kb_run *run)
{
    if (!kb_run_stopped(run)) return (double)INFINITY;
    return (kb_run_cancelled(run) ? run->stopped + patience : run->end) - kb_clock();
}

double kb_run_grace(kb_run *run, double seconds) { return kb_clock() + fmin(seconds, 0.5 * kb_run_left(run)); }

double kb_seconds_left(double seconds, double fraction)
{
    static const double enough = 0.1;
    return fraction >= enough ? seconds * (1 - fraction) / fraction : (double)NAN;
}

/* A limit bounds whatever is estimated. */
static void estimate(const kb_run *run, kbass_progress *now)
{
    bool is_known = run->is_of_known_length || run->has_step_limit;
    double bound = run->time_limit > 0 ? fmax(run->time_limit - now->seconds, 0) : (double)NAN;
    now->seconds_left = is_known ? kb_seconds_left(now->seconds, now->fraction) : (double)NAN;
    now->is_bound = run->has_step_limit || (isfinite(bound) && !(now->seconds_left <= bound));
    if (isfinite(bound) && !(now->seconds_left <= bound)) now->seconds_left = bound;
}

bool kb_run_continue(kb_run *run, size_t n_active)
{
    double seconds = kb_clock() - run->start;
    size_t iterations = 1 + atomic_fetch_add(&run->n_iterations, 1);
    if (kb_run_stopped(run) || atomic_load(&run->wish)) return false;
    kb_checkpoint_tick(run->checkpoint);
    if (run->time_limit > 0 && seconds > run->time_limit) stop(run, KBASS_TIME_LIMIT);
    if (run->callback && !atomic_flag_test_and_set(&run->reporting)) {
        kbass_progress progress = {.stage = run->stage,
                                   .fraction = run->fraction,
                                   .seconds = seconds,
                                   .n_active = n_active,
                                   .log_evidence = run->log_evidence,
                                   .n_iterations = iterations,
                                   .n_models = atomic_load(&run->n_models)};
        estimate(run, &progress);
        if (run->callback(&progress, run->user)) stop(run, KBASS_CANCELLED);
        atomic_flag_clear(&run->reporting);
    }
    return !kb_run_stopped(run) && !atomic_load(&run->wish);
}

bool kb_run_gives_up(kb_run *run) { return !run->reduce && !kb_run_continue(run, 0); }

bool kb_run_spares(kb_run *run) { return !run || kb_run_continue(run, 0) || kb_run_left(run) > 0; }

kbass_status kb_run_cut(kbass_error *error)
{
    return kb_fail(error, KBASS_ERROR_TIME, "the run was stopped before its solution was solved");
}

int kb_threads(int asked)
{
    int processors = omp_get_num_procs();
    return asked > 0 && asked < processors ? asked : processors;
}
