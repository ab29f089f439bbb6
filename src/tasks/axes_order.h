/* Proposals over several closed axes by how well they follow the first rows, with the weights that they come with. */
#ifndef KB_TASKS_AXES_ORDER_H
#define KB_TASKS_AXES_ORDER_H

#include "tasks/axes_resolution.h"

/* Best first, by the Schwarz criterion along the solution from the first row's start; those that cannot be followed up
   to row `last`, ill-posed ones for one, are no longer valid and stand at the end. */
kbass_status kb_axes_order(const kb_axes *axes, size_t last, kb_pool *pool, kbass_error *error);

#endif
