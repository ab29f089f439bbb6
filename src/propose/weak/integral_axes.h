/* The integral form of fields on closed grids as a source of proposals (search/task.h; docs/math.md, section 42): at
 * every point of the grid
 *
 *     q_i(t_r) = a_i + sum_j w_ij int_0^{t_r} P_j[u] ds / scale_j + noise
 *
 * along the filtered field (closed_grid.h), a start a_i for each window of rows. Axes that close have neither ends nor
 * boundary values, so it works where rows and waves are too few for the bumps of the weak form.
 */
#ifndef KB_PROPOSE_WEAK_INTEGRAL_AXES_H
#define KB_PROPOSE_WEAK_INTEGRAL_AXES_H

#include "search/task.h"

kbass_status kb_propose_integral_of_axes(kb_proposals *proposals, kbass_error *error);

#endif
