/* The sweeps of kbass bench speed, and what is made of their rows. */
#ifndef BENCH_SPEED_H
#define BENCH_SPEED_H

#include <jansson.h>

#include "table.h"

enum { SPEED_MOST_SIZES = 6 };

const char *speed_key(size_t sweep); /* NULL after the last */
const char *speed_what(size_t sweep);

#endif
