/* The published loop's pace on given data. */
#ifndef BENCH_PACE_H
#define BENCH_PACE_H

#include "kbass/kbass.h"

/* CPU seconds per EP-EM iteration of --method paper; NaN when it cannot be run. */
double bench_published_pace(const kbass_data *data, const kbass_settings *settings);

#endif
