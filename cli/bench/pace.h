/* The published loop on given data: how fast it goes, and how long to its end. */
#ifndef BENCH_PACE_H
#define BENCH_PACE_H

#include "kbass/kbass.h"

typedef struct {
    double per_iteration, seconds; /* of CPU time, per EP-EM iteration and in all; NaN when it cannot be run */
    kbass_outcome outcome;         /* KBASS_NO_MODEL when it cannot be run, too */
} bench_pace;

/* --method paper with at most so many iterations (0: its own limit), stopped after `limit` seconds (0: never). */
bench_pace bench_published_pace(const kbass_data *data, const kbass_settings *settings, int iterations, double limit);

#endif
