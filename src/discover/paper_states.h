/* The published method's field for ODE systems: one kernel expansion per state over time. */
#ifndef KB_PAPER_STATES_H
#define KB_PAPER_STATES_H

#include "discover/paper.h"
#include "problem/ode.h"

kbass_status kb_paper_states_create(const kb_ode_problem *problem, kb_canvas **out, kbass_error *error);

#endif
