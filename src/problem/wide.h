/* Many states: structures of all equations by the integral form (weights/integral_form.h), each equation for itself,
 * and the columns that a joint search can hold: those of the structures and those that come next to them.
 */
#ifndef KB_PROBLEM_WIDE_H
#define KB_PROBLEM_WIDE_H

#include "problem/ode.h"

/* Structures of all columns, with their weights. */
struct kb_structures {
    size_t n;
    kb_support *supports;
    double **w; /* by column, scaled */
};

void kb_structures_destroy(kb_structures *structures);

/* Fills problem->structures, and leaves at most `most` columns besides those of the structures. A time limit ends the
   search, not the run: equations that were not reached have what a few moves find. */
kbass_status kb_wide_search(kb_ode_problem *problem, size_t most, kbass_error *error);

#endif
