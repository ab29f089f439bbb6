/* What a run may take: memory (`--memory`, or what the machine has left) and time (`--time-limit`).
 *
 * A discovery carries one budget. While it is a thread's current one, kb_allocate counts against it and refuses what
 * would pass the limit, as if memory had run out, before a page is touched; kb_out_of_memory then tells the figures.
 * Work that has no run to ask (setting up) asks the budget for the time. Threads that make what a run needs enter its
 * budget; those that only use what was made for them need not.
 */
#ifndef KB_BUDGET_H
#define KB_BUDGET_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

#include "kbass/kbass.h"

typedef struct {
    double limit;      /* bytes */
    double deadline;   /* of kb_clock; INFINITY: none */
    double worked;     /* processor seconds of the process when it began */
    double time_limit; /* seconds behind it */
    atomic_llong used; /* bytes; what was taken before it began may be given back under it, so never negative by much */
    atomic_size_t
        refused; /* bytes of the last request that would have passed the limit; 0: none; and those in use then */
    atomic_llong used_then;
} kb_budget;

/* Bytes that can still be taken: the least of the machine's free memory, the control group's and the process' limit. */
double kb_memory_available(void);
/* "500MB", "2 GB", "1.5GiB", a plain number is bytes; NULL or "" mean kb_memory_available(). */
kbass_status kb_memory_parse(const char *text, double *bytes, kbass_error *error);

/* time_limit: seconds from now; 0: none. */
kbass_status kb_budget_begin(kb_budget *budget, const char *memory, double time_limit, kbass_error *error);
/* Makes a budget the calling thread's own (NULL: none); returns the one before. */
kb_budget *kb_budget_enter(kb_budget *budget);
kb_budget *kb_budget_current(void);
/* Has the current budget's time run out? kb_out_of_time says so. */
bool kb_budget_expired(void);
/* Are so many seconds left for what cannot be stopped? */
bool kb_budget_affords(double seconds);
kbass_status kb_out_of_time(kbass_error *error, const char *what);

/* Bytes that were taken under the current budget, and that are left; INFINITY without one. */
double kb_budget_used(void);
double kb_budget_left(void);

/* For kb_allocate and kb_free: false when `bytes` more would pass the current budget's limit; what was taken or given.
 */
bool kb_budget_allows(size_t bytes);
void kb_budget_count(size_t taken, size_t given);

#endif
