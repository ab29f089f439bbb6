/* Velocities that were not measured (--lhs x_tt): what the positions' bare field says about them. */
#ifndef KB_PROBLEM_VELOCITIES_H
#define KB_PROBLEM_VELOCITIES_H

#include "problem/ode.h"

/* Sets the record's values of states without measurements to the slopes of their positions' bare field at the rows, the
   reference being made. */
kbass_status kb_velocities_assume(kb_ode_problem *problem, kbass_error *error);

#endif
