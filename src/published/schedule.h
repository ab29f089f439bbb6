/* A number that changes during a run: "0.1, 6000:0.5" is 0.1 from the start and 0.5 from step 6000 on. A value may
 * differ by state, in their order: "1/0.5"; the last holds for all that follow. */
#ifndef KB_SCHEDULE_H
#define KB_SCHEDULE_H

#include "base/status.h"

enum { KB_SCHEDULE_ENTRIES = 12, KB_SCHEDULE_STATES = 8 };

typedef struct {
    size_t n; /* 0: nothing was said */
    struct {
        long step;
        size_t n_states;
        double value[KB_SCHEDULE_STATES];
    } at[KB_SCHEDULE_ENTRIES];
} kb_schedule;

/* `name` is the setting's, for messages. NULL and "" leave it empty. */
kbass_status kb_schedule_read(const char *name, const char *text, double low, double high, kb_schedule *out,
                              kbass_error *error);
/* NaN when it is empty. */
double kb_schedule_value(const kb_schedule *schedule, long step, size_t state);
/* The step of the last change; 0 when it never changes. */
long kb_schedule_last(const kb_schedule *schedule);

#endif
