/* Where a law leaves something: residuals of the data summed over tiles of time and the first space axis. */
#ifndef KB_ANSWER_MISFITS_H
#define KB_ANSWER_MISFITS_H

#include "answer/answer.h"

#define KB_BY_CHANCE 0.01 /* below it, all that is tried taken together, something is said */

enum { KB_TIME_TILES = 12 }; /* tiles: along time, in which residuals are summed */
enum { KB_SPACE_TILES = 6 }; /* tiles: along space */

/* Sums of one state's standardised residuals. */
typedef struct {
    double sum[KB_TIME_TILES * KB_SPACE_TILES], count[KB_TIME_TILES * KB_SPACE_TILES];
} kb_tiles;

/* time and place scaled: shares of the record; place 0 without space */
void kb_tiles_add(kb_tiles *tiles, double time, double place, double residual);
/* The probability of as much by chance in one of so many tries. */
double kb_two_sided(double z, size_t n_tries);

typedef struct {
    double time, time_span, place, place_span; /* where the record begins, and how far it reaches; NaN without space */
} kb_tile_frame;

/* The tile that stands out most, where chance would let it in one record of a hundred. tiles: by state */
kbass_status kb_misfits_list(size_t n_states, const kb_tiles *tiles, const kb_tile_frame *frame, kb_answer *answer,
                             kbass_error *error);

#endif
