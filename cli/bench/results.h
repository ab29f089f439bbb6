/* The saved runs that docs/results.md is made of. */
#ifndef BENCH_RESULTS_H
#define BENCH_RESULTS_H

#include <jansson.h>
#include <stdio.h>

typedef struct {
    json_t *paper, *map, *calibration, *speed, *pysindy; /* NULL: not given */
} bench_saved;

/* "Where we lose, and why", as far as the rows can tell. */
void bench_losses(const bench_saved *saved, FILE *out);

#endif
