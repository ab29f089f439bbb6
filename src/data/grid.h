/* The grid under the points: the distinct coordinates along each axis, and whether the points fill their product. */
#ifndef KB_GRID_H
#define KB_GRID_H

#include "data/data.h"

typedef struct {
    size_t n_axes;
    size_t n[KBASS_MAX_AXES];         /* distinct coordinates */
    const double *at[KBASS_MAX_AXES]; /* they, ascending; those closer than 1e-9 of the span count as one */
    double *owned[KBASS_MAX_AXES];    /* the same, unless the data's own times serve */
    double spacing[KBASS_MAX_AXES];   /* median distance of neighbouring coordinates; 0 when there is only one */
    double nearest[KBASS_MAX_AXES], farthest[KBASS_MAX_AXES]; /* the smallest and the largest distance */
    size_t n_cells;                                           /* product of n; SIZE_MAX when it is larger */
    size_t n_taken;                                           /* cells that have a row, */
    bool is_grid; /* at least half of them; over space some may have several */
} kb_grid;

kbass_status kb_grid_create(const kbass_data *data, kb_grid *grid, kbass_error *error);
void kb_grid_clear(kb_grid *grid);
/* The row's cell, the last axis running fastest. */
size_t kb_grid_cell(const kb_grid *grid, const kbass_data *data, size_t row);

#endif
