/* How well the measurements of a drawn law determine its weights, its terms being known. */
#ifndef BENCH_DRAW_INFORMATION_H
#define BENCH_DRAW_INFORMATION_H

#include "draw.h"

static const double bench_decidable = 6; /* sds of each weight: such a law can be told from none */

/* Sets draw->clearness, by the information that samples of known noise have about weights and starts. */
kbass_status bench_draw_inform(bench_draw *draw, kbass_error *error);

#endif
