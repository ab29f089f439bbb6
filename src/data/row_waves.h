/* Rows of a grid whose space axes close, as sums of waves (docs/math.md, section 43).
 *
 * On n even points of a period white noise of variance v is white in the coefficients of the waves, too, and so it is
 * at 2 K + 1 even points of what the first K waves make: there it has the variance v (2 K + 1) / n. Where no wave
 * beyond K is seen, these few values along each axis tell all that the row does, and they need not be points of the
 * grid.
 */
#ifndef KB_DATA_ROW_WAVES_H
#define KB_DATA_ROW_WAVES_H

#include "data/tiles.h"

typedef struct {
    size_t n[KBASS_MAX_AXES];     /* points of a period along each axis of space, without the one that closes it, */
    size_t every[KBASS_MAX_AXES]; /* of which every so manieth is used: n is a multiple */
    size_t m[KBASS_MAX_AXES];     /* values that stand for them, odd */
    double share;                 /* variance of their noise over that of the grid's */
} kb_row_waves;

/* false in *found: an axis does not close, is uneven, or has no more points than its waves need. */
kbass_status kb_row_waves_find(kb_tiled *tiles, kb_row_waves *waves, bool *found, kbass_error *error);
/* Fewer values along each axis, until a row has at most so many. */
void kb_row_waves_limit(const kb_tiled *tiles, size_t most, kb_row_waves *waves);
/* Place i of m along an axis. */
double kb_row_waves_place(const kb_tiled *tiles, const kb_row_waves *waves, size_t axis, size_t i);
/* Rows first, first + stride, ...: fields one after another, the last axis fastest; false in *done where a value is
   missing. */
kbass_status kb_row_waves_project(kb_tiled *tiles, const kb_row_waves *waves, size_t first, size_t count, size_t stride,
                                  double *value, bool *done, kbass_error *error);

#endif
