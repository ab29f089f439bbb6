/* Runs of fields as one dynamics: a line for each, with its own points, profile and ends; the weights are common,
 * but for columns that hold in one run alone.
 *
 * A window belongs to the run of its first row. Starts have as many unknowns as the longest needs; those that a run
 * does not use stay at 0, where their prior leaves them, and say nothing.
 */
#ifndef KB_FORWARD_PDE1D_RUNS_H
#define KB_FORWARD_PDE1D_RUNS_H

#include "forward/pde1d/method_of_lines.h"

/* One run: where it was measured, and what its line is made of. */
typedef struct {
    const kb_field_samples *samples;
    kb_pde1d_settings line;
    kb_profile profile;
} kb_pde1d_setup;

typedef struct {
    kb_dynamics dynamics; /* first */
    size_t n;
    kb_pde1d **lines;
    size_t *run_start; /* n + 1: rows */
} kb_pde1d_runs;

kbass_status kb_pde1d_runs_create(size_t n, const kb_pde1d_setup *setups, const kb_dictionary *dictionary,
                                  const kb_columns *columns, size_t max_tangents, kb_pde1d_runs **out,
                                  kbass_error *error);

#endif
