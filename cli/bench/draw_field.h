/* Random fields over one closed axis, 10 x 16 points: of sparse laws, of laws outside the dictionary, of none. */
#ifndef BENCH_DRAW_FIELD_H
#define BENCH_DRAW_FIELD_H

#include "draw.h"

extern const char bench_field_candidates[]; /* their dictionary, as --terms has it */

/* Leaves draw->data NULL where the solution leaves 20: draw anew. */
kbass_status bench_draw_field(uint64_t *random, uint64_t seed, bench_draw_kind kind, bench_draw *draw,
                              kbass_error *error);

#endif
