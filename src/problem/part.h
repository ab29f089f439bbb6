/* A part of a problem of fields over one axis: a few stretches of its lines, each as a run of its own.
 *
 * On many data structures are compared on a part that is large enough to decide; what is found there is fitted to all.
 */
#ifndef KB_PROBLEM_PART_H
#define KB_PROBLEM_PART_H

#include "problem/pde1d.h"

/* `rows` lines of a run on a grid, from `first` on, every so many of them; of each every so many points. */
typedef struct {
    size_t run, first, rows, every_line, every_point;
} kb_stretch;

/* Dictionary, columns and settings are the problem's, and so are the units; grids only. Setups are those of the runs.
 */
kbass_status kb_pde1d_part_create(const kb_pde1d_problem *problem, size_t n, const kb_stretch *stretches,
                                  kb_pde1d_problem **out, kbass_error *error);
void kb_pde1d_part_destroy(kb_pde1d_problem *part);

#endif
