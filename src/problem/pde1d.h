/* A discovery problem of fields over space: what is fixed before the search and shared, read-only, by its threads.
 *
 * Terms are scaled on a sample of what the fields look like: measured values, and derivatives of the size that the
 * profile's length scale gives them; one weight's slab is 5 times the fields' own rate of change, U / (T/5).
 * Runs on one domain share period and profile, those on domains of their own have their own.
 */
#ifndef KB_PROBLEM_PDE1D_H
#define KB_PROBLEM_PDE1D_H

#include "base/run.h"
#include "data/tiles.h"
#include "forward/pde1d/runs.h"
#include "weights/frame.h"

typedef struct {
    const kbass_settings *settings;
    const kb_dictionary *dictionary;
    size_t n_runs;
    kb_field_samples **run_samples; /* n_runs */
    kb_pde1d_setup *setups; /* n_runs: periodicity of the space axis, steps between two data lines of median distance
                         that resolve how much they change, profile of the first lines */
    bool has_one_domain;    /* along the space axis */
    kb_columns *columns;
    kb_support all;
    int threads;
    kb_tiled *tiles; /* a grid of which the samples are a part, or NULL; borrowed */
} kb_pde1d_problem;

kbass_status kb_pde1d_problem_create(const kbass_data *data, const kbass_settings *settings,
                                     const kb_dictionary *dictionary, kb_pde1d_problem **out, kbass_error *error);
kb_frame kb_pde1d_problem_frame(const kb_pde1d_problem *problem);
/* The end of the runs that share their domain with this one, the first of them. */
size_t kb_pde1d_problem_domain_end(const kb_pde1d_problem *problem, size_t run);
/* Steps between two lines that resolve how much the field changes from one to the next, noise of this variance apart.
 */
size_t kb_pde1d_problem_steps(const kb_field_samples *samples, double noise, size_t least);
void kb_pde1d_problem_destroy(kb_pde1d_problem *problem);

#endif
