/* One run's grid in the data's units, and tiles of it. */
#ifndef KB_PROPOSE_WEAK_GRID_RUN_H
#define KB_PROPOSE_WEAK_GRID_RUN_H

#include "base/run.h"
#include "data/tiles.h"
#include "gp/field_samples.h"
#include "propose/weak/tile.h"

typedef struct {
    size_t n_axes, n_fields, n_points, n[KB_MAX_AXES];
    double *at[KB_MAX_AXES];
    double spacing[KB_MAX_AXES], extent[KB_MAX_AXES];
    double *value; /* fields one after another, the last axis fastest; NaN: not measured */
    double *noise; /* n_fields: variance */
    bool has_holes;
    kb_tiled *tiles; /* where the values are read from, value being NULL; borrowed */
} kb_weak_grid_run;

kbass_status kb_weak_grid_run_create(const kb_field_samples *samples, kb_weak_grid_run **out, kbass_error *error);
/* Means over cells of so many samples along each axis; what is left over at the ends is left out. */
kbass_status kb_weak_grid_run_thin(const kb_weak_grid_run *run, const size_t *cell, kb_weak_grid_run **out,
                                   kbass_error *error);
/* Of values that stay where they are (data/tiles.h), with noise of these variances; NULL: as rows about the middle show
   it. */
kbass_status kb_weak_grid_run_of_tiles(kb_tiled *tiles, const double *noise, kb_weak_grid_run **out,
                                       kbass_error *error);
void kb_weak_grid_run_destroy(kb_weak_grid_run *run);

/* Adds what all bumps of these half widths say, tile by tile along time. `length` and `ratio`: of the bare field
   (bare_tile.h), for terms that need it; NULL: they stay out. A run that is stopped (NULL: none) ends it with the tiles
   by then. */
kbass_status kb_weak_grid_run_integrate(const kb_weak_form *form, const kb_weak_grid_run *run, const double *half,
                                        const double *length, const double *ratio, kb_run *progress,
                                        kb_weak_message *message, kbass_error *error);

/* The same of pure terms over a grid that stays in its file, read tile by tile. Tiles are cut and their messages added
   in an order that knows nothing of threads and ranks: the sum is the same to the bit, however many share them out
   (run->reduce). A run that is stopped ends it with the tiles by then. */
kbass_status kb_weak_grid_run_stream(const kb_weak_form *form, const kb_weak_grid_run *run, const double *half,
                                     kb_run *progress, int threads, kb_weak_message *message, kbass_error *error);

/* For both: centres of bumps along an axis, half a half width apart; and the first point at or after a place. */
size_t kb_weak_place_centres(const kb_weak_grid_run *run, size_t axis, double half, double *centres);
size_t kb_weak_first_after(const kb_weak_grid_run *run, size_t axis, double x);
/* Bumps enough along all axes, each over points enough. */
bool kb_weak_has_room(const kb_weak_grid_run *run, const double *half, const size_t *n_centres);

#endif
