/* ODE dynamics: the record's measured values predicted by the flow from the state at a window's first row. */
#ifndef KB_FORWARD_ODE_TRAJECTORY_H
#define KB_FORWARD_ODE_TRAJECTORY_H

#include "forward/dynamics.h"
#include "forward/ode/flow.h"

typedef struct {
    kb_dynamics dynamics; /* first: a kb_dynamics * is a kb_trajectory * */
    const kb_record *record;
    kb_flow *flow;
    double *states, *tangents; /* all states at the rows of a window */
} kb_trajectory;

kbass_status kb_trajectory_create(const kb_record *record, const kb_dictionary *dictionary, const kb_columns *columns,
                                  size_t max_tangents, kb_trajectory **out, kbass_error *error);

/* kb_dynamics.integrals of a trajectory. */
bool kb_trajectory_integrals(kb_dynamics *self, size_t first, size_t last, const double *start, const bool *is_bare,
                             double *sums);

#endif
