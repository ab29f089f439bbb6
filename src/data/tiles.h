/* Fields on a full grid that are too many to be held as a table: they stay where they are, in a file or in memory, and
 * boxes of them are read when they are asked for.
 *
 * The data that belong to them hold a part of them as rows (kb_tiles_take_part), and everything that follows a law
 * through time works on those; what adds up over boxes, as messages do (propose/weak/tile.h), passes over all of them.
 */
#ifndef KB_TILES_H
#define KB_TILES_H

#include "data/data.h"

typedef struct kb_tiled kb_tiled;

struct kb_tiled {
    size_t n_axes, n_fields, n_points, n[KBASS_MAX_AXES];
    double *at[KBASS_MAX_AXES]; /* coordinates along each axis, ascending */
    size_t slowest;             /* the axis whose neighbours lie farthest apart in the file: boxes are cut along it */
    int n_users;
    void *state;
    bool is_for_all; /* several threads may read at a time; else one */
    /* The box of n[axis] points from first[axis] on: fields one after another, the last axis fastest. */
    kbass_status (*read)(kb_tiled *tiles, const size_t *first, const size_t *n, double *value, kbass_error *error);
    void (*close)(kb_tiled *tiles); /* its state */
};

/* Counts are there, coordinates are to be filled in. */
kbass_status kb_tiles_create(size_t n_axes, const size_t *n, size_t n_fields, kb_tiled **out, kbass_error *error);
/* One more user; and one less, the last of whom closes them. */
kb_tiled *kb_tiles_hold(kb_tiled *tiles);
void kb_tiles_release(kb_tiled *tiles);

/* Every stride[axis]-th point, count[axis] of them, from `first` on. */
kbass_status kb_tiles_thin(kb_tiled *tiles, const size_t *first, const size_t *count, const size_t *stride,
                           double *value, kbass_error *error);

/* Of a table of more than `most` values that is a full grid, one run without error bars: its values become tiles, in
   data->tiles; other data stay as they are. */
kbass_status kb_tiles_of_table(kbass_data *data, size_t most, kbass_error *error);
/* Values from which on a grid of these axes becomes tiles: `most`, over several space axes less. */
size_t kb_tiles_most(const kbass_data *data, size_t most, size_t few);
/* Makes a part of data->tiles the rows of the data: about `most` values, as densely as the visible wavelengths need
   them, where most is going on (docs/math.md, section 40). */
kbass_status kb_tiles_take_part(kbass_data *data, size_t most, kbass_error *error);

#endif
