/* Parts of a problem of states: the patches of its runs with their length scales and noise (ode_patches.c), and the
 * bare field on even points over each run (ode_reference.c).
 */
#ifndef KB_PROBLEM_ODE_PARTS_H
#define KB_PROBLEM_ODE_PARTS_H

#include "problem/ode.h"

enum { KB_ODE_VARIANCES = 13 }; /* values: of the noise variance that are tried for the bare field */
/* Joint fields of the kernel cost the cube of the states' number. */
enum { KB_WIDE_STATES = 10 }; /* states: above it, equation by equation first; not measured between 7 and 19 */
/* Four and five with as many values as candidates: SEIR 1.6 -> 0.2 s; with 14 samples the kernel's way finds more. */
enum { KB_FEWEST_MIDDLE = 4 }; /* states: from here where data are not scant */

/* Cuts the runs into patches, as short as the field needs; finds length scale and noise of the bare field. */
kbass_status kb_ode_patches_choose(kb_ode_problem *problem, kbass_error *error);
void kb_ode_patches_destroy(kb_ode_problem *problem);
/* Of all runs, also where only a sample of them is kept. */
size_t kb_ode_patches_count(const kb_ode_problem *problem);
/* The slice of a patch, counted over all runs. */
kbass_status kb_ode_patch_slice(const kb_ode_problem *problem, size_t patch, kb_record **out, kbass_error *error);
/* The i-th noise variance that is tried for bare fields, 1e-6 to 0.25. */
double kb_ode_grid_variance(int i);

/* The bare field: reference, follow, reference_slope, slope_squares. */
kbass_status kb_ode_reference_make(kb_ode_problem *problem, kbass_error *error);
void kb_ode_reference_destroy(kb_ode_problem *problem);

#endif
