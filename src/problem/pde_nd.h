/* A discovery problem of fields over several space axes, or of second order in time, and any problem of --method em:
 * what is fixed before the search and shared, read-only, by its threads.
 */
#ifndef KB_PROBLEM_PDE_ND_H
#define KB_PROBLEM_PDE_ND_H

#include "collocation/domain.h"
#include "data/tiles.h"
#include "weights/frame.h"

typedef struct {
    const kb_dictionary *dictionary;
    size_t n_runs;
    bool has_few_data; /* --method em over one space axis at most: the length scales are searched from farther away */
    kb_field_samples **run_samples; /* n_runs */
    kb_patched_domain *domain;
    kb_columns *columns;
    double *noise_unit; /* by field, of relative noise: what a variance of 1 is as a share of the value; else NULL */
    int threads;
    kb_tiled *tiles; /* a grid of which the samples are a part, or NULL; borrowed */
} kb_pde_nd_problem;

kbass_status kb_pde_nd_problem_create(const kbass_data *data, const kbass_settings *settings,
                                      const kb_dictionary *dictionary, kb_pde_nd_problem **out, kbass_error *error);
void kb_pde_nd_problem_destroy(kb_pde_nd_problem *problem);
kb_frame kb_pde_nd_problem_frame(const kb_pde_nd_problem *problem);

#endif
