/* One run's grid in the data's units, and tiles of it. */
#ifndef KB_PROPOSE_WEAK_GRID_RUN_H
#define KB_PROPOSE_WEAK_GRID_RUN_H

#include "gp/field_samples.h"
#include "propose/weak/tile.h"

typedef struct {
    size_t n_axes, n_fields, n_points, n[KB_MAX_AXES];
    double *at[KB_MAX_AXES];
    double spacing[KB_MAX_AXES], extent[KB_MAX_AXES];
    double *value; /* fields one after another, the last axis fastest; NaN: not measured */
    double *noise; /* n_fields: variance */
    bool has_holes;
} kb_weak_grid_run;

kbass_status kb_weak_grid_run_create(const kb_field_samples *samples, kb_weak_grid_run **out, kbass_error *error);
/* Means over cells of so many samples along each axis; what is left over at the ends is left out. */
kbass_status kb_weak_grid_run_thin(const kb_weak_grid_run *run, const size_t *cell, kb_weak_grid_run **out,
                                   kbass_error *error);
void kb_weak_grid_run_destroy(kb_weak_grid_run *run);

/* Adds what all bumps of these half widths say, tile by tile along time. `length` and `ratio`: of the bare field
   (bare_tile.h), for terms that need it; NULL: they stay out. */
kbass_status kb_weak_grid_run_integrate(const kb_weak_form *form, const kb_weak_grid_run *run, const double *half,
                                        const double *length, const double *ratio, kb_weak_message *message,
                                        kbass_error *error);

#endif
